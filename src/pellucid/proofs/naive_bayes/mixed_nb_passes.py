"""Proof of MixedNB on rows in blocks: one pass for sums of numbers and counts of values, by class and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, column_values
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.naive_bayes.class_density import (
    Smoothing,
    column_certificate,
    mixed_certificate,
    rounded_means,
    spread_certificate,
)
from pellucid.proofs.probability.densities import kind_of
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.seen import Seen, refusal


@dataclass(frozen=True, eq=False)
class ColumnTally:
    """Of some rows, for each column: sums about a pivot and the ends; of all but Gaussian ones the weight of values."""

    weight: float
    n: int
    pivot: Array
    first: Array
    second: Array
    low: Array
    high: Array
    is_text: Array
    is_binary: Array
    counts: tuple[dict[Any, float] | None, ...]

    def plus(self, other: ColumnTally) -> ColumnTally:
        """Return the tally of both sets of rows."""
        move = other.pivot - self.pivot
        second = other.second + 2.0 * move * other.first + other.weight * move**2
        counts = (
            None if a is None or b is None else {value: a.get(value, 0.0) + b.get(value, 0.0) for value in {**a, **b}}
            for a, b in zip(self.counts, other.counts, strict=True)
        )
        return ColumnTally(
            self.weight + other.weight,
            self.n + other.n,
            self.pivot,
            self.first + other.first + other.weight * move,
            self.second + second,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.is_text | other.is_text,
            self.is_binary & other.is_binary,
            tuple(counts),
        )

    @property
    def mean(self) -> Array:
        """Of each column."""
        return np.asarray(self.pivot + self.first / self.weight)

    @property
    def variance(self) -> Array:
        """Of each column."""
        return np.maximum(self.second / self.weight - (self.first / self.weight) ** 2, 0.0)


def tally_columns(block: Any, is_gaussian: tuple[bool, ...]) -> dict[Any, ColumnTally]:
    """Return the tally of each label of a block."""
    columns = [column_values(block.X, j) for j in range(block.X.shape[1])]
    is_text = np.array([values.dtype.kind == "U" for values in columns])
    numbers = [np.zeros(len(v)) if text else v for text, v in zip(is_text, columns, strict=True)]
    table = np.column_stack(numbers).astype(np.float64)
    weight = np.ones(len(table)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    found = {}
    for label in dict.fromkeys(block.y.tolist()):
        own = np.flatnonzero((block.y == label) & (weight > 0))
        if not len(own):
            continue
        w, rows = weight[own], table[own]
        away = rows - rows[0]
        counts = tuple(None if g else _weights(v[own], w) for g, v in zip(is_gaussian, columns, strict=True))
        is_binary = ~is_text & np.isin(rows, (0.0, 1.0)).all(axis=0)
        found[label] = ColumnTally(
            float(w.sum()), len(own), rows[0], w @ away, w @ away**2, rows.min(axis=0), rows.max(axis=0), is_text,
            is_binary, counts,
        )  # fmt: skip
    return found


def _weights(values: Array, weight: Array) -> dict[Any, float]:
    return {value: float(weight[values == value].sum()) for value in np.unique(values).tolist()}


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
    specimen = np.where(whole.is_text, "a", np.where(whole.is_binary, 0.0, 0.5).astype(object))[None, :]
    counts = np.array([part.weight for part in parts])
    return mixed_certificate(fitted, parameters, claims, counts, whole.n, specimen)


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
