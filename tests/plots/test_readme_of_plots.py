"""The README of the room names every function, where it is, and how it is called."""

import inspect
import re
from pathlib import Path

from pellucid import plots

ROOM = Path(plots.__file__).parent
PROJECT = Path(__file__).parents[2]


def test_the_readme_names_every_function_its_parameters_and_its_file():
    rows = {
        line.split("(")[0]: line for line in (ROOM / "README.md").read_text().splitlines() if line.startswith("| `")
    }
    assert sorted(rows) == [f"| `{name}" for name in plots.__all__]
    for name in plots.__all__:
        function, row = getattr(plots, name), rows[f"| `{name}"]
        call, _, file = (cell.strip() for cell in row.strip("|").split(" | "))
        assert (ROOM / file.strip("` ")) == Path(inspect.getsourcefile(function))
        told = [part.split("=")[0].strip("*` ") for part in call[call.index("(") + 1 : call.rindex(")")].split(", ")]
        taken = list(inspect.signature(function).parameters)
        assert [part for part in told if part in taken] == taken


def test_the_page_of_figures_names_functions_and_examples_that_are_there():
    rows = [
        line.split(" | ") for line in (PROJECT / "docs/figures.md").read_text().splitlines() if line.startswith("|")
    ]
    drawn = (PROJECT / "examples/figures_of_the_notes.py").read_text()
    told = set()
    for row in rows[2:]:
        for function in re.findall(r"`(\w+)`", row[2]):
            assert function in plots.__all__
            assert f"plots.{function}" in drawn or function in ("plot_race",)
        told |= set(re.findall(r"`(\w+)`", row[3]))
    assert told == set(re.findall(r'^    "(\w+)": (?:lambda|\w+[,.(])', drawn[drawn.index("FIGURES") :], re.MULTILINE))
