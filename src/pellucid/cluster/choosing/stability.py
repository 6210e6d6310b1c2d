"""How much of a clustering comes back when the rows are drawn again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.types import Array


def labels_of(model: Any, X: Array) -> Array:
    """Return the clusters of the rows that a model was fitted to."""
    return np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))


def agreement(fit: Callable[[Array, int], Any], X: Array, labels: Array, rng: np.random.Generator) -> float:
    """Return the adjusted Rand index of ``labels`` and of clusters found from rows drawn with replacement.

    1 means the same clusters, 0 no more agreement than by chance. A model that cannot assign rows is asked for those
    that were drawn. ``fit(rows, seed)`` returns a fitted model.
    """
    from sklearn.metrics import adjusted_rand_score  # a tenth of a second that few need

    drawn = rng.integers(len(X), size=len(X))
    model = fit(X[drawn], int(rng.integers(2**31 - 1)))
    if hasattr(model, "predict"):
        return float(adjusted_rand_score(labels, model.predict(X)))
    once, places = np.unique(drawn, return_index=True)
    return float(adjusted_rand_score(labels[once], labels_of(model, X[drawn])[places]))
