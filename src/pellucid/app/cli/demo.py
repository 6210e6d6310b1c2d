"""``pellucid demo``: the main job on a bundled table."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Demo(Enum):
    """The bundled tables to try."""

    diagnosis = "diagnosis"
    progression = "progression"


TABLES = {Demo.diagnosis: "breast_cancer.csv", Demo.progression: "diabetes.csv"}


def demo(
    target: Annotated[
        Demo, typer.Option(help="Learn a class (diagnosis of a tumour) or a number (progression of diabetes).")
    ] = Demo.diagnosis,
    time: Annotated[str, typer.Option(help="Time budget, such as 30s or 2m.")] = "6s",
    out: Annotated[Path, typer.Option(help="Folder for the model file and the report.")] = Path("learned"),
) -> None:
    """Run 'pellucid fit' on a bundled table, and say which command that was."""
    import sys
    from importlib.resources import as_file, files

    from pellucid.app.cli.fit import fit

    with as_file(files("pellucid.data") / TABLES[target]) as table:
        sys.stdout.write(f"pellucid fit {table} --target {target.value} --time {time} --out {out}\n\n")
        sys.stdout.flush()
        fit(str(table), target=target.value, time=time, out=out)
