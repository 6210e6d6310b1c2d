"""The lecture's support vector machine by hand: hard or soft margin, free intercept, by its KKT conditions."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational, oo, sqrt

from pellucid.core.checks import check_positive
from pellucid.core.types import Data
from pellucid.svm.exact_machine_workings import (
    HALF,
    MARGIN,
    NORM,
    SQUARED_NORM,
    Terms,
    conditions_step,
    gap_step,
    plane_step,
    search_step,
    solve_machine,
    width_step,
)
from pellucid.svm.linear_svc.linear_svc_workings import MOST_POINTS
from pellucid.workings.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.workings.exact_data import ExactData, exact_features, exact_number
from pellucid.workings.exact_labels import read_labels
from pellucid.workings.notation import fenced, math, over, typed


def maximum_margin_workings(X: Data, y: Data, C: float | None = None) -> Document:
    """Show how the plane of widest margin follows from the KKT conditions."""
    features, names, rounded = exact_features(X, max_rows=MOST_POINTS)
    labels = read_labels(y, features.rows)
    classes = sorted(set(labels))
    if len(classes) != 2:
        raise ValueError(f"y must hold two classes, got {len(classes)}. Show the work on two of them.")
    if C is not None:
        check_positive(C=C, hint="For a hard margin pass None.")
    terms = Terms(None if C is None else exact_number(C, "C")[0], squared=False, constant=None)
    data = ExactData(features, Matrix([1 if label == classes[1] else -1 for label in labels]), names, rounded)
    machine = solve_machine(data, terms)
    square = (machine.w.T * machine.w)[0]
    answer = {
        "w": list(machine.w),
        "b": machine.b,
        "alpha": machine.alpha,
        "support": [i for i, a in enumerate(machine.alpha) if a > 0],
        "width": 2 / sqrt(square) if square else oo,
        "objective": machine.primal_value,
    }
    steps = (
        _lagrangian_step(terms.C),
        search_step(machine),
        plane_step(machine),
        conditions_step(machine),
        width_step(machine),
        gap_step(machine),
    )
    kind = "hard" if C is None else "soft"
    return Document(f"The {kind} margin by its KKT conditions", _opening(data, labels, classes, terms.C), steps, answer)


def _opening(data: ExactData, labels: list[Any], classes: list[Any], C: Rational | None) -> tuple[Block, ...]:
    head = [math("i"), *(data.symbol("x", j) for j in range(data.n_features)), "class", math("t_i")]
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(label), data.y[i]] for i, label in enumerate(labels)]
    slack: list[Any] = [] if C is None else ["+ C ∑ ξ_i"]
    price = [] if C is None else [sentence("with the price of slack ", math("C =", typed(C)), ".")]
    return (
        table(head, rows, caption="The data"),
        *data.notes(),
        sentence(
            f"The sign is +1 for {classes[1]} and −1 for {classes[0]}. The margins of a plane are apart by ",
            over(2, NORM),
            ", so the widest margin has the shortest ",
            math("w"),
            ":",
        ),
        formula("min", HALF, SQUARED_NORM, *slack),
        formula(MARGIN, "≥ 1" if C is None else "≥ 1 − ξ_i ,", *([] if C is None else ["ξ_i ≥ 0"])),
        *price,
        remark(
            "This is a minimum. Notes that print it as a maximum mean the width of the margin"
            + ("." if C is None else "; slack is always paid for.")
        ),
    )


def _lagrangian_step(C: Rational | None) -> Step:
    short = fenced(math("1 −", MARGIN) if C is None else math("1 − ξ_i −", MARGIN))
    slack: list[Any] = [] if C is None else ["+ C ∑ ξ_i"]
    signs: list[Any] = [] if C is None else ["− ∑ μ_i ξ_i"]
    bounded: list[Block] = []
    if C is not None:
        bounded = [
            sentence("and that by the slack bounds the multipliers, as those of the slack are not negative:"),
            formula("α_i = C − μ_i ≤ C"),
        ]
    return step(
        "Multipliers",
        sentence("Give each constraint a multiplier of at least 0:"),
        formula("L =", HALF, SQUARED_NORM, *slack, "+ ∑ α_i", short, *signs),
        sentence("At the minimum the derivatives vanish: that by w, that by b"),
        formula("w = ∑ α_i t_i x_i ,", "∑ α_i t_i = 0"),
        *bounded,
        sentence("Put back, they leave a problem of the multipliers alone:"),
        formula("max ∑ α_i −", HALF, "∑ ∑ α_i α_j t_i t_j x_i^T x_j"),
    )
