"""k-medians by hand: every Manhattan distance, every median, until no row changes its cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.cluster.kmeans.kmeans_workings import (
    LloydRound,
    answer_of,
    rows_of_cluster,
    rows_to_work,
    start_centers,
    worked_rounds,
)
from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData
from pellucid.show.notation import math, typed

if TYPE_CHECKING:
    from pellucid.cluster.kmedians import KMedians


def kmedians_workings(estimator: KMedians, X: Data, _y: Data = None) -> Document:
    """Show the rounds from the start of the estimator, every row counted once."""
    data, start = rows_to_work(estimator, X), start_centers(estimator, X, "KMedians")
    rounds = worked_rounds(data.X, start, estimator.max_iter, _manhattan, _medians)
    steps = [_round_step(number, now, data) for number, now in enumerate(rounds, start=1)]
    return Document("k-medians", _opening(data, rounds[0]), (*steps, _end_step(rounds, data)), answer_of(rounds))


def _manhattan(x: Matrix, center: Matrix) -> Rational:
    return sum(map(abs, x - center), Rational(0))


def _medians(X: Matrix, labels: tuple[int, ...], k: int) -> list[Rational]:
    own = rows_of_cluster(labels, k)
    half = len(own) // 2
    columns = [sorted(X[i, j] for i in own) for j in range(X.cols)]
    return [values[half] if len(own) % 2 else (values[half - 1] + values[half]) / 2 for values in columns]


def _opening(data: ExactData, first: LloydRound) -> tuple[Block, ...]:
    return (
        sentence(
            "Each row goes to its nearest center in Manhattan distance, each center to the median of its rows, feature "
            "by feature, until no row changes its cluster. The sum of distances never rises:"
        ),
        formula("E = ∑ d"),
        data.feature_table(),
        _centers(first, data, "The start"),
        *data.notes(),
    )


def _centers(now: LloydRound, data: ExactData, caption: str) -> Block:
    head = ["center", *(data.symbol("x", j) for j in range(data.n_features))]
    return table(head, [[math(k + 1), *now.centers.row(k)] for k in range(now.centers.rows)], caption=caption)


def _round_step(number: int, now: LloydRound, data: ExactData) -> Step:
    k = now.centers.rows
    head = [math("i"), *(math(f"d_{j + 1}") for j in range(k)), "nearest"]
    rows = [[math(i + 1), *now.distances.row(i), math(now.labels[i] + 1)] for i in range(data.n_samples)]
    blocks: list[Block] = [table(head, rows, caption="Distances to the centers")]
    tied = [i + 1 for i in range(data.n_samples) if list(now.distances.row(i)).count(min(now.distances.row(i))) > 1]
    if tied:
        who = f"Row {tied[0]} has" if len(tied) == 1 else f"Rows {', '.join(map(str, tied))} have"
        blocks.append(remark(f"{who} two nearest centers: the first counts."))
    return step(f"Round {number}", *blocks, result("E =", now.objective), *_middles(now, data))


def _middles(now: LloydRound, data: ExactData) -> list[Block]:
    """Return the middle values of each cluster, one or two, and the median that they make."""
    rows = []
    for k in range(now.centers.rows):
        own = [i for i, label in enumerate(now.labels) if label == k]
        medians = _medians(data.X, now.labels, k)
        for j in range(data.n_features):
            middle: list[Any] = []
            for value in sorted(data.X[i, j] for i in own)[(len(own) - 1) // 2 : len(own) // 2 + 1]:
                middle += [typed(value), ","]
            rows.append([math(k + 1), data.symbol("x", j), math(*middle[:-1]), medians[j]])
    return [table(("cluster", "feature", "in the middle", "median"), rows, caption="The middle of each cluster")]


def _end_step(rounds: list[LloydRound], data: ExactData) -> Step:
    last = rounds[-1]
    settled = len(rounds) > 1 and rounds[-2].labels == last.labels
    words = (
        f"Round {len(rounds)} leaves every row where it was: a local minimum. Another start may end in another."
        if settled
        else f"max_iter ends the work after {len(rounds)} rounds."
    )
    return step("The clusters", sentence(words), _centers(last, data, "The centers"), result("E =", last.objective))
