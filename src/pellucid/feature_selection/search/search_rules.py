"""What the parameters of a search mean: where it starts, how far it goes, what it chooses."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

BEYOND = 2
"""Sizes that a floating search goes beyond the one wanted: on its way back it may find a better set of that size."""


def holds_numbers(y: Any) -> bool:
    """Return whether a target is one of numbers, floats, rather than of labels."""
    return np.asarray(y).dtype.kind == "f"


def is_floating(parameters: Any) -> bool:
    """Return whether these are parameters of a FloatingSelector, which chooses among all sets it has seen."""
    return hasattr(parameters, "max_features")


def sequential_steps(parameters: Any, d: int) -> tuple[int, float | None]:
    """Return how many steps a plain search takes at most, and what the last must gain, as in scikit-learn."""
    wanted, is_forward = parameters.n_features_to_select, not starts_from_all(parameters)
    if wanted == "auto":
        return (d // 2, None) if parameters.tol is None else (d - 1, float(parameters.tol))
    size = int(wanted) if isinstance(wanted, Integral) else int(d * wanted)
    return (size if is_forward else d - size), None


def floating_goal(parameters: Any, d: int) -> tuple[int | str, int]:
    """Return what set is wanted, a size or a rule, and the size at which the search ends."""
    wanted, grows = parameters.n_features_to_select, not starts_from_all(parameters)
    if isinstance(wanted, str):
        return wanted, (d if parameters.max_features is None else int(parameters.max_features)) if grows else 1
    size = int(wanted) if isinstance(wanted, Integral) else max(1, int(d * wanted))
    beyond = BEYOND if parameters.direction.startswith("floating") else 0
    return size, min(d, size + beyond) if grows else max(1, size - beyond)


def starts_from_all(parameters: Any) -> bool:
    """Return whether a search begins with all columns."""
    direction = parameters.direction
    return bool(direction.endswith("backward") or (direction == "add-remove" and parameters.remove > parameters.add))
