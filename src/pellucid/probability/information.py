r"""Entropy and its relatives, of tables of counts or probabilities.

A table may have any number of axes, one per variable, and holds counts or probabilities: it is divided by its sum. For
samples, make the table with :func:`~pellucid.probability.information`. With ``base=2`` answers are in bits, with
``base=math.e`` in nats, with ``base=10`` in decimal digits. :math:`0 \log 0 = 0` throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, prod

import numpy as np
from scipy.special import entr, kl_div

from pellucid.core.checks import is_number
from pellucid.core.input_rules import check_sample_weight
from pellucid.core.types import Array, Data
from pellucid.probability.sample_data import counts_or_probabilities

Axes = int | Sequence[int]


def entropy(table: Data, *, base: float = 2.0) -> float:
    r"""Return :math:`H = -\sum_x p(x) \log p(x)`, over all cells of a table of any shape.

    Parameters
    ----------
    table : array-like
        Counts or probabilities, at least 0; they are divided by their sum.
    base : float, default=2
        2 for bits, e for nats.

    Examples
    --------
    >>> entropy([1, 1])  # a fair coin
    1.0
    >>> entropy([0.5, 0.25, 0.25])
    1.5
    """
    unit = nats_per_unit(base)
    return float(entr(counts_or_probabilities("table", table)).sum() / unit)


def joint_entropy(table: Data, *, base: float = 2.0) -> float:
    r"""Return :math:`H(X_1, \dots, X_d)` of a table with one axis per variable.

    Parameters
    ----------
    table : array-like with two axes or more
        Counts or probabilities, an axis for each variable.
    base : float, default=2
        2 for bits, e for nats.

    Examples
    --------
    >>> joint_entropy([[1, 1], [1, 1]])
    2.0
    """
    _joint(table)
    return entropy(table, base=base)


def conditional_entropy(table: Data, *, given: Axes = 0, base: float = 2.0) -> float:
    r"""Return :math:`H(\text{rest} \mid \text{given}) = -\sum p(x, y) \log p(y \mid x)`, at least 0.

    Parameters
    ----------
    table : array-like with two axes or more
        Counts or probabilities.
    given : int or sequence of int, default=0
        The axes that are known.
    base : float, default=2
        2 for bits, e for nats.

    Examples
    --------
    >>> conditional_entropy([[2, 0], [1, 1]], given=0)  # nothing left in the first row, one bit in the second
    0.5
    """
    unit, p = nats_per_unit(base), _joint(table)
    others = _other_axes(p, given, "given")
    known = p.sum(axis=others, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(known > 0, p / known, 1.0)
    return float((known * entr(share)).sum() / unit)


def kl_divergence(p: Data, q: Data, *, base: float = 2.0) -> float:
    r"""Return :math:`D(p \| q) = \sum_x p(x) \log (p(x) / q(x))`, at least 0; ``inf`` where only ``q`` is 0.

    Parameters
    ----------
    p, q : array-like
        Counts or probabilities, of the same shape; each is divided by its sum.
    base : float, default=2
        2 for bits, e for nats.

    Examples
    --------
    >>> round(kl_divergence([1, 0], [1, 1]), 12)
    1.0
    >>> kl_divergence([1, 1], [1, 0])
    inf
    """
    unit = nats_per_unit(base)
    p, q = counts_or_probabilities("p", p), counts_or_probabilities("q", q)
    if p.shape != q.shape:
        raise ValueError(f"q must have the shape of p, {p.shape}, got {q.shape}.")
    return _divergence(p, q) / unit


def mutual_information(table: Data, *, axis: Axes = 0, base: float = 2.0) -> float:
    r"""Return :math:`I(X; Y) = D(p(x, y) \| p(x) p(y))`, at least 0: what one variable tells about the other.

    Parameters
    ----------
    table : array-like with two axes or more
        Counts or probabilities.
    axis : int or sequence of int, default=0
        The axes of :math:`X`; all others together are :math:`Y`.
    base : float, default=2
        2 for bits, e for nats.

    Examples
    --------
    >>> round(mutual_information([[1, 0], [0, 1]]), 12)  # one tells all about the other
    1.0
    >>> mutual_information([[1, 2], [2, 4]])  # independent
    0.0
    """
    unit, p = nats_per_unit(base), _joint(table)
    others = _other_axes(p, axis, "axis")
    ours = tuple(j for j in range(p.ndim) if j not in others)
    return _divergence(p, p.sum(axis=others, keepdims=True) * p.sum(axis=ours, keepdims=True)) / unit


def multi_information(table: Data, *, base: float = 2.0) -> float:
    r"""Return :math:`\sum_j H(X_j) - H(X_1, \dots, X_d)`, at least 0: how far from independent the variables are.

    Parameters
    ----------
    table : array-like with two axes or more
        Counts or probabilities, an axis for each variable.
    base : float, default=2
        2 for bits, e for nats.

    Examples
    --------
    >>> parity = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]  # two coins and whether they differ
    >>> round(multi_information(parity), 12)
    1.0
    """
    unit, p = nats_per_unit(base), _joint(table)
    product = np.ones(())
    for j in range(p.ndim):
        rest = tuple(k for k in range(p.ndim) if k != j)
        product = product * p.sum(axis=rest, keepdims=True)
    return _divergence(p, product) / unit


def _divergence(p: Array, q: Array) -> float:
    """Return the divergence in nats from terms ``p log(p/q) - p + q``, none of which is negative: little cancels.

    A term is infinite where only ``q`` is 0.
    """
    return float(kl_div(p, q).sum())


def _joint(table: Data) -> Array:
    p = counts_or_probabilities("table", table)
    if p.ndim < 2:
        raise ValueError(f"table must have an axis for each of two variables or more, got shape {p.shape}.")
    return p


def _other_axes(p: Array, axes: Axes, name: str) -> tuple[int, ...]:
    """Return the axes that are not named; refuse if nothing is named, or all."""
    named = (axes,) if isinstance(axes, int) else tuple(axes)
    if any(not -p.ndim <= j < p.ndim for j in named):
        raise ValueError(f"{name} must name axes of a table of {p.ndim} axes, got {axes!r}.")
    chosen = {j % p.ndim for j in named}
    if not 0 < len(chosen) < p.ndim:
        raise ValueError(f"{name} must name some axes of the table but not all {p.ndim}, got {axes!r}.")
    return tuple(j for j in range(p.ndim) if j not in chosen)


def nats_per_unit(base: float) -> float:
    """Return the size of one unit of information in nats: the natural logarithm of the base."""
    if not is_number(base) or not 1 < base < inf:
        raise ValueError(f"base must be a number above 1, got {base!r}. Use 2 for bits and math.e for nats.")
    return log(base)


MOST_CELLS = 10_000_000


def joint_counts(*columns: Data, sample_weight: Data | None = None) -> Array:
    """Return a table with one axis per column and one index per label, labels sorted.

    Parameters
    ----------
    *columns : array-like of shape (n_samples,)
        Labels of any kind that can be sorted.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row stands there.

    Examples
    --------
    >>> joint_counts(["a", "a", "b"], [0, 1, 1])
    array([[1., 1.],
           [0., 1.]])
    """
    if not columns:
        raise ValueError("columns must be given, got none. Pass one array of labels per axis.")
    labels = [np.asarray(column) for column in columns]
    if any(column.ndim != 1 for column in labels) or len({len(column) for column in labels}) > 1:
        raise ValueError(
            f"columns must have one dimension and equal lengths, got shapes {[column.shape for column in labels]}. "
            "Pass the columns of a table as separate arguments."
        )
    if len(labels[0]) == 0:
        raise ValueError("columns must have at least one row, got 0.")
    weight = check_sample_weight(sample_weight, labels[0])
    if weight is not None:
        labels = [column[weight > 0] for column in labels]  # a label that never counts gets no index
        weight = weight[weight > 0]
    found = [np.unique(column, return_inverse=True) for column in labels]
    shape = tuple(len(names) for names, _ in found)
    if prod(shape) > MOST_CELLS:
        raise ValueError(f"columns must have at most {MOST_CELLS} combinations of labels, got {prod(shape)}.")
    cells = np.ravel_multi_index([inverse for _, inverse in found], shape)
    return np.bincount(cells, weights=weight, minlength=prod(shape)).astype(np.float64).reshape(shape)
