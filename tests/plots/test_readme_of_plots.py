"""The README of the room names every function, where it is, and how it is called."""

import inspect
from pathlib import Path

from pellucid import plots

ROOM = Path(plots.__file__).parent


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
