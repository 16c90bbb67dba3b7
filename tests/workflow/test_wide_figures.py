"""Wide figures are marked, others are left."""

import nbformat
import pytest

from workflow.wide_figures import CLASS, mark_wide_figures


def cell_with(width, **metadata):
    data = {"image/svg+xml": f'<?xml version="1.0"?>\n<svg xmlns="x"\n width="{width}pt" height="9pt">'}
    return nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", data)], metadata=metadata)


@pytest.mark.parametrize(("width", "marked"), [("504", False), ("559.5", False), ("633.6", True)])
def test_by_width(width, marked):
    notebook = nbformat.v4.new_notebook(cells=[cell_with(width, mystnb={"image": {"alt": "Panels."}})])
    mark_wide_figures(notebook)
    image = notebook.cells[0].metadata.mystnb.image
    assert image.alt == "Panels."
    assert image.get("classes") == (CLASS if marked else None)


def test_cells_without_metadata_or_figures():
    plain = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("stream", text="width")])
    notebook = nbformat.v4.new_notebook(cells=[cell_with("700"), plain, nbformat.v4.new_markdown_cell("text")])
    mark_wide_figures(notebook)
    assert notebook.cells[0].metadata.mystnb.image.classes == CLASS
    assert "mystnb" not in plain.metadata
