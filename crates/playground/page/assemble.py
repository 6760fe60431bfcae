"""Puts the playground together as one file.

    python3 crates/playground/page/assemble.py floodway-playground.wasm target/playground/index.html

The page has its style, its scripts, the scenarios with their controls, and the simulator (compressed
with gzip, in Base64), so that it works as a file and without a network.
"""

import base64
import gzip
import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent
PRESETS = PAGE.parent / "presets"
# In the order in which they need each other.
SCRIPTS = ("values", "share", "simulator", "completion", "editor", "controls", "main")
# In the order of the list; the first one is shown at first.
ORDER = re.findall(r'preset!\("([\w-]+)"\)', (PAGE.parent / "src/presets.rs").read_text("utf-8"))


def preset(name):
    """A scenario with its title, the variants that it begins with, and its controls."""
    text = (PRESETS / f"{name}.toml").read_text("utf-8")
    beside = json.loads((PRESETS / f"{name}.json").read_text("utf-8"))
    return {"name": name, "text": text, **beside}


def source(name):
    """A file of the page, which must not end the element that it stands in."""
    text = (PAGE / name).read_text("utf-8")
    assert "</script" not in text and "<!--" not in text, name
    return text


def main(program, target):
    packed = gzip.compress(program.read_bytes(), 9, mtime=0)
    # JSON in a page: `<` could end its element.
    presets = json.dumps([preset(name) for name in ORDER], ensure_ascii=False).replace(
        "<", "\\u003c"
    )
    # Each script is strict by its first line, which counts for all of them.
    scripts = "\n".join(source(f"{name}.js") for name in SCRIPTS)
    parts = {
        "style.css": source("style.css"),
        "presets": presets,
        "worker.js": source("worker.js"),
        "program": base64.b64encode(packed).decode(),
        "scripts": scripts,
    }
    page = (PAGE / "index.html").read_text("utf-8")
    page = re.sub(r"@@([\w.]+)@@", lambda match: parts[match[1]], page)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, "utf-8")
    size = target.stat().st_size / 1e6
    print(f"the playground is {target} ({size:.1f} MB): open it in a browser")


main(Path(sys.argv[1]), Path(sys.argv[2]))
