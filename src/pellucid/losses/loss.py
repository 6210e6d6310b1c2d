r"""A loss: value, (sub)gradient, second derivative and convex conjugate of what a wrong answer costs.

Losses of a margin :math:`m = y\,f(x)` with :math:`y = \pm 1` judge a classifier; losses of a residual
:math:`r = f(x) - y` judge a regression. Either is a function :math:`\ell` of one number, with the conjugate

.. math:: \ell^*(s) = \sup_z\, s z - \ell(z)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from pellucid.core.types import Array, Data


class Loss(ABC):
    """A function of one number, vectorized."""

    name: ClassVar[str]
    is_convex: ClassVar[bool] = True
    is_smooth: ClassVar[bool] = False
    """Whether the derivative is continuous; where it jumps, ``gradient`` is one of the subgradients."""

    @property
    @abstractmethod
    def slope_range(self) -> tuple[float, float]:
        """The least and the largest slope whose conjugate is finite."""

    @abstractmethod
    def value(self, z: Data) -> Array:
        """Return the loss at each margin or residual."""

    @abstractmethod
    def gradient(self, z: Data) -> Array:
        """Return the derivative, or at a kink the subgradient of least size."""

    def gradient_below(self, z: Data) -> Array:
        """Return the derivative from the left: at a kink of a margin loss the steeper one."""
        return self.gradient(z)

    def curvature(self, z: Data) -> Array:
        """Return the second derivative, or where it jumps one of its values; 0 for losses made of lines."""
        return np.zeros_like(floats(z))

    @abstractmethod
    def conjugate(self, slope: Data) -> Array:
        """Return the conjugate of slopes in ``slope_range``."""


class MarginLoss(Loss):
    r"""A loss of the margin :math:`m = y\,f(x)`: wrong answers have negative margins."""

    def of(self, y: Data, score: Data) -> Array:
        r"""Return the loss of scores for labels of :math:`\pm 1`."""
        return self.value(_signs(y) * floats(score))

    def score_gradient(self, y: Data, score: Data) -> Array:
        """Return the derivative with respect to the score."""
        sign = _signs(y)
        return sign * self.gradient(sign * floats(score))

    def score_slope(self, y: Array, score: Array) -> Array:
        """Return the same, at a kink that of the smaller margin: what descent row by row follows."""
        return y * self.gradient_below(y * score)

    def score_conjugate(self, y: Array, slope: Array) -> Array:
        """Return the conjugate of the loss as a function of the score."""
        return self.conjugate(y * slope)

    def score_slopes_within(self, y: Array, slope: Array) -> Array:
        """Return the nearest slopes by the score that have a finite conjugate."""
        return np.asarray(y * np.clip(y * slope, *self.slope_range))


class ResidualLoss(Loss):
    r"""A loss of the residual :math:`r = f(x) - y`."""

    def of(self, y: Data, prediction: Data) -> Array:
        """Return the loss of predictions."""
        return self.value(floats(prediction) - floats(y))

    def score_slope(self, y: Array, score: Array) -> Array:
        """Return the derivative with respect to the prediction."""
        return self.gradient(score - y)

    def score_conjugate(self, y: Array, slope: Array) -> Array:
        """Return the conjugate of the loss as a function of the prediction."""
        return y * slope + self.conjugate(slope)

    def score_slopes_within(self, _y: Array, slope: Array) -> Array:
        """Return the nearest slopes that have a finite conjugate."""
        return np.clip(slope, *self.slope_range)


def floats(z: Data) -> Array:
    """Return an array of float64."""
    return np.asarray(z, dtype=np.float64)


def _signs(y: Data) -> Array:
    sign = floats(y)
    if not np.isin(sign, (-1.0, 1.0)).all():
        raise ValueError(f"y must hold -1 and 1, got {np.unique(sign)[:5]}. Recode it: 2 * (y == name) - 1.")
    return sign
