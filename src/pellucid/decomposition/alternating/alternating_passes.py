"""Alternating least squares of rows in blocks: the rounds of the fit in memory, each of them one pass.

A pass finds the best factor of each of its rows and leaves what the columns need of them: their equations. The factors
of rows are never kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.fit import Effort, Fit
from pellucid.core.scale.row_blocks import BlockError, RowBlock, RowBlocks
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.decomposition.alternating.alternating_least_squares import NOTHING_KNOWN, RESIDUAL, penalties_of
from pellucid.decomposition.alternating.alternating_solvers import alternating_factors, entries_of


@dataclass(frozen=True, eq=False)
class RowSums:
    """What the best factors Z of rows leave: of each column the sums of zz' and of xz over the rows that know it."""

    grams: Array  # (d, q, q)
    rights: Array  # (d, q)
    squares: float
    """Of Z."""
    gained: float
    error: float
    """Half the squared differences at the known entries, and the penalty of the rows."""


@dataclass(frozen=True)
class EntriesInBlocks:
    """The known entries of a matrix whose rows are in blocks."""

    blocks: RowBlocks
    squares: float

    def fit_rows(self, components: Array, alpha: float) -> tuple[RowSums, float]:
        """Return what the best factors of all rows leave, in one pass."""
        found = self.blocks.reduce(rows_of_block, join_rows, components, alpha)
        return found, found.gained

    def fit_columns(self, weights: RowSums, alpha: float) -> tuple[Array, float]:
        """Return the best factor of each column."""
        grams = weights.grams + alpha * np.eye(weights.rights.shape[1])
        rights = weights.rights[:, :, None]
        # without a penalty, factors may depend on each other: the shortest answer
        solved = np.linalg.solve(grams, rights) if alpha > 0.0 else np.linalg.pinv(grams, hermitian=True) @ rights
        return solved[:, :, 0], 0.5 * float(np.vdot(rights, solved))

    def squares_of(self, weights: RowSums) -> float:
        """Return the sum of the squares of the factors of all rows."""
        return weights.squares


def factors_in_passes(estimator: Any, blocks: RowBlocks, watch: Watch) -> Fit:
    """Return the components of all rows."""
    squares, n_known = blocks.reduce(squares_of_block, join_squares)
    if not n_known:
        raise ValueError(NOTHING_KNOWN)
    d, q = blocks.n_features, estimator.n_components
    start = check_random_state(estimator.random_state).standard_normal((d, q))
    start *= np.sqrt(np.sqrt(squares / n_known)) if squares > 0.0 else 1.0  # the mean square of the known entries
    effort = Effort(max(float(estimator.tol), RESIDUAL), estimator.max_iter, lambda B: watch({"components_": B}))
    alphas = penalties_of(estimator)
    found = alternating_factors(EntriesInBlocks(blocks, squares), start, alphas, effort, np.float64)
    B, last = np.ascontiguousarray(found.attributes["components_"]), found.attributes["weights_"]
    attributes = {
        "components_": B,
        "objective_": last.error + 0.5 * alphas[1] * float(np.vdot(B, B)),
        "n_iter_": found.attributes["n_iter_"],
    }
    return replace(found, attributes=attributes)


# from a block to its statistics


def squares_of_block(block: RowBlock) -> tuple[float, int]:
    """Return the sum of the squares of the known entries, and how many there are."""
    X = block.X.astype(np.float64)
    known = X[~np.isnan(X)]
    squares = float(known @ known)
    if not np.isfinite(squares):
        raise BlockError(f"block {block.number} must have entries whose squares are finite, got infinity or more.")
    return squares, len(known)


def join_squares(found: Sequence[tuple[float, int]]) -> tuple[float, int]:
    """Return the sums over several blocks."""
    return float(np.sum([squares for squares, _ in found])), sum(n for _, n in found)


def rows_of_block(block: RowBlock, components: Array, alpha: float) -> RowSums:
    """Return what the best factors of the rows of a block leave."""
    X = block.X.astype(np.float64)
    Z, gained = entries_of(X).fit_rows(components, alpha)
    is_known = ~np.isnan(X)
    values, (m, q) = np.where(is_known, X, 0.0), Z.shape
    grams = is_known.astype(np.float64).T @ (Z[:, :, None] * Z[:, None, :]).reshape(m, q * q)
    rest = np.where(is_known, Z @ components.T - values, 0.0)
    squares = float(np.vdot(Z, Z))
    error = 0.5 * float(np.vdot(rest, rest)) + 0.5 * alpha * squares
    return RowSums(grams.reshape(-1, q, q), values.T @ Z, squares, gained, error)


def join_rows(found: Sequence[RowSums]) -> RowSums:
    """Return the sums over several blocks."""
    names = ("grams", "rights", "squares", "gained", "error")
    grams, rights, squares, gained, error = (np.sum([getattr(one, name) for one in found], axis=0) for name in names)
    return RowSums(grams, rights, float(squares), float(gained), float(error))
