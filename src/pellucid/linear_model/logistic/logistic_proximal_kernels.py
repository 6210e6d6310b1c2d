"""Coordinate descent on the quadratic model of a sparse logistic loss. Arguments are float64 arrays, checked before."""

# mypy: allow-untyped-defs

import numpy as np
from numba import njit

from pellucid.numerics.coordinate_descent_kernels import soft_threshold


@njit(cache=True, nogil=True, error_model="numpy")
def weighted_moments(data, indices, indptr, h, first, second):
    """Write ``sum_i h_i x_ij`` to ``first`` and ``sum_i h_i x_ij^2`` to ``second``, by column. O(nonzeros)."""
    for j in range(first.shape[0]):
        sums, squares = 0.0, 0.0
        for at in range(indptr[j], indptr[j + 1]):
            weighted = h[indices[at]] * data[at]
            sums += weighted
            squares += weighted * data[at]
        first[j] = sums
        second[j] = squares


@njit(cache=True, nogil=True, error_model="numpy")
def model_pass(data, indices, indptr, columns, h, first, second, total, pull, w, hu, along, l1, l2):
    """Minimize the model over one coordinate of ``w`` after the other; return what it fell by and the new ``along``.

    The model is ``pull'd + sum_i h_i (u_i + c)^2 / 2`` plus the penalty of ``w``, with the change ``u = X d`` of
    the logits, of which ``hu`` keeps ``h_i u_i`` up to date. Its intercept's change ``c = -along / total`` is the best:
    ``along`` is ``sum_i h_i u_i``, and an infinite ``total`` means no intercept. O(nonzeros of the columns).
    """
    fell = 0.0
    for position in range(columns.shape[0]):
        j = columns[position]
        curvature = second[j] - first[j] * first[j] / total + l2
        if curvature <= 1e-14 * second[j] or curvature == 0.0:  # a constant column: w[j] stays
            continue
        slope = pull[j] - first[j] * along / total
        for at in range(indptr[j], indptr[j + 1]):
            slope += data[at] * hu[indices[at]]
        old = w[j]
        new = soft_threshold((curvature - l2) * old - slope, l1, False) / curvature
        step = new - old
        if step == 0.0:
            continue
        w[j] = new
        for at in range(indptr[j], indptr[j + 1]):
            hu[indices[at]] += h[indices[at]] * data[at] * step
        along += first[j] * step
        fell -= step * (slope + 0.5 * (curvature - l2) * step)
        fell += l1 * (abs(old) - abs(new)) + 0.5 * l2 * (old * old - new * new)
    return fell, along


@njit(cache=True, nogil=True, error_model="numpy")
def model_descent(data, indices, indptr, h, first, second, total, pull, w, hu, l1, l2, precision, max_passes):
    """Minimize the model of ``model_pass`` until a pass over all columns adds less than ``precision`` to its fall.

    Between passes over all columns there are passes over those that are not 0. Writes ``w`` and ``hu``; returns the
    passes done.
    """
    every = np.arange(w.shape[0])
    along, fallen, n_passes = 0.0, 0.0, 0
    while n_passes < max_passes:
        fell, along = model_pass(data, indices, indptr, every, h, first, second, total, pull, w, hu, along, l1, l2)
        fallen += fell
        n_passes += 1
        if fell <= precision * fallen:
            break
        support = np.flatnonzero(w)
        while n_passes < max_passes:
            fell, along = model_pass(
                data, indices, indptr, support, h, first, second, total, pull, w, hu, along, l1, l2
            )
            fallen += fell
            n_passes += 1
            if fell <= 0.3 * precision * fallen:
                break
    return n_passes
