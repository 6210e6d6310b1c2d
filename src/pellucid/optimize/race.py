"""A race: several methods on one function, from one start, under one stopping rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from sklearn.utils import check_random_state

from pellucid.core.fit import Solution
from pellucid.core.trace import record
from pellucid.core.types import Array, Data, RandomState
from pellucid.optimize.method import Method
from pellucid.optimize.methods import METHODS, find_method
from pellucid.optimize.minimize import check_start, descend
from pellucid.optimize.problem import Problem
from pellucid.optimize.stopping import Stopping

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


RUNNERS = ("gradient descent", "accelerated gradient", "conjugate gradient", "bfgs", "newton")
"""Who runs by default: those that find their step sizes themselves."""

Tick: TypeAlias = Callable[[Array], None]
"""Called after each iteration, for progress bars."""


def race(
    problem: Problem | Any,
    x0: Data,
    methods: Sequence[str | Method] | Mapping[str, str | Method] = RUNNERS,
    *,
    stopping: Stopping | None = None,
    batch_size: int | None = None,
    random_state: RandomState = None,
    progress: bool = False,
) -> Race:
    """Run several methods from the same start and compare what they find, and at what cost.

    Parameters
    ----------
    problem : Problem, Formula or str
        The function; a text such as ``"(1 - x)**2 + 100*(y - x**2)**2"`` is read as a formula.
    x0 : array-like of shape (n,)
        The start of all.
    methods : sequence of names and methods, or dict of them, default=RUNNERS
        The keys of a dict are the names in the table.
    stopping : Stopping, default=Stopping()
        The rules for all.
    batch_size : int, default=None
        Terms per gradient for the methods that take batches; the others use whole gradients.
    random_state : int, RandomState or None
        Seed of the shuffles, the same for all methods.
    progress : bool, default=False
        Whether to show a progress bar per method.

    Returns
    -------
    Race
        A method that fails does not stop the race: its row says what happened.

    Examples
    --------
    >>> result = race("x**2 + 10*y**2", [10.0, 1.0], ["gradient descent", "newton"])
    >>> list(result.frame()["method"])
    ['newton', 'gradient descent']
    """
    problem, variables = _read(problem)
    start, stopping = check_start(x0), stopping or Stopping()
    named = _named(methods)
    seed = check_random_state(random_state).randint(2**31 - 1)
    keeps_paths = record() if start.shape[0] <= 2 else nullcontext()
    with keeps_paths, _bars(named, stopping.max_iter, progress) as tick:
        runners = tuple(
            _run(name, method, problem, start, stopping, batch_size if method.takes_batches else None, seed, tick(name))
            for name, method in named.items()
        )
    return Race(problem, start, runners, variables)


def _run(
    name: str,
    method: Method,
    problem: Problem,
    start: Array,
    stopping: Stopping,
    batch_size: int | None,
    seed: int,
    tick: Tick | None,
) -> Runner:
    try:
        solution = descend(
            problem, start, method, stopping=stopping, batch_size=batch_size, random_state=seed, callback=tick
        )
    except Exception as error:  # whatever a method or the user's function raises belongs in its row
        return Runner(name, method, failure=f"{type(error).__name__}: {error}")
    return Runner(name, method, solution)


def _read(problem: Any) -> tuple[Problem, tuple[str, ...]]:
    """Return the problem, and the names of its variables if it was a formula."""
    if isinstance(problem, Problem):
        return problem, ()
    from pellucid.optimize.formula import Formula

    formula = problem if isinstance(problem, Formula) else Formula(problem)
    return formula.problem(), tuple(variable.name for variable in formula.variables)


def _named(methods: Sequence[str | Method] | Mapping[str, str | Method]) -> dict[str, Method]:
    """Return the methods under names that tell them apart."""
    if isinstance(methods, str) or not methods:
        raise ValueError(
            f"methods must be a list or dict of at least one method, got {methods!r}. Try ['bfgs', 'newton']."
        )
    if isinstance(methods, Mapping):
        return {name: find_method(method) for name, method in methods.items()}
    found = [find_method(method) for method in methods]
    short = [_short_name(method) for method in found]
    names = [repr(method) if short.count(name) > 1 else name for name, method in zip(short, found, strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"methods must differ, got {name} twice. Leave one out, or give names in a dict.")
    return dict(zip(names, found, strict=True))


def _short_name(method: Method) -> str:
    return next((name for name, kind in METHODS.items() if kind is type(method)), type(method).__name__)


@contextmanager
def _bars(named: Mapping[str, Method], length: int, wanted: bool) -> Iterator[Callable[[str], Tick | None]]:
    """Yield what gives each method its tick: one per iteration, on a bar of its own."""
    if not wanted:
        yield lambda _name: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()) as bars:
        tasks = {name: bars.add_task(name, total=length) for name in named}

        def ticker(name: str) -> Tick:
            return lambda _x: bars.advance(tasks[name])

        yield ticker


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
    """The function; a text has been read as a formula."""
    start: Array
    """Where all methods began, of shape (n,)."""
    runners: tuple[Runner, ...]
    """Every method with what it found or why it failed, in the order given."""
    variables: tuple[str, ...] = ()
    """What the variables are called, if the function was a formula; else nothing."""

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
        from pellucid.plots.drawing.race_plot import plot_race

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
