"""RankingSVM by hand: every pair of rows is a point, and the machine of these points has no intercept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.optimize.constrained.exact_machine_workings import (
    HALF,
    SQUARED_NORM,
    ExactMachine,
    Terms,
    conditions_step,
    gap_step,
    search_step,
    slack_price,
    solve_machine,
)
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_data, exact_parameter
from pellucid.show.notation import Math, column, combination, math, typed

if TYPE_CHECKING:
    from pellucid.ranking.ranking_svm import RankingSVM

MOST_ROWS = 6
MOST_PAIRS = 6
"""More products do not stand side by side."""

Pair = tuple[int, int]
"""Positions of the better and of the worse row."""


def ranking_svm_workings(estimator: RankingSVM, X: Data, y: Data) -> Document:
    """Show how the weights of a ranking are found; a fitted model tells which rows belong to the same query."""
    data = exact_data(X, y, max_rows=MOST_ROWS)
    queries = _queries(estimator, data.n_samples)
    pairs = _pairs(data, queries)
    terms = Terms(exact_parameter(estimator, "C"), estimator.loss == "squared_hinge", constant=Rational(0))
    differences = Matrix([data.X.row(i) - data.X.row(j) for i, j in pairs])
    machine = solve_machine(ExactData(differences, Matrix([1] * len(pairs)), data.names, data.rounded), terms)
    steps = (
        _pairs_step(data, pairs, differences),
        search_step(machine),
        _weights_step(machine),
        conditions_step(machine),
        gap_step(machine),
        _order_step(data, machine.w, queries),
    )
    answer = {"coef_": list(machine.w), "alpha": machine.alpha, "objective": machine.primal_value}
    return Document("A ranking by a support vector machine", _opening(data, queries, terms), steps, answer)


def _queries(estimator: RankingSVM, n: int) -> list[int]:
    """Return the query of each row: that of the fit, or one for all."""
    known = getattr(estimator, "qid_", None)
    if known is None:
        return [0] * n
    if len(known) != n:
        raise ValueError(f"X must be the {len(known)} rows of the fit to show its work, got {n} rows.")
    return [int(number) for number in known]


def _pairs(data: ExactData, queries: list[int]) -> list[Pair]:
    rows = range(data.n_samples)
    pairs = [(i, j) for i in rows for j in rows if queries[i] == queries[j] and data.y[i] > data.y[j]]
    if not 1 <= len(pairs) <= MOST_PAIRS:
        raise ValueError(
            f"y must put 1 to {MOST_PAIRS} pairs of rows in order to be worked by hand, got {len(pairs)} pairs. "
            "Show the work on a few rows."
        )
    return pairs


def _opening(data: ExactData, queries: list[int], terms: Terms) -> tuple[Block, ...]:
    several = len(set(queries)) > 1
    target = math("y"), [typed(value) for value in data.y]
    more = [("query", [math(query + 1) for query in queries])] if several else []
    whose = " of the same query" if several else ""
    return (
        *data.opening(target, *more),
        sentence(
            f"Of two rows{whose}, the one with the larger y should have the larger score ",
            math("f = w^T x"),
            ", by 1 or more. What a pair lacks to that is its slack, and it is paid for:",
        ),
        formula("min", HALF, SQUARED_NORM, *slack_price(terms)),
        sentence("with ", math("C =", terms.C), ", one slack for every pair."),
    )


def _pairs_step(data: ExactData, pairs: list[Pair], differences: Matrix) -> Step:
    names: list[Math] = [math(f"d_{j + 1}") if data.n_features > 1 else math("d") for j in range(data.n_features)]
    rows = [[math(p + 1), math(i + 1), math(j + 1), *differences.row(p)] for p, (i, j) in enumerate(pairs)]
    return step(
        "List the pairs",
        sentence(
            "Only differences matter: the scores of a pair are apart by ",
            math("w^T d"),
            ", with d the better row less the worse.",
        ),
        table(["pair", "better", "worse", *names], rows),
        sentence(
            "So every pair is a point d on the side ",
            math("t = 1"),
            " of a plane through 0. In what follows, ",
            math("x_i"),
            " is the point of pair i, and there is no intercept: ",
            math("b = 0"),
            ".",
        ),
        remark("n rows have up to n (n − 1) / 2 pairs. The program never lists them: it sorts the scores and sums."),
    )


def _weights_step(machine: ExactMachine) -> Step:
    points = [(a, column(machine.data.X[i, :])) for i, a in enumerate(machine.alpha) if a != 0]
    return step(
        "The weights",
        sentence("The pairs with a multiplier above 0 add up to the weights:"),
        result("w = ∑ α_i x_i =", combination(points), "=", column(machine.w)),
    )


def _order_step(data: ExactData, w: Matrix, queries: list[int]) -> Step:
    scores = list(data.X * w)
    order = sorted(range(data.n_samples), key=lambda i: (queries[i], -scores[i], i))
    several = len(set(queries)) > 1
    rows = [[*([math(queries[i] + 1)] if several else []), math(i + 1), scores[i], typed(data.y[i])] for i in order]
    return step(
        "Put the rows in order",
        sentence("The scores of the rows, the largest first" + (" within each query:" if several else ":")),
        table([*(["query"] if several else []), "row", math("f = w^T x"), math("y")], rows),
    )
