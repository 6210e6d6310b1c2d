"""The equations (A'A + rho) v = b, which every method that splits a problem in two has to solve in each turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.core.types import Array
from pellucid.vision.restoration.operators import Mask, Operator

Solver = Callable[[Array, Array], Array]
"""``(b, first guess)`` -> v; a closed form has no use for the guess."""


def shifted_solver(
    operator: Operator, shape: tuple[int, ...], rho: float, max_steps: int, tolerance: float = 0.0
) -> Solver:
    """Return the function that solves (A'A + rho) v = b: pixel by pixel, frequency by frequency, or step by step.

    Conjugate gradients take ``max_steps``, or fewer where the residual falls to ``tolerance`` of b.

    Examples
    --------
    >>> from pellucid.vision.restoration import Identity
    >>> shifted_solver(Identity(), (1, 1), 0.5, 1)(np.array([[3.0]]), np.array([[0.0]]))
    array([[2.]])
    """
    if isinstance(operator, Mask):
        diagonal = np.where(operator.missing, rho, 1.0 + rho)
        return lambda b, _guess: b / diagonal
    spectrum = operator.spectrum((shape[0], shape[1]))
    if spectrum is not None:
        power = np.abs(spectrum.values) ** 2 + rho
        return lambda b, _guess: spectrum.image(spectrum.coefficients(b) / power)

    def normal(v: Array) -> Array:
        return operator.adjoint(operator.apply(v)) + rho * v

    def conjugate_gradients(b: Array, v: Array) -> Array:
        enough = tolerance**2 * float(np.vdot(b, b))
        residual = b - normal(v)
        direction, square = residual, float(np.vdot(residual, residual))
        for _ in range(max_steps):
            if square <= enough:
                break
            image = normal(direction)
            step = square / float(np.vdot(direction, image))
            v = v + step * direction
            residual = residual - step * image
            square, before = float(np.vdot(residual, residual)), square
            direction = residual + (square / before) * direction
        return v

    return conjugate_gradients
