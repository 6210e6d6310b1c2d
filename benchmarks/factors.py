"""Speed of factors of a matrix. Faces and documents come from the folder that PELLUCID_DATA names, or are made up.

Local minima differ: what counts is the time to an objective as low as that of the peer, which runs more rounds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn import decomposition as peer

from benchmarks.growth import print_growth
from benchmarks.harness import OURS, Row
from pellucid.decomposition import NMF, AlternatingLeastSquares, FastICA

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


def nmf_row(name: str, prepare: Callable[[], Any], q: int, rounds: dict[str, int], **settings: Any) -> Row:
    """Return a row in which each runs so many rounds from the same start; ours must end no higher."""

    def by(kind: Any, max_iter: int) -> Callable[[Any], Any]:
        return lambda X: kind(q, init="nndsvda", random_state=0, max_iter=max_iter, **settings).fit(X)

    contenders = {OURS: by(NMF, rounds[OURS]), "scikit-learn": by(peer.NMF, rounds["scikit-learn"])}
    return Row(name, prepare, contenders, lambda _X, model: model.reconstruction_err_, rounds=3, slack=2e-3)


def mixtures(n: int, d: int) -> np.ndarray:
    """Return rows mixed from uniform and Laplace sources."""
    rng = np.random.default_rng(0)
    sources = rng.laplace(size=(n, d))
    sources[:, ::2] = rng.uniform(-1.0, 1.0, size=sources[:, ::2].shape)
    return sources @ rng.standard_normal((d, d))


def gaussianity(X: np.ndarray, model: Any) -> float:
    """Return minus the distance of the sources from normal numbers, in the contrast that both maximize."""
    sources = model.transform(X)
    return -float(np.sum((np.mean(np.log(np.cosh(sources)), axis=0) - 0.3745672) ** 2))


def ica_row(n: int, d: int) -> Row:
    contenders = {
        OURS: lambda X: FastICA(random_state=0).fit(X),
        "scikit-learn": lambda X: peer.FastICA(random_state=0).fit(X),
        "scikit-learn eigh": lambda X: peer.FastICA(random_state=0, whiten_solver="eigh").fit(X),
    }
    return Row(f"FastICA {n:,} x {d}", lambda: mixtures(n, d), contenders, gaussianity, rounds=5, slack=1e-3)


def ratings(n: int, d: int, q: int, count: int) -> sparse.csr_array:
    """Return so many entries of a matrix of rank q, with noise; a pair drawn twice counts once."""
    rng = np.random.default_rng(0)
    Z, B = rng.standard_normal((n, q)), rng.standard_normal((d, q))
    pairs = np.unique(rng.integers(n * d, size=count))
    rows, columns = np.divmod(pairs, d)
    values = np.einsum("ij,ij->i", Z[rows], B[columns]) + 0.5 * rng.standard_normal(len(pairs))
    return sparse.csr_array((values, (rows, columns)), shape=(n, d))


class PlainFactors:
    """Alternating least squares as one would write it in NumPy: a system of equations for each row, in a loop."""

    def __init__(self, q: int, alpha: float, rounds: int) -> None:
        self.q, self.alpha, self.rounds = q, alpha, rounds

    def fit(self, X: sparse.csr_array) -> PlainFactors:
        """Run the rounds, and measure the end."""
        across = sparse.csr_array(X.T)
        self.components = np.random.default_rng(0).standard_normal((X.shape[1], self.q))
        for _ in range(self.rounds):
            self.weights = self._solved(X, self.components)
            self.components = self._solved(across, self.weights)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        rest = np.einsum("ij,ij->i", self.weights[rows], self.components[X.indices]) - X.data
        penalty = self.alpha * (np.sum(self.weights**2) + np.sum(self.components**2))
        self.objective_ = 0.5 * float(rest @ rest + penalty)
        return self

    def _solved(self, X: sparse.csr_array, others: np.ndarray) -> np.ndarray:
        found = np.zeros((X.shape[0], self.q))
        for i in range(X.shape[0]):
            part = slice(X.indptr[i], X.indptr[i + 1])
            known = others[X.indices[part]]
            found[i] = np.linalg.solve(known.T @ known + self.alpha * np.eye(self.q), known.T @ X.data[part])
        return found


class SurpriseFactors:
    """The same objective by stochastic gradient descent, if the package surprise is there."""

    def __init__(self, q: int, alpha: float, epochs: int) -> None:
        self.q, self.alpha, self.epochs = q, alpha, epochs

    def fit(self, X: sparse.csr_array) -> SurpriseFactors:
        """Run the epochs, and measure the end."""
        import pandas as pd
        from surprise import SVD, Dataset, Reader

        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        table = pd.DataFrame({"row": rows, "column": X.indices, "value": X.data})
        reader = Reader(rating_scale=(float(X.data.min()), float(X.data.max())))
        data = Dataset.load_from_df(table, reader).build_full_trainset()
        # each rating shares the penalty of its row and column with all others of them
        share = self.alpha / (X.nnz / sum(X.shape))
        model = SVD(n_factors=self.q, n_epochs=self.epochs, biased=False, lr_all=0.01, reg_all=share, random_state=0)
        model.fit(data)
        order = [data.to_inner_uid(i) for i in rows], [data.to_inner_iid(j) for j in X.indices]
        rest = np.einsum("ij,ij->i", model.pu[order[0]], model.qi[order[1]]) - X.data
        self.objective_ = 0.5 * float(rest @ rest + self.alpha * (np.sum(model.pu**2) + np.sum(model.qi**2)))
        return self


def ratings_row(n: int, d: int, q: int, count: int, rounds: dict[str, int]) -> Row:
    def ours(X: Any) -> Any:
        return AlternatingLeastSquares(q, alpha=1.0, tol=1e-5, max_iter=rounds[OURS], random_state=0).fit(X)

    contenders = {OURS: ours, "NumPy": lambda X: PlainFactors(q, 1.0, rounds["NumPy"]).fit(X)}
    if find_spec("surprise") is not None:
        contenders["surprise"] = lambda X: SurpriseFactors(q, 1.0, rounds["surprise"]).fit(X)
    name = f"AlternatingLeastSquares {n:,} x {d:,}, {count:,} ratings, {q} components"
    return Row(name, lambda: ratings(n, d, q, count), contenders, lambda _X, model: model.objective_, rounds=1)


class Sized(NamedTuple):
    """Rows, and how many components are wanted."""

    X: np.ndarray
    k: int


def report(console: Console, only: str) -> None:
    """Print how time and memory of NMF and FastICA grow."""
    if "growth" not in only:
        return

    def parts(n: int, d: int, k: int) -> Sized:
        rng = np.random.default_rng(0)
        return Sized(rng.gamma(0.5, size=(n, k)) @ rng.gamma(0.5, size=(k, d)) + 0.1 * rng.random((n, d)), k)

    sizes = [(2_000, 200, 20), (8_000, 200, 20), (2_000, 800, 20), (2_000, 200, 80)]
    by_rounds = {"max_iter": 20, "tol": 0.0, "init": "random", "random_state": 0}
    print_growth(console, "NMF growth, 20 rounds", sizes, parts, lambda data: NMF(data.k, **by_rounds).fit(data.X))
    sizes = [(10_000, 10, 10), (40_000, 10, 10), (160_000, 10, 10), (40_000, 40, 40)]
    unmix = lambda data: FastICA(data.k, random_state=0).fit(data.X)  # noqa: E731
    print_growth(console, "FastICA growth", sizes, lambda n, d, k: Sized(mixtures(n, d), k), unmix)


def rows() -> list[Row]:
    """Return the rows of the table."""
    divergence = {"solver": "mu", "beta_loss": "kullback-leibler", "tol": 1e-6}
    return [
        nmf_row("NMF faces 2,429 x 361, 49 components", faces, 49, {OURS: 50, "scikit-learn": 200}, tol=0.0),
        nmf_row(
            "NMF Reuters 8,293 x 18,933 sparse, 20 components", documents, 20, {OURS: 14, "scikit-learn": 30}, tol=0.0
        ),
        nmf_row("NMF Kullback-Leibler faces, 49", faces, 49, {OURS: 54, "scikit-learn": 50}, **divergence),
        nmf_row("NMF Kullback-Leibler Reuters, 20", documents, 20, {OURS: 54, "scikit-learn": 50}, **divergence),
        ica_row(50_000, 20),
        ratings_row(20_000, 5_000, 10, 10**6, {OURS: 20, "NumPy": 20, "surprise": 20}),
    ]
