"""Forged models: many attributes changed together, as somebody would who knows how they belong to each other.

Each forgery has a kind, the name of what it does, as in ``MethodCard.free``:

- *order*: parts (clusters, components, classes) in another order, in all attributes and in the labels;
- *rotation*: two parts turned into each other, in every table that has them;
- *sign*: one part of the other sign in every table that has it;
- *scale*: a part doubled in one table and halved in another;
- *exchange*: two parts exchanged in all attributes, and not in the labels;
- *part*: the last part dropped from all attributes, with what counts parts lowered;
- *few rows*: what one training row alone has, a label or a place, changed.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.cards import MethodCard

Forgery = tuple[str, str, Any]
"""Kind, words for what was changed, and the forged model."""

ROWS, COLUMNS = "n_samples", "n_features"
ANGLE = np.pi / 6


class Axis(NamedTuple):
    """One axis of an attribute; that of a list is its length."""

    name: str
    axis: int


def forgeries(card: MethodCard, model: Any, X: Any) -> Iterator[Forgery]:
    """Yield forged versions of a fitted model."""
    groups = axes_by_size(card, model, X)
    for size, axes in groups.items():
        if size not in (ROWS, COLUMNS):
            yield from _forged_parts(model, axes, _length(model, axes[0]))
    yield from _forged_rows(model, groups.get(ROWS, []))


def axes_by_size(card: MethodCard, model: Any, X: Any) -> dict[str, list[Axis]]:
    """Return the axes of the fitted attributes that belong together: of one name on the card, or of one length."""
    groups: dict[str, list[Axis]] = defaultdict(list)
    for name, kind in card.attributes.items():
        value = getattr(model, name, None)
        dims = getattr(getattr(kind, "kind", kind), "dims", None)
        if isinstance(value, (list, tuple)) and len(value):
            groups[_size_name(len(value), 0, 1, X)].append(Axis(name, 0))
        elif isinstance(value, np.ndarray):
            for axis, length in enumerate(value.shape):
                named = dims[axis] if dims and isinstance(dims[axis], str) and length != X.shape[0] else None
                groups[named or _size_name(length, axis, value.ndim, X)].append(Axis(name, axis))
    _join_names_of_one_length(groups, model)
    return groups


def _size_name(length: int, axis: int, n_axes: int, X: Any) -> str:
    if length == X.shape[0]:
        return ROWS
    return COLUMNS if length == X.shape[1] and axis == n_axes - 1 else f"length {length}"


def _join_names_of_one_length(groups: dict[str, list[Axis]], model: Any) -> None:
    """Put axes without a name to those of a name on the card that have the same length."""
    named = {_length(model, axes[0]): name for name, axes in groups.items() if not name.startswith("length ")}
    for name in [name for name in groups if name.startswith("length ")]:
        known = named.get(int(name.removeprefix("length ")))
        if known not in (None, ROWS, COLUMNS):
            groups[known] += groups.pop(name)


def _length(model: Any, axis: Axis) -> int:
    value = getattr(model, axis.name)
    return value.shape[axis.axis] if isinstance(value, np.ndarray) else len(value)


def _forged_parts(model: Any, axes: list[Axis], n: int) -> Iterator[Forgery]:
    if n < 2:
        return
    backward = np.arange(n)[::-1]
    words = ", ".join(sorted({axis.name for axis in axes}))
    yield "order", f"{words} reversed", _taken(model, axes, backward, labels=True)
    yield "part", f"the last of {n} dropped: {words}", _taken(model, axes, np.arange(n - 1), labels=True, count=n)
    exchanged = np.arange(n)
    exchanged[[0, 1]] = 1, 0
    if _labels_of(model, n) is not None:
        yield "exchange", f"two of {words}", _taken(model, axes, exchanged, labels=False)
    tables = [axis for axis in axes if _is_table(getattr(model, axis.name))]
    if not tables:
        return
    for some in [tables, *map(list, combinations(tables, 2))] if len(tables) > 2 else [tables]:
        words = ", ".join(sorted({axis.name for axis in some}))
        yield "order", f"{words} reversed, no others", _taken(model, some, backward, labels=False)
        yield "sign", f"last of {words}", _multiplied(model, some, _diagonal(n, n - 1, -1.0))
        for first in {0, n - 2}:
            yield "rotation", f"parts {first} and {first + 1} of {words}", _multiplied(model, some, _turn(n, first))
    for one, other in permutations(tables, 2):
        if one.name != other.name:
            doubled = _multiplied(model, [one], _diagonal(n, n - 1, 2.0))
            yield (
                "scale",
                f"{one.name} doubled, {other.name} halved",
                _multiplied(doubled, [other], _diagonal(n, n - 1, 0.5)),
            )


def _is_table(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind == "f"


def _labels_of(model: Any, n: int) -> Any:
    """Return the labels of the training rows, where they name one of so many parts."""
    labels = getattr(model, "labels_", None)
    is_number = isinstance(labels, np.ndarray) and labels.dtype.kind == "i" and len(labels) > 0
    return labels if is_number and labels.max() < n else None


def _taken(model: Any, axes: list[Axis], order: np.ndarray, *, labels: bool, count: int | None = None) -> Any:
    """Return the model with these parts in this order; labels follow, counts of ``count`` parts too if asked."""
    forged = copy.copy(model)
    for name, axis in axes:
        value = getattr(forged, name)
        is_array = isinstance(value, np.ndarray)
        setattr(forged, name, np.take(value, order, axis=axis) if is_array else type(value)(value[k] for k in order))
    old = _labels_of(model, len(order) + (count is not None)) if labels else None
    if old is not None:
        place = np.zeros(old.max() + 2, old.dtype)  # the last is for rows without a label
        place[order[order <= old.max()]] = np.flatnonzero(order <= old.max())
        place[-1] = -1
        forged.labels_ = place[old]
    if count is not None:
        for name, value in list(vars(model).items()):
            if name.endswith("_") and type(value) is int and value == count:
                setattr(forged, name, value - 1)
    return forged


def _multiplied(model: Any, axes: list[Axis], matrix: np.ndarray) -> Any:
    """Return the model with the parts of these tables mixed by a matrix."""
    forged = copy.copy(model)
    for name, axis in axes:
        value = getattr(forged, name)
        with np.errstate(all="ignore"):  # log probabilities may be infinite
            mixed = np.moveaxis(np.tensordot(matrix, value.astype(np.float64), axes=(1, axis)), 0, axis)
        setattr(forged, name, np.ascontiguousarray(mixed, dtype=value.dtype))
    return forged


def _diagonal(n: int, place: int, factor: float) -> np.ndarray:
    matrix = np.eye(n)
    matrix[place, place] = factor
    return matrix


def _turn(n: int, first: int) -> np.ndarray:
    matrix, pair = np.eye(n), slice(first, first + 2)
    matrix[pair, pair] = [[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]]
    return matrix


def _forged_rows(model: Any, axes: list[Axis]) -> Iterator[Forgery]:
    """Yield models in which one row has another label, or a place a little farther off."""
    rng = np.random.default_rng()
    for name, axis in axes:
        value = getattr(model, name)
        if not isinstance(value, np.ndarray) or (value.ndim > 1 and value.shape[0] == value.shape[-1]):
            continue
        forged, row = copy.copy(model), int(rng.integers(value.shape[axis]))
        changed = np.moveaxis(value.copy(), axis, 0)
        if value.dtype.kind == "f":
            changed[row] += 0.1 * (np.std(value) or 1.0)
        elif value.dtype.kind in "iu" and len(np.unique(value)) > 1:
            changed[row] = np.where(changed[row] == value.min(), value.max(), value.min())
        else:
            continue
        setattr(forged, name, np.ascontiguousarray(np.moveaxis(changed, 0, axis)))
        yield "few rows", f"{name} of row {row}", forged
