"""Fits in parts: a part that is refused leaves the model as it was, and the classes stay the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from pellucid.core.arrays import is_on_device
from pellucid.core.labels import refuse_no_labels
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data

F = TypeVar("F", bound=Callable[..., Any])

TRAINING_STATE = "_training_state"
"""Where an estimator keeps what the next part of the data goes on from, beside the model; no file stores it."""


def partial_fit_method(partial_fit: F) -> F:
    """Wrap ``partial_fit``: it runs on our threads, and when it fails the estimator is what it was before.

    The attributes are put back, not what they hold: a part must replace its arrays, never write into them.
    """

    @functools.wraps(partial_fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            if is_on_device(args[0] if args else kwargs.get("X")):
                raise ValueError(
                    f"X must be a NumPy array for partial_fit of {type(self).__name__}, got an array on a device. "
                    "Fit to all rows there, or take X.cpu().numpy()."
                )
            if "backend_" in before:
                _bring_back(self)
            with own_threads():
                return partial_fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return wrapped  # type: ignore[return-value]  # same signature, by wraps


def _bring_back(estimator: Any) -> None:
    """Make what was fitted on a device a model of the host, which more parts can go on from."""
    from pellucid.core.device.places import to_host

    vars(estimator).update(vars(to_host(estimator)))
    del estimator.backend_


def check_classes(estimator: Any, classes: Data | None) -> Array:
    """Return the classes of a partial fit: named in its first call, and the same ever after."""
    known: Array | None = getattr(estimator, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError(
                "classes must be given in the first call of partial_fit, got None. "
                "(classes must be passed on the first call to partial_fit.)"
            )
        return known
    named = np.unique(np.asarray(classes))
    refuse_no_labels(named)
    if known is not None and not np.array_equal(named, known):
        raise ValueError(
            f"classes must stay {known.tolist()}, got {named.tolist()}, which "
            "is not the same as on last call to partial_fit. Fit a new estimator."
        )
    return named
