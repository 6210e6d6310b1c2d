"""What frozen objects that hold arrays need: setting a checked value once, and equality by value."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from pellucid.core.types import Array, Data


class EqualByValue:
    """Base of frozen dataclasses with array fields, declared with ``eq=False``: equal if all fields are."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(_values(self), _values(other), strict=True))

    def __hash__(self) -> int:
        return hash((type(self).__name__, *(np.asarray(value).tobytes() for value in _values(self))))


def set_fields(frozen: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass, in its ``__post_init__``; arrays become read-only."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(frozen, name, value)


def finite_array(name: str, values: Data, ndim: int) -> Array:
    """Return a float64 copy of a parameter, or refuse one of another dimension or with NaN or infinity."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)} and entries, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]!r}.")
    return array


def _values(frozen: Any) -> list[Any]:
    return [getattr(frozen, field.name) for field in fields(frozen)]
