"""Lays the pages of SUMMARY.md out for mdBook, in a folder of their own.

    python3 docs/site.py target/site-source

Pages keep their places relative to each other, so that links between them are the same in the book and
in the repository. What they show is copied; links to sources, which are not in the book, become plain
text. A notebook becomes a page of its cells, and lies beside that page. The playground, if it has been
built (`make playground`), is part of the book, and the first page begins with it.
"""

import json
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


PLAYGROUND = ROOT / "target/playground/index.html"
FIRST = "README.md"
FRAME = """
<p><a href="playground/index.html">Try it here</a>: the simulator runs in this page. Move a control, and
both settings run again on the same traffic.</p>
<iframe src="playground/index.html" title="Playground" loading="lazy"
style="width: 100%; height: 760px; border: 1px solid #8886; border-radius: 6px"></iframe>
"""


def with_playground(page, text):
    """The first page with the playground below its title, and the page about it with a link to it."""
    title, rest = text.split("\n", 1)
    if page == FIRST:
        return f"{title}\n{FRAME}\n{rest}"
    if page == "docs/playground.md":
        return f"{title}\n\n[Open the playground](../playground/index.html).\n{rest}"
    return text


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


def in_book(path):
    """The path that a page has in the book, where a notebook is text."""
    return re.sub(r"\.ipynb(?=#|$)", ".md", path)


def shown(output, place, number):
    """An output of a cell of a notebook as text; a picture is a file beside the page, `number` in its name."""
    data = output.get("data", {})
    picture = "".join(data.get("image/svg+xml", ""))
    if picture:
        name = f"{place.stem}-{number}.svg"
        place.parent.mkdir(parents=True, exist_ok=True)
        (place.parent / name).write_text(picture, encoding="utf-8")
        return f'<img src="{name}" alt="What the cell above shows">'
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```"


def page_of(file, place):
    """A page as text, which will be at `place`."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".ipynb":
        return text
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts.extend(shown(of, place, len(parts)) for of in cell["outputs"])
    title, rest = parts[0].split("\n", 1)
    note = f"This page is a notebook: [{file.name}](./{file.name})."
    return "\n\n".join([title, note, rest.strip(), *parts[1:]]) + "\n"


def main(target):
    summary = (ROOT / "docs/SUMMARY.md").read_text(encoding="utf-8")
    pages = []

    def of_summary(_, words, path):
        pages.append(normal("docs/" + path))
        return f"[{words}]({in_book(pages[-1])})"

    summary = links(summary, of_summary)
    source = target / "src"
    shutil.rmtree(target, ignore_errors=True)
    source.mkdir(parents=True)
    (source / "SUMMARY.md").write_text(summary, encoding="utf-8")
    for file in ("book.toml", "site.css"):
        shutil.copy(ROOT / "docs" / file, target / file)
    if PLAYGROUND.exists():
        (source / "playground").mkdir()
        shutil.copy(PLAYGROUND, source / "playground/index.html")
    for page in pages:
        folder = PurePosixPath(page).parent

        def of_page(mark, words, path):
            file = normal(folder / path.split("#")[0])
            if file == page:
                shutil.copy(ROOT / page, source / page)
                return f"[{words}]({path})"
            if file in pages:
                return f"[{words}]({in_book(path)})"
            if mark:
                place = source / file
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, place)
                return f"![{words}]({path})"
            return words

        place = source / in_book(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        text = links(page_of(ROOT / page, place), of_page)
        if PLAYGROUND.exists():
            text = with_playground(page, text)
        place.write_text(text, encoding="utf-8")


main(Path(sys.argv[1]))
