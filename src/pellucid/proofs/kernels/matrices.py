r"""Every Mercer kernel written a second time, for proofs alone: direct formulas, on dense and sparse rows.

``resolved_kernel`` reads what a user may write for ``kernel=``: a name, a kernel object of ``pellucid.kernels``, which
is known by the name of its class and its fields, or a function. ``kernel_matrix`` gives the products of two sets of
rows; of a kernel that ``is_given`` the rows hold products already, and the others are numbers of columns.

A squared distance is :math:`\|x\|^2 + \|z\|^2 - 2x'z` about the mean row where its rounding,
:math:`(4 + \sqrt d)\,\epsilon\,(\|x\|^2 + \|z\|^2)`, moves no product by more than ``WANTED``, and the sum of squared
differences elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.rounding import EPSILON, TINY
from pellucid.proofs.rows import in_float64

WANTED = 1e-12
"""Absolute error that a product of a Gaussian kernel may have."""

NEGLIGIBLE = 40.0
r"""Exponents beyond which a product is below :math:`10^{-17}`."""

BLOCK = 1 << 21
"""Products held at once."""

NAMES = {
    "Linear": "linear",
    "Polynomial": "poly",
    "RBF": "rbf",
    "Sigmoid": "sigmoid",
    "Laplacian": "laplacian",
    "Cosine": "cosine",
    "Chi2": "chi2",
    "AdditiveChi2": "additive_chi2",
    "GivenKernel": "precomputed",
}
"""Class of a kernel object -> its name in scikit-learn."""

INNER_PRODUCTS = {"linear", "rbf", "laplacian", "cosine", "chi2", "constant"}
"""Kernels that are inner products whatever the rows and the parameters are."""


@dataclass(frozen=True)
class ProofKernel:
    """A kernel as numbers: a name with its parameters, a function, or other kernels added, multiplied or scaled."""

    name: str
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0
    value: float = 1.0
    """What every product is multiplied by; of a constant kernel, the product."""
    function: Callable[..., Any] | None = None
    params: dict[str, Any] = field(default_factory=dict)
    parts: tuple[ProofKernel, ...] = ()
    declared_positive: bool = False

    @property
    def is_given(self) -> bool:
        """Whether rows hold products, of which others number the columns."""
        return self.name == "precomputed" or any(part.is_given for part in self.parts)

    @property
    def positive(self) -> bool:
        """Whether it is an inner product by construction."""
        if self.parts:
            return all(part.positive for part in self.parts)
        if self.name == "poly":
            return float(self.degree).is_integer() and self.coef0 >= 0.0
        return self.name in INNER_PRODUCTS or self.declared_positive


def resolved_kernel(
    kernel: Any,
    *,
    gamma: Any = 1.0,
    degree: float = 3,
    coef0: float = 0.0,
    X: SparseOrDense = None,
    weight: Array | None = None,
    of_matrices: bool = False,
    params: Mapping[str, Any] | None = None,
) -> ProofKernel:
    """Return the kernel that a parameter means; ``X`` is needed for a ``gamma`` in words, or None.

    A plain function takes two rows and ``params``; with ``of_matrices``, or if it is a kernel of scikit-learn's
    Gaussian processes, two matrices.

    Examples
    --------
    >>> kernel_matrix(resolved_kernel("poly", degree=2, coef0=1.0), np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]]))
    array([[16.]])
    """
    if isinstance(kernel, ProofKernel):
        return kernel
    if isinstance(kernel, str):
        name = "poly" if kernel == "polynomial" else kernel
        if gamma is None and name == "chi2":
            gamma = 1.0
        if name not in NAMES.values():
            raise ValueError(f"kernel must be one of {sorted(NAMES.values())}, got {kernel!r}.")
        return ProofKernel(name, gamma_value(gamma, X, weight), float(degree), float(coef0))
    kind = type(kernel).__name__
    if not hasattr(kernel, "tile"):
        origins = {one.__module__ for one in type(kernel).__mro__}
        if of_matrices or "sklearn.gaussian_process.kernels" in origins:
            return ProofKernel("of matrices", function=kernel)
        return ProofKernel("of rows", function=kernel, params=dict(params or {}))
    if kind in NAMES:
        fields = {name: getattr(kernel, name) for name in ("gamma", "degree", "coef0") if hasattr(kernel, name)}
        return ProofKernel(NAMES[kind], **fields)
    if kind == "Constant":
        return ProofKernel("constant", value=kernel.value)
    if kind == "Scaled":
        return ProofKernel("product", value=kernel.factor, parts=(resolved_kernel(kernel.kernel),))
    if kind in ("Sum", "Product"):
        return ProofKernel(kind.lower(), parts=tuple(map(resolved_kernel, kernel.parts)))
    if kind == "RowFunction":
        return ProofKernel("of rows", function=kernel.function, params=dict(kernel.params))
    if kind == "MatrixFunction":
        return ProofKernel("of matrices", function=kernel.function)
    return ProofKernel("of matrices", function=kernel, declared_positive=bool(kernel.positive))  # the user's own class


def has_given_products(kernel: Any) -> bool:
    """Return whether a parameter ``kernel`` says that ``X`` holds products instead of rows."""
    return bool(getattr(kernel, "is_given", isinstance(kernel, str) and kernel == "precomputed"))


def gamma_value(gamma: Any, X: SparseOrDense, weight: Array | None = None) -> float:
    """Return the number that ``gamma`` means: 'scale', 'auto', None (as 'auto') or itself; equal up to rounding.

    'scale' is one over the number of columns times the variance of all entries, 1 where that is no number.
    """
    if gamma is None or (isinstance(gamma, str) and gamma == "auto"):
        return 1.0 / X.shape[1]
    if not isinstance(gamma, str):
        return float(gamma)
    columns = X.shape[1]
    share = (np.ones(X.shape[0]) if weight is None else weight) / columns
    share = share / (np.sum(share) * columns)
    mean = float(np.sum(share @ X))
    if sparse.issparse(X):
        variance = float(np.sum(share @ X.multiply(X))) - mean**2
    else:
        variance = float(np.sum(share @ np.square(X - mean)))
    return 1.0 / (columns * variance) if columns * variance >= TINY else 1.0


def kernel_matrix(kernel: ProofKernel, X: SparseOrDense, Y: Any = None) -> Array:
    """Return the products of the rows of ``X`` with those of ``Y`` (of ``X`` itself if None), in float64."""
    if Y is None:
        Y = np.arange(X.shape[1]) if kernel.is_given else X
    if kernel.parts:
        combine = np.add if kernel.name == "sum" else np.multiply
        return kernel.value * np.asarray(reduce(combine, [kernel_matrix(part, X, Y) for part in kernel.parts]))
    if kernel.name == "constant":
        return np.full((X.shape[0], Y.shape[0]), kernel.value)
    if kernel.name == "precomputed":
        return dense(X[:, Y]).astype(np.float64)
    if kernel.function is not None:
        return _of_function(kernel, X, Y)
    X, Y = in_float64(X), in_float64(Y)
    if kernel.name in ("rbf", "laplacian", "chi2", "additive_chi2"):
        distances = _DISTANCES[kernel.name](X, Y, kernel.gamma)
        return -distances if kernel.name == "additive_chi2" else np.exp(-kernel.gamma * distances)
    products = dense(X @ Y.T)
    if kernel.name == "cosine":
        return products / np.outer(_lengths_or_1(X), _lengths_or_1(Y))
    return _of_products(kernel, products)


def kernel_diagonal(kernel: ProofKernel, X: SparseOrDense, columns: Array | None = None) -> Array:
    """Return the product of each row with itself; given products have it in these columns, or on their diagonal."""
    n = X.shape[0]
    if kernel.parts:
        combine = np.add if kernel.name == "sum" else np.multiply
        return kernel.value * np.asarray(reduce(combine, [kernel_diagonal(part, X, columns) for part in kernel.parts]))
    if kernel.name == "constant":
        return np.full(n, kernel.value)
    if kernel.name == "precomputed":
        return dense(X[np.arange(n), np.arange(n) if columns is None else columns]).astype(np.float64).ravel()
    if kernel.function is not None:
        return np.array([kernel_matrix(kernel, X[i : i + 1], X[i : i + 1])[0, 0] for i in range(n)])
    squares = _squared_lengths(in_float64(X))
    if kernel.name == "cosine":
        return (squares > 0.0).astype(np.float64)
    if kernel.name in ("rbf", "laplacian", "chi2", "additive_chi2"):
        return np.full(n, 0.0 if kernel.name == "additive_chi2" else 1.0)
    return _of_products(kernel, squares)


def kernel_times(kernel: ProofKernel, X: SparseOrDense, Y: Any, coef: Array) -> Array:
    """Return the products times ``coef`` of shape (n_rows of ``Y``, ...), a block of rows at a time."""
    blocks = [kernel_matrix(kernel, X[rows], Y) @ coef for rows in row_blocks(X.shape[0], Y.shape[0])]
    return np.concatenate(blocks) if blocks else np.zeros((0, *coef.shape[1:]))


def row_blocks(n: int, width: int, most: int = BLOCK) -> Iterator[slice]:
    """Yield slices that cover ``range(n)``, so short that a block has at most ``most`` numbers, or one row."""
    step = max(1, most // max(1, width))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _of_products(kernel: ProofKernel, products: Array) -> Array:
    if kernel.name == "linear":
        return products
    inner = kernel.gamma * products + kernel.coef0
    if kernel.name == "sigmoid":
        return np.tanh(inner)
    with np.errstate(over="ignore"):
        if kernel.degree in (1, 2, 3, 4):  # ten times as fast as a power
            return np.asarray(reduce(np.multiply, [inner] * int(kernel.degree)))
        return np.power(inner, kernel.degree)


def _of_function(kernel: ProofKernel, X: SparseOrDense, Y: Any) -> Array:
    function: Any = kernel.function
    if kernel.name == "of matrices":
        return dense(function(X, Y)).astype(np.float64)
    own, others = (list(_rows(Z)) for Z in (X, Y))
    found = [[np.asarray(function(x, y, **kernel.params)).item() for y in others] for x in own]
    return np.reshape(np.array(found, dtype=np.float64), (len(own), len(others)))


def _rows(X: SparseOrDense) -> Iterator[Any]:
    """Yield rows: sparse ones as matrices of one row."""
    return (X[i : i + 1] if sparse.issparse(X) else X[i] for i in range(X.shape[0]))


def _squared_lengths(X: SparseOrDense) -> Array:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _lengths_or_1(X: SparseOrDense) -> Array:
    lengths = np.sqrt(_squared_lengths(X))
    return np.where(lengths > 0.0, lengths, 1.0)


def _squared_distances(X: SparseOrDense, Y: Any, gamma: float) -> Array:
    is_sparse = sparse.issparse(X) or sparse.issparse(Y)
    if not is_sparse and len(Y):
        center = Y.mean(axis=0)
        X, Y = X - center, Y - center
    lengths = _squared_lengths(X)[:, None] + _squared_lengths(Y)
    squares = np.maximum(lengths - 2.0 * dense(X @ Y.T), 0.0)
    error = (4.0 + sqrt(X.shape[1])) * EPSILON * lengths
    is_rough = (gamma * error > WANTED) & (gamma * (squares - error) <= NEGLIGIBLE)
    if not is_rough.any():
        return squares
    if not is_sparse:
        return cdist(X, Y, "sqeuclidean")
    for i in np.flatnonzero(is_rough.any(axis=1)):
        squares[i] = _squared_lengths(sparse.csr_array(Y) - _repeated(sparse.csr_array(X)[i : i + 1], Y.shape[0]))
    return squares


def _city_block_distances(X: SparseOrDense, Y: Any, _gamma: float) -> Array:
    if not sparse.issparse(X) and not sparse.issparse(Y):
        return cdist(X, Y, "cityblock")
    X, Y = sparse.csr_array(X), sparse.csr_array(Y)
    found = [abs(Y - _repeated(row, Y.shape[0])).sum(axis=1) for row in _rows(X)]
    return np.reshape(np.array(found), (X.shape[0], Y.shape[0]))


def _repeated(row: Any, times: int) -> Any:
    return sparse.csr_array(np.ones((times, 1))) @ row


def _chi_square_distances(X: Array, Y: Array, _gamma: float) -> Array:
    total = np.zeros((X.shape[0], Y.shape[0]))
    for x, y in zip(X.T, Y.T, strict=True):
        both = x[:, None] + y
        total += np.square(x[:, None] - y) / np.where(both > 0.0, both, 1.0)
    return total


_DISTANCES = {
    "rbf": _squared_distances,
    "laplacian": _city_block_distances,
    "chi2": _chi_square_distances,
    "additive_chi2": _chi_square_distances,
}
"""Kernels of a distance -> that distance."""
