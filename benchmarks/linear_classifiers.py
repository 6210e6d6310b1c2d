"""Speed of the linear classifiers. Real data come from the folder that PELLUCID_DATA names, or are made up.

Peers run with the solver that is fastest for the case, at the tolerance that brings their objective within a millionth
of the minimum, and once more with their defaults: those stop earlier and do not count as equal answers.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.linear_model as peer
from scipy import sparse
from scipy.special import log_expit, log_softmax
from sklearn.datasets import load_svmlight_file

import pellucid.linear_model as ours
from benchmarks.harness import OURS, Row

DATA = Path(os.environ.get("PELLUCID_DATA", "."))


class Problem(NamedTuple):
    """Data and labels from 0."""

    X: Any
    y: np.ndarray


def gaussian_classes(n: int, p: int, correlated: bool = False, seed: int = 0) -> Problem:
    """Return two classes that overlap; ``correlated`` features have the units and likeness of real ones."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if correlated:
        X = (X + 2.0 * rng.standard_normal((n, 1))) * np.logspace(-1, 1, p)
    w = rng.standard_normal(p) / X.std(axis=0)
    logits = 2.0 * X @ w / np.sqrt(p)
    return Problem(X, (rng.random(n) < 1.0 / (1.0 + np.exp(-logits))).astype(int))


def mnist_half() -> Problem:
    """Return the first 30,000 digits."""
    whole = mnist()
    return Problem(whole.X[:30_000], whole.y[:30_000])


def mnist() -> Problem:
    """Return the 60,000 digits, or blobs of the same shape."""
    folder = DATA / "mnist"
    if not folder.exists():
        rng = np.random.default_rng(0)
        y = rng.integers(0, 10, 60_000)
        X = np.clip(rng.random((10, 784))[y] + 0.5 * rng.standard_normal((60_000, 784)), 0.0, 1.0)
        return Problem(X, y)
    with (
        gzip.open(folder / "train-images-idx3-ubyte.gz") as images,
        gzip.open(folder / "train-labels-idx1-ubyte.gz") as labels,
    ):
        X = np.frombuffer(images.read(), np.uint8, offset=16).reshape(-1, 784) / 255.0
        return Problem(X, np.frombuffer(labels.read(), np.uint8, offset=8).astype(int))


def adult() -> Problem:
    """Return a9a, the Adult data in 123 indicators, or indicators of the same shape and density."""
    path = DATA / "tabular" / "a9a.libsvm.gz"
    if path.exists():
        X, y = load_svmlight_file(path)
        X = sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
        return Problem(X, (y > 0).astype(int))
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(sparse.random_array((32_561, 123), density=0.11, rng=rng))
    X.data[:] = 1.0
    return Problem(X, (X @ rng.standard_normal(123) + rng.logistic(size=32_561) > 0.5).astype(int))


def reuters() -> Problem:
    """Return the Reuters-21578 counts, the first class against the others, or random counts of the same shape."""
    path = DATA / "text" / "reuters21578_counts.npz"
    if path.exists():
        parts = np.load(path)
        X = sparse.csr_matrix((parts["data"].astype(float), parts["indices"], parts["indptr"]), shape=parts["shape"])
        return Problem(X, (parts["y"] == 1).astype(int))
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(sparse.random_array((8293, 18_933), density=0.00248, rng=rng))
    X.data = np.ceil(X.data * 3)
    return Problem(X, (np.asarray(X[:, :50].sum(axis=1)).ravel() + 0.1 * rng.standard_normal(8293) > 0.3).astype(int))


def objective(data: Problem, model: Any) -> float:
    """Return the loss and the penalty; the intercept of LIBLINEAR is penalized like the weights."""
    logits = np.asarray(data.X @ model.coef_.T + model.intercept_)
    if logits.shape[1] == 1:
        loss = -log_expit(np.where(data.y == 1, logits[:, 0], -logits[:, 0])).sum()
    else:
        loss = -log_softmax(logits, axis=1)[np.arange(len(data.y)), data.y].sum()
    w = model.coef_ if model.solver != "liblinear" else np.hstack([model.coef_, model.intercept_[:, None]])
    return float(model.C * loss + model.l1_ratio * np.abs(w).sum() + 0.5 * (1 - model.l1_ratio) * np.sum(w**2))


def contenders(mine: dict[str, Any], **peers: dict[str, Any]) -> dict[str, Any]:
    """Return ours and scikit-learn's with these parameters."""
    found: dict[str, Any] = {OURS: lambda d: ours.LogisticRegression(**mine).fit(d.X, d.y)}
    for name, params in peers.items():
        found[name.replace("_", " ")] = lambda d, params=params: peer.LogisticRegression(**params).fit(d.X, d.y)
    return found


def rows() -> list[Row]:
    """Return every row of the family."""
    newton = {"solver": "newton-cholesky", "tol": 1e-6}
    lasso = {"l1_ratio": 1.0, "solver": "liblinear"}
    dense = contenders({}, newton_cholesky=newton, lbfgs={"tol": 1e-6, "max_iter": 5000}, default={"max_iter": 1000})
    return [
        Row("Logistic 50,000 x 50", lambda: gaussian_classes(50_000, 50), dense, objective),
        Row("Logistic 50,000 x 50 correlated", lambda: gaussian_classes(50_000, 50, correlated=True), dense, objective),
        Row(
            "Softmax MNIST 60,000 x 784",
            mnist,
            contenders({}, lbfgs={"tol": 1e-6, "max_iter": 10_000}, default={}),
            objective,
            rounds=1,
        ),
        Row(
            "Softmax MNIST 30,000 x 784, tol=1e-3",
            mnist_half,
            contenders({"tol": 1e-3}, lbfgs={"tol": 1e-3}),
            objective,
            rounds=2,
        ),
        Row(
            "Logistic l2 Reuters, sparse",
            reuters,
            contenders({}, lbfgs={"tol": 1e-6, "max_iter": 5000}, newton_cg={"solver": "newton-cg", "tol": 1e-6}),
            objective,
            rounds=3,
        ),
        Row(
            "Logistic l1 a9a, sparse",
            adult,
            contenders(lasso, liblinear=lasso | {"tol": 1e-6, "max_iter": 10_000}, default=lasso),
            objective,
            rounds=2,
        ),
        Row(
            "Logistic l1 Reuters, sparse",
            reuters,
            contenders(lasso, liblinear=lasso | {"tol": 1e-7, "max_iter": 10_000}, default=lasso),
            objective,
            rounds=3,
        ),
    ]
