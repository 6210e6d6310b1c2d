"""Loops over all weights, or all values of a layer, each in one pass; arguments are checked arrays and scalars."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import ANY_ORDER, LEAN, kept, lean_inlined_in_any_order


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


@lean_inlined_in_any_order
def weighted_sum(values, places, start, stop, matrix, out):
    """Write the sum of rows of a matrix, each times its value, for entries ``start`` to ``stop``. O(entries * columns).

    Four entries at a time, so that the sum is read and written once for four rows.
    """
    for c in range(out.shape[0]):
        out[c] = 0
    whole = start + (stop - start) // 4 * 4
    for p in range(start, whole, 4):
        a, b, u, v = values[p], values[p + 1], values[p + 2], values[p + 3]
        ra, rb, ru, rv = matrix[places[p]], matrix[places[p + 1]], matrix[places[p + 2]], matrix[places[p + 3]]
        for c in range(out.shape[0]):
            out[c] += a * ra[c] + b * rb[c] + u * ru[c] + v * rv[c]
    for p in range(whole, stop):
        value, row = values[p], matrix[places[p]]
        for c in range(out.shape[0]):
            out[c] += value * row[c]


@kept(**LEAN, fastmath=ANY_ORDER)
def rows_times(data, indices, indptr, places, W, Z):
    """Write the products of some rows with ``W`` into ``Z``. O(nonzeros * columns)."""
    for i in range(places.shape[0]):
        weighted_sum(data, indices, indptr[places[i]], indptr[places[i] + 1], W, Z[i])


@kept(**LEAN)
def turn(data, indices, indptr, places, starts, values, rows):
    """Write some rows column by column: values and row numbers of column ``j`` from ``starts[j]`` on. O(nonzeros).

    ``starts`` has one entry more than there are columns, all 0 before.
    """
    for i in range(places.shape[0]):
        for p in range(indptr[places[i]], indptr[places[i] + 1]):
            starts[indices[p] + 1] += 1
    for j in range(starts.shape[0] - 1):
        starts[j + 1] += starts[j]
    for i in range(places.shape[0]):
        for p in range(indptr[places[i]], indptr[places[i] + 1]):
            j = indices[p]
            values[starts[j]] = data[p]
            rows[starts[j]] = i
            starts[j] += 1
    for j in range(starts.shape[0] - 1, 0, -1):  # each start has moved to the next one's place
        starts[j] = starts[j - 1]
    starts[0] = 0


@kept(**LEAN, fastmath=ANY_ORDER)
def columns_times(values, rows, starts, D, G):
    """Write the products of columns with ``D`` into the rows of ``G``. O(nonzeros * columns)."""
    for j in range(G.shape[0]):
        weighted_sum(values, rows, starts[j], starts[j + 1], D, G[j])


@kept(**LEAN)
def count_nonzeros(X, counts):
    """Write how many entries of each row are not 0. O(entries)."""
    for i in range(X.shape[0]):
        row, found = X[i], 0
        for j in range(row.shape[0]):
            found += row[j] != 0
        counts[i] = found


@kept(**LEAN)
def write_nonzeros(X, starts, values, columns):
    """Write the entries of each row that are not 0 and their columns, from ``starts`` of that row on. O(entries)."""
    for i in range(X.shape[0]):
        row, place = X[i], starts[i]
        for j in range(row.shape[0]):
            if row[j] != 0:
                values[place], columns[place] = row[j], j
                place += 1
