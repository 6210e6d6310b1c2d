"""Principal components of each class by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_X_y

from pellucid.core.types import Data
from pellucid.decomposition.pca.pca import PCA


def pca_per_class(X: Data, y: Data, **parameters: Any) -> dict[Any, PCA]:
    """Return a PCA of the rows of each class: its own mean and its own axes.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their classes.
    parameters
        Those of :class:`PCA`.

    Examples
    --------
    >>> models = pca_per_class([[0, 0], [1, 1], [0, 5], [2, 5]], ["a", "a", "b", "b"], n_components=1)
    >>> {label: model.components_.round(3).tolist() for label, model in models.items()}
    {'a': [[0.707, 0.707]], 'b': [[1.0, 0.0]]}
    """
    labels = np.asarray(y)
    X, _ = check_X_y(X, np.zeros(len(labels)), accept_sparse="csr")
    rows = X.tocsr() if sparse.issparse(X) else X
    return {label.item(): PCA(**parameters).fit(rows[labels == label]) for label in np.unique(labels)}
