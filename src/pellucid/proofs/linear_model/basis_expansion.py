"""Proof of a basis expansion: every monomial once, and each of them the product of its factors."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.training_data import TrainingData


def prove_basis_expansion(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate; ``fitted.expanded`` is what the model makes of the rows of ``data``."""
    if parameters.functions is not None:
        return Certificate("none", reason="functions are the user's own: there is nothing to compare them with.")
    X, powers = np.asarray(data.X, dtype=np.float64), fitted.powers_
    wrong = _missing_or_repeated(powers, parameters, X.shape[1]) + abs(fitted.n_output_features_ - len(powers))
    error = np.inf
    if wrong == 0:
        products = np.stack([np.prod(np.repeat(X, row, axis=1), axis=1) for row in powers], axis=1)
        scale = np.abs(products) + np.finfo(float).tiny
        error = float(np.max(np.abs(fitted.expanded - products) / scale, initial=0.0))
    bound = 8 * max(1, parameters.degree) * float(np.finfo(data.X.dtype).eps)
    return Certificate(
        "exact",
        (
            Claim(
                "monomials",
                "largest relative difference from the monomials multiplied out",
                error,
                bound,
                "Scale X: powers overflow.",
            ),
            Claim(
                "powers",
                "rows of powers_ that are missing, repeated, out of order or not counted",
                wrong,
                0.0,
                "Refit.",
            ),
        ),
    )


def _missing_or_repeated(powers: Array, parameters: Any, n_features: int) -> float:
    """Return how many rows are not the exponents of a monomial, or not after the row before, or missing.

    Rows in strict order (by degree, then with the first exponent falling) are all different: as many as there are
    monomials are all of them.
    """
    most = 1 if parameters.interaction_only else parameters.degree
    degrees = range(0 if parameters.include_bias else 1, parameters.degree + 1)
    kinds = [n_features if parameters.interaction_only else n_features + d - 1 for d in degrees]
    count = sum(1 if d == 0 else comb(kind, d) for kind, d in zip(kinds, degrees, strict=True))
    if powers.ndim != 2 or powers.shape[1] != n_features:
        return float(count + 1)
    total = powers.sum(axis=1)
    is_wrong = (total < degrees.start) | (total >= degrees.stop) | np.any((powers < 0) | (powers > most), axis=1)
    keys = np.column_stack([total, -powers])
    steps = keys[1:] - keys[:-1]
    first = np.argmax(steps != 0, axis=1)
    is_wrong[1:] |= steps[np.arange(len(steps)), first] <= 0
    return float(np.count_nonzero(is_wrong) + abs(count - len(powers)))


PROVES = {"BasisExpansion": prove_basis_expansion}
