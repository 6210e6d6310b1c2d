"""MixedNB on rows in blocks: one pass leaves, by class and column, the moments of numbers and the counts of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from pellucid.core.checks import column_values
from pellucid.core.fit import Fit
from pellucid.core.scale.counted_rows import MOST_CATEGORIES
from pellucid.core.scale.moments import groups_of, refuse_values
from pellucid.core.scale.row_blocks import BlockError, RowBlock, RowBlocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.naive_bayes.class_density_solvers import gaussian_columns, smoothing_of
from pellucid.naive_bayes.gaussian_nb_solvers import ClassMoments, class_moments
from pellucid.probability import Density, Gaussian, find_density
from pellucid.probability.density import declared_categories, guess_density, wanted_densities

Counts = Mapping[Any, float]


@dataclass(frozen=True, eq=False)
class ColumnsOfClass:
    """What the rows of one class leave."""

    moments: ClassMoments
    """Of all columns, as one class; those of words are 0."""
    counts: tuple[Counts | None, ...]
    """Weight of each value of a column; None of numbers that are Gaussian."""


Columns = dict[Any, ColumnsOfClass]


def mixed_nb_in_passes(estimator: Any, blocks: RowBlocks, _watch: Watch) -> Fit:
    """Return the fit to all rows, by class and column."""
    names = None if blocks.names is None else list(blocks.names)
    declared = declared_categories(blocks.given[0])
    wanted: list[Any] = wanted_densities(estimator.densities, blocks.n_features, names)
    for j, is_declared in enumerate(declared):
        wanted[j] = "categorical" if wanted[j] is None and is_declared else wanted[j]
    is_gaussian = tuple(kind is not None and find_density(kind) is Gaussian for kind in wanted)
    is_counted = tuple(kind is not None and not plain for kind, plain in zip(wanted, is_gaussian, strict=True))
    found: Columns = blocks.reduce(columns_of_block, join_columns, is_gaussian, is_counted)
    if not found:
        raise ValueError("sample_weight must be above 0 for some row, got all 0. Leave it out.")
    classes = np.array(sorted(found))
    return _fit_of(estimator, classes, [found[label] for label in classes.tolist()], wanted)


def _fit_of(estimator: Any, classes: Array, parts: list[ColumnsOfClass], wanted: Sequence[Any]) -> Fit:
    kinds = [_kind(entry, [part.counts[j] for part in parts]) for j, entry in enumerate(wanted)]
    totals = np.concatenate([part.moments.total for part in parts])
    prior = (totals + estimator.prior_alpha) / (totals + estimator.prior_alpha).sum()
    plain = [j for j, kind in enumerate(kinds) if kind is Gaussian]
    moments = ClassMoments(totals, *(np.vstack([getattr(part.moments, name)[:, plain] for part in parts])
                                     for name in ("mean", "scatter")))  # fmt: skip
    of_gaussians = iter(gaussian_columns(moments, estimator.var_smoothing) if plain else [])
    loss, densities = float(totals @ np.log(prior)), list[list[Density]]()
    for j, kind in enumerate(kinds):
        if kind is Gaussian:
            densities.append(next(of_gaussians))
            loss += sum(_gaussian_loss(one, part.moments, j) for one, part in zip(densities[-1], parts, strict=True))
            continue
        columns = [_values(part.counts[j]) for part in parts]
        options = smoothing_of(kind, np.concatenate([values for values, _ in columns]), estimator.alpha)
        densities.append([kind.fit(*column, **options) for column in columns])
        pairs = zip(densities[-1], columns, strict=True)
        loss += sum(float(weight @ density.log_prob(values)) for density, (values, weight) in pairs)
    trace = Trace()
    trace.add(iteration=1, objective=-loss / float(totals.sum()))
    return Fit({"classes_": classes, "class_count_": totals, "class_prior_": prior, "densities_": densities}, trace)


def _kind(wanted: Any, counts: list[Counts | None]) -> Any:
    """Return the class of a column's densities: what is asked for, or what suits all its values."""
    if wanted is not None:
        return find_density(wanted)
    if any(one is None for one in counts):
        return Gaussian
    return find_density(guess_density(np.array([value for one in counts for value in one or ()])))


def _values(counts: Counts | None) -> tuple[Array, Array]:
    assert counts is not None
    return np.array(list(counts)), np.array(list(counts.values()))


def _gaussian_loss(density: Any, moments: ClassMoments, j: int) -> float:
    at_mean = float(density.log_prob(moments.mean[:1, j])[0])
    return float(moments.total[0]) * at_mean - 0.5 * float(moments.scatter[0, j]) / density.variance


def columns_of_block(block: RowBlock, is_gaussian: tuple[bool, ...], is_counted: tuple[bool, ...]) -> Columns:
    """Return what a block leaves; a column that is neither is counted as long as it holds words, or zeros and ones."""
    columns = [_column(block.X, j, block.number) for j in range(block.X.shape[1])]
    is_text = [values.dtype.kind == "U" for values in columns]
    if any(text and plain for text, plain in zip(is_text, is_gaussian, strict=True)):
        raise BlockError(f"block {block.number} must hold numbers in a Gaussian column, got texts. Use categorical.")
    table = np.column_stack([np.zeros(len(block)) if text else v for text, v in zip(is_text, columns, strict=True)])
    if not np.isfinite(np.einsum("ij,ij->", table, table)):
        refuse_values(replace(block, X=table))
    found: Columns = {}
    numbered = replace(block, X=np.arange(len(block))[:, None])
    for label, (numbers,), weight in groups_of(numbered, "classes"):
        rows = numbers[:, 0]
        own = np.ones(len(rows)) if weight is None else weight
        counts = list[Counts | None]()
        for j, values in enumerate(v[rows] for v in columns):
            is_few = is_text[j] or is_counted[j] or (not is_gaussian[j] and ((values == 0) | (values == 1)).all())
            counts.append(_counts(values, own, j) if is_few else None)
        found[label] = ColumnsOfClass(class_moments(table[rows], np.zeros_like(rows), weight, 1), tuple(counts))
    return found


def _column(X: Array, j: int, number: int) -> Array:
    is_text = {isinstance(value, str) for value in X[:, j]} if X.dtype == object else {False}
    if len(is_text) > 1:
        raise BlockError(f"block {number} must hold texts or numbers in column {j}, got both, or a text is missing.")
    try:
        return column_values(X, j)
    except (TypeError, ValueError) as error:
        raise BlockError(f"block {number} must hold texts or numbers in column {j}: {error}") from error


def _counts(values: Array, weight: Array, j: int) -> Counts:
    distinct, places = np.unique(values, return_inverse=True)
    if len(distinct) > MOST_CATEGORIES:
        raise BlockError(f"column {j} must hold at most {MOST_CATEGORIES:,} categories, got more. Take gaussian.")
    return dict(zip(distinct.tolist(), np.bincount(places.reshape(-1), weights=weight).tolist(), strict=True))


def join_columns(found: Sequence[Columns]) -> Columns:
    """Return what several blocks leave, which come in order."""
    labels = dict.fromkeys(label for one in found for label in one)
    return {label: reduce(_joined, [one[label] for one in found if label in one]) for label in labels}


def _joined(one: ColumnsOfClass, other: ColumnsOfClass) -> ColumnsOfClass:
    counts = list[Counts | None]()
    for j, (a, b) in enumerate(zip(one.counts, other.counts, strict=True)):
        if a is None or b is None:
            if any(isinstance(value, str) for value in (a or b or ())):
                raise BlockError(f"column {j} must hold texts or numbers, got texts in some blocks only.")
            counts.append(None)
            continue
        if len({isinstance(value, str) for value in (*a, *b)}) > 1:
            raise BlockError(f"column {j} must hold texts or numbers, got texts in some blocks only.")
        counts.append({value: a.get(value, 0.0) + b.get(value, 0.0) for value in sorted(a.keys() | b.keys())})
    return ColumnsOfClass(one.moments.merged(other.moments), tuple(counts))
