"""A ranking of columns by hand: mutual information from tables of counts with exact logarithms, or correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational, sqrt

from pellucid.core.types import Data
from pellucid.feature_selection.filters.column_codes import coded_column, coded_target, numbers_of
from pellucid.probability.exact_logarithms import Bits
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_features, exact_number, rounding_remark
from pellucid.show.notation import Math, Words, fenced, math, over, root

if TYPE_CHECKING:
    from pellucid.feature_selection.filters.select_top import SelectTop

MAX_ROWS, MAX_FEATURES = 12, 4
WIDEST = 6
"""Codes of the target up to which the table of counts is shown."""


def select_top_workings(estimator: SelectTop, X: Data, y: Data) -> Document:
    """Show the ranking of a few columns."""
    features, names, rounded = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_FEATURES)
    target = np.asarray(y)
    data = ExactData(features, features.col(0), names, rounded)
    shown = _informations if estimator.measure == "mutual_information" else _correlations
    steps, scores, notation = shown(estimator, data, target)
    ranking = sorted(range(len(scores)), key=lambda j: (-round(float(scores[j]), 12), j))
    count = len(ranking) if estimator.k == "all" else min(int(estimator.k), len(ranking))
    last = step(
        "Rank the columns",
        table(
            ["rank", "column", "score", "taken"],
            [
                [math(i + 1), data.symbol("x", j), notation[j], "yes" if i < count else "no"]
                for i, j in enumerate(ranking)
            ],
        ),
        result(math("S", "="), _listed(data, sorted(ranking[:count]))),
    )
    answer = {"scores_": scores, "ranking_": ranking, "support_": [j in ranking[:count] for j in range(len(scores))]}
    opening: list[Block] = [
        sentence(
            f"What does each column, looked at alone, say about the target? Kept: the best {count} of {len(scores)}."
        ),
        _data_table(data, target),
        *data.notes(),
    ]
    return Document("Ranking of columns", tuple(opening), (*steps, last), answer)


def _data_table(data: ExactData, target: Any) -> Block:
    return data.table((math("y"), [Words(str(value)) for value in target]))


def _listed(data: ExactData, columns: list[int]) -> Math:
    return math(*(part for i, j in enumerate(columns) for part in ([","] if i else []) + [data.symbol("x", j)]))


def _informations(estimator: SelectTop, data: ExactData, target: Any) -> tuple[list[Step], list[Any], list[Math]]:
    """Return a step for each column, the exact bits for SymPy, and how they are written."""
    codes = coded_target(target, None, estimator.n_bins)
    of_y = _entropy(codes.of_rows)
    opening = step(
        "Entropy of the target",
        sentence("With the parts ", math("p"), " of the rows that have each value, in bits:"),
        formula(math("H", fenced("y"), "="), "sum", "p", "log_2", fenced(over(1, "p"))),
        result(math("H", fenced("y"), "="), of_y.notation()),
    )
    steps, scores, notation = [opening], [], []
    for j in range(data.n_features):
        values = np.array([float(value) for value in data.X.col(j)])
        column = coded_column(values, None, estimator.n_bins)
        of_x = _entropy(column.of_rows)
        both = _entropy(column.of_rows * codes.n_codes + codes.of_rows)
        shared = of_x + of_y - both
        name = data.symbol("x", j)
        blocks: list[Block] = []
        if len(np.unique(values)) > column.n_codes:
            blocks.append(remark(f"Its values are cut into {column.n_codes} bins, in their order."))
        if codes.n_codes <= WIDEST:
            blocks.append(_counts_table(column.of_rows, codes.of_rows, column.n_codes, codes.n_codes))
        blocks += [
            formula(math("H", fenced(name), "="), of_x.notation()),
            formula(math("H", fenced(math(name, ", y")), "="), both.notation()),
            result(math("I", fenced(math(name, "; y")), "="), math("H", fenced(name), "+ H", fenced("y"), "− H",
                   fenced(math(name, ", y")), "="), shared.notation()),
        ]  # fmt: skip
        steps.append(step(f"What column {j + 1} tells", *blocks))
        scores.append(shared.expression)
        notation.append(math(f"{float(shared):.4f}"))
    return steps, scores, notation


def _entropy(codes: Any) -> Bits:
    counts = np.unique(codes, return_counts=True)[1]
    return Bits.of_shares([Rational(int(count), len(codes)) for count in counts])


def _counts_table(column: Any, target: Any, n_column: int, n_target: int) -> Block:
    counts = np.zeros((n_column, n_target), dtype=int)
    np.add.at(counts, (column, target), 1)
    head = ["value", *(math(f"y_{k + 1}") for k in range(n_target))]
    return table(head, [[math(i + 1), *map(int, row)] for i, row in enumerate(counts)], caption="Rows with each pair")


def _correlations(_estimator: SelectTop, data: ExactData, target: Any) -> tuple[list[Step], list[Any], list[Math]]:
    """Return a step for each column, the exact size of the correlation, and how it is written."""
    read = [exact_number(value, "y") for value in numbers_of(target)]
    y = [value for value, _ in read]
    n = len(y)
    middle = sum(y, Rational(0)) / n
    of_y = sum(((value - middle) ** 2 for value in y), Rational(0))
    notes = [rounding_remark()] if any(was_rounded for _, was_rounded in read) else []
    steps, scores, notation = [], [], []
    for j in range(data.n_features):
        x = list(data.X.col(j))
        mean = sum(x, Rational(0)) / n
        of_x = sum(((value - mean) ** 2 for value in x), Rational(0))
        cross = sum(((a - mean) * (b - middle) for a, b in zip(x, y, strict=True)), Rational(0))
        square = cross**2 / (of_x * of_y) if of_x * of_y else Rational(0)
        steps.append(
            step(
                f"Correlation of column {j + 1}",
                *notes,
                sentence("Sums of products and squares of deviations from the means, ", mean, " and ", middle, ":"),
                formula(math("S_xy ="), cross, ", ", math("S_xx ="), of_x, ", ", math("S_yy ="), of_y),
                result(math("r"), "=", over(cross, root(math(of_x, "·", of_y))), "≈", math(_decimal(cross, square))),
            )
        )
        scores.append(sqrt(square))
        notation.append(math(f"{float(sqrt(square)):.4f}"))
    return steps, scores, notation


def _decimal(cross: Rational, square: Rational) -> str:
    size = f"{float(sqrt(square)):.4f}"
    return f"−{size}" if cross < 0 else size
