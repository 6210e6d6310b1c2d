"""The outcome of a race: one table, best first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from pellucid.core.solution import Solution
from pellucid.core.types import Array
from pellucid.optimize.method import Method
from pellucid.optimize.problem import Problem

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLUMNS = ("method", "iterations", "evaluations", "objective", "gradient", "certified", "stopped")
HEAD = ("method", "iterations", "evaluations", "f", "max |gradient|", "certified", "stopped because")


@dataclass(frozen=True)
class Runner:
    """A method in a race, with its solution, or with what went wrong."""

    name: str
    method: Method
    solution: Solution[Array] | None = None
    failure: str = ""

    @property
    def row(self) -> dict[str, Any]:
        """What the table says about the runner."""
        if self.solution is None:
            missing = dict.fromkeys(("objective", "gradient"), math.nan)
            counts = dict.fromkeys(("iterations", "evaluations"), 0)
            return {"method": self.name, **counts, **missing, "certified": False, "stopped": self.failure}
        last = list(self.solution.trace)[-1]
        certificate = self.solution.certificate
        return {
            "method": self.name,
            "iterations": self.solution.n_iter,
            "evaluations": int(last["evaluations"]),
            "objective": last["objective"],
            "gradient": last["gradient"],
            "certified": certificate.holds,
            "stopped": self.solution.stopped,
        }


@dataclass(frozen=True)
class Race:
    """The outcome: ``race["bfgs"]`` is a solution, ``frame()`` and the repr are the table, ``plot()`` the picture.

    The table lists first those whose certificate holds, by evaluations, then the others by objective.
    """

    problem: Problem
    start: Array
    runners: tuple[Runner, ...]
    variables: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Solution[Array]:
        for runner in self.runners:
            if runner.name == name and runner.solution is not None:
                return runner.solution
        finished = [runner.name for runner in self.runners if runner.solution is not None]
        raise KeyError(f"name must be one of {finished}, got {name!r}.")

    @property
    def ranking(self) -> tuple[Runner, ...]:
        """The runners, best first."""
        return tuple(sorted(self.runners, key=_place))

    def frame(self) -> pd.DataFrame:
        """Return the table as a pandas data frame, best first."""
        import pandas as pd

        return pd.DataFrame([runner.row for runner in self.ranking], columns=list(COLUMNS))

    def plot(self) -> Figure:
        """Draw paths and progress; see :func:`pellucid.plots.plot_race`."""
        from pellucid.drawing.race_plot import plot_race

        return plot_race(self)

    def __repr__(self) -> str:
        head, *rows = self._cells()
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        words = {0, len(head) - 1}  # the first and the last column hold words

        def line(cells: Sequence[str]) -> str:
            padded = (
                c.ljust(w) if j in words else c.rjust(w) for j, (c, w) in enumerate(zip(cells, widths, strict=True))
            )
            return "  ".join(padded).rstrip()

        return "\n".join([line(head), "  ".join("─" * width for width in widths), *map(line, rows)])

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        titles = "".join(f"<th>{escape(title)}</th>" for title in head)
        lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self) -> list[list[str]]:
        return [list(HEAD), *(_spelled(runner) for runner in self.ranking)]


def _place(runner: Runner) -> tuple[int, float]:
    row = runner.row
    if runner.solution is None:
        return 2, 0.0
    return (0, row["evaluations"]) if row["certified"] else (1, row["objective"])


def _spelled(runner: Runner) -> list[str]:
    row = runner.row
    certified = "yes" if row["certified"] else "no"
    if runner.solution is None:
        return [row["method"], "-", "-", "-", "-", certified, row["stopped"]]
    numbers = [f"{row['objective']:.6g}", f"{row['gradient']:.1e}"]
    return [row["method"], str(row["iterations"]), str(row["evaluations"]), *numbers, certified, row["stopped"]]
