"""The switch that makes traces keep whole states, not only numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_recording: ContextVar[bool] = ContextVar("pellucid_recording", default=False)


def is_recording() -> bool:
    """Return whether the code runs inside ``with pellucid.record():``."""
    return _recording.get()


@contextmanager
def record() -> Iterator[None]:
    """Keep the whole state of every iteration in ``trace_.states`` of the estimators fitted inside.

    Examples
    --------
    >>> import pellucid
    >>> from pellucid.linear_model import Lasso
    >>> with pellucid.record():
    ...     model = Lasso(alpha=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> len(model.trace_.states) == len(model.trace_)
    True
    """
    token = _recording.set(True)
    try:
        yield
    finally:
        _recording.reset(token)
