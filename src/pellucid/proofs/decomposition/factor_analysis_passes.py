"""Proof of factor analysis of rows in blocks: a pass for their moments, a pass for the ends of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.blocks import add_blocks, sum_block
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.decomposition.factor_analysis import (
    ROWS_AT_ONCE,
    ColumnCorrelations,
    factor_claims,
    posterior_map,
    wrong_shapes,
)
from pellucid.proofs.seen import Seen


def prove_factors_of_blocks(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate, with the moments computed again from the blocks."""
    if wrong := wrong_shapes(fitted, parameters, blocks.n_features):
        return wrong
    sums = blocks.reduce(sum_block, add_blocks, "rows").by_label[None]
    shift = sums.first / sums.weight
    products = sums.second / sums.weight - np.outer(shift, shift)
    mean = sums.pivot + shift
    with np.errstate(all="ignore"):  # noise that is none is told below
        back = posterior_map(fitted.components_, fitted.noise_variance_)
        ends = blocks.reduce(ends_of_block, joined_ends, mean, back)
        lost = (8.0 * np.finfo(np.float64).eps * np.abs(shift)) ** 2  # what rounding leaves of a constant column
        is_constant = np.diagonal(products) <= lost
        products = np.where(is_constant | is_constant[:, None], 0.0, products)
        seen = ColumnCorrelations.from_products(mean, products, sums.weight, ends)
    return factor_claims(fitted, parameters, seen)


def ends_of_block(block: Any, mean: Array, back: Array) -> Array:
    """Return the largest and the least score of each factor."""
    X = block.X if block.weight is None else block.X[np.asarray(block.weight) > 0]
    ends = [np.array([np.full(back.shape[1], -np.inf), np.full(back.shape[1], np.inf)])]
    for start in range(0, len(X), ROWS_AT_ONCE):
        scores = back.T @ np.subtract(X[start : start + ROWS_AT_ONCE], mean, dtype=np.float64).T
        ends.append(np.array([scores.max(axis=1), scores.min(axis=1)]))
    return joined_ends(ends)


ends_of_block.made_on_device = "pellucid.proofs.on_device:ends_of_rows"  # type: ignore[attr-defined]  # a mark


def joined_ends(found: Sequence[Array]) -> Array:
    """Return the ends of several blocks."""
    high, low = np.stack(found, axis=1)
    return np.array([high.max(axis=0), low.min(axis=0)])


PROVES_BLOCKS = {"FactorAnalysis": prove_factors_of_blocks}
