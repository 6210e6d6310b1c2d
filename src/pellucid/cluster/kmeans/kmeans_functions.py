"""k-means without an estimator: the whole method, and its start alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.kmeans.kmeans_starts import draw_far_rows
from pellucid.core.input_rules import FLOATS
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data
from pellucid.core.weights import check_sample_weight
from pellucid.proofs.training_data import TrainingData


def k_means(
    X: Data,
    n_clusters: int,
    *,
    sample_weight: Data | None = None,
    init: Any = "k-means++",
    n_init: Any = "auto",
    max_iter: int = 300,
    verbose: int = 0,
    tol: float = 1e-4,
    random_state: Any = None,
    copy_x: bool = True,
    algorithm: str = "lloyd",
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """Return centers, labels and objective of :class:`KMeans` with these parameters, and its rounds if asked.

    Examples
    --------
    >>> k_means([[0.0], [1.0], [8.0], [9.0]], 2)[1].tolist()
    [0, 0, 1, 1]
    """
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        tol=tol,
        verbose=verbose,
        random_state=random_state,
        copy_x=copy_x,
        algorithm=algorithm,
    ).fit(X, sample_weight=sample_weight)
    found = (model.cluster_centers_, model.labels_, model.inertia_)
    return (*found, model.n_iter_) if return_n_iter else found


def kmeans_plusplus(
    X: Data,
    n_clusters: int,
    *,
    sample_weight: Data | None = None,
    x_squared_norms: Data | None = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
) -> tuple[Array, Array]:
    """Return rows drawn far from each other, and which rows of ``X`` they are.

    Each is drawn by its weight times its squared distance to those before, the best of ``n_local_trials`` (at most 8;
    None is 4, or 8 for more than 50 clusters). ``x_squared_norms`` is kept for compatibility: nothing needs it.

    Examples
    --------
    >>> centers, rows = kmeans_plusplus([[0.0], [0.0], [9.0]], 2, random_state=0)
    >>> sorted(centers.ravel().tolist())
    [0.0, 9.0]
    """
    rows = check_array(X, accept_sparse="csr", dtype=FLOATS, order="C")
    weight = check_sample_weight(sample_weight, rows)
    if rows.shape[0] < n_clusters:
        raise ValueError(
            f"n_samples must be at least n_clusters, got n_samples={rows.shape[0]} should be >= "
            f"n_clusters={n_clusters}. Ask for fewer clusters."
        )
    if x_squared_norms is not None and len(check_array(x_squared_norms, ensure_2d=False)) != rows.shape[0]:
        raise ValueError(
            f"x_squared_norms must have the length of X, {rows.shape[0]}, got {len(x_squared_norms)}. (The length of "
            "x_squared_norms should be equal to the length of n_samples.) Leave it out."
        )
    kept = np.arange(rows.shape[0]) if weight is None else np.flatnonzero(weight)
    if len(kept) < rows.shape[0]:
        rows, weight = rows[kept], weight[kept]  # type: ignore[index]  # there are weights, some of them 0
    with own_threads():
        drawn = draw_far_rows(
            TrainingData(rows, weight=weight), n_clusters, check_random_state(random_state), n_local_trials
        )
    return drawn.centers.astype(rows.dtype), kept[drawn.indices].astype(np.int64)
