"""Watching a solver: the bridge between its iterations and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pellucid.core.types import Data

Watch: TypeAlias = Callable[..., bool]
"""Called with the iterate after each iteration, or with nothing where there is no model to show; True means stop."""


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
    if not getattr(estimator, "_skl_callbacks", None):
        return ignore
    context = estimator._init_callback_context(max_subtasks=max_iter)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def watch(*iterate: Any) -> bool:
        step = context.subcontext(task_name="iteration")
        step.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        fitted = (lambda: attributes(*iterate)) if iterate else None
        return bool(step.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=fitted))

    return watch


def finish_watch(estimator: Any, X: Data, y: Data = None) -> None:
    """Tell the callbacks that the whole fit is done: the estimator then has all its fitted attributes."""
    context = getattr(estimator, "_callback_fit_ctx", None)
    if context is None:
        return
    fitted = {name: value for name, value in vars(estimator).items() if name.endswith("_") and name[0] != "_"}
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=fitted)
