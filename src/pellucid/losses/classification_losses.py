"""Losses of classifiers: of a margin, and cross-entropy of the scores of several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_softmax, softmax, xlogy

from pellucid.core.types import Array, Data
from pellucid.losses.loss import MarginLoss, floats


@dataclass(frozen=True)
class ZeroOneLoss(MarginLoss):
    r""":math:`[m \le 0]`: it counts mistakes. Its derivative is 0 wherever there is one, so nothing can follow it.

    Examples
    --------
    >>> ZeroOneLoss().value([-2.0, 0.0, 0.5])
    array([1., 1., 0.])
    """

    name: ClassVar[str] = "zero-one"
    is_convex: ClassVar[bool] = False
    slope_range: ClassVar[tuple[float, float]] = (0.0, 0.0)

    def value(self, z: Data) -> Array:
        """Return 1 for mistakes and ties."""
        return (floats(z) <= 0).astype(np.float64)

    def gradient(self, z: Data) -> Array:
        """Return 0."""
        return np.zeros_like(floats(z))

    def conjugate(self, slope: Data) -> Array:
        """Return 0."""
        return np.zeros_like(floats(slope))


class _ShortfallLoss(MarginLoss):
    """What the margin is short of a corner."""

    corner: ClassVar[float]
    slope_range: ClassVar[tuple[float, float]] = (-1.0, 0.0)

    def value(self, z: Data) -> Array:
        """Return how far the margin is short of the corner."""
        return np.maximum(0.0, self.corner - floats(z))

    def gradient(self, z: Data) -> Array:
        """Return -1 below the corner, else 0."""
        return np.where(floats(z) < self.corner, -1.0, 0.0)

    def gradient_below(self, z: Data) -> Array:
        """Return -1 up to the corner, else 0."""
        return np.where(floats(z) <= self.corner, -1.0, 0.0)

    def conjugate(self, slope: Data) -> Array:
        """Return the slope times the corner."""
        return self.corner * floats(slope)


@dataclass(frozen=True)
class HingeLoss(_ShortfallLoss):
    r""":math:`\max(0, 1 - m)`, the loss of support vector machines.

    Examples
    --------
    >>> HingeLoss().value([-1.0, 0.5, 2.0]), HingeLoss().gradient([-1.0, 0.5, 2.0])
    (array([2. , 0.5, 0. ]), array([-1., -1.,  0.]))
    """

    name: ClassVar[str] = "hinge"
    corner: ClassVar[float] = 1.0


@dataclass(frozen=True)
class PerceptronLoss(_ShortfallLoss):
    r""":math:`\max(0, -m)`: what the perceptron minimizes, one mistake at a time."""

    name: ClassVar[str] = "perceptron"
    corner: ClassVar[float] = 0.0


@dataclass(frozen=True)
class SquaredHingeLoss(MarginLoss):
    r""":math:`\max(0, 1 - m)^2`: smooth, and harder on large mistakes."""

    name: ClassVar[str] = "squared hinge"
    is_smooth: ClassVar[bool] = True
    slope_range: ClassVar[tuple[float, float]] = (-np.inf, 0.0)

    def value(self, z: Data) -> Array:
        """Return the squared shortfall."""
        return np.square(np.maximum(0.0, 1.0 - floats(z)))

    def gradient(self, z: Data) -> Array:
        """Return minus twice the shortfall."""
        return -2.0 * np.maximum(0.0, 1.0 - floats(z))

    def curvature(self, z: Data) -> Array:
        """Return 2 below a margin of 1, else 0."""
        return np.where(floats(z) < 1.0, 2.0, 0.0)

    def conjugate(self, slope: Data) -> Array:
        """Return ``s + s^2 / 4``."""
        return floats(slope) + np.square(floats(slope)) / 4.0


@dataclass(frozen=True)
class ModifiedHuberLoss(SquaredHingeLoss):
    r"""The squared hinge, straight below a margin of -1: outliers weigh less."""

    name: ClassVar[str] = "modified Huber"
    slope_range: ClassVar[tuple[float, float]] = (-4.0, 0.0)

    def value(self, z: Data) -> Array:
        """Return the squared shortfall, or ``-4 m`` below -1."""
        return np.where(floats(z) >= -1.0, super().value(z), -4.0 * floats(z))

    def gradient(self, z: Data) -> Array:
        """Return minus twice the shortfall, but no less than -4."""
        return np.maximum(super().gradient(z), -4.0)

    def curvature(self, z: Data) -> Array:
        """Return 2 between the margins -1 and 1, else 0."""
        return np.where(np.abs(floats(z)) < 1.0, 2.0, 0.0)


@dataclass(frozen=True)
class LogisticLoss(MarginLoss):
    r""":math:`\log(1 + e^{-m})`, minus the log likelihood of logistic regression, safe for any margin.

    Examples
    --------
    >>> LogisticLoss().value([-1000.0, 0.0, 1000.0])
    array([1.00000000e+03, 6.93147181e-01, 0.00000000e+00])
    """

    name: ClassVar[str] = "logistic"
    is_smooth: ClassVar[bool] = True
    slope_range: ClassVar[tuple[float, float]] = (-1.0, 0.0)

    def value(self, z: Data) -> Array:
        """Return the loss in nats."""
        return np.logaddexp(0.0, -floats(z))

    def gradient(self, z: Data) -> Array:
        """Return minus the probability of the wrong class."""
        return -np.asarray(expit(-floats(z)))

    def curvature(self, z: Data) -> Array:
        """Return the product of the probabilities of both classes."""
        return np.asarray(expit(floats(z)) * expit(-floats(z)))

    def conjugate(self, slope: Data) -> Array:
        """Return minus the entropy of the slope's probabilities."""
        wrong = -floats(slope)
        return np.asarray(xlogy(wrong, wrong) + xlogy(1.0 - wrong, 1.0 - wrong))


@dataclass(frozen=True)
class CrossEntropyLoss:
    r""":math:`-\log p_y` with :math:`p = \mathrm{softmax}(z)`, for scores of several classes.

    Examples
    --------
    >>> loss = CrossEntropyLoss()
    >>> loss.value([[0.0, 0.0], [0.0, 1e4]], [0, 0])  # log 2, and no overflow
    array([6.93147181e-01, 1.00000000e+04])
    >>> loss.gradient([[0.0, 0.0]], [0])  # p less the one-hot target
    array([[-0.5,  0.5]])
    """

    name: ClassVar[str] = "cross-entropy"
    is_convex: ClassVar[bool] = True
    is_smooth: ClassVar[bool] = True

    def value(self, scores: Data, y: Data) -> Array:
        """Return the loss of each row of scores of shape (n, n_classes), for class numbers ``y``."""
        scores, y = _checked_scores(scores, y)
        return -np.asarray(log_softmax(scores, axis=1))[np.arange(len(y)), y]

    def gradient(self, scores: Data, y: Data) -> Array:
        """Return the derivatives with respect to the scores, of the same shape."""
        scores, y = _checked_scores(scores, y)
        slope = np.asarray(softmax(scores, axis=1))
        slope[np.arange(len(y)), y] -= 1.0
        return slope


def _checked_scores(scores: Data, y: Data) -> tuple[Array, Array]:
    scores, y = floats(scores), np.asarray(y)
    if scores.ndim != 2 or y.shape != scores.shape[:1]:
        raise ValueError(f"scores and y must have shapes (n, n_classes) and (n,), got {scores.shape} and {y.shape}.")
    if y.dtype.kind not in "iu" or (y < 0).any() or (y >= scores.shape[1]).any():
        raise ValueError(f"y must hold class numbers from 0 to {scores.shape[1] - 1}, got {np.unique(y)[:5]}.")
    return scores, y
