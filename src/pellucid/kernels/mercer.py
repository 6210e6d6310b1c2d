r"""Mercer's condition on a set of points: no numbers c with :math:`c'Kc < 0`; or such numbers, a witness.

The energy of a witness is summed in fractions from the products as computed, and must be below 0 by more than the
rounding of these products can explain, :math:`\|c\|_1^2` times ``PRODUCT_ERROR`` of the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import eigh

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.choice import kernel_from
from pellucid.kernels.kernel import Kernel

MOST_POINTS = 1000
"""Points looked at, at most: eigenvalues of more take long."""

PRODUCT_ERROR = 1e-12
"""Error of a product, in parts of the largest."""

DECIMALS = (1, 2, 3, 6, 12)
"""Decimals of a witness, as few as will do."""


@dataclass(frozen=True)
class MercerCheck:
    """What is known of a kernel on some points; ``holds`` is False only with a witness."""

    kernel: Kernel
    """What was checked."""
    holds: bool
    """Whether there is no witness: up to rounding, no numbers have a negative energy on these points."""
    n_points: int
    """Points looked at: all that were given, or 1000 drawn from more."""
    smallest: float
    """The smallest eigenvalue of the products."""
    largest: float
    """The largest eigenvalue of the products."""
    rows: Array
    """Which of the given points the witness needs; none if it holds."""
    points: Any
    """Those points."""
    vector: Array
    """Numbers c, one for each of these points, with negative energy."""
    energy: float
    """The energy c'Kc of the witness, 0 if there is none."""
    error: float
    """How far rounding may have moved the energy."""

    def __repr__(self) -> str:
        if self.holds:
            why = "an inner product by construction" if self.kernel.positive else "known for these points only"
            return (
                f"MercerCheck(holds on {self.n_points} points: {self.kernel!r})\n"
                f"  smallest eigenvalue {self.smallest:.3g}, largest {self.largest:.3g}; {why}"
            )
        return (
            f"MercerCheck(FAILS: {self.kernel!r} is no inner product)\n"
            f"  with the points {self.rows.tolist()} and c = ({', '.join(f'{value:g}' for value in self.vector)}),\n"
            f"  c'Kc = {self.energy:.6g} < 0, and rounding explains at most {self.error:.1g}"
        )


def check_mercer(kernel: Any, X: SparseOrDense, **parameters: Any) -> MercerCheck:
    """Look for points of ``X`` and numbers that show that a kernel is no inner product.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel, or whatever :func:`kernel_from` takes.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The points, or for ``kernel='precomputed'`` their products with each other. Of more than 1000 some are drawn, in
        the same way every time.
    **parameters
        Those of :func:`kernel_from`, such as ``gamma``.

    Examples
    --------
    tanh(x z - 1) of 0 with itself is -0.76, but nothing has a negative product with itself.

    >>> from pellucid.kernels import Sigmoid
    >>> check_mercer(Sigmoid(coef0=-1.0), [[0.0], [1.0]])
    MercerCheck(FAILS: Sigmoid(gamma=1.0, coef0=-1.0) is no inner product)
      with the points [0] and c = (1),
      c'Kc = -0.761594 < 0, and rounding explains at most 8e-13
    """
    kernel = kernel_from(kernel, **parameters)
    X = X if hasattr(X, "tocsr") else np.asarray(X)
    chosen = some_rows(X.shape[0], MOST_POINTS)
    K = kernel(X[chosen], chosen) if kernel.is_given else kernel(X[chosen])
    values, vectors = eigh(K)
    size = float(np.abs(K).max(initial=0.0))
    rows, vector, energy, error = _witness(K, vectors[:, 0], size)
    holds = not energy + error < 0.0
    rows = rows[:0] if holds else rows
    return MercerCheck(
        kernel=kernel,
        holds=holds,
        n_points=len(chosen),
        smallest=float(values[0]),
        largest=float(values[-1]),
        rows=chosen[rows],
        points=X[chosen[rows]],
        vector=vector[: len(rows)],
        energy=0.0 if holds else energy,
        error=error,
    )


def _witness(K: Array, vector: Array, size: float) -> tuple[Array, Array, float, float]:
    """Return rows, numbers, their energy and its error; of few rows and few digits if such will do."""
    order = np.argsort(-np.abs(vector), kind="stable")
    counts = sorted({count for count in (1, 2, 3, 4, 6, 10, 30, 100) if count < len(vector)} | {len(vector)})
    found = np.arange(0), np.zeros(0), 0.0, 0.0
    for count in counts:
        rows = np.sort(order[:count])
        part = K[np.ix_(rows, rows)]
        direction = eigh(part, subset_by_index=[0, 0])[1][:, 0]
        direction /= direction[np.argmax(np.abs(direction))]
        for decimals in DECIMALS:
            rounded = np.round(direction, decimals) + 0.0
            energy = _energy(part, rounded)
            error = PRODUCT_ERROR * size * float(np.abs(rounded).sum()) ** 2
            found = rows, rounded, energy, error
            if energy + error < 0.0:
                used = np.flatnonzero(rounded)
                return rows[used], rounded[used], energy, error
    return found


def _energy(K: Array, vector: Array) -> float:
    """Return c'Kc, summed without rounding."""
    numbers = [Fraction(float(value)) for value in vector]
    total = Fraction(0)
    for i, row in enumerate(K.tolist()):
        if numbers[i]:
            total += numbers[i] * sum((c * Fraction(k) for c, k in zip(numbers, row, strict=True) if c), Fraction(0))
    return float(total)
