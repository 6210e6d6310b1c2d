"""From checked data and parameters to independent components: whitening, the rotation, and the units of the sources."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.cards import card_of
from pellucid.core.fit import Effort, Fit
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.core.user_warnings import warn_user
from pellucid.decomposition.ica.fast_ica_solvers import SOLVERS, Whitening, contrast_of, find_whitening, is_built_in
from pellucid.decomposition.ica.spacings import least_entropy_rotation, multi_information
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

LARGE = 1 << 17
"""Numbers from which white rows are held in float32."""

NARROW_TOL = 1e-8
"""A smaller ``tol`` asks for float64 nevertheless."""

ROWS_OF_SPACINGS = 4000
"""Rows whose spacings tell entropies."""

ROWS_OF_INFORMATION = 2000
"""Rows from which the remaining multi-information is estimated."""


def fit_sources(estimator: Any, data: TrainingData) -> Fit:
    """Return the fit of all attributes, with the certificate."""
    X = data.X
    contrast = contrast_of(estimator)
    whitening = _whitening(estimator, X)
    q = X.shape[1] if whitening is None else len(whitening.K)
    is_narrow = X.dtype == np.float32 or (len(X) * q >= LARGE and estimator.tol >= NARROW_TOL)
    dtype = np.float32 if is_narrow else np.float64
    Z = np.asarray(X.T, dtype=dtype) if whitening is None else whitening.white(X, dtype)
    watch = estimator._watch(
        X, None, attributes=lambda W: _attributes(W, whitening, estimator.whiten, X), max_iter=estimator.max_iter
    )
    effort = Effort(float(estimator.tol), estimator.max_iter, watch)
    in_parts = is_built_in(estimator.fun)
    start = _start(estimator, q)
    if estimator.algorithm == "spacings":
        first = SOLVERS["parallel"](Z, start, contrast, Effort(float(estimator.tol), 50), in_parts=in_parts)
        part = np.asarray(Z[:, some_rows(len(X), ROWS_OF_SPACINGS)], dtype=np.float64)
        found = least_entropy_rotation(part, first.attributes["rotation"].copy(), effort)
    else:
        found = SOLVERS[estimator.algorithm](Z, start, contrast, effort, in_parts=in_parts)
    attributes = _attributes(found.attributes["rotation"], whitening, estimator.whiten, X)
    attributes["n_iter_"] = found.attributes["n_iter_"]
    # asked for here, as a proof of the model itself would wait for what is left for later
    certificate = card_of(type(estimator)).prove(Seen(**attributes), estimator, data)
    some = X[some_rows(len(X), ROWS_OF_INFORMATION)]
    later = {"multi_information_": partial(multi_information, sources_of(some, attributes))}
    return Fit(attributes, found.trace, found.stopped, certificate, later)


def sources_of(X: Array, attributes: dict[str, Any]) -> Array:
    """Return the sources of rows."""
    centered = X - attributes["mean_"] if "mean_" in attributes else X
    return np.asarray(centered @ attributes["components_"].T)


def _whitening(estimator: Any, X: Array) -> Whitening | None:
    """Return the whitening, or None where the rows are said to be white; warn where less is found than asked for."""
    n, d = X.shape
    asked = estimator.n_components
    if not estimator.whiten:
        if asked is not None:
            warn_user("Ignoring n_components with whiten=False.")
        return None
    if asked is not None and asked > min(n, d):
        warn_user(f"n_components is too large: it will be set to {min(n, d)}")
        asked = min(n, d)
    whitening = find_whitening(X, asked)
    if whitening.rank == 0:
        raise ValueError("X must have a column that varies to find components, got constant columns alone.")
    if whitening.is_degenerate and estimator.whiten_solver == "eigh":
        warn_user(
            "There are some small singular values, using whiten_solver = 'svd' might lead to more accurate results: "
            f"{whitening.rank} of {min(n, d)} directions have a spread, and no other is used."
        )
    elif asked is not None and asked > whitening.rank:
        warn_user(f"n_components is too large: it will be set to {whitening.rank}, as many directions have a spread.")
    return whitening


def _start(estimator: Any, q: int) -> Array:
    if estimator.w_init is None:
        return np.asarray(check_random_state(estimator.random_state).normal(size=(q, q)))
    start = np.asarray(estimator.w_init, dtype=np.float64)
    if start.shape != (q, q):
        raise ValueError(f"w_init has invalid shape -- should be {(q, q)}, got {start.shape}.")
    return start


def _attributes(W: Array, whitening: Whitening | None, whiten: Any, X: Array) -> dict[str, Any]:
    """Return the fitted attributes of a rotation, in the precision of the data."""
    if whitening is None:
        return {"components_": W.astype(X.dtype), "mixing_": W.T.astype(X.dtype)}
    unit = np.sqrt(len(X)) if whiten == "unit-variance" else 1.0
    W = W if len(W) == len(whitening.K) else np.vstack([W, np.zeros((len(whitening.K) - len(W), W.shape[1]))])
    return {
        "components_": (unit * W @ whitening.K).astype(X.dtype),
        "mixing_": (whitening.inverse @ W.T / unit).astype(X.dtype),
        "mean_": whitening.mean.astype(X.dtype),
        "whitening_": whitening.K.astype(X.dtype),
    }
