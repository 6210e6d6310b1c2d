"""Wrong versions of what a fitted model holds, and what the model then says."""

from __future__ import annotations

import copy
import inspect
import math
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

import pellucid
from pellucid.core.kinds.plain import Either, Flag, Kind, Nothing, Number, OneOf, Real, Whole

NUDGE = 1.001

ANSWERS = (
    *("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "decision_function", "transform"),
    *("outputs", "expected_costs", "confidence_interval", "prediction_interval", "kneighbors", "standard_errors"),
)
"""Methods that say something about the rows of X, or about the model."""


def changes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield wrong versions of a value: nudged, of the other sign, not a number, huge, in another order, rounded."""
    if isinstance(value, (bool, np.bool_)):
        yield "the other", not value
    elif isinstance(value, (int, np.integer)):
        yield "one more", type(value)(value + 1)
    elif isinstance(value, (float, np.floating)):
        for word, wrong in _number_changes(float(value)):
            yield word, type(value)(wrong) if abs(wrong) < 1e30 else wrong
    elif isinstance(value, str):
        yield "another text", value + "x"
    elif isinstance(value, np.ndarray):
        yield from _array_changes(value)
    elif sparse.issparse(value):
        for word, wrong in _array_changes(value.data):
            yield word, type(value)((wrong, value.indices, value.indptr), value.shape)
    elif isinstance(value, (list, tuple)) and len(value):
        for word, wrong in changes(value[-1]):
            yield f"last {word}", type(value)([*value[:-1], wrong])
        if not _same(value[0], value[-1]):
            yield "reversed", type(value)(reversed(value))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ((f"{key} {word}", {**value, key: wrong}) for word, wrong in changes(item))
        yield "with another entry", {**value, "other": 1.0}
    elif is_dataclass(value) or type(value).__module__.startswith("pellucid.probability"):
        yield from _part_changes(value)


def _number_changes(value: float) -> Iterator[tuple[str, float]]:
    if math.isfinite(value):
        yield "nudged", value * NUDGE if value else 0.001
        yield "negated", -value if value else -1.0
        yield "not a number", math.nan
    yield "huge", 1e200


def _array_changes(value: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    if not value.size:
        return
    if value.dtype.kind in "fiu":
        finite = np.argwhere(np.isfinite(value) & (value != 0))
        index = tuple(finite[-1]) if len(finite) else (0,) * value.ndim
        is_float = value.dtype.kind == "f"
        for word, wrong in _number_changes(float(value[index])) if is_float else (("one more", value[index] + 1),):
            copied = value.astype(np.float64) if abs(wrong) > 1e30 and is_float else value.copy()
            copied[index] = wrong
            yield word, copied
        if is_float and len(finite):
            yield "all nudged", (value * value.dtype.type(NUDGE))
            yield "all negated", -value
            with np.errstate(over="ignore"):
                rounded = value.astype(np.float16)
            if not _same(rounded.astype(value.dtype), value):
                yield "in half precision", rounded
    for axis in range(value.ndim):
        other = np.flip(value, axis).copy()
        if not _same(other, value):
            yield f"reversed along {axis}", other


def _part_changes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield copies of an object with one of its numbers changed."""
    names = [part.name for part in fields(value)] if is_dataclass(value) else list(vars(value))
    for name in names:
        for word, wrong in changes(getattr(value, name)):
            copied = copy.copy(value)
            object.__setattr__(copied, name, wrong)
            yield f"{name} {word}", copied


def other_values(domain: Kind, value: Any) -> Iterator[Any]:
    """Yield other values that a parameter may have."""
    for kind in domain.kinds if isinstance(domain, Either) else (domain,):
        if isinstance(kind, Nothing):
            yield from () if value is None else (None,)
        elif isinstance(kind, Flag):
            yield from (flag for flag in (True, False) if flag is not value)
        elif isinstance(kind, OneOf):
            yield from (option for option in kind.options if option != value)
        elif isinstance(kind, Whole):
            start = value if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else 1
            yield from (number for number in (start + 1, start * 3) if kind.fits(number))
        elif isinstance(kind, (Number, Real)):
            start = value if isinstance(value, float) and math.isfinite(value) else 0.3
            yield from (number for number in (start * 1.5, start * 20.0, start / 30.0) if kind.fits(number))


def answers(model: Any, X: Any) -> dict[str, Any]:
    """Return all that a model says about rows: arrays by method, or the kind of the error it ends in."""
    said: dict[str, Any] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name in ANSWERS:
            try:
                method = getattr(model, name)
                said[name] = method(X) if "X" in inspect.signature(method).parameters else method()
            except AttributeError:
                continue
            except Exception as error:  # a broken model may end in any error, and that is an answer too
                said[name] = type(error).__name__
    return said or {"labels_": getattr(model, "labels_", None)}  # clusters of the training rows, and of no others


def same_answers(ours: dict[str, Any], others: dict[str, Any], tolerance: float = 1e-9) -> bool:
    """Return whether two models say the same, up to a part of the largest number said."""
    return ours.keys() == others.keys() and all(_close(said, others[name], tolerance) for name, said in ours.items())


def _close(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(_close(a, b, tolerance) for a, b in zip(one, other, strict=True))
    one, other = (part.toarray() if sparse.issparse(part) else np.asarray(part) for part in (one, other))
    if one.shape != other.shape or one.dtype.kind not in "fiu" or other.dtype.kind not in "fiu":
        return _same(one, other)
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)):
        return False
    scale = np.abs(one[finite]).max(initial=0.0)
    return bool(np.abs(one[finite] - other[finite]).max(initial=0.0) <= tolerance * scale)


def _same(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    return bool(one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def objects(model: Any, X: Any, y: Any, **weights: Any) -> bool:
    """Return whether verify refuses a model, by a claim or by a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(pellucid.verify(model, X, y, **weights).failed)
        except (ValueError, TypeError, IndexError, NotImplementedError):
            return True
