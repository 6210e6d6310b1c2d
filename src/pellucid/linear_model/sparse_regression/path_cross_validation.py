"""Errors of elastic net paths on held-out folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from pellucid.core.threads import run_blocks, thread_count
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.core.weights import relative_weights
from pellucid.linear_model.sparse_regression.elastic_net_claims import gap_bound
from pellucid.linear_model.sparse_regression.elastic_net_fit_solvers import Path, elastic_net_path
from pellucid.linear_model.sparse_regression.elastic_net_penalty import ElasticNetPenalty
from pellucid.linear_model.sparse_regression.elastic_net_solvers import PassBudget
from pellucid.numerics.design import Design, make_design
from pellucid.numerics.working_gram import WorkingGram


@dataclass(frozen=True)
class PathSettings:
    """What the paths of all folds share."""

    l1_ratios: Sequence[float]
    grids: Sequence[Array]
    fit_intercept: bool
    positive: bool
    tol: float
    max_iter: int
    seed: object = None
    """Seed of the order of the coordinates, or None for cyclic order."""


@dataclass(frozen=True)
class FoldErrors:
    """Mean squared errors of shape (n_l1_ratios, n_alphas, n_folds), and the largest gap over what it may be."""

    mse: Array
    worst_gap: float


def cross_validate_paths(
    X: Any,
    y: Array,
    weight: Array | None,
    folds: list[tuple[Array, Array]],
    settings: PathSettings,
    watch: Watch = ignore,
) -> FoldErrors:
    """Fit all paths on each training fold and measure them on the rest; as many at a time as there are threads."""
    is_sparse = sparse.issparse(X)
    rows_of = X.tocsr() if is_sparse else X
    answers = []
    together = thread_count()
    for start in range(0, len(folds), together):
        some = folds[start : start + together]
        answers += run_blocks(lambda fold: _fold_errors(rows_of, y, weight, *fold, settings), some)
        for _ in some:
            watch()
    return FoldErrors(np.stack([mse for mse, _ in answers], axis=-1), max(gap for _, gap in answers))


def _fold_errors(
    X: Array, y: Array, weight: Array | None, train: Array, test: Array, settings: PathSettings
) -> tuple[Array, float]:
    train_weight = None if weight is None else relative_weights(weight[train])
    design = make_design(X[train], fit_intercept=settings.fit_intercept, sample_weight=train_weight)
    b, y_mean = design.center(y[train])
    gram = WorkingGram(design)
    n, mean_sq = len(train), float(b @ b) / len(train)
    bound = gap_bound(settings.tol, mean_sq, mean_sq + float(y_mean) ** 2)
    rng = None if settings.seed is None else check_random_state(settings.seed)
    budget = PassBudget(goal=n * bound, max_iter=settings.max_iter, rng=rng, scale=n)
    mse, worst = [], 0.0
    for l1_ratio, grid in zip(settings.l1_ratios, settings.grids, strict=True):
        penalties = [ElasticNetPenalty.of(alpha, l1_ratio, n, positive=settings.positive) for alpha in grid]
        path = elastic_net_path(gram, b, penalties, budget)
        worst = max(worst, float(path.gaps.max()) / (n * bound) if bound > 0.0 else 0.0)
        mse.append(
            _held_out_errors(path, design, float(y_mean), X[test], y[test], None if weight is None else weight[test])
        )
    return np.stack(mse), worst


def _held_out_errors(path: Path, design: Design, y_mean: float, X: Array, y: Array, weight: Array | None) -> Array:
    used = np.flatnonzero(path.coefs.any(axis=1))
    coefs = path.coefs[used]
    intercepts = y_mean - design.mean[used] @ coefs
    errors = X[:, used] @ coefs + intercepts - y[:, None]
    return np.average(errors**2, weights=weight, axis=0)
