r"""Proof of neighbor embedding: the affinities are those of the data, and the gradient at the places is small.

Everything is found again by plain algebra on blocks of rows. Of each row that is looked at: its stored neighbors are
nearest rows (of rows that rounding cannot tell apart, either), and its affinities are
:math:`e^{-\beta d^2}/\sum e^{-\beta d^2}` with the :math:`\beta`, found by bisection, whose perplexity is the one asked
for. Where m nearest rows are equally near and more than the perplexity, no :math:`\beta` is large enough, and they
share all; where neighbors are fewer, all count the same.

From the stored affinities and the places follow the divergence, over all pairs, and its gradient. A descent ends when
it is told to, not at a minimum: the claim is how large the gradient still is, in parts of the attraction alone, and
how much a step along it would gain. Turned, mirrored and shifted maps have the same divergence: the one about its
middle and along its main axes is stored. Logarithms of affinities and of the sum over pairs are of the size of log n,
and so is what rounding makes of them. For very many rows the pairs of some of them are summed up; the value of the
claim then has the uncertainty of that added, at 99 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.distances import distances, distances_from
from pellucid.proofs.kernels.ridge_equations import rows_claim
from pellucid.proofs.manifold.stress import orientation_claim
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.sampling import CONFIDENCE, at_most_wrong, drawn, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

STATIONARY = 0.02
"""Bound on the gradient, in parts of the attraction: a little more than the share at which a descent ends."""

COLLAPSED = 0.01
"""Part of the largest attraction that affinities allow (at distance 1) that stands for the attraction where there is
less: groups of equal rows draw together to nothing."""

WORTH_A_STEP = 1e-3
"""Bound on what a step along the gradient gains, in parts of the divergence."""

ROWS_AT_FIT, ROWS_AT_VERIFY = 16, 2000
"""Rows whose neighbors and affinities are found again."""

ALL_PAIRS_AT_FIT, ALL_PAIRS = 2**20, 4 * 10**8
"""Pairs that are summed up, at most: up to 1,000 rows at a fit, 20,000 when a model is verified."""

FEWEST_ROWS = 4000
"""Rows whose pairs are summed up, however many there are."""

SURE, UNSURE = 2.6, 0.05
"""Standard errors that are added for 99 %, and the bound on what has them added."""

TIED = 1e-12
"""Squared distances that differ by less than this part of them are equal."""

SLOWEST = 50.0
"""The least learning rate that 'auto' means, as in scikit-learn."""

HALVINGS = 100
"""Of the range of log precisions, a few hundred wide: down to rounding."""

LEAST = 1e-200
"""An affinity below this counts as this, since it has fewer digits the smaller it is."""

REASON = "A balance of forces, not the least divergence of all; with momentum the divergence may rise on the way."

BLOCK_ENTRIES = 2**20
STEPS = (0.0625, 0.25, 1.0, 4.0)
"""Lengths of the step that is tried, in parts of a quarter of the rows, the usual learning rate."""


def prove_tsne(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    n = data.X.shape[0]
    shape = (n, min(n - 1, n - 1 if parameters.method == "exact" else int(3.0 * parameters.perplexity + 1.0)))
    also = {"neighbors_": np.all((fitted.neighbors_ >= 0) & (fitted.neighbors_ < n))}
    shapes = {"embedding_": (n, parameters.n_components), "neighbors_": shape, "affinities_": shape}
    if wrong := misshapen("stationary", fitted, also, **shapes):
        return wrong
    rows = drawn(n, ROWS_AT_FIT if is_fitting() else ROWS_AT_VERIFY)
    claims = [
        *_data_claims(fitted, parameters, data, rows),
        orientation_claim(fitted.embedding_.astype(np.float64), rounding=float(np.finfo(np.float32).eps)),
    ]
    if not is_fitting() or n * n <= ALL_PAIRS_AT_FIT:
        claims += _place_claims(fitted, ALL_PAIRS)
    return Certificate("stationary", tuple(claims), REASON)


def _data_claims(fitted: Seen, parameters: Seen, data: TrainingData, rows: Array) -> list[Claim]:
    """Return the claims about rows, neighbors, affinities and the learning rate."""
    n, seen = data.X.shape[0], at_most_wrong(len(rows), data.X.shape[0])
    perplexity = float(parameters.perplexity)
    strangers, of_perplexity, of_affinities = 0, [0.0], [0.0]
    for part, between in _distances(parameters, data.X, rows):
        near, stored = fitted.neighbors_[part], fitted.affinities_[part]
        strangers += _strangers(part, near, between)
        squares, nearest = _squares_above_the_least(np.take_along_axis(between, near, axis=1))
        wanted, is_reached = _affinities(squares, nearest, perplexity)
        off = np.abs(_entropy(stored) - np.where(is_reached, np.log(perplexity), _entropy(wanted)))
        of_perplexity.append(np.max(off + np.abs(stored.sum(axis=1) - 1.0)))
        of_affinities.append(np.max(np.abs(stored - wanted) / np.maximum(wanted, LEAST)))
    rate = parameters.learning_rate
    if isinstance(rate, str):
        rate = max(n / float(parameters.early_exaggeration) / 4.0, SLOWEST)
    wrong = float(fitted.learning_rate_ != float(rate))
    looked_at = f"of {len(rows):,} rows"
    return [
        rows_claim(fitted.X_fit_, data.X),
        Claim("neighbors", f"{looked_at}, neighbors that are not nearest rows{seen}", float(strangers), 0.0),
        Claim(
            "perplexity",
            f"{looked_at}, largest relative difference of a perplexity from the one asked for, or from the nearest "
            f"that their distances allow{seen}",
            float(np.max(of_perplexity)),
            1e-8,
        ),
        Claim("affinities",
              f"{looked_at}, largest difference of an affinity from that of the distances, in parts of it{seen}",
              float(np.max(of_affinities)), 1e-6),
        Claim("meaning", "learning_rate_ that is not what the parameters mean", wrong, 0.0),
    ]  # fmt: skip


def _distances(parameters: Seen, X: SparseOrDense, rows: Array) -> Iterator[tuple[Array, Array]]:
    """Yield parts of some rows, with their distances to all; infinite where a sparse graph stores none."""
    height = max(1, BLOCK_ENTRIES // max(1, X.shape[0]))
    metric, params = parameters.metric, parameters.metric_params
    is_euclidean = isinstance(metric, str) and metric in ("euclidean", "l2") and not params
    for start in range(0, len(rows), height):
        part = rows[start : start + height]
        if is_euclidean:
            yield part, np.array([distances_from(X, row) for row in part])
        else:
            yield part, distances(X[part], X, metric, None, params)


def _strangers(rows: Array, near: Array, distances: Array) -> int:
    """Return how many stored neighbors are the row itself, come twice, or are farther than so many others."""
    k = near.shape[1]
    others = distances.copy()
    others[np.arange(len(rows)), rows] = np.inf
    radius = np.partition(others, k - 1, axis=1)[:, k - 1 : k]
    is_far = ~(np.take_along_axis(distances, near, axis=1) <= radius * (1.0 + 1e-12))
    is_twice = np.diff(np.sort(near, axis=1), axis=1) == 0
    return int(np.sum(is_far | (near == rows[:, None]))) + int(np.sum(is_twice))


def _squares_above_the_least(distances: Array) -> tuple[Array, Array]:
    """Return squared distances (m, k) less the least of their row, in parts of its largest, and which are the least."""
    squares = (distances / np.maximum(distances.max(axis=1, keepdims=True), TINY)) ** 2
    above = squares - squares.min(axis=1, keepdims=True)
    nearest = above <= TIED * squares
    return np.where(nearest, 0.0, above), nearest


def _affinities(squares: Array, nearest: Array, perplexity: float) -> tuple[Array, Array]:
    """Return the affinities of rows to their neighbors, by bisection of log precisions, and which reach the perplexity.

    The precision is looked for between one at which all count the same and one at which the nearest share all.
    """
    k, n_nearest = squares.shape[1], nearest.sum(axis=1, keepdims=True)
    is_reached = (n_nearest < perplexity) & (perplexity < k)
    with np.errstate(divide="ignore"):
        low = -50.0 - np.log(squares.max(axis=1, keepdims=True))
        high = 50.0 - np.log(np.where(nearest, np.inf, squares).min(axis=1, keepdims=True))
    low, high = (np.where(is_reached, end, 0.0) for end in (low, high))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        weights = np.exp(-np.exp(middle) * squares)
        weights /= weights.sum(axis=1, keepdims=True)
        is_flat = _entropy(weights)[:, None] > np.log(perplexity)
        low, high = np.where(is_flat, middle, low), np.where(is_flat, high, middle)
    shared = np.where(perplexity >= k, np.full_like(weights, 1.0 / k), nearest / n_nearest)
    return np.where(is_reached, weights, shared), is_reached.ravel()


def _entropy(shares: Array) -> Array:
    """Return the entropy of each row."""
    return np.asarray(-np.sum(shares * np.log(np.where(shares > 0.0, shares, 1.0)), axis=1))


def _place_claims(fitted: Seen, most_pairs: int) -> list[Claim]:
    """Return the claims about the places: the divergence, its gradient, and what a step along that would gain."""
    places = fitted.embedding_.astype(np.float64)
    n = len(places)
    joint = _joint(fitted.neighbors_, fitted.affinities_)
    rows = drawn(n, max(FEWEST_ROWS, most_pairs // n))
    with np.errstate(all="ignore"):
        seen = _look(joint, places, rows)
        gain, margin = 0.0, seen.margin
        if len(rows) == n:
            gain = max(seen.divergence - _look(joint, places - length * seen.step, rows).divergence for length in STEPS)
    some = "" if len(rows) == n else f" (pairs of {len(rows):,} rows, at {CONFIDENCE})"
    claims = [
        Claim("divergence", f"difference of kl_divergence_ from the divergence of affinities and places{some}",
              abs(float(fitted.kl_divergence_) - seen.divergence) + margin,
              32 * sum_error(n) * (1.0 + float(np.log(n))) if len(rows) == n else UNSURE),
        _gradient_claim(seen.gradient + margin, some),
    ]  # fmt: skip
    if len(rows) == n:
        statement = "what the best of some steps along the gradient lowers the divergence by, in parts of it"
        relative = gain / max(seen.divergence, 1e-3)
        claims.append(Claim("one more step", statement, relative, WORTH_A_STEP, "Raise max_iter."))
    return claims


def _gradient_claim(value: float, some: str) -> Claim:
    return Claim("gradient",
                 f"norm of the gradient of the divergence, in parts of that of the attraction alone{some}", value,
                 UNSURE if some else STATIONARY, "Raise max_iter, or lower angle.")  # fmt: skip


def _joint(neighbors: Array, affinities: Array) -> Any:
    """Return the affinities of all pairs, which sum to 1."""
    n, k = neighbors.shape
    rows = np.repeat(np.arange(n), k)
    one_way = sparse.coo_array((affinities.ravel(), (rows, neighbors.ravel())), shape=(n, n))
    return sparse.csr_array((one_way + one_way.T) / (2.0 * n))


class PlacesSeen(NamedTuple):
    """Divergence and gradient at some places."""

    divergence: float
    gradient: float
    step: Array
    """A step down: the gradient times a quarter of the rows."""
    margin: float
    """Uncertainty of the divergence and of the gradient where pairs of some rows stand for all."""


def _look(joint: Any, places: Array, rows: Array) -> PlacesSeen:
    """Return divergence and gradient, from the pairs of some rows with all."""
    n, p = places.shape
    freedom = max(p - 1, 1)
    sums, repulsion = np.empty(len(rows)), np.empty((len(rows), p))
    for part, squares in _squares(places, rows):
        closeness = 1.0 / (1.0 + squares / freedom)
        kernel = closeness ** ((freedom + 1) / 2.0)
        sums[part] = kernel.sum(axis=1)
        pull = kernel * closeness
        repulsion[part] = pull.sum(axis=1)[:, None] * places[rows[part]] - pull @ places
    total = float(np.mean(sums)) * n
    pairs = sparse.coo_array(joint)
    apart = np.sum((places[pairs.row] - places[pairs.col]) ** 2, axis=1) / freedom
    known = np.where(pairs.data > 0.0, pairs.data, 1.0)
    logs = np.log(known) + (freedom + 1) / 2.0 * np.log1p(apart)
    divergence = float(np.sum(pairs.data * logs)) + float(np.log(total))
    drawn_to = sparse.csr_array((pairs.data / (1.0 + apart), (pairs.row, pairs.col)), shape=joint.shape)
    attraction = np.asarray(drawn_to.sum(axis=1))[:, None] * places - drawn_to @ places
    factor = 2.0 * (freedom + 1.0) / freedom
    gradient = attraction[rows] - repulsion / total
    most = 0.5 * float(np.linalg.norm(np.asarray(joint.sum(axis=1))[rows]))
    size = max(float(np.linalg.norm(attraction[rows])), COLLAPSED * most)
    spread = float(np.std(sums)) / max(float(np.mean(sums)), TINY)
    margin = SURE * spread * float(np.sqrt((1.0 - len(rows) / n) / len(rows)))  # 0 if all were drawn
    return PlacesSeen(divergence, float(np.linalg.norm(gradient)) / size, n / 4.0 * factor * gradient, margin)


def _squares(places: Array, rows: Array) -> Iterator[tuple[slice, Array]]:
    """Yield parts of some rows, with the squared distances of their places to all, infinite to themselves: no pair."""
    height = max(1, BLOCK_ENTRIES // len(places))
    for start in range(0, len(rows), height):
        part = slice(start, min(start + height, len(rows)))
        squares = np.zeros((part.stop - start, len(places)))
        for column in places.T:  # from differences, coordinate by coordinate
            squares += (column[rows[part], None] - column) ** 2
        squares[np.arange(len(squares)), rows[part]] = np.inf
        yield part, squares


PROVES = {"TSNE": prove_tsne}
