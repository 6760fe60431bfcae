"""Lays the pages of SUMMARY.md out for mdBook, in a folder of their own.

    python3 docs/site.py target/site-source

Pages keep their places relative to each other, so that links between them are the same in the book and
in the repository. What they show is copied; links to sources, which are not in the book, become plain
text.
"""

import re
import shutil
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def normal(path):
    """A path without `..`, relative to the repository."""
    parts = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def links(text, change):
    """The text with a change to every link that is no address of the web and no place in the page."""

    def one(match):
        if re.match(r"[a-z]+:|#", match[3]):
            return match[0]
        return change(*match.groups())

    # Code may stand in the words of a link, so that only blocks of it are left alone.
    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    return "".join(
        part if index % 2 else LINK.sub(one, part) for index, part in enumerate(parts)
    )


def main(target):
    summary = (ROOT / "docs/SUMMARY.md").read_text(encoding="utf-8")
    pages = []

    def of_summary(_, words, path):
        pages.append(normal("docs/" + path))
        return f"[{words}]({pages[-1]})"

    summary = links(summary, of_summary)
    source = target / "src"
    shutil.rmtree(target, ignore_errors=True)
    source.mkdir(parents=True)
    (source / "SUMMARY.md").write_text(summary, encoding="utf-8")
    for file in ("book.toml", "site.css"):
        shutil.copy(ROOT / "docs" / file, target / file)
    for page in pages:
        folder = PurePosixPath(page).parent

        def of_page(mark, words, path):
            file = normal(folder / path.split("#")[0])
            if file in pages:
                return f"[{words}]({path})"
            if mark:
                place = source / file
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, place)
                return f"![{words}]({path})"
            return words

        text = links((ROOT / page).read_text(encoding="utf-8"), of_page)
        place = source / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


main(Path(sys.argv[1]))
