"""Runs the notebooks and stores what they print and show: `make notebooks`.

Progress is not stored, nor when a cell ran. A chart of Vega-Lite is stored as a picture.
"""

import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
import vl_convert

VEGA = "application/vnd.vegalite"


def stored(output):
    """An output as it is stored; None of progress."""
    if output.get("name") == "stderr":
        return None
    data = output.get("data", {})
    for kind in [kind for kind in data if kind.startswith(VEGA)]:
        data["image/svg+xml"] = vl_convert.vegalite_to_svg(data.pop(kind))
        data.pop("text/html", None)
    output.pop("execution_count", None)
    if output.output_type == "execute_result":
        output = nbformat.v4.new_output("display_data", data=data)
    return output


def run(path):
    """Runs a notebook in an empty folder and stores its outputs."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = nbclient.NotebookClient(
            notebook, timeout=300, resources=resources, coalesce_streams=True
        )
        client.execute()
        for cell in notebook.cells:
            cell.metadata.clear()
            if cell.cell_type == "code":
                cell.execution_count = None
                cell.outputs = [of for of in map(stored, cell.outputs) if of is not None]
    # Not which version of Python it was.
    notebook.metadata.language_info = {"name": "python"}
    text = nbformat.writes(notebook, indent=1)
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


for name in sys.argv[1:] or sorted(Path(__file__).parent.glob("*.ipynb")):
    run(Path(name))
