r"""The losses of learning row by row in NumPy: value, slope and convex conjugate.

.. math:: \ell^*(g) = \sup_f\, g f - \ell(f)

Every loss here is convex and at least 0, so :math:`\ell^*(0) = 0` at most, and slopes may be drawn towards 0 freely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy

from pellucid.core.types import Array

Function = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class RowLoss:
    """Functions of targets (+1 or -1) and of scores, or slopes for the conjugate."""

    value: Function
    slope: Function
    conjugate: Function
    lowest: float
    """The slopes times the targets that have a finite conjugate: from here ..."""
    highest: float
    """... to here."""

    def within(self, y: Array, slopes: Array) -> Array:
        """Return the nearest slopes that have a finite conjugate."""
        return np.asarray(y * np.clip(y * slopes, self.lowest, self.highest))


def row_loss(name: str, epsilon: float = 0.1) -> RowLoss:
    """Return the loss of this name in scikit-learn.

    Examples
    --------
    >>> hinge = row_loss("hinge")
    >>> hinge.value(np.array([1.0]), np.array([0.25]))
    array([0.75])
    """
    if name in ("hinge", "perceptron"):
        return _hinge(1.0 if name == "hinge" else 0.0)
    return {
        "squared_hinge": _squared_hinge,
        "modified_huber": _modified_huber,
        "log_loss": _logistic,
        "squared_error": lambda: _huber(np.inf),
        "huber": lambda: _huber(epsilon),
        "epsilon_insensitive": lambda: _insensitive(epsilon),
        "squared_epsilon_insensitive": lambda: _squared_insensitive(epsilon),
    }[name]()


def _hinge(width: float) -> RowLoss:
    return RowLoss(
        value=lambda y, f: np.maximum(width - y * f, 0.0),
        slope=lambda y, f: np.where(y * f <= width, -y, 0.0),
        conjugate=lambda y, g: width * y * g,
        lowest=-1.0,
        highest=0.0,
    )


def _squared_hinge() -> RowLoss:
    return RowLoss(
        value=lambda y, f: np.maximum(1.0 - y * f, 0.0) ** 2,
        slope=lambda y, f: -2.0 * y * np.maximum(1.0 - y * f, 0.0),
        conjugate=lambda y, g: y * g + g**2 / 4.0,
        lowest=-np.inf,
        highest=0.0,
    )


def _modified_huber() -> RowLoss:
    return RowLoss(
        value=lambda y, f: np.where(y * f >= -1.0, np.maximum(1.0 - y * f, 0.0) ** 2, -4.0 * y * f),
        slope=lambda y, f: -y * np.clip(2.0 * (1.0 - y * f), 0.0, 4.0),
        conjugate=lambda y, g: y * g + g**2 / 4.0,
        lowest=-4.0,
        highest=0.0,
    )


def _logistic() -> RowLoss:
    return RowLoss(
        value=lambda y, f: np.logaddexp(0.0, -y * f),
        slope=lambda y, f: -y * expit(-y * f),
        conjugate=lambda y, g: xlogy(-y * g, -y * g) + xlogy(1.0 + y * g, 1.0 + y * g),
        lowest=-1.0,
        highest=0.0,
    )


def _huber(width: float) -> RowLoss:
    def value(y: Array, f: Array) -> Array:
        inside = np.minimum(np.abs(f - y), width)
        return inside * (np.abs(f - y) - 0.5 * inside)

    return RowLoss(
        value=value,
        slope=lambda y, f: np.clip(f - y, -width, width),
        conjugate=lambda y, g: y * g + g**2 / 2.0,
        lowest=-width,
        highest=width,
    )


def _insensitive(width: float) -> RowLoss:
    return RowLoss(
        value=lambda y, f: np.maximum(np.abs(f - y) - width, 0.0),
        slope=lambda y, f: np.where(np.abs(f - y) > width, np.sign(f - y), 0.0),
        conjugate=lambda y, g: y * g + width * np.abs(g),
        lowest=-1.0,
        highest=1.0,
    )


def _squared_insensitive(width: float) -> RowLoss:
    return RowLoss(
        value=lambda y, f: np.maximum(np.abs(f - y) - width, 0.0) ** 2,
        slope=lambda y, f: 2.0 * np.sign(f - y) * np.maximum(np.abs(f - y) - width, 0.0),
        conjugate=lambda y, g: y * g + width * np.abs(g) + g**2 / 4.0,
        lowest=-np.inf,
        highest=np.inf,
    )
