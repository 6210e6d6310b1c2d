"""k-means by hand: every squared distance, every new center, until no row changes its cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.core.cards import find_card
from pellucid.core.trace import record
from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import MAX_CELLS, ExactData, exact_features
from pellucid.show.notation import Math, fenced, math, over

if TYPE_CHECKING:
    from pellucid.cluster.kmeans.kmeans import KMeans

MOST_CLUSTERS = 4

Distance = Callable[[Matrix, Matrix], Rational]
CenterOf = Callable[[Matrix, tuple[int, ...], int], Any]


@dataclass(frozen=True)
class LloydRound:
    """Centers, squared distances of all rows to them, and who is nearest."""

    centers: Matrix
    distances: Matrix
    labels: tuple[int, ...]

    @property
    def objective(self) -> Rational:
        """The sum of the squared distances to the nearest centers."""
        return sum((self.distances[i, k] for i, k in enumerate(self.labels)), Rational(0))


def kmeans_workings(estimator: KMeans, X: Data, _y: Data = None) -> Document:
    """Show the rounds of Lloyd's method from the start of the estimator, every row counted once."""
    data = rows_to_work(estimator, X)
    rounds = worked_rounds(data.X, start_centers(estimator, X), estimator.max_iter, _squared_distance, _mean)
    steps = [_round_step(number, now, data) for number, now in enumerate(rounds, start=1)]
    return Document("k-means", _opening(data, rounds[0]), (*steps, _end_step(rounds, data)), answer_of(rounds))


def rows_to_work(estimator: KMeans, X: Data) -> ExactData:
    """Return the rows as exact numbers; refuse more clusters than a person would work through."""
    if estimator.n_clusters > MOST_CLUSTERS:
        raise ValueError(
            f"n_clusters must be at most {MOST_CLUSTERS} to be worked by hand, got {estimator.n_clusters}. "
            "Ask for fewer clusters."
        )
    features, names, rounded = exact_features(X, max_cells=MAX_CELLS)
    return ExactData(features, Matrix.zeros(features.rows, 1), names, rounded)


def answer_of(rounds: list[LloydRound]) -> dict[str, Any]:
    """Return what an estimator has at the end of these rounds."""
    last = rounds[-1]
    return {
        "cluster_centers_": [list(last.centers.row(k)) for k in range(last.centers.rows)],
        "labels_": list(last.labels),
        "inertia_": last.objective,
        "n_iter_": len(rounds),
    }


def start_centers(estimator: KMeans, X: Data, name: str = "KMeans") -> Matrix:
    """Return the centers to start from: given ones, or the rows that our estimator draws with this seed."""
    if not isinstance(estimator.init, str) and not callable(estimator.init):
        return exact_features(estimator.init)[0]
    card = find_card(name)
    assert card is not None
    settings = estimator.get_params(deep=False)
    if settings["random_state"] is None:
        settings["random_state"] = 0  # the start of a handout can be repeated
    with record():
        drawn = card.estimator(**settings).fit(X).trace_.states[0]["centers"]
    return exact_features(drawn)[0]


def worked_rounds(
    X: Matrix, centers: Matrix, max_iter: int, distance: Distance, center_of: CenterOf
) -> list[LloydRound]:
    """Return the rounds from a start: rows to the nearest center, centers to the middle of their rows."""
    rounds: list[LloydRound] = []
    while len(rounds) < max_iter:
        distances = Matrix(X.rows, centers.rows, lambda i, k, now=centers: distance(X.row(i), now.row(k)))
        labels = tuple(min(range(centers.rows), key=lambda k: distances[i, k]) for i in range(X.rows))
        rounds.append(LloydRound(centers, distances, labels))
        if len(rounds) > 1 and rounds[-2].labels == labels:
            break
        centers = Matrix([center_of(X, labels, k) for k in range(centers.rows)])
    return rounds


def rows_of_cluster(labels: tuple[int, ...], k: int) -> list[int]:
    """Return the rows of a cluster, which must have some."""
    own = [i for i, label in enumerate(labels) if label == k]
    if not own:
        raise ValueError(
            f"every cluster must keep a row to be worked by hand, got none in cluster {k + 1}. Choose another start."
        )
    return own


def _squared_distance(x: Matrix, center: Matrix) -> Rational:
    return sum(((a - b) ** 2 for a, b in zip(x, center, strict=True)), Rational(0))


def _mean(X: Matrix, labels: tuple[int, ...], k: int) -> Matrix:
    own = rows_of_cluster(labels, k)
    return sum((X.row(i) for i in own), Matrix.zeros(1, X.cols)) / len(own)


def _opening(data: ExactData, first: LloydRound) -> tuple[Block, ...]:
    return (
        sentence(
            "Each row goes to its nearest center, each center to the mean of its rows, until no row changes its "
            "cluster. The sum of squared distances falls in every round:"
        ),
        formula("E = Σ d^2"),
        data.feature_table(),
        sentence("Start from ", *_listed(first.centers), "."),
        *data.notes(),
    )


def _round_step(number: int, now: LloydRound, data: ExactData) -> Step:
    k = now.centers.rows
    head = [math("i"), *(math(f"d_{j + 1}^2") for j in range(k)), "nearest"]
    rows = [
        [math(i + 1), *(now.distances[i, j] for j in range(k)), math(now.labels[i] + 1)] for i in range(data.n_samples)
    ]
    ties = [i + 1 for i in range(data.n_samples) if list(now.distances.row(i)).count(min(now.distances.row(i))) > 1]
    blocks: list[Block] = [table(head, rows, caption="Squared distances to the centers")]
    if ties:
        named = ", ".join(map(str, ties))
        blocks.append(
            remark(
                f"Row {named} has two nearest centers: the first counts."
                if len(ties) == 1
                else f"Rows {named} have two nearest centers each: the first counts."
            )
        )
    blocks.append(result("E =", now.objective))
    return step(f"Round {number}", *blocks, *_new_centers(now, data))


def _new_centers(now: LloydRound, data: ExactData) -> list[Block]:
    blocks: list[Block] = [sentence("The means of the rows of each cluster:")]
    for k in range(now.centers.rows):
        own = [i for i, label in enumerate(now.labels) if label == k]
        if own:
            mean = _mean(data.X, now.labels, k)
            total = [sum((data.X[i, j] for i in own), Rational(0)) for j in range(data.n_features)]
            blocks.append(formula(f"c_{k + 1} =", over(1, len(own)), _point(total), "=", _point(list(mean))))
    return blocks


def _end_step(rounds: list[LloydRound], data: ExactData) -> Step:
    last = rounds[-1]
    settled = len(rounds) > 1 and rounds[-2].labels == last.labels
    words = (
        f"Round {len(rounds)} leaves every row where it was, so the centers are the means of their rows and nothing "
        "moves any more. That is a local minimum; another start may end in another."
        if settled
        else f"max_iter ends the work after {len(rounds)} rounds."
    )
    head = ["cluster", *(data.symbol("x", j) for j in range(data.n_features)), "rows"]
    rows = [[math(k + 1), *last.centers.row(k), math(last.labels.count(k))] for k in range(last.centers.rows)]
    return step(
        "The clusters",
        sentence(words),
        table(head, rows),
        result("E =", last.objective),
        remark(
            "The gradient of E in a center is ", math("2 ∑", fenced("c_k − x_i")),
            ", center less row; it vanishes at the mean. With the other sign a step along it would climb.",
        ),
    )  # fmt: skip


def _listed(centers: Matrix) -> list[str | Math]:
    parts: list[str | Math] = []
    for k in range(centers.rows):
        joint = "" if k == 0 else " and " if k == centers.rows - 1 else ", "
        parts += [joint, math(f"c_{k + 1} =", _point(list(centers.row(k))))]
    return parts


def _point(values: list[Rational]) -> Math:
    inside: list[Any] = []
    for value in values:
        inside += [value, ","]
    return fenced(math(*inside[:-1]))
