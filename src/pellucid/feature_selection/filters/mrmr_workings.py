"""MRMR by hand: what each column says of the target, less what the chosen ones have said already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.feature_selection.filters.column_codes import coded_column, coded_target
from pellucid.probability.exact_logarithms import Bits
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_features
from pellucid.show.notation import Words, fenced, math, minus, over

if TYPE_CHECKING:
    from pellucid.feature_selection.filters.mrmr import MRMR

MAX_ROWS, MAX_FEATURES = 12, 4
LEAST, TIED = 1e-12, 1e-12


def mrmr_workings(estimator: MRMR, X: Data, y: Data) -> Document:
    """Show the columns as they are chosen, one after the other."""
    features, names, rounded = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_FEATURES)
    data = ExactData(features, features.col(0), names, rounded)
    target = np.asarray(y)
    of_y = coded_target(target, None, estimator.n_bins).of_rows
    columns = [
        coded_column(np.array([float(value) for value in features.col(j)]), None, estimator.n_bins).of_rows
        for j in range(features.cols)
    ]
    relevance = [_shared(column, of_y) for column in columns]
    redundancy = [[_shared(one, other) for other in columns] for one in columns]
    chosen, steps = list[int](), [_relevance_step(data, relevance), _redundancy_step(data, redundancy)]
    steps += [
        _choice_step(data, relevance, redundancy, chosen, estimator.criterion)
        for _ in range(min(estimator.k, features.cols))
    ]
    opening: list[Block] = [
        sentence("Which columns tell much about the target, and little that the chosen ones have told already?"),
        data.table((math("y"), [Words(str(value)) for value in target])),
        *data.notes(),
    ]
    answer = {
        "order_": chosen,
        "relevance_": [bits.expression for bits in relevance],
        "redundancy_": [[redundancy[j][s].expression for s in chosen] for j in range(features.cols)],
        "support_": [j in chosen for j in range(features.cols)],
    }
    return Document("Relevance without redundancy", tuple(opening), tuple(steps), answer)


def _entropy(codes: Any) -> Bits:
    counts = np.unique(codes, return_counts=True)[1].tolist()
    return Bits.of_shares([Rational(count, sum(counts)) for count in counts])


def _shared(one: Any, other: Any) -> Bits:
    """Return the mutual information of two columns of codes."""
    return _entropy(one) + _entropy(other) - _entropy(one * (int(np.max(other)) + 1) + other)


def _relevance_step(data: ExactData, relevance: list[Bits]) -> Step:
    rows = [[data.symbol("x", j), bits.notation()] for j, bits in enumerate(relevance)]
    return step(
        "What each column says of the target",
        sentence("Mutual information in bits, from the counts of the rows:"),
        formula("I", fenced("x ; y"), "= H", fenced("x"), "+ H", fenced("y"), "− H", fenced("x , y")),
        table(["column", math("I", fenced("x ; y"))], rows),
    )


def _redundancy_step(data: ExactData, redundancy: list[list[Bits]]) -> Step:
    n = len(redundancy)
    rows = [[data.symbol("x", j), *(_told(redundancy[j][s]) for s in range(n))] for j in range(n)]
    return step(
        "What the columns say of each other",
        table(["", *(data.symbol("x", s) for s in range(n))], rows, caption="Mutual information of two columns"),
    )


def _told(bits: Bits) -> Words:
    return Words(minus(f"{float(bits):.5g}"))


def _choice_step(
    data: ExactData, relevance: list[Bits], redundancy: list[list[Bits]], chosen: list[int], criterion: str
) -> Step:
    """Choose one more column, and tell how."""
    rows, best, most = [], -1, -np.inf
    for j in range(len(relevance)):
        if j in chosen:
            continue
        mean = sum(float(redundancy[j][s]) for s in chosen) / len(chosen) if chosen else 0.0
        own = float(relevance[j])
        value = own if not chosen else own - mean if criterion == "difference" else own / max(mean, LEAST)
        rows.append([data.symbol("x", j), _told(relevance[j]), Words(f"{mean:.5g}"), Words(minus(f"{value:.5g}"))])
        if value > most + TIED:
            best, most = j, value
    chosen.append(best)
    shape = math("I − R") if criterion == "difference" else math(over("I", "R"))
    heading = "The first column" if len(chosen) == 1 else f"Column number {len(chosen)}"
    return step(
        heading,
        sentence("Here ", math("I"), " is the relevance, ", math("R"), " the mean redundancy with those chosen:"),
        table(["column", math("I"), math("R"), shape], rows),
        result(Words("take"), data.symbol("x", best)),
        *([remark("Of equal columns the first is taken.")] if len(chosen) == 1 else []),
    )
