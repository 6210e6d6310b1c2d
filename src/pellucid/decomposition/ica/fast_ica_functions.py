"""fastica: whitening, rotation and sources as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Data
from pellucid.decomposition.ica.fast_ica import FastICA


def fastica(
    X: Data,
    n_components: int | None = None,
    *,
    return_X_mean: bool = False,
    compute_sources: bool = True,
    return_n_iter: bool = False,
    **settings: Any,
) -> list[Any]:
    """Return the whitening ``K``, the rotation ``W`` and the sources of :class:`FastICA`, whose parameters these are.

    The sources are ``W K (x - mean)``. On demand the mean and the number of steps follow.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((500, 2)) @ [[1.0, 0.5], [0.2, 1.0]]
    >>> K, W, S = fastica(X, random_state=0)
    >>> np.allclose((X - X.mean(axis=0)) @ (W @ K).T, S)
    True
    """
    model = FastICA(n_components, **settings).fit(X)
    K = model.whitening_ if model.whiten else None
    W = model.components_
    if K is not None:
        wide = K.astype(np.float64)
        W = (W @ (wide / np.einsum("ij,ij->i", wide, wide)[:, None]).T).astype(K.dtype)
    found: list[Any] = [K, W, model.transform(X) if compute_sources else None]
    if return_X_mean:
        found.append(model.mean_ if model.whiten else None)
    if return_n_iter:
        found.append(model.n_iter_)
    return found
