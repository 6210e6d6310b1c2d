"""Speed of factors of a matrix. Faces and documents come from the folder that PELLUCID_DATA names, or are made up.

Local minima differ: what counts is the time to an objective as low as that of the peer at its own ``tol``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import decomposition as peer

from benchmarks.harness import OURS, Row
from pellucid.decomposition import NMF

FOLDER = Path(os.environ.get("PELLUCID_DATA", "."))


def faces() -> np.ndarray:
    """Return 2,429 faces of 19 x 19 pixels between 0 and 1, or products of random parts of that shape."""
    path = FOLDER / "faces" / "cbcl_faces_19x19.npz"
    if path.exists():
        return np.load(path)["train_faces"].reshape(-1, 361) / 255.0
    rng = np.random.default_rng(0)
    return rng.gamma(0.3, size=(2429, 49)) @ rng.gamma(0.3, size=(49, 361)) / 49


def documents() -> sparse.csr_array:
    """Return the counts of Reuters-21578, or random counts of the same shape and density."""
    path = FOLDER / "text" / "reuters21578_counts.npz"
    if path.exists():
        parts = np.load(path)
        return sparse.csr_array((parts["data"].astype(float), parts["indices"], parts["indptr"]), shape=parts["shape"])
    rng = np.random.default_rng(0)
    X = sparse.random_array((8293, 18933), density=0.00248, rng=rng, format="csr")
    X.data = np.ceil(X.data * 3)
    return X


def nmf(kind: Any, **settings: Any) -> Callable[[Any], Any]:
    return lambda X: kind(init="nndsvda", random_state=0, **settings).fit(X)


def nmf_row(name: str, prepare: Callable[[], Any], q: int, rounds: dict[str, int], **settings: Any) -> Row:
    """Return a row; ours stops at ``tol``, the peer after the rounds that bring it as far."""
    contenders = {OURS: nmf(NMF, n_components=q, max_iter=rounds[OURS], tol=1e-9, **settings)}
    contenders["scikit-learn"] = nmf(peer.NMF, n_components=q, max_iter=rounds["scikit-learn"], tol=0, **settings)
    return Row(name, prepare, contenders, lambda _X, model: model.reconstruction_err_, rounds=3, slack=1e-4)
