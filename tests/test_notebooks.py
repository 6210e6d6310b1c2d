"""Every notebook runs from top to bottom, holds no outputs, and has the parts that all of them have."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from pellucid.catalogue import read_catalogue

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PARTS = ["By hand", "By one call", "The figure", "The certificate", "What can go wrong", "Three exercises"]
MOST_WORDS = 1500
"""Of text and code: what is read in fifteen minutes."""

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(path, kind):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def run(code, names, path):
    """Run a cell as a notebook does, and return what it shows: the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(path), "exec"), names)
    shown = None if last is None else eval(compile(ast.Expression(last.value), str(path), "eval"), names)
    if shown is not None:
        page = shown._repr_html_() if hasattr(shown, "_repr_html_") else None
        assert page or repr(shown)
    return shown


@every_notebook
def test_every_cell_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a notebook needs no file, and leaves none
    with mpl.rc_context():
        mpl.use("Agg")
        names = {"__name__": "__main__"}
        shown = [run(code, names, path) for code in cells_of(path, "code")]
        assert plt.get_fignums() or any(isinstance(one, Figure) for one in shown), "a notebook has a figure"
        plt.close("all")
    assert not list(tmp_path.iterdir())


@every_notebook
def test_a_notebook_is_valid_and_stripped(path):
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names)
    for cell in notebook["cells"]:
        is_code = cell["cell_type"] == "code"
        own = {"execution_count", "outputs"} if is_code else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | own
        assert not is_code or (cell["outputs"] == [] and cell["execution_count"] is None)


@every_notebook
def test_a_notebook_has_the_parts_of_all_and_reads_in_fifteen_minutes(path):
    text = "\n".join(cells_of(path, "markdown"))
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == PARTS
    assert re.match(r"# .+\n\nTopic ", text)
    code = cells_of(path, "code")
    assert [cell for cell in code if "show_work(" in cell or "product(" in cell]
    assert [cell for cell in code if "certificate" in cell or "assert" in cell]
    assert all(cell.startswith("made = pellucid.exercise(") for cell in code[-3:])
    assert len(" ".join([text, *code]).split()) < MOST_WORDS


def test_there_is_one_for_each_topic_of_the_lectures():
    assert len(NOTEBOOKS) >= 24
    known = {topic.id.split("-")[0] for topic in read_catalogue()}
    opened = [cells_of(path, "markdown")[0] for path in NOTEBOOKS]
    named = {family for text in opened for family in re.findall(r"\b([A-Z]{3})-\d", text)}
    assert named <= known
    assert known - named <= {"SEG"}  # whose networks take longer than a notebook may


def test_the_readme_lists_them_all():
    listed = re.findall(r"\((\d\d_\w+\.ipynb)\)", (FOLDER / "README.md").read_text("utf-8"))
    assert listed == [path.name for path in NOTEBOOKS]
