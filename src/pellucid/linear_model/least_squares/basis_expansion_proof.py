"""Proof of a basis expansion: every monomial once, and each of them the product of its factors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array


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
    """Return how many exponents are not those of all monomials, by degree and then in lexical order."""
    most = 1 if parameters.interaction_only else parameters.degree
    least = 0 if parameters.include_bias else 1
    every = [
        exponents
        for exponents in product(range(most + 1), repeat=n_features)
        if least <= sum(exponents) <= parameters.degree
    ]
    right = np.array(sorted(every, key=lambda exponents: (sum(exponents), [-e for e in exponents])), dtype=int)
    right = right.reshape(len(every), n_features)
    return float(np.any(right != powers, axis=1).sum()) if right.shape == powers.shape else float(len(every) + 1)
