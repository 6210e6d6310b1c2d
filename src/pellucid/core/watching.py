"""Watching a solver: the bridge between its iterations and scikit-learn's callbacks.

A solver speaks after each iteration. That ends the task of the iteration and begins the next one, so that a callback
sees begin and end around the work. The task that was begun last stays empty: it ends, with no model to show, when the
fit is done. scikit-learn's own bridge to SciPy does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeAlias

from pellucid.core.types import Data

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
    return bool(getattr(estimator, "_skl_callbacks", None))


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
