"""BasisExpansion: a linear model in functions of the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import TINY

Basis = Callable[[Array], Array]


class BasisExpansion(TransformerMixin, CertifiedEstimator):
    r"""Replace the features by functions of them, to fit curves with a linear model.

    .. math:: x \mapsto \phi(x) = \bigl(x^e : 1 \le |e| \le d\bigr), \qquad\text{or}\qquad (f_1(x), \dots, f_l(x))

    Parameters
    ----------
    degree : int, default=2
        Largest total degree of the monomials, at least 0. Not used when ``functions`` are given.
    functions : sequence of callables or None, default=None
        Each takes ``X`` of shape (n_samples, n_features) and returns (n_samples,) or (n_samples, k) numbers.
    include_bias : bool, default=False
        Whether a column of ones comes first. Linear models here learn an intercept, so it is off.
    interaction_only : bool, default=False
        Whether each feature enters a monomial at most once.

    Attributes
    ----------
    powers_ : ndarray of shape (n_output_features, n_features)
        Exponents of the monomials, by degree and then in lexical order; empty with ``functions``.
    n_output_features_ : int
        Number of columns of the result.
    certificate_ : Certificate
        Grade ``exact``: the monomials recomputed by repeated multiplication agree. Grade ``none`` with ``functions``.

    Examples
    --------
    >>> BasisExpansion(degree=3).fit_transform([[2.0], [3.0]])
    array([[ 2.,  4.,  8.],
           [ 3.,  9., 27.]])
    """

    powers_: Array
    n_output_features_: int

    def __init__(
        self,
        degree: int = 2,
        *,
        functions: Sequence[Basis] | None = None,
        include_bias: bool = False,
        interaction_only: bool = False,
    ) -> None:
        self.degree = degree
        self.functions = functions
        self.include_bias = include_bias
        self.interaction_only = interaction_only

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Learn the number of features and try the functions once."""
        data = self._check(X)
        n_features = data.X.shape[1]
        powers = self._powers(n_features) if self.functions is None else np.empty((0, n_features), dtype=int)
        expanded = self._expand(data.X[:1], powers)
        if expanded.shape[1] == 0:
            raise ValueError("degree must be at least 1 when include_bias=False, got 0. Raise degree.")
        attributes = {"powers_": powers, "n_output_features_": expanded.shape[1]}
        certificate = self._first_row_certificate(data.X[:1], powers, expanded) if self.functions is None else None
        return self._adopt(Fit(attributes, certificate=certificate), data)

    def transform(self, X: Data) -> Array:
        """Return the functions of ``X``, of shape (n_samples, n_output_features)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        expanded = self._expand(X, self.powers_)
        if expanded.shape[1] != self.n_output_features_:
            raise ValueError(
                f"functions must return {self.n_output_features_} columns as at fit, got {expanded.shape[1]}. "
                "Make their number independent of the data."
            )
        return expanded

    def get_feature_names_out(self, input_features: Data = None) -> Array:
        """Return names such as ``x0^2 x1``; functions are called by their ``__name__``."""
        check_is_fitted(self)
        given = input_features if input_features is not None else getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(self.n_features_in_)] if given is None else [str(name) for name in given]
        if len(names) != self.n_features_in_:
            raise ValueError(f"input_features must have {self.n_features_in_} names, got {len(names)}.")
        if self.functions is None:
            return np.array([_monomial_name(names, row) for row in self.powers_], dtype=object)
        bias = ["1"] if self.include_bias else []
        numbered = [f"f{k}" for k in range(self.n_output_features_ - len(bias))]
        if len(self.functions) == len(numbered):
            numbered = [getattr(f, "__name__", label) for f, label in zip(self.functions, numbered, strict=True)]
            numbered = [f"f{k}" if name == "<lambda>" else name for k, name in enumerate(numbered)]
        return np.array(bias + numbered, dtype=object)

    @property
    def _n_features_out(self) -> int:
        return self.n_output_features_

    def _first_row_certificate(self, row: Array, powers: Array, expanded: Array) -> Certificate:
        """Return what is known at once, from one row; verify measures all of them."""
        monomials = np.prod(row.astype(np.float64)[0] ** powers.astype(np.float64), axis=1)
        error = np.max(np.abs(expanded[0] - monomials) / (np.abs(monomials) + TINY), initial=0.0)
        bound = 8 * max(1, self.degree) * float(np.finfo(row.dtype).eps)
        repeated = len(powers) - len(np.unique(powers, axis=0))
        statement = "largest relative difference of the first row from its monomials"
        return Certificate(
            "exact",
            (
                Claim("monomials", statement, float(error), bound, "Scale X: powers overflow."),
                Claim("powers", "rows of powers_ that are repeated", float(repeated), 0.0, "Refit."),
            ),
        )

    def _powers(self, n_features: int) -> Array:
        first = 0 if self.include_bias else 1
        choices = [
            chosen
            for d in range(first, self.degree + 1)
            for chosen in combinations_with_replacement(range(n_features), d)
            if not (self.interaction_only and len(set(chosen)) < d)
        ]
        powers = np.zeros((len(choices), n_features), dtype=int)
        for row, chosen in zip(powers, choices, strict=True):
            np.add.at(row, list(chosen), 1)
        return powers

    def _expand(self, X: Array, powers: Array) -> Array:
        if self.functions is None:
            out = np.ones((X.shape[0], len(powers)), dtype=X.dtype)
            for k, row in enumerate(powers):
                for j in np.flatnonzero(row):
                    out[:, k] *= X[:, j] ** row[j]
            return out
        columns = [_as_columns(f, X) for f in self.functions]
        bias = [np.ones((X.shape[0], 1))] if self.include_bias else []
        return np.hstack(bias + columns).astype(X.dtype) if bias + columns else np.empty((X.shape[0], 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _as_columns(function: Basis, X: Array) -> Array:
    values = np.asarray(function(X))
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != len(X):
        raise ValueError(
            f"functions must return {len(X)} rows for {len(X)} samples, got shape {values.shape}. Use whole columns."
        )
    return values


def _monomial_name(names: list[str], row: Array) -> str:
    parts = [name if e == 1 else f"{name}^{e}" for name, e in zip(names, row, strict=True) if e > 0]
    return " ".join(parts) or "1"
