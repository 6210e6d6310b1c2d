"""Answers about rows in blocks: a Dask collection of the answers about each block, not computed yet.

Rows on a device, and models that were fitted there, are sent from here to where they are answered, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from inspect import getattr_static, signature
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from pellucid.core.arrays import is_on_device
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.types import Array

F = TypeVar("F", bound=Callable[..., Any])

ANSWERS = (
    "decision_function",
    "inverse_transform",
    "predict",
    "predict_log_proba",
    "predict_proba",
    "score_samples",
    "transform",
)
"""Methods whose answer about a row depends on that row alone."""
NO_QUESTIONS = ("densify", "fit", "fit_predict", "fit_transform", "partial_fit", "sparsify")
"""Methods that change the model itself."""
PROTOCOL = ("_", "set_", "get_params", "get_metadata_routing")
"""How the names begin of what is no question either."""


def answer_lazily(kind: type) -> None:
    """Let the methods of a class that answer row by row take rows in blocks, each in its own task; its score too.

    Whatever else it can be asked is answered on the host, for a model that was fitted on a device.
    """
    for name in ANSWERS:
        method = vars(kind).get(name) or getattr(kind, name, None)
        if callable(method) and not hasattr(method, "answers_lazily"):
            setattr(kind, name, _lazily(name, method))
    score = getattr(kind, "score", None)
    if callable(score) and not hasattr(score, "answers_lazily"):
        kind.score = _scored(score)  # type: ignore[attr-defined]  # it has one
    for name, member in _other_questions(kind):
        setattr(kind, name, member)


def answers_itself(method: F) -> F:
    """Mark a method that knows rows on devices, and models of them."""
    method.answers_lazily = True  # type: ignore[attr-defined]
    return method


def _other_questions(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield our public methods that are not wrapped yet, and properties that look like attributes, wrapped."""
    for name in dir(kind):
        if name in NO_QUESTIONS or name.startswith(PROTOCOL):
            continue
        member = getattr_static(kind, name)
        asked: Any = member.fget if isinstance(member, property) and name.endswith("_") else member
        is_ours = isinstance(asked, FunctionType) and asked.__module__.startswith("pellucid.")
        if is_ours and not hasattr(asked, "answers_lazily"):
            yield name, property(_on_host(name, asked)) if isinstance(member, property) else _on_host(name, asked)


def _on_host(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that a model fitted on a device answers on the host; numbers go back to where the model is."""
    takes_rows = [*signature(method).parameters][1:2] == ["X"]

    @functools.wraps(method)
    def answered(self: Any, *given: Any, **options: Any) -> Any:
        if takes_rows and is_on_device(given[0] if given else options.get("X")):
            from pellucid.core.device.device_fits import answer_there

            return answer_there(self, name, *given, **options)
        host = with_numpy(self)
        found = method(host, *given, **options)
        if host is self:
            return found
        from pellucid.core.device.places import beside

        return beside(self, found)

    answered.answers_lazily = True  # type: ignore[attr-defined]
    return answered


def _lazily(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def answered(self: Any, X: Any, *given: Any, **options: Any) -> Any:
        if is_on_device(X):
            from pellucid.core.device.device_fits import answer_there

            return answer_there(self, name, X, *given, **options)
        if is_in_blocks(X):
            own = getattr(self, "_answers_in_blocks", None)  # of a model that must read more than the row it is asked
            found = own(name, X) if own else None
            return _answers(getattr(self, name), X, given, options) if found is None else found
        return method(with_numpy(self), X, *given, **options)

    answered.answers_lazily = True  # type: ignore[attr-defined]
    return answered


def _scored(score: Callable[..., Any]) -> Callable[..., Any]:
    """Return a score that takes rows in blocks too: it is a number, so that it is computed at once, in one pass."""

    @functools.wraps(score)
    def scored(self: Any, X: Any, *given: Any, **options: Any) -> Any:
        if is_on_device(X):
            from pellucid.core.device.device_fits import score_there

            return score_there(self, X, *given, **options)
        if is_in_blocks(X):
            from pellucid.core.scale.block_scores import score_blocks

            return score_blocks(self, X, *given, **options)
        return score(with_numpy(self), X, *given, **options)

    scored.answers_lazily = True  # type: ignore[attr-defined]
    return scored


def with_numpy(model: Any) -> Any:
    """Return a model that answers for rows on the host: one that was fitted elsewhere is brought here."""
    if "backend_" not in vars(model):
        return model
    from pellucid.core.device.places import to_host

    return to_host(model)


def _answers(ask: Callable[..., Array], X: Any, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a Dask array of what ``ask`` says of each block; one row of zeros tells of what kind that is."""
    import dask.array

    if hasattr(X, "columns"):
        few = X._meta_nonempty.iloc[:1]
        like = np.asarray(ask(few.astype(np.float64, errors="ignore"), *given, **options))
        return X.map_partitions(_of_part, ask, given, options, meta=like[:0])
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    like = np.asarray(ask(np.zeros((1, X.shape[1]), dtype=X.dtype), *given, **options))
    columns = {"chunks": (X.chunks[0], like.shape[1:])} if like.ndim == 2 else {"drop_axis": 1}
    return dask.array.map_blocks(_of_part, X, ask, given, options, meta=like[:0], dtype=like.dtype, **columns)


def _of_part(part: Any, ask: Callable[..., Array], given: tuple[Any, ...], options: dict[str, Any]) -> Array:
    return np.asarray(ask(part, *given, **options))
