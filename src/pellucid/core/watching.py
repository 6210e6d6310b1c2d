"""Watching a solver: the bridge between its iterations and scikit-learn's callbacks.

A solver speaks after each iteration. That ends the task of the iteration and begins the next one, so that a callback
sees begin and end around the work. The task that was begun last stays empty: it ends, with no model to show, when the
fit is done. scikit-learn's own bridge to SciPy does the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from html import escape
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pellucid.core.types import Data

if TYPE_CHECKING:
    from rich.console import Console


Watch: TypeAlias = Callable[..., bool]
"""Called with the iterate after each iteration, or with nothing where there is no model to show; True means stop."""

WEIGHT = "_watched_weight"
"""Where an estimator keeps the weights of its rows for the callbacks, while it is fitted."""


def ignore(*_iterate: Any) -> bool:
    """Watch nothing, never stop."""
    return False


def make_watch(
    estimator: Any,
    X: Data,
    y: Data,
    *,
    attributes: Callable[..., dict[str, Any]],
    max_iter: int | None = None,
) -> Watch:
    """Return a watch that reports each iteration to the callbacks of the estimator, if it has any."""
    if not has_callbacks(estimator):
        return ignore
    known = _known(estimator, X, y)
    most = None if max_iter is None else max(max_iter, 1) + 1  # as scikit-learn counts, with the empty task
    context = _begin_fit(known, most)
    tasks = [_begin_iteration(context, known, None)]

    def watch(*iterate: Any) -> bool:
        fitted = (lambda: attributes(*iterate)) if iterate else None
        stop = bool(tasks[-1].call_on_fit_task_end(**known, reconstruction_attributes=fitted))
        if most is not None and len(tasks) == most:  # a solver that speaks once more than it said
            context.max_subtasks = None
        tasks.append(_begin_iteration(context, known, fitted))
        return stop

    return watch


def has_callbacks(estimator: Any) -> bool:
    """Return whether somebody watches."""
    return bool(vars(estimator).get("_skl_callbacks"))


def run_watched(fit: Callable[..., Any], estimator: Any, *args: Any, is_iterative: bool, **kwargs: Any) -> Any:
    """Run a fit that somebody watches; one without iterations is a single task."""
    given = signature(fit).bind(estimator, *args, **kwargs).arguments
    X, y = given.get("X"), given.get("y")
    vars(estimator)[WEIGHT] = given.get("sample_weight")
    try:
        if not is_iterative:
            _begin_fit(_known(estimator, X, y))
        result = fit(estimator, *args, **kwargs)
        if "_callback_fit_ctx" not in vars(estimator):  # it could iterate, but these settings have a closed form
            _begin_fit(_known(estimator, X, y))
            finish_watch(estimator, X, y)
        return result
    finally:
        vars(estimator).pop(WEIGHT, None)


def finish_watch(estimator: Any, X: Data, y: Data = None) -> None:
    """Tell the callbacks that the whole fit is done: the estimator then has all its fitted attributes."""
    context = vars(estimator).get("_callback_fit_ctx")
    if context is None:
        return
    known = _known(estimator, X, y)
    fitted = {name: value for name, value in vars(estimator).items() if name.endswith("_") and name[0] != "_"}
    _, *tasks = context
    if len(tasks) == 1:  # a solver that never spoke: from the start to the answer is one iteration
        tasks[0].call_on_fit_task_end(**known, reconstruction_attributes=fitted)
        context.max_subtasks = None
        tasks = [_begin_iteration(context, known, fitted)]
    if tasks:
        tasks[-1].call_on_fit_task_end(estimator=estimator)  # it was begun and never run
    context.call_on_fit_task_end(**known, reconstruction_attributes=fitted)


def _known(estimator: Any, X: Data, y: Data) -> dict[str, Any]:
    weight = vars(estimator).get(WEIGHT)
    return {"estimator": estimator, "X": X, "y": y, "metadata": None if weight is None else {"sample_weight": weight}}


def _begin_fit(known: dict[str, Any], max_subtasks: int | None = 0) -> Any:
    context = known["estimator"]._init_callback_context(max_subtasks=max_subtasks)
    context.call_on_fit_task_begin(**known)
    return context


def _begin_iteration(context: Any, known: dict[str, Any], fitted: Any) -> Any:
    task = context.subcontext(task_name=getattr(known["estimator"], "_iteration_name", "iteration"))
    task.call_on_fit_task_begin(**known, reconstruction_attributes=fitted)
    return task


Item = TypeVar("Item")
Heard = TypeVar("Heard", bound=Callable[..., None])
Show = Callable[..., None]
"""Called with what is done, how much of how much is done, and notes to write behind the bar."""

LEAST_SECONDS = 0.1
"""Between two pictures of a bar in a notebook: each is a message to the browser."""
MOST_NOTES = 2


def show_nothing(*_what: Any) -> None:
    """Stand for a bar where there is none."""


@contextmanager
def terminal_bar(console: Console | None = None, *, stays: bool = False) -> Iterator[Show]:
    """Show a bar on a console while the block runs, on standard error if none is named; nothing if no terminal.

    One that the user has asked for stays when it is done; where there is no terminal, its end is printed.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    console = console or Console(stderr=True)

    def one_line(ratio: int | None = None) -> Column:  # it ends in dots rather than in a second line
        return Column(no_wrap=True, overflow="ellipsis", ratio=ratio)

    layout = (
        TextColumn("{task.description}", table_column=one_line(), markup=False),
        BarColumn(bar_width=16),
        TextColumn("{task.completed:.0f}/{task.total:.0f}", table_column=one_line()),
        TextColumn("{task.fields[first]}", style="dim", table_column=one_line(ratio=1), markup=False),
        TextColumn("{task.fields[second]}", style="dim", table_column=one_line(), markup=False),
    )
    hidden = not (stays or console.is_terminal)
    with Progress(*layout, console=console, transient=not stays, expand=True, disable=hidden) as progress:
        task = progress.add_task("", total=1, first="", second="")

        def show(what: str, done: float, total: float, *notes: str) -> None:
            first, second = (*notes, "", "")[:MOST_NOTES]
            progress.update(task, description=what, completed=done, total=total, first=first, second=second)

        yield show


def in_notebook() -> bool:
    """Return whether the code runs in a notebook, where a bar is seen and in nobody's way."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def notebook_bar() -> Iterator[Show]:
    """Show a bar under the cell of a notebook while the block runs."""
    page = import_module("IPython.display")  # it is there, where there is a notebook
    place = page.display(page.HTML(""), display_id=True)
    last = -LEAST_SECONDS

    def show(what: str, done: float, total: float, *notes: str) -> None:
        nonlocal last
        if time.monotonic() - last >= LEAST_SECONDS:
            last = time.monotonic()
            place.update(page.HTML(_as_html(what, done, total, notes)))

    try:
        yield show
    finally:
        place.update(page.HTML(""))


def _as_html(what: str, done: float, total: float, notes: Sequence[str]) -> str:
    said = escape(" · ".join(filter(None, notes)))
    return (
        f"<div style='font: 0.9em sans-serif'>{escape(what)} <progress value='{done:g}' max='{total:g}'></progress> "
        f"{done:.0f}/{total:.0f} <span style='opacity: 0.65'>{said}</span></div>"
    )


def asked_bar() -> AbstractContextManager[Show]:
    """Return a bar that the user has asked for, where it is seen best: under a cell, or on standard output."""
    if in_notebook():
        return notebook_bar()
    from rich.console import Console

    return terminal_bar(Console(), stays=True)


@contextmanager
def listening(listen: Heard | None, shown_by: Callable[[Show], Any] = lambda show: show) -> Iterator[Any]:
    """Yield who listens to a long work: the one named, else a bar in a notebook, else nobody.

    ``shown_by`` turns a bar into such a listener, if it takes something else than a bar does.
    """
    if listen is None and in_notebook():
        with notebook_bar() as show:
            yield shown_by(show)
    else:
        yield listen or shown_by(show_nothing)


def tracked(items: Sequence[Item], description: str, *, show: bool) -> Iterable[Item]:
    """Yield the items, with a bar that fills as they are taken if it is asked for."""
    if not show:
        yield from items
        return
    with asked_bar() as tell:
        for done, item in enumerate(items):
            tell(description, done, len(items))
            yield item
        tell(description, len(items), len(items))
