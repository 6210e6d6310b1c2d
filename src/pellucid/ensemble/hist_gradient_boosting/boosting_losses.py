r"""The losses of boosting, each a value that answers what the rounds, early stopping and predictions ask.

Raw predictions are (n_outputs, n_samples); targets are numbers or class codes. Derivatives are taken row by row in
``gradient_kernels``, which knows a loss by its ``number``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logsumexp

from pellucid.core.types import Array
from pellucid.losses.classification_losses import LogisticLoss
from pellucid.losses.regression_losses import AbsoluteLoss, SquaredLoss


class BoostingLoss:
    """What most losses have in common: they are curved, their constant is a mean, and units are none of theirs."""

    number: ClassVar[int]
    n_outputs: int = 1
    level: float | None = None
    """Where there is no curvature to take a Newton step with: leaves are these quantiles of the residuals."""
    is_curved: ClassVar[bool] = True
    """Whether the second derivative differs from row to row."""
    power: ClassVar[int] = 0
    """By which power of it the loss grows with the unit of the target; 0 if it does not scale."""

    def of_rows(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        raise NotImplementedError

    def best_constant(self, y: Array, weight: Array) -> Array:
        """Return the raw prediction that fits all rows best, of shape (n_outputs,)."""
        raise NotImplementedError

    def predicted(self, raw: Array) -> Array:
        """Return what is predicted from raw predictions: numbers, or the probabilities of classes."""
        return raw[0]

    def complaint(self, y: Array) -> str:
        """Return why these targets cannot be learned, or nothing."""
        del y
        return ""


class SquaredError(BoostingLoss):
    """Half the squared error."""

    number, is_curved, power = 0, False, 2

    def of_rows(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return 0.5 * SquaredLoss().of(y, raw[0])

    def best_constant(self, y: Array, weight: Array) -> Array:
        """Return the mean."""
        return np.array([np.average(y, weights=weight)])


class _ByQuantile(BoostingLoss):
    """A loss made of two lines, whose minimum is a quantile."""

    level: float
    is_curved, power = False, 1

    def best_constant(self, y: Array, weight: Array) -> Array:
        """Return the quantile."""
        return np.array([weighted_quantile(y, weight, self.level)])


@dataclass(frozen=True)
class Pinball(_ByQuantile):
    """The loss of any quantile."""

    level: float

    number = 2

    def of_rows(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.where(y >= raw[0], self.level * (y - raw[0]), (1.0 - self.level) * (raw[0] - y))


class AbsoluteError(_ByQuantile):
    """The absolute error: twice the pinball loss of the median."""

    number, level = 1, 0.5

    def of_rows(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return AbsoluteLoss().of(y, raw[0])


class _Positive(BoostingLoss):
    """A loss whose predictions are exponentials of the raw ones."""

    def best_constant(self, y: Array, weight: Array) -> Array:
        """Return the logarithm of the mean."""
        return np.array([np.log(np.average(y, weights=weight))])

    def predicted(self, raw: Array) -> Array:
        """Return the exponentials."""
        return np.exp(raw[0])


class Poisson(_Positive):
    """Minus the log likelihood of a count, up to a constant."""

    number = 3

    def of_rows(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.exp(raw[0]) - y * raw[0]

    def complaint(self, y: Array) -> str:
        """Refuse counts below 0, and those that are all 0."""
        is_count = (y >= 0.0).all() and y.sum() > 0.0
        return "" if is_count else "loss='poisson' requires non-negative y and sum(y) > 0. Use another loss."


class Gamma(_Positive):
    """Minus the log likelihood of a gamma density, up to constants."""

    number = 4

    def of_rows(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return raw[0] + y * np.exp(-raw[0])

    def complaint(self, y: Array) -> str:
        """Refuse numbers that are not above 0."""
        return "" if (y > 0.0).all() else "loss='gamma' requires strictly positive y. Use another loss, or shift y."


class BinaryLogLoss(BoostingLoss):
    """The logistic loss of two classes, which have one score: the log odds of the second."""

    number = 5

    def of_rows(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return LogisticLoss().of(2.0 * y - 1.0, raw[0])

    def best_constant(self, y: Array, weight: Array) -> Array:
        """Return the log odds of the second class."""
        eps = 10 * np.finfo(np.float64).eps
        share = np.clip(np.average(y, weights=weight), eps, 1.0 - eps)
        return np.array([np.log(share / (1.0 - share))])

    def predicted(self, raw: Array) -> Array:
        """Return the probabilities, (n_samples, 2)."""
        share = expit(raw[0])
        return np.stack([1.0 - share, share], axis=1)


@dataclass(frozen=True)
class ClassLogLoss(BoostingLoss):
    """The logistic loss of more classes, which have a score each."""

    n_outputs: int

    number = 6

    def of_rows(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(logsumexp(raw, axis=0) - raw[y.astype(np.intp), np.arange(len(y))])

    def best_constant(self, y: Array, weight: Array) -> Array:
        """Return the logarithms of the shares of the classes, of mean 0."""
        eps = np.finfo(np.float64).eps
        shares = np.bincount(y.astype(np.intp), weights=weight, minlength=self.n_outputs) / weight.sum()
        logs = np.log(np.clip(shares, eps, 1.0 - eps))
        return np.asarray(logs - logs.mean())

    def predicted(self, raw: Array) -> Array:
        """Return the probabilities, (n_samples, n_classes)."""
        shares = np.exp(raw - raw.max(axis=0))
        return np.ascontiguousarray((shares / shares.sum(axis=0)).T)


def class_loss(n_classes: int) -> BoostingLoss:
    """Return the loss of so many classes."""
    return BinaryLogLoss() if n_classes <= 2 else ClassLogLoss(n_classes)


def regression_loss(name: str, quantile: float | None) -> BoostingLoss:
    """Return the loss of this name."""
    if name == "quantile":
        return Pinball(float(quantile or 0.0))
    plain = {"squared_error": SquaredError, "absolute_error": AbsoluteError, "poisson": Poisson, "gamma": Gamma}
    return plain[name]()


def weighted_quantile(values: Array, weight: Array, level: float) -> float:
    """Return the middle of the values that minimize the pinball loss; a weight of k means k equal values."""
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weight[order])
    goal = level * mass[-1]
    slack = 1e-12 * mass[-1]  # sums of weights are rounded
    low = min(int(np.searchsorted(mass, goal - slack)), len(values) - 1)
    high = min(int(np.searchsorted(mass, goal + slack, side="right")), len(values) - 1)
    return float(values[low] + (values[high] - values[low]) / 2.0)
