"""Products of rows on a device in the space of a kernel: in float64, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

from pellucid.kernels.formulas import NEGLIGIBLE, RBF, WANTED, Cosine, Linear, Polynomial, Sigmoid
from pellucid.kernels.kernel import Constant, Kernel, Product, Scaled, Sum
from pellucid.proofs.rounding import EPSILON

NUMBERS_AT_ONCE = 1 << 26


def check_kernel_there(kernel: Kernel) -> None:
    """Refuse a kernel that has no formula for tensors."""
    for part in kernel.parts:
        check_kernel_there(part)
    if not kernel.parts and not isinstance(kernel, (Linear, Polynomial, Sigmoid, RBF, Cosine, Constant)):
        raise ValueError(
            f"kernel must be linear, poly, rbf, sigmoid, cosine, or a sum or product of these for arrays on a device, "
            f"got {kernel!r}. Copy the data to the host for others."
        )


def products_there(kernel: Kernel, X: Any, Z: Any) -> Iterator[tuple[slice, Any]]:
    """Yield the products of blocks of rows of ``X`` with all rows of ``Z``, and which rows they are."""
    import torch

    others = Z.to(torch.float64)
    height = max(1, NUMBERS_AT_ONCE // max(1, len(others)))
    for start in range(0, len(X), height):
        part = slice(start, min(start + height, len(X)))
        yield part, _tile(kernel, X[part].to(torch.float64), others)


def _tile(kernel: Kernel, X: Any, Z: Any) -> Any:
    if isinstance(kernel, Constant):
        return X.new_full((len(X), len(Z)), kernel.value)
    if isinstance(kernel, Scaled):
        return _tile(kernel.kernel, X, Z).mul_(kernel.factor)
    if isinstance(kernel, (Sum, Product)):
        whole = _tile(kernel.parts[0], X, Z)
        for part in kernel.parts[1:]:
            other = _tile(part, X, Z)
            whole = whole.add_(other) if isinstance(kernel, Sum) else whole.mul_(other)
        return whole
    if isinstance(kernel, RBF):
        return _squared_distances(X, Z, kernel.gamma).mul_(-kernel.gamma).exp_()
    if isinstance(kernel, Cosine):
        lengths = ((part * part).sum(dim=1).sqrt() for part in (X, Z))
        X, Z = (part / length.where(length > 0.0, 1.0)[:, None] for part, length in zip((X, Z), lengths, strict=True))
    return _of_products(kernel, X @ Z.T)


def _of_products(kernel: Kernel, products: Any) -> Any:
    """Return the values of a kernel of inner products, in their place."""
    if isinstance(kernel, Polynomial):
        return products.mul_(kernel.gamma).add_(kernel.coef0).pow_(kernel.degree)
    return products.mul_(kernel.gamma).add_(kernel.coef0).tanh_() if isinstance(kernel, Sigmoid) else products


def diagonal_there(kernel: Kernel, X: Any) -> Any:
    """Return the product of each row with itself, in float64."""
    import torch

    if isinstance(kernel, Scaled):
        return kernel.factor * diagonal_there(kernel.kernel, X)
    if isinstance(kernel, (Sum, Product)):
        parts = torch.stack([diagonal_there(part, X) for part in kernel.parts])
        return parts.sum(dim=0) if isinstance(kernel, Sum) else parts.prod(dim=0)
    if isinstance(kernel, (Constant, RBF)):
        return X.new_full((len(X),), kernel.value if isinstance(kernel, Constant) else 1.0, dtype=torch.float64)
    blocks = X.split(max(1, NUMBERS_AT_ONCE // X.shape[1]))
    squares = torch.cat([torch.linalg.vector_norm(part, dim=1, dtype=torch.float64).square_() for part in blocks])
    return (squares > 0.0).to(torch.float64) if isinstance(kernel, Cosine) else _of_products(kernel, squares)


def _squared_distances(X: Any, Z: Any, gamma: float) -> Any:
    """Return squared distances as precise as a Gaussian of this ``gamma`` needs them: some from differences."""
    center = Z.mean(dim=0)
    X, Z = X - center, Z - center
    own, others = (X * X).sum(dim=1), (Z * Z).sum(dim=1)
    squares = (X @ Z.T).mul_(-2.0).add_(own[:, None]).add_(others).clamp_(min=0.0)
    share = (4.0 + sqrt(X.shape[1])) * EPSILON
    if gamma * share * float(own.max() + others.max()) > WANTED:
        error = gamma * share * (own[:, None] + others)
        rows, columns = ((error > WANTED) & (gamma * squares - error <= NEGLIGIBLE)).nonzero(as_tuple=True)
        for start in range(0, len(rows), max(1, NUMBERS_AT_ONCE // X.shape[1])):
            some = slice(start, start + max(1, NUMBERS_AT_ONCE // X.shape[1]))
            squares[rows[some], columns[some]] = (X[rows[some]] - Z[columns[some]]).square_().sum(dim=1)
    return squares
