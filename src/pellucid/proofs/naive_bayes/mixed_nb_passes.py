"""Proof of MixedNB on rows in blocks: one pass for sums of numbers and counts of values, by class and column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.naive_bayes.class_density import (
    Smoothing,
    column_certificate,
    mixed_certificate,
    rounded_means,
    spread_certificate,
)
from pellucid.proofs.probability.column_tally import ColumnTally, SeenColumns
from pellucid.proofs.probability.densities import kind_of
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.seen import Seen, refusal


def tally_columns(block: Any, is_gaussian: tuple[bool, ...]) -> dict[Any, ColumnTally]:
    """Return the tally of each label of a block."""
    seen = SeenColumns.of(block.X)
    weight = np.ones(len(seen.table)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    labels = dict.fromkeys(block.y.tolist())
    found = {label: seen.tally(np.where(block.y == label, weight, 0.0), is_gaussian) for label in labels}
    return {label: tally for label, tally in found.items() if tally is not None}


def add_columns(found: Sequence[dict[Any, ColumnTally]]) -> dict[Any, ColumnTally]:
    """Return the tallies of several blocks."""
    labels = dict.fromkeys(label for one in found for label in one)
    return {label: reduce(ColumnTally.plus, [one[label] for one in found if label in one]) for label in labels}


def prove_mixed_nb_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate from one pass over the rows and the fitted attributes alone."""
    labels, densities = np.asarray(fitted.classes_).tolist(), fitted.densities_
    if len(densities) != blocks.n_features or any(len(column) != len(labels) for column in densities):
        return refusal("attributes", "not what a fit leaves: densities_")
    is_gaussian = tuple(all(kind_of(one) == "Gaussian" for one in column) for column in densities)
    seen = blocks.reduce(tally_columns, add_columns, is_gaussian)
    unknown = sorted(str(label) for label in seen if label not in labels)
    if unknown:
        raise ValueError(f"y must have the labels of the fit, got {', '.join(unknown)} too.")
    if len(seen) < len(labels):
        return refusal("attributes", "not what these rows leave: classes_")
    parts = [seen[label] for label in labels]
    whole = reduce(ColumnTally.plus, parts)
    claims = [Claim("conditionals", "", 0.0, sum_error(whole.n))]
    plain = np.flatnonzero(is_gaussian)
    epsilon = Smoothing(whole.mean[plain], whole.variance[plain], parameters.var_smoothing) if len(plain) else None
    for j, column in enumerate(densities):
        claims.extend(_column_claims(j, column, parts, parameters.alpha, epsilon if is_gaussian[j] else None))
    counts = np.array([part.weight for part in parts])
    return mixed_certificate(fitted, parameters, claims, counts, whole.n, whole.specimen)


def _column_claims(
    j: int, densities: Any, parts: list[ColumnTally], alpha: float, epsilon: Smoothing | None
) -> list[Claim]:
    """Return the claims about the densities of one column; sums of weights round as the rows of a class are many."""
    if epsilon is not None:
        proofs = [_spread(density, part, j, epsilon) for density, part in zip(densities, parts, strict=True)]
    else:
        counted = [part.counts[j] or {} for part in parts]
        column = np.array([value for counts in counted for value in counts])
        weight = np.array([own for counts in counted for own in counts.values()])
        ends = np.cumsum([0, *map(len, counted)])
        rows = [np.arange(*end) for end in pairwise(ends)]
        pairs = zip(densities, rows, strict=True)
        proofs = [column_certificate(density, column, own, weight, alpha, None) for density, own in pairs]
    found = zip(proofs, parts, strict=True)
    return [
        Claim(claim.name, claim.statement, claim.value, max(claim.bound, 2 * sum_error(part.n)) if claim.bound else 0.0)
        for proof, part in found
        for claim in proof.claims
    ]


def _spread(density: Any, part: ColumnTally, j: int, epsilon: Smoothing) -> Certificate:
    mean, variance = part.mean[[j]], part.variance[[j]]
    reach = np.maximum(part.high[[j]] - mean, mean - part.low[[j]])
    lost = float(rounded_means(mean, variance)[0])
    return spread_certificate(density, mean, variance[:, None], reach, part.n, epsilon, lost)


PROVES_BLOCKS = {"MixedNB": prove_mixed_nb_in_passes}
