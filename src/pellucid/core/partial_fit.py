"""Fits in parts: a part that is refused leaves the model as it was."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from pellucid.core.threads import own_threads

F = TypeVar("F", bound=Callable[..., Any])


def partial_fit_method(partial_fit: F) -> F:
    """Wrap ``partial_fit``: it runs on our threads, and when it fails the estimator is what it was before.

    The attributes are put back, not what they hold: a part must replace its arrays, never write into them.
    """

    @functools.wraps(partial_fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            with own_threads():
                return partial_fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return wrapped  # type: ignore[return-value]  # same signature, by wraps
