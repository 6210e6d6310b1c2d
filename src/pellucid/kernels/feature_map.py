r"""The features that a polynomial kernel stands for, written out.

By the multinomial theorem

.. math:: (\gamma x'z + c)^d
   = \sum_{|a| \le d} \frac{d!}{a_1!\cdots a_p!\,(d - |a|)!}\,\gamma^{|a|} c^{d - |a|}\,x^a z^a,

so the root of each factor times the monomial :math:`x^a` is one feature; for :math:`c = 0` only those with
:math:`|a| = d` are left. Sums of kernels put features side by side, products multiply them pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod, sqrt

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.formulas import Linear, Polynomial
from pellucid.kernels.kernel import Constant, Kernel, Product, Scaled, Sum
from pellucid.kernels.product_blocks import as_rows

MOST_FEATURES = 10_000
"""Features that are written out."""

Exponents = tuple[int, ...]


def feature_map(kernel: Kernel, X: SparseOrDense) -> Array:
    r"""Return :math:`\varphi(x)` for each row: ``feature_map(X) @ feature_map(Z).T`` is ``kernel(X, Z)``.

    Examples
    --------
    >>> feature_map(Polynomial(2, coef0=1.0), [[3.0]])  # (3 z + 1)^2 = 9 z^2 + 6 z + 1
    array([[1.        , 4.24264069, 9.        ]])
    """
    rows = as_rows(X)
    _check_size(kernel, rows.shape[1])
    return _mapped(kernel, rows.toarray() if sparse.issparse(rows) else rows)


def feature_names(kernel: Kernel, n_features: int) -> list[str]:
    """Return the monomial of each column of the feature map, without its factor.

    Examples
    --------
    >>> feature_names(Polynomial(2, coef0=1.0), 2)
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """
    _check_size(kernel, n_features)
    return _names(kernel, n_features)


def n_mapped(kernel: Kernel, n_features: int) -> int:
    """Return how many features a kernel stands for; refuse one that has no finite number of them."""
    if isinstance(kernel, Constant):
        return 1
    if isinstance(kernel, Linear):
        return n_features
    if isinstance(kernel, Polynomial) and kernel.positive:
        degree = int(kernel.degree)
        return comb(n_features + degree, degree) if kernel.coef0 else comb(n_features + degree - 1, degree)
    if isinstance(kernel, Scaled):
        return n_mapped(kernel.kernel, n_features)
    if isinstance(kernel, (Sum, Product)):
        counts = [n_mapped(part, n_features) for part in kernel.parts]
        return sum(counts) if isinstance(kernel, Sum) else prod(counts)
    raise ValueError(
        "kernel must be linear, or polynomial with a whole degree and coef0 of at least 0, or made of such to have a "
        f"map that can be written out, got {kernel!r}."
    )


def monomials(kernel: Polynomial, n_features: int) -> Iterator[tuple[Exponents, int]]:
    """Yield the columns in each monomial, one per factor, and its multinomial coefficient; lower degrees first."""
    degree = int(kernel.degree)
    for size in range(degree + 1) if kernel.coef0 else [degree]:
        for columns in combinations_with_replacement(range(n_features), size):
            repeats = [columns.count(j) for j in set(columns)]
            ways = factorial(degree) // (prod(map(factorial, repeats)) * factorial(degree - size))
            yield columns, ways


def _check_size(kernel: Kernel, n_features: int) -> None:
    count = n_mapped(kernel, n_features)
    if count > MOST_FEATURES:
        raise ValueError(
            f"kernel must stand for at most {MOST_FEATURES:,} features to write them out, got {count:,} for "
            f"{n_features} columns. Use the kernel: that is what it is for."
        )


def _mapped(kernel: Kernel, X: Array) -> Array:
    if isinstance(kernel, Constant):
        return np.full((len(X), 1), sqrt(kernel.value))
    if isinstance(kernel, Scaled):
        return sqrt(kernel.factor) * _mapped(kernel.kernel, X)
    if isinstance(kernel, Sum):
        return np.hstack([_mapped(part, X) for part in kernel.parts])
    if isinstance(kernel, Product):
        pairs = (_mapped(part, X) for part in kernel.parts)
        return reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(X), -1), pairs)
    if isinstance(kernel, Polynomial):
        degree = int(kernel.degree)
        columns = [
            sqrt(ways * kernel.gamma ** len(chosen) * kernel.coef0 ** (degree - len(chosen)))
            * X[:, list(chosen)].prod(axis=1)
            for chosen, ways in monomials(kernel, X.shape[1])
        ]
        return np.column_stack(columns)
    return X.copy()  # linear


def _names(kernel: Kernel, n_features: int) -> list[str]:
    if isinstance(kernel, Constant):
        return ["1"]
    if isinstance(kernel, Scaled):
        return _names(kernel.kernel, n_features)
    if isinstance(kernel, Sum):
        return [name for part in kernel.parts for name in _names(part, n_features)]
    if isinstance(kernel, Product):
        every = product(*(_names(part, n_features) for part in kernel.parts))
        return [" * ".join(name for name in names if name != "1") or "1" for names in every]
    if isinstance(kernel, Polynomial):
        return [_monomial(chosen) for chosen, _ in monomials(kernel, n_features)]
    return [f"x{j}" for j in range(n_features)]


def _monomial(columns: Exponents) -> str:
    powers = [(j, columns.count(j)) for j in sorted(set(columns))]
    return " ".join(f"x{j}" if power == 1 else f"x{j}^{power}" for j, power in powers) or "1"
