"""One step of a Sammon mapping on a line by hand: stress, slopes, and the step of Sammon and that of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Matrix, Rational, sqrt

from pellucid.core.types import Data
from pellucid.manifold.classical_mds.classical_mds_workings import digits
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.eigenpairs import eigenpairs
from pellucid.show.exact_data import exact_features, numbered_table
from pellucid.show.notation import math, over

if TYPE_CHECKING:
    from pellucid.manifold.sammon.sammon_mapping import SammonMapping

MAX_ROWS = 5
MAGIC = Rational(3, 10)
"""The factor of Sammon's step."""

DECIMALS = 6
"""Decimals that the first places are rounded to, so that all that follows is exact."""


def sammon_mapping_workings(estimator: SammonMapping, X: Data, y: Data = None) -> Document:  # noqa: ARG001
    """Show one step from the main axis of the distances."""
    rows, _, _ = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_ROWS)
    distances = _distances(estimator, rows)
    n, power = distances.rows, 1 if estimator.weighting == "inverse" else 2
    if any(distances[i, j] == 0 for i in range(n) for j in range(i)):
        raise ValueError("X must have rows that differ to show the work, got a distance of 0.")
    places = _main_axis(distances)
    scale = sum((distances[i, j] for i in range(n) for j in range(i)), Rational(0))
    scale = scale if power == 1 else Rational(n * (n - 1), 2)
    slopes, curvatures = _slopes(distances, places, power, scale)
    sammon = [z - MAGIC * g / abs(h) if h != 0 else z for z, g, h in zip(places, slopes, curvatures, strict=True)]
    ours = _majorized(distances, places, power)
    stresses = [_stress(distances, where, power, scale) for where in (places, sammon, ours)]
    steps = (
        _stress_step(distances, places, power, scale, stresses[0]),
        _slopes_step(slopes, curvatures),
        _sammon_step(places, sammon, stresses[:2]),
        _our_step(ours, power, (stresses[0], stresses[2])),
    )
    opening = _opening(rows, given=estimator.metric == "precomputed")
    return Document("One step of a Sammon mapping", opening, steps, {"dissimilarity_matrix_": distances.tolist()})


def _distances(estimator: SammonMapping, rows: Matrix) -> Matrix:
    if estimator.metric == "precomputed":
        return rows
    if estimator.metric != "euclidean":
        raise ValueError(f"metric must be 'euclidean' or 'precomputed' to show the work, got {estimator.metric!r}.")

    def distance(i: int, j: int) -> Rational:
        apart = rows.row(i) - rows.row(j)
        found = sqrt(apart.dot(apart))
        return found if found.is_Rational else digits(found)

    return Matrix(rows.rows, rows.rows, distance)


def _main_axis(distances: Matrix) -> list[Rational]:
    """Return the places of classical scaling on a line, rounded."""
    n = distances.rows
    squares = distances.applyfunc(lambda d: d**2)
    means = [sum(squares.col(j), Rational(0)) / n for j in range(n)]
    mean = sum(means, Rational(0)) / n
    products = Matrix(n, n, lambda i, j: -(squares[i, j] - means[i] - means[j] + mean) / 2)
    values, vectors = eigenpairs(products, 1)
    return [Rational(str(round(float(sqrt(values[0]) * entry), DECIMALS))) for entry in vectors.col(0)]


def _stress(distances: Matrix, places: list[Rational], power: int, scale: Rational) -> Rational:
    pairs = ((i, j) for i in range(len(places)) for j in range(i))
    total = sum(
        ((abs(places[i] - places[j]) - distances[i, j]) ** 2 / distances[i, j] ** power for i, j in pairs), Rational(0)
    )
    return total / scale


def _slopes(
    distances: Matrix, places: list[Rational], power: int, scale: Rational
) -> tuple[list[Rational], list[Rational]]:
    """Return the first and second derivatives of the stress by each place, on a line."""
    slopes, curvatures = [], []
    for i in range(len(places)):
        others = [j for j in range(len(places)) if j != i and places[j] != places[i]]
        terms = [
            (1 - distances[i, j] / abs(places[i] - places[j])) * (places[i] - places[j]) / distances[i, j] ** power
            for j in others
        ]
        slopes.append(2 * sum(terms, Rational(0)) / scale)
        curvatures.append(2 * sum((1 / distances[i, j] ** power for j in others), Rational(0)) / scale)
    return slopes, curvatures


def _majorized(distances: Matrix, places: list[Rational], power: int) -> list[Rational]:
    """Return where the parabola that touches the stress from above has its minimum."""
    n = len(places)
    weights = Matrix(n, n, lambda i, j: 0 if i == j else 1 / distances[i, j] ** power)
    V = Matrix(n, n, lambda i, j: -weights[i, j]) + Matrix.diag(*[sum(weights.row(i)) for i in range(n)])
    pulled = Matrix(
        [
            sum((weights[i, j] * distances[i, j] * _sign(places[i] - places[j]) for j in range(n)), Rational(0))
            for i in range(n)
        ]
    )
    return list((V + Matrix.ones(n, n)).LUsolve(pulled))


def _sign(value: Rational) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0


def _opening(rows: Matrix, *, given: bool) -> tuple[Block, ...]:
    heads = [math(j + 1) if given else math(f"x_{j + 1}") for j in range(rows.cols)]
    return (
        sentence("Move places on a line so that their distances come nearer to the known ones, short ones before all."),
        numbered_table(rows, heads, caption="The distances" if given else "The data"),
    )


def _stress_step(distances: Matrix, places: list[Rational], power: int, scale: Rational, stress: Rational) -> Step:
    n = len(places)
    shown = []
    for i in range(n):
        for j in range(i + 1, n):
            apart, known = abs(places[i] - places[j]), distances[i, j]
            shown.append([f"{i + 1}, {j + 1}", known, apart, apart - known, (apart - known) ** 2 / known**power])
    part = over(math("e^2"), math("δ" if power == 1 else "δ^2"))
    return step(
        "The stress of the first places",
        sentence("The places on the main axis of classical scaling:"),
        table([math("i"), math("z")], [[math(i + 1), z] for i, z in enumerate(places)]),
        sentence("For each pair the known distance δ, that on the line, the error e, and what it adds:"),
        table(["pair", math("δ"), math("d"), math("e"), part], shown),
        sentence(
            "Their sum is divided by the sum of the known distances:"
            if power == 1
            else "Their sum is divided by the number of pairs:"
        ),
        formula("s =", scale),
        result("E =", stress),
    )


def _slopes_step(slopes: list[Rational], curvatures: list[Rational]) -> Step:
    shown = [[math(i + 1), g, h] for i, (g, h) in enumerate(zip(slopes, curvatures, strict=True))]
    return step(
        "Slopes and curvatures",
        sentence("The derivatives of E by each place: they say which way it goes down, and how it bends."),
        table([math("i"), "slope", "curvature"], shown),
    )


def _sammon_step(places: list[Rational], moved: list[Rational], stresses: list[Rational]) -> Step:
    shown = [[math(i + 1), z, new] for i, (z, new) in enumerate(zip(places, moved, strict=True))]
    return step(
        "Sammon's step",
        sentence("Every place goes down its slope, by 3/10 of the slope divided by the curvature:"),
        table([math("i"), "before", "after"], shown),
        formula("E =", stresses[0], "→", stresses[1]),
    )


def _our_step(moved: list[Rational], power: int, stresses: tuple[Rational, Rational]) -> Step:
    weight = over(1, math("δ" if power == 1 else "δ^2"))
    return step(
        "The step of the program",
        sentence(
            "With the weights ",
            weight,
            ", a parabola in all places touches E from above; its minimum never has more stress than before:",
        ),
        table([math("i"), "after"], [[math(i + 1), z] for i, z in enumerate(moved)]),
        result("E =", stresses[0], "→", stresses[1]),
        remark("The program goes on with such steps, in as many dimensions as are asked for, until E hardly falls."),
    )
