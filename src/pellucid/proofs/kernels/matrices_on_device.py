"""Products of all rows on a device, about their mean, written a second time for proofs alone, in float64."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.kernels.matrices import NEGLIGIBLE, WANTED, ProofKernel
from pellucid.proofs.matrices.eigenpairs import SymmetricMatrix
from pellucid.proofs.rounding import EPSILON

NUMBERS_AT_ONCE = 1 << 25


@dataclass(frozen=True)
class SymmetricThere(SymmetricMatrix):
    """A symmetric matrix on a device; vectors are here."""

    def times(self, block: Array) -> Array:
        """Return the matrix times a vector or a block of vectors."""
        torch = sys.modules[type(self.matrix).__module__.partition(".")[0]]
        moved = torch.as_tensor(np.ascontiguousarray(block), device=self.matrix.device)
        return np.asarray(self.matrix.matmul(moved).cpu().numpy())

    def diagonal(self) -> Array:
        """Return the entries on the diagonal."""
        return np.asarray(self.matrix.diagonal().cpu().numpy())

    @cached_property
    def norm(self) -> float:
        """The root of the sum of squares."""
        return float(self.matrix.norm())


def centered_there(kernel: ProofKernel, X: Any) -> tuple[SymmetricThere, Array, Array]:
    """Return the products about their mean, the mean product of each row, and the products that rounding is part of."""
    rows = X.double()
    if kernel.name == "linear":
        mean = rows.mean(0)
        apart = rows - mean
        apart = apart - apart.mean(0)  # a mean far from 0 is rounded
        found, means, own = apart.matmul(apart.T), rows.matmul(mean), apart.square().sum(1)
    else:
        found = rows.new_empty((len(rows), len(rows)))
        height = max(1, NUMBERS_AT_ONCE // len(rows))
        for start in range(0, len(rows), height):
            found[start : start + height] = _products(kernel, rows[start : start + height], rows)
        means, own = found.mean(0), found.diagonal().clone()
        found += means.mean() - means - found.mean(1)[:, None]
    return SymmetricThere(found), np.asarray(means.cpu().numpy()), np.asarray(own.cpu().numpy())


def _products(kernel: ProofKernel, X: Any, Y: Any) -> Any:
    """Return the products of rows; kernels without a formula here are refused by the fit."""
    if kernel.parts:
        parts = [_products(part, X, Y) for part in kernel.parts]
        return kernel.value * reduce(lambda one, other: one + other if kernel.name == "sum" else one * other, parts)
    if kernel.name == "constant":
        return X.new_full((len(X), len(Y)), kernel.value)
    if kernel.name == "rbf":
        return (-kernel.gamma * _squared_distances(X, Y, kernel.gamma)).exp()
    products = X.matmul(Y.T)
    if kernel.name == "cosine":
        lengths = (part.square().sum(1).sqrt() for part in (X, Y))
        own, others = (length.where(length > 0.0, 1.0) for length in lengths)
        return products / own[:, None] / others
    if kernel.name == "linear":
        return products
    inner = kernel.gamma * products + kernel.coef0
    return inner.tanh() if kernel.name == "sigmoid" else inner**kernel.degree


def _squared_distances(X: Any, Y: Any, gamma: float) -> Any:
    """Return squared distances from products, and rows with one that is too rough for this ``gamma`` by differences."""
    center = Y.mean(0)
    X, Y = X - center, Y - center
    lengths = X.square().sum(1)[:, None] + Y.square().sum(1)
    squares = (lengths - 2.0 * X.matmul(Y.T)).clamp(min=0.0)
    error = (4.0 + X.shape[1] ** 0.5) * EPSILON * lengths
    is_rough = (gamma * error > WANTED) & (gamma * (squares - error) <= NEGLIGIBLE)
    for i in is_rough.any(1).nonzero()[:, 0].tolist():
        squares[i] = (Y - X[i]).square().sum(1)
    return squares
