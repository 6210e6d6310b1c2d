"""Losses of a residual, the prediction less the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pellucid.core.checks import check_nonnegative
from pellucid.core.types import Array, Data
from pellucid.losses.loss import ResidualLoss, floats


@dataclass(frozen=True)
class SquaredLoss(ResidualLoss):
    r""":math:`r^2`: the mean is best."""

    name: ClassVar[str] = "squared"
    is_smooth: ClassVar[bool] = True
    slope_range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    def value(self, z: Data) -> Array:
        """Return the square."""
        return np.square(floats(z))

    def gradient(self, z: Data) -> Array:
        """Return twice the residual."""
        return 2.0 * floats(z)

    def curvature(self, z: Data) -> Array:
        """Return 2."""
        return np.full_like(floats(z), 2.0)

    def conjugate(self, slope: Data) -> Array:
        """Return a quarter of the square."""
        return np.square(floats(slope)) / 4.0


@dataclass(frozen=True)
class EpsilonInsensitiveLoss(ResidualLoss):
    r""":math:`\max(0, |r| - \varepsilon)`, the loss of support vector regression: small residuals are free."""

    epsilon: float = 0.1
    r"""Half the width :math:`\varepsilon` of the tube, at least 0: residuals up to it are free."""

    name: ClassVar[str] = "epsilon-insensitive"
    slope_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def __post_init__(self) -> None:
        check_nonnegative(epsilon=self.epsilon)

    def value(self, z: Data) -> Array:
        """Return the size beyond the tube."""
        return np.maximum(0.0, np.abs(floats(z)) - self.epsilon)

    def gradient(self, z: Data) -> Array:
        """Return the sign outside the tube, else 0."""
        residual = floats(z)
        return np.where(np.abs(residual) > self.epsilon, np.sign(residual), 0.0)

    def conjugate(self, slope: Data) -> Array:
        """Return the size of the slope times that of the tube."""
        return self.epsilon * np.abs(floats(slope))


@dataclass(frozen=True)
class AbsoluteLoss(ResidualLoss):
    r""":math:`|r|`: the median is best."""

    name: ClassVar[str] = "absolute"
    slope_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def value(self, z: Data) -> Array:
        """Return the size."""
        return np.abs(floats(z))

    def gradient(self, z: Data) -> Array:
        """Return the sign; 0 at the kink."""
        return np.sign(floats(z))

    def conjugate(self, slope: Data) -> Array:
        """Return 0."""
        return np.zeros_like(floats(slope))


@dataclass(frozen=True)
class SquaredEpsilonInsensitiveLoss(EpsilonInsensitiveLoss):
    r""":math:`\max(0, |r| - \varepsilon)^2`, with the tube of :class:`EpsilonInsensitiveLoss`."""

    name: ClassVar[str] = "squared epsilon-insensitive"
    is_smooth: ClassVar[bool] = True
    slope_range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    def value(self, z: Data) -> Array:
        """Return the squared size beyond the tube."""
        return np.square(super().value(z))

    def gradient(self, z: Data) -> Array:
        """Return twice what is beyond the tube."""
        return 2.0 * np.sign(floats(z)) * super().value(z)

    def curvature(self, z: Data) -> Array:
        """Return 2 outside the tube, else 0."""
        return np.where(np.abs(floats(z)) > self.epsilon, 2.0, 0.0)

    def conjugate(self, slope: Data) -> Array:
        """Return the conjugate of the tube, and a quarter of the square."""
        return super().conjugate(slope) + np.square(floats(slope)) / 4.0


@dataclass(frozen=True)
class HuberLoss(ResidualLoss):
    r""":math:`\tfrac12 r^2` up to :math:`|r| = \varepsilon`, straight beyond; infinite epsilon: half the square."""

    epsilon: float = 0.1
    r"""The size :math:`\varepsilon` of a residual at which the line begins, at least 0 or infinite."""

    name: ClassVar[str] = "Huber"
    is_smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.epsilon != np.inf:
            check_nonnegative(epsilon=self.epsilon)

    @property
    def slope_range(self) -> tuple[float, float]:
        """Epsilon, on both sides."""
        return -self.epsilon, self.epsilon

    def value(self, z: Data) -> Array:
        """Return half the square, or the line beyond."""
        size = np.abs(floats(z))
        inside = np.minimum(size, self.epsilon)
        return inside * (size - 0.5 * inside)

    def gradient(self, z: Data) -> Array:
        """Return the residual, but no more than epsilon."""
        return np.clip(floats(z), *self.slope_range)

    def curvature(self, z: Data) -> Array:
        """Return 1 up to epsilon, else 0."""
        return np.where(np.abs(floats(z)) <= self.epsilon, 1.0, 0.0)

    def conjugate(self, slope: Data) -> Array:
        """Return half the square."""
        return np.square(floats(slope)) / 2.0
