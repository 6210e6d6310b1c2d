"""Speed of principal components and truncated SVD: the same directions, with nothing left out that a peer found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sklearn.decomposition as peer
from rich.console import Console
from scipy import sparse
from scipy.sparse.linalg import svds
from sklearn.feature_extraction.text import TfidfTransformer

import pellucid.decomposition as ours
from benchmarks.growth import print_growth
from benchmarks.harness import OURS, Row
from benchmarks.linear_classifiers import mnist, reuters


class Problem(NamedTuple):
    """Rows, and how many components to find."""

    X: Any
    k: int


def decaying(n: int, d: int, k: int) -> Problem:
    """Return rows whose variances fall slowly, with correlated columns."""
    rng = np.random.default_rng(0)
    mixed = np.linalg.qr(rng.standard_normal((d, d)))[0] * np.geomspace(5.0, 0.5, d)[:, None]
    return Problem(rng.standard_normal((n, d)) @ mixed + rng.standard_normal(d), k)


def low_rank(n: int, d: int, k: int) -> Problem:
    """Return rows of about 60 directions, and noise."""
    rng = np.random.default_rng(0)
    signal = (rng.standard_normal((n, 60)) * np.exp(-np.arange(60) / 20)) @ rng.standard_normal((60, d))
    return Problem(signal + 0.5 * rng.standard_normal((n, d)), k)


def tf_idf() -> Problem:
    return Problem(sparse.csr_array(TfidfTransformer().fit_transform(reuters().X)), 100)


def left_out(data: Problem, components: np.ndarray) -> float:
    """Return the squares that the components do not hold, in parts of those that they hold: smaller is better."""
    basis = np.linalg.qr(components.T)[0]
    mean = np.zeros(data.X.shape[1]) if sparse.issparse(data.X) else data.X.mean(axis=0)
    held = float(np.sum((data.X @ basis - mean @ basis) ** 2))
    return 1.0 / held


def by(kind: Any, **settings: Any) -> Callable[[Problem], np.ndarray]:
    return lambda data: kind(data.k, **settings).fit(data.X).components_


def arpack(data: Problem) -> np.ndarray:
    return svds(data.X, k=data.k, random_state=0)[2]


def pca_row(name: str, prepare: Callable[[], Problem], **settings: Any) -> Row:
    contenders = {OURS: by(ours.PCA, **settings), "sklearn": by(peer.PCA, random_state=0, **settings)}
    return Row(name, prepare, contenders, left_out, rounds=5)


def rows() -> list[Row]:
    """Return the rows of the table; without PELLUCID_DATA real data are numbers of the same shape."""
    topics = {
        OURS: by(ours.TruncatedSVD),
        "sklearn": by(peer.TruncatedSVD, random_state=0),
        "sklearn arpack": by(peer.TruncatedSVD, algorithm="arpack", random_state=0),
        "SciPy": arpack,
    }
    return [
        pca_row("PCA 10 of 200,000 x 100", lambda: decaying(200_000, 100, 10)),
        pca_row("PCA 50 of MNIST 60,000 x 784", lambda: Problem(mnist().X, 50)),
        pca_row("PCA randomized 50 of 10,000 x 5,000", lambda: low_rank(10_000, 5_000, 50), svd_solver="randomized"),
        Row("TruncatedSVD 100 of Reuters", tf_idf, topics, left_out, rounds=5),
    ]


def report(console: Console, only: str) -> None:
    """Print how time and memory grow, unless other rows are asked for."""
    if only:
        return
    sizes = [(50_000, 100, 10), (100_000, 100, 10), (200_000, 100, 10), (100_000, 200, 10), (100_000, 400, 10)]
    print_growth(console, "PCA", sizes, decaying, lambda data: ours.PCA(data.k).fit(data.X))
    wide = [(5_000, 2_500, 20), (5_000, 5_000, 20), (10_000, 5_000, 20), (10_000, 5_000, 80)]
    print_growth(
        console, "PCA, randomized", wide, low_rank, lambda data: ours.PCA(data.k, svd_solver="randomized").fit(data.X)
    )
