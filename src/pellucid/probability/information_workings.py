"""Entropy, conditional entropy and mutual information of a small table by hand, with exact logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.probability.exact_logarithms import Bits
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.exact_data import exact_number, rounding_remark
from pellucid.show.notation import Math, fenced, math, over

MOST_ROWS = MOST_COLUMNS = 5


def information_workings(
    measure: Any,  # noqa: ARG001  (workings are told what they show; these show all measures of a table)
    X: Data,
) -> Document:
    """Show entropies, conditional entropy and mutual information of a table of counts or probabilities."""
    counts, rounded = _table(X)
    p = counts / sum(counts)
    rows, columns = [sum(p.row(i)) for i in range(p.rows)], [sum(p.col(j)) for j in range(p.cols)]
    of_x, of_y, joint = Bits.of_shares(rows), Bits.of_shares(columns), Bits.of_shares(p)
    given_x, shared = joint - of_x, of_x + of_y - joint
    steps = (
        _probabilities(p, rows, columns),
        _marginal_entropies(rows, columns, of_x, of_y),
        _joint_entropy(p, joint),
        _conditional_entropy(p, rows, joint, of_x),
        _mutual_information(of_y, given_x, shared),
    )
    answer = {
        "entropy_x": of_x.expression,
        "entropy_y": of_y.expression,
        "joint_entropy": joint.expression,
        "conditional_entropy": given_x.expression,
        "mutual_information": shared.expression,
    }
    opening: list[Block] = [
        sentence("Two variables: ", math("X"), " chooses the row of the table, ", math("Y"), " the column."),
        sentence("Logarithms are to base 2, so answers are in bits, and ", math("0 log_2", fenced(0), "= 0"), "."),
        table(
            ["", *(math(f"y_{j + 1}") for j in range(counts.cols))],
            [[math(f"x_{i + 1}"), *counts.row(i)] for i in range(counts.rows)],
            caption="The table",
        ),
        *([rounding_remark()] if rounded else []),
    ]
    return Document("Entropy and mutual information of a table", tuple(opening), steps, answer)


def _table(X: Data) -> tuple[Matrix, bool]:
    values = np.asarray(X)
    if values.ndim != 2 or not (1 <= values.shape[0] <= MOST_ROWS and 1 <= values.shape[1] <= MOST_COLUMNS):
        raise ValueError(
            f"X must be a table of at most {MOST_ROWS} rows and {MOST_COLUMNS} columns, got shape {values.shape}. "
            "Make one from labels with joint_counts."
        )
    cells = [[exact_number(value, "X") for value in row] for row in values]
    counts = Matrix([[value for value, _ in row] for row in cells])
    if min(counts) < 0 or sum(counts) == 0:
        raise ValueError("X must hold counts or probabilities of at least 0 and not only zeros.")
    return counts, any(was_rounded for row in cells for _, was_rounded in row)


def _probabilities(p: Matrix, rows: list[Rational], columns: list[Rational]) -> Step:
    return step(
        "Divide by the total",
        sentence("The sums of the rows and of the columns belong to ", math("X"), " and to ", math("Y"), " alone:"),
        table(
            ["", *(math(f"y_{j + 1}") for j in range(p.cols)), math("p", fenced("x"))],
            [[math(f"x_{i + 1}"), *p.row(i), rows[i]] for i in range(p.rows)],
            summary=[[math("p", fenced("y")), *columns, sum(rows)]],
        ),
    )


def _terms(shares: Any) -> list[Any]:
    """Return ``p log2(1/p) + ...`` for the shares above 0, equal ones together."""
    counted: dict[Rational, int] = {}
    for share in shares:
        if share:
            counted[share] = counted.get(share, 0) + 1
    terms: list[Any] = []
    for share, times in counted.items():
        multiple = [] if times == 1 else [times, "·"]
        terms += ["+"] * bool(terms) + [*multiple, share, "log_2", fenced(1 / share)]
    return terms


def _entropy(*letters: str) -> Math:
    return math("H", fenced(math(" , ".join(letters))))


def _given() -> Math:
    return math("H", fenced("Y | X"))


def _marginal_entropies(rows: list[Rational], columns: list[Rational], of_x: Bits, of_y: Bits) -> Step:
    inverse = fenced(over(1, "p"))
    return step(
        "Entropy of each variable",
        sentence("A value of probability ", math("p"), " surprises by ", math("log_2", inverse), " bits. On average:"),
        formula(_entropy("X"), "=", *_terms(rows)),
        result(_entropy("X"), "=", of_x.notation()),
        formula(_entropy("Y"), "=", *_terms(columns)),
        result(_entropy("Y"), "=", of_y.notation()),
    )


def _joint_entropy(p: Matrix, joint: Bits) -> Step:
    return step(
        "Entropy of both together",
        sentence("The same sum over all cells of the table:"),
        formula(_entropy("X", "Y"), "=", *_terms(p)),
        result(_entropy("X", "Y"), "=", joint.notation()),
    )


def _conditional_entropy(p: Matrix, rows: list[Rational], joint: Bits, of_x: Bits) -> Step:
    lines, average = [], Bits({})
    for i, share in enumerate(rows):
        if share:
            within = [cell / share for cell in p.row(i)]
            uncertain = Bits.of_shares(within)
            average = average + uncertain.times(share)
            lines.append([math(f"x_{i + 1}"), share, _listed(within), uncertain.notation()])
    return step(
        "What remains of Y when X is known",
        sentence("Each row, divided by its sum, is a distribution of ", math("Y"), " with an entropy of its own:"),
        table(["row", math("p", fenced("x")), "the row, divided by its sum", "its entropy"], lines),
        sentence("Their average, weighted by the probabilities of the rows, is"),
        result(_given(), "=", average.notation()),
        sentence("which is also what the pair is uncertain beyond ", math("X"), ":"),
        formula(_entropy("X", "Y"), "−", _entropy("X"), "=", (joint - of_x).notation()),
    )


def _listed(values: list[Rational]) -> Math:
    return math(*(part for i, value in enumerate(values) for part in ([","] if i else []) + [value]))


def _mutual_information(of_y: Bits, given_x: Bits, shared: Bits) -> Step:
    name = math("I", fenced("X ; Y"))
    if not shared.parts:
        verdict = "Exactly 0: every cell is the product of its margins. The variables are independent."
    elif not given_x.parts:
        verdict = "Nothing remains: who knows X knows Y."
    else:
        verdict = f"Knowing X saves {float(shared):.4f} of the {float(of_y):.4f} bits that Y needs."
    return step(
        "What one tells about the other",
        sentence("The uncertainty that disappears, the same in both directions:"),
        formula(name, "=", _entropy("Y"), "−", _given()),
        formula(name, "=", _entropy("X"), "+", _entropy("Y"), "−", _entropy("X", "Y")),
        result(name, "=", shared.notation()),
        sentence(verdict),
    )
