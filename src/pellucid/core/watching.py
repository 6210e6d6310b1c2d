"""Watching a solver: the bridge between its iterations and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pellucid.core.types import Data

Watch: TypeAlias = Callable[..., bool]
"""Called with the iterate after each iteration; True means stop."""


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
        return bool(
            step.call_on_fit_task_end(
                estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: attributes(*iterate)
            )
        )

    return watch
