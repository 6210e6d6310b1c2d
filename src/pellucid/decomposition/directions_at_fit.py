"""The certificate that a fit gives its directions: from products that the solver has, or a few more."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh_tridiagonal, lapack

from pellucid.core.types import Array
from pellucid.decomposition.principal_directions import PrincipalDirections
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, TINY, rounding_unit, sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn, draws, graded
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.design import Design

RESIDUAL = 1e-10
"""Residuals accepted, in parts of the largest square, where no ``tol`` or float32 allows more."""
ROUGH_LOSS = 1e-6
"""Part of the largest square that a Gram matrix of float32 has lost."""
PAIRS, PROBE_STEPS, MOST_FACTORED = 8, 8, 4000
"""Directions tested without a Gram matrix, steps of the probe, and columns up to which the rest is factored."""


def certificate_at_fit(
    found: PrincipalDirections, k: int, design: Design, total: float, data: TrainingData, tol: float = 0.0
) -> Certificate:
    """Return the claims about the first ``k`` directions, in the units of the design; ``verify`` looks at more."""
    squares, V, n = found.squares[:k], found.vectors[:, :k], len(found.vectors)
    least = max(total / min(design.shape), TINY)
    level = max(float(np.abs(squares).max(initial=0.0)), least)
    noise = max(RESIDUAL, 2 * rounding_unit(data.dtype), 8 * sum_error(n), 4 * tol)
    if sparse.issparse(data.X):  # the mean is taken away from products, not from the rows
        noise += 64 * EPSILON * float(design.mean @ design.mean) * design.total_weight / least
    is_known = found.residual is not None or (found.gram is not None and n <= MOST_FACTORED)
    some = drawn(k, k if is_known else PAIRS, always=[0, k - 1])
    residual = found.residual
    if residual is None:
        shown, own = (V, squares) if len(some) == k else (V[:, some], squares[some])
        rest = (_times(found, design, shown) - shown * own) / level
        residual = float(np.sqrt(np.einsum("ij,ij->j", rest, rest).max(initial=0.0)))
    looked_at = "every direction" if len(some) == k else f"{len(some)} of {k} directions"
    statement = f"longest residual of {looked_at}, in parts of the largest squared singular value"
    products = V.T @ V
    products.flat[:: k + 1] -= 1.0
    angles = float(np.abs(products).max(initial=0.0))
    return graded(
        "exact",
        (
            Claim("directions", statement + at_most_wrong(len(some), k), residual, noise, "Lower tol."),
            Claim(
                "right angles",
                "largest product of two directions, or distance of one from length 1",
                angles,
                max(1e-9, 2 * rounding_unit(data.dtype)),
            ),
            _missed_claim(found, k, design, total, noise=(noise + ROUGH_LOSS * found.is_rough) * level),
        ),
    )


def _times(found: PrincipalDirections, design: Design, block: Array) -> Array:
    if found.gram is not None:
        return np.asarray(found.gram @ block)
    return design.transposed_times(design.times(block))


def _missed_claim(found: PrincipalDirections, k: int, design: Design, total: float, *, noise: float) -> Claim:
    """Return the claim that the largest square of what is left is not above the smallest one found."""
    squares, V = found.squares[:k], found.vectors[:, :k]
    if k in (0, len(V)):
        return Claim("missed", "squares that could have been missed", 0.0, 0.0)
    floor = float(squares[-1]) + noise
    left = total - float(squares.sum())
    statement = "largest eigenvalue that may have been missed, in parts of the smallest one found"
    if left <= floor:
        return Claim("missed", f"{statement}, from the trace", max(left, 0.0) / floor, 1.0)
    if found.gram is not None and len(V) <= MOST_FACTORED:
        rest = (V * squares) @ V.T - found.gram
        rest.flat[:: len(rest) + 1] += floor
        # the transpose of C order is Fortran order: no copy
        is_above = lapack.dpotrf(rest.T, lower=True, clean=False, overwrite_a=True)[1] != 0
        return Claim("missed", f"{statement}, from a Cholesky factor of the rest", np.inf if is_above else 1.0, 1.0)
    # Lanczos from a random vector (Kuczynski and Wozniakowski, 1992, bound what it may miss)
    steps = min(len(V) - k, PROBE_STEPS)
    part = 0.0
    if steps < len(V) - k:
        part = min(0.9, (np.log(1.648 * np.sqrt(len(V)) / 0.01) / (2 * steps - 1)) ** 2)
    largest = _largest_of_the_rest(lambda v: _times(found, design, v) - V @ (squares * (V.T @ v)), len(V), steps)
    said = f"largest eigenvalue of the rest found by {steps} steps from a random vector, in parts of the smallest one "
    said += f"found: at 99 % confidence none is above {1.0 / (1.0 - part):.3g} times that"
    return Claim("missed", said, max(largest, 0.0) / floor, 1.0, "Use another solver.")


def _largest_of_the_rest(times: Any, n: int, steps: int) -> float:
    """Return the largest eigenvalue of a matrix that so many steps of Lanczos see, all vectors kept at right angles."""
    basis = np.zeros((n, steps))
    v, diagonal, beside = draws().standard_normal(n), list[float](), list[float]()
    for step in range(steps):
        length = float(np.linalg.norm(v))
        if step and length <= 1e-11 * max(map(abs, diagonal)):
            break
        beside.append(length)
        basis[:, step] = v / length
        v = times(basis[:, step])
        diagonal.append(float(basis[:, step] @ v))
        for _ in range(2):
            v = v - basis[:, : step + 1] @ (basis[:, : step + 1].T @ v)
    return float(eigvalsh_tridiagonal(np.array(diagonal), np.array(beside[1:]))[-1])
