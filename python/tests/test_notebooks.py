"""docs/notebooks: every cell runs, and prints what is stored."""

import subprocess
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
for needed in ("ipykernel", "pandas", "polars", "duckdb", "pyarrow", "altair"):
    pytest.importorskip(needed)

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def test_they_are_there():
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["own-workload", "read-results", "tune-thresholds"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path, tmp_path):
    notebook = read(path)
    # In a folder of its own, which becomes the kernel's.
    resources = {"metadata": {"path": tmp_path}}
    # How many messages a kernel puts its text in depends on the time it takes.
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources=resources, coalesce_streams=True
    )
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    # No warning, and nothing else that says something is not as it should be; bars are told there.
    told = [output.text for output in shown if output.get("name") == "stderr"]
    assert [text for text in told if "Warning" in text or "Traceback" in text] == []
    printed = [output.text for output in shown if output.get("name") == "stdout"]
    assert "".join(printed).count("\n") > 8
    # What is stored is what comes out now.
    kept = [output for cell in read(path).cells for output in cell.get("outputs", ())]
    assert [output.text for output in kept if output.get("name") == "stdout"] == printed, (
        "run `make notebooks`"
    )
    assert any("text/html" in output.get("data", {}) for output in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_kept_with_outputs_and_explained(path):
    notebook = read(path)
    assert notebook.metadata.kernelspec.name == "python3"
    before = None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.execution_count is None, "run `make notebooks`"
            assert before == "markdown", f"nothing explains {cell.source!r}"
        before = cell.cell_type
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert outputs and all(output.get("name") != "stderr" for output in outputs)
    assert "/tmp" not in path.read_text(encoding="utf-8"), "an output has a path of one machine"


def test_they_are_pages_of_the_site(root, tmp_path):
    command = [sys.executable, "docs/site.py", tmp_path / "site"]
    subprocess.run(command, cwd=root, check=True)
    book = tmp_path / "site/src"
    summary = (book / "SUMMARY.md").read_text()
    for path in NOTEBOOKS:
        assert f"(docs/notebooks/{path.stem}.md)" in summary
        page = (book / f"docs/notebooks/{path.stem}.md").read_text()
        cells = read(path).cells
        assert page.count("```python\n") == sum(cell.cell_type == "code" for cell in cells)
        for cell in cells[1:]:
            # Links to sources are plain text there.
            assert cell.cell_type == "markdown" or cell.source in page
        shown = [output for cell in cells for output in cell.get("outputs", ())]
        assert shown and all(output.text.rstrip() in page for output in shown if "text" in output)
        pictures = [of for of in shown if "image/svg+xml" in of.get("data", {})]
        files = list((book / "docs/notebooks").glob(f"{path.stem}-*.svg"))
        assert len(files) == len(pictures) and all(f'src="{of.name}"' in page for of in files)
        assert f"](./{path.name})" in page
        assert (book / f"docs/notebooks/{path.name}").read_bytes() == path.read_bytes()
    assert ".ipynb" not in (book / "docs/python.md").read_text()
