"""Losses of one score, for compiled loops. Arguments are scalars that the caller has checked."""

# mypy: allow-untyped-defs

import math

from pellucid.solvers.compiling_kernels import kept


@kept
def loss_and_slope(loss, width, y, score):
    """Return the loss of a score and its derivative; ``y`` is +1 or -1, ``loss`` one of ``LOSS_NUMBERS``."""
    z = y * score
    gap = width - z
    error = score - y
    beyond = abs(error) - width
    if loss == 0:  # hinge, and the perceptron with width 0
        return (gap, -y) if gap >= 0.0 else (0.0, 0.0)
    if loss == 1:
        return (gap * gap, -2.0 * y * gap) if gap > 0.0 else (0.0, 0.0)
    if loss == 2:  # modified Huber
        if z >= 1.0:
            return 0.0, 0.0
        return ((1.0 - z) * (1.0 - z), -2.0 * y * (1.0 - z)) if z >= -1.0 else (-4.0 * z, -4.0 * y)
    if loss == 3:  # logistic; the exponential never overflows
        small = math.exp(-abs(z))
        value = math.log1p(small) + max(-z, 0.0)
        return value, -y * (small if z > 0.0 else 1.0) / (1.0 + small)
    if loss == 4:
        return 0.5 * error * error, error
    if loss == 5:  # Huber
        if beyond <= 0.0:
            return 0.5 * error * error, error
        return width * (abs(error) - 0.5 * width), math.copysign(width, error)
    if beyond <= 0.0:
        return 0.0, 0.0
    if loss == 6:
        return beyond, math.copysign(1.0, error)
    return beyond * beyond, math.copysign(2.0 * beyond, error)
