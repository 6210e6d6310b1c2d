r"""Losses: what a wrong answer costs, as objects with value and (sub)gradient.

Losses of a margin :math:`m = y\,f(x)` with :math:`y = \pm 1` judge a classifier; losses of a residual
:math:`r = f(x) - y` judge a regression; cross-entropy judges probabilities of several classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_softmax, softmax

from pellucid.core.checks import check_nonnegative
from pellucid.core.types import Array, Data


class Loss(ABC):
    """A function of one number, vectorized."""

    name: ClassVar[str]
    is_convex: ClassVar[bool] = True
    is_smooth: ClassVar[bool] = False
    """Whether the derivative is continuous; where it jumps, ``gradient`` is one of the subgradients."""

    @abstractmethod
    def value(self, z: Data) -> Array:
        """Return the loss at each margin or residual."""

    @abstractmethod
    def gradient(self, z: Data) -> Array:
        """Return the derivative, or at a kink the subgradient of least size."""


class MarginLoss(Loss):
    r"""A loss of the margin :math:`m = y\,f(x)`: wrong answers have negative margins."""

    def of(self, y: Data, score: Data) -> Array:
        r"""Return the loss of scores for labels of :math:`\pm 1`."""
        return self.value(_signs(y) * np.asarray(score, dtype=np.float64))

    def score_gradient(self, y: Data, score: Data) -> Array:
        """Return the derivative with respect to the score."""
        sign = _signs(y)
        return sign * self.gradient(sign * np.asarray(score, dtype=np.float64))


class ResidualLoss(Loss):
    r"""A loss of the residual :math:`r = f(x) - y`."""

    def of(self, y: Data, prediction: Data) -> Array:
        """Return the loss of predictions."""
        return self.value(np.asarray(prediction, dtype=np.float64) - np.asarray(y, dtype=np.float64))


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

    def value(self, z: Data) -> Array:
        """Return 1 for mistakes and ties."""
        return (_floats(z) <= 0).astype(np.float64)

    def gradient(self, z: Data) -> Array:
        """Return 0."""
        return np.zeros_like(_floats(z))


@dataclass(frozen=True)
class HingeLoss(MarginLoss):
    r""":math:`\max(0, 1 - m)`, the loss of support vector machines.

    Examples
    --------
    >>> HingeLoss().value([-1.0, 0.5, 2.0]), HingeLoss().gradient([-1.0, 0.5, 2.0])
    (array([2. , 0.5, 0. ]), array([-1., -1.,  0.]))
    """

    name: ClassVar[str] = "hinge"

    def value(self, z: Data) -> Array:
        """Return how far the margin is short of 1."""
        return np.maximum(0.0, 1.0 - _floats(z))

    def gradient(self, z: Data) -> Array:
        """Return -1 below a margin of 1, else 0."""
        return np.where(_floats(z) < 1.0, -1.0, 0.0)


@dataclass(frozen=True)
class SquaredHingeLoss(MarginLoss):
    r""":math:`\max(0, 1 - m)^2`: smooth, and harder on large mistakes."""

    name: ClassVar[str] = "squared hinge"
    is_smooth: ClassVar[bool] = True

    def value(self, z: Data) -> Array:
        """Return the squared shortfall."""
        return np.square(np.maximum(0.0, 1.0 - _floats(z)))

    def gradient(self, z: Data) -> Array:
        """Return minus twice the shortfall."""
        return -2.0 * np.maximum(0.0, 1.0 - _floats(z))


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

    def value(self, z: Data) -> Array:
        """Return the loss in nats."""
        return np.logaddexp(0.0, -_floats(z))

    def gradient(self, z: Data) -> Array:
        """Return minus the probability of the wrong class."""
        return -np.asarray(expit(-_floats(z)))


@dataclass(frozen=True)
class PerceptronLoss(MarginLoss):
    r""":math:`\max(0, -m)`: what the perceptron minimizes, one mistake at a time."""

    name: ClassVar[str] = "perceptron"

    def value(self, z: Data) -> Array:
        """Return how far the margin is below 0."""
        return np.maximum(0.0, -_floats(z))

    def gradient(self, z: Data) -> Array:
        """Return -1 for mistakes, else 0."""
        return np.where(_floats(z) < 0.0, -1.0, 0.0)


@dataclass(frozen=True)
class SquaredLoss(ResidualLoss):
    r""":math:`r^2`: the mean is best."""

    name: ClassVar[str] = "squared"
    is_smooth: ClassVar[bool] = True

    def value(self, z: Data) -> Array:
        """Return the square."""
        return np.square(_floats(z))

    def gradient(self, z: Data) -> Array:
        """Return twice the residual."""
        return 2.0 * _floats(z)


@dataclass(frozen=True)
class AbsoluteLoss(ResidualLoss):
    r""":math:`|r|`: the median is best."""

    name: ClassVar[str] = "absolute"

    def value(self, z: Data) -> Array:
        """Return the size."""
        return np.abs(_floats(z))

    def gradient(self, z: Data) -> Array:
        """Return the sign; 0 at the kink."""
        return np.sign(_floats(z))


@dataclass(frozen=True)
class EpsilonInsensitiveLoss(ResidualLoss):
    r""":math:`\max(0, |r| - \varepsilon)`, the loss of support vector regression: small residuals are free."""

    epsilon: float = 0.1

    name: ClassVar[str] = "epsilon-insensitive"

    def __post_init__(self) -> None:
        check_nonnegative(epsilon=self.epsilon)

    def value(self, z: Data) -> Array:
        """Return the size beyond the tube."""
        return np.maximum(0.0, np.abs(_floats(z)) - self.epsilon)

    def gradient(self, z: Data) -> Array:
        """Return the sign outside the tube, else 0."""
        residual = _floats(z)
        return np.where(np.abs(residual) > self.epsilon, np.sign(residual), 0.0)


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


MARGIN_LOSSES: tuple[MarginLoss, ...] = (
    ZeroOneLoss(),
    PerceptronLoss(),
    HingeLoss(),
    SquaredHingeLoss(),
    LogisticLoss(),
)
RESIDUAL_LOSSES: tuple[ResidualLoss, ...] = (SquaredLoss(), AbsoluteLoss(), EpsilonInsensitiveLoss())


def _floats(z: Data) -> Array:
    return np.asarray(z, dtype=np.float64)


def _signs(y: Data) -> Array:
    sign = _floats(y)
    if not np.isin(sign, (-1.0, 1.0)).all():
        raise ValueError(f"y must hold -1 and 1, got {np.unique(sign)[:5]}. Recode it: 2 * (y == name) - 1.")
    return sign


def _checked_scores(scores: Data, y: Data) -> tuple[Array, Array]:
    scores, y = _floats(scores), np.asarray(y)
    if scores.ndim != 2 or y.shape != scores.shape[:1]:
        raise ValueError(f"scores and y must have shapes (n, n_classes) and (n,), got {scores.shape} and {y.shape}.")
    if y.dtype.kind not in "iu" or (y < 0).any() or (y >= scores.shape[1]).any():
        raise ValueError(f"y must hold class numbers from 0 to {scores.shape[1] - 1}, got {np.unique(y)[:5]}.")
    return scores, y
