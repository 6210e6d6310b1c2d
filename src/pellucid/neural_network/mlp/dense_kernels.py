"""Loops over all weights, or all values of a layer, each in one pass; arguments are checked arrays and scalars."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import ANY_ORDER, LEAN, kept


@kept(**LEAN, fastmath=ANY_ORDER)
def keep_where_positive(values, from_above, zero, one):
    """Set entries of one vector to 0 where those of the other are not above 0, in place. O(size).

    A product, where a choice would do, becomes vector instructions: 12 times as fast.
    """
    for i in range(values.shape[0]):
        from_above[i] = from_above[i] * (one if values[i] > zero else zero)


@kept(**LEAN, fastmath=ANY_ORDER)
def add_and_rectify(Z, intercept, zero):
    """Add a layer's intercepts to its inputs and take the positive part, in place. O(size)."""
    for i in range(Z.shape[0]):
        row = Z[i]
        for j in range(intercept.shape[0]):
            value = row[j] + intercept[j]
            row[j] = value if value > zero else zero


@kept(**LEAN)
def softmax_and_losses(Z, Y, losses, zero):
    """Turn scores into probabilities, in place, and write the negative log likelihood of each row. O(size)."""
    for i in range(Z.shape[0]):
        row, truth = Z[i], Y[i]
        largest = row[0]
        for c in range(1, row.shape[0]):
            largest = max(largest, row[c])
        total, score = zero, zero
        for c in range(row.shape[0]):
            below = row[c] - largest
            score += truth[c] * below
            row[c] = np.exp(below)
            total += row[c]
        losses[i] = np.log(total) - score
        for c in range(row.shape[0]):
            row[c] /= total


@kept(**LEAN, fastmath=ANY_ORDER)
def adam_update(weights, mean, squares, gradient, scale, penalty, rate, beta_1, beta_2, rest_1, rest_2, epsilon):
    """Move weights by one step of Adam, in place; return the sum of their squares before it. O(size).

    The gradient is ``scale * (gradient + penalty * weights)``; ``rest_1`` and ``rest_2`` are what the betas leave of 1;
    ``rate`` is already corrected for the means having started at 0.
    """
    squares_sum = weights.dtype.type(0)
    for i in range(weights.shape[0]):
        weight = weights[i]
        squares_sum += weight * weight
        slope = scale * (gradient[i] + penalty * weight)
        first = beta_1 * mean[i] + rest_1 * slope
        second = beta_2 * squares[i] + rest_2 * slope * slope
        mean[i], squares[i] = first, second
        weights[i] = weight - rate * first / (np.sqrt(second) + epsilon)
    return squares_sum


@kept(**LEAN, fastmath=ANY_ORDER)
def momentum_update(weights, velocity, gradient, scale, penalty, rate, momentum, looks_ahead):
    """Move weights by one step with momentum, in place; return the sum of their squares before it. O(size).

    Nesterov's rule steps once more along the velocity: ``looks_ahead`` is 1 for it, else 0. The gradient is that of
    ``adam_update``.
    """
    squares_sum = weights.dtype.type(0)
    for i in range(weights.shape[0]):
        weight = weights[i]
        squares_sum += weight * weight
        change = -rate * scale * (gradient[i] + penalty * weight)
        speed = momentum * velocity[i] + change
        velocity[i] = speed
        weights[i] = weight + speed + looks_ahead * (momentum * speed + change - speed)
    return squares_sum
