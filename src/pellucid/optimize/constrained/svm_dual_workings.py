"""The support vector machine by hand: its dual in fractions, the plane it gives, and both objectives."""

from __future__ import annotations

from typing import Any

from sympy import oo, sqrt

from pellucid.core.types import Data
from pellucid.optimize.checks.real_algebra import shown
from pellucid.optimize.constrained.svm_exact_workings import (
    FREE,
    FULL,
    ZERO,
    ExactSVM,
    Separation,
    read_separation,
    solve_exactly,
)
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.notation import Script, column, combination, fenced, math, matrix, over, typed

NORM = fenced("w", "‖‖")
SQUARED_NORM = Script(NORM, above=math(2))
STATES = {
    ZERO: "0: outside the margin, or on it",
    FULL: "C: inside the margin, or on it",
    FREE: "on the margin",
}


def svm_dual_workings(X: Data, y: Data, C: float | None = None) -> Document:
    """Show how the dual of a support vector machine is solved.

    Parameters
    ----------
    X : array of shape (m, n)
        At most five points.
    y : array of shape (m,)
        Their classes, -1 or 1.
    C : float, default=None
        Price of the slack; None for a hard margin.

    Returns
    -------
    Document
        ``answer`` has ``alpha``, ``w``, ``b``, ``margin``, ``primal_value`` and ``dual_value``, all exact.

    Examples
    --------
    >>> work = svm_dual_workings([[0], [2]], [-1, 1])
    >>> work.answer["w"], work.answer["b"], work.answer["alpha"]
    ([1], -1, [1/2, 1/2])
    """
    svm = solve_exactly(read_separation(X, y, C))
    answer = {
        "alpha": svm.alpha,
        "w": list(svm.w),
        "b": svm.b,
        "margin": 1 / sqrt(svm.square) if svm.square else oo,
        "primal_value": svm.primal_value,
        "dual_value": svm.dual_value,
    }
    steps = (_gram_step(svm.task), _solving_step(svm), _plane_step(svm), _check_step(svm), _gap_step(svm))
    return Document("The dual of a support vector machine", _opening(svm.task), steps, answer)


def _opening(task: Separation) -> tuple[Block, ...]:
    hard = task.C is None
    price = [] if task.C is None else [sentence("Here ", math("C =", typed(task.C)), " is the price of slack.")]
    return (
        *task.data.opening(),
        sentence("The plane with the widest margin between the classes solves the primal problem"),
        formula("min", over("1", "2"), SQUARED_NORM, *([] if hard else ["+ C ∑ ξ_i"])),
        formula("y_i", fenced("w^T x_i + b"), "≥ 1" if hard else "≥ 1 − ξ_i"),
        *price,
        sentence("The multipliers of its constraints solve the dual"),
        formula("max ∑ α_i −", over("1", "2"), "∑ α_i α_j y_i y_j x_i^T x_j"),
        formula("∑ α_i y_i = 0 ,", "α_i ≥ 0" if hard else "0 ≤ α_i ≤ C"),
        remark(
            "The primal is a minimum. Notes that print it as a maximum mean the margin: the reciprocal of ", NORM, "."
        ),
    )


def _gram_step(task: Separation) -> Step:
    return step(
        "The matrix of the dual",
        sentence("The dual sees the points only through the products ", math("Q_ij = y_i y_j x_i^T x_j"), ":"),
        formula("Q =", matrix(task.Q)),
    )


def _solving_step(svm: ExactSVM) -> Step:
    task = svm.task
    inside = "" if task.C is None else "one inside the margin has C, "
    blocks: list[Block] = [
        sentence(
            f"A point beyond its margin has the multiplier 0, {inside}and any other multiplier belongs to a point on "
            "its margin. Once it is known which is which, the rest is linear. We try all choices; this one passes all "
            "checks:"
        ),
        table(
            ["point", math("y_i"), "multiplier"],
            [[math(i + 1), task.y[i], STATES[state]] for i, state in enumerate(svm.states)],
        ),
        *(_equations(svm) if FREE in svm.states else []),
        result("α =", column(svm.alpha)),
    ]
    return step("Solve the dual", *blocks)


def _equations(svm: ExactSVM) -> list[Block]:
    """Return the equations of the free multipliers and the bias."""
    task, states = svm.task, svm.states
    involved = [j for j, state in enumerate(states) if state != ZERO]
    on_margin = [
        combination([*((task.Q[i, j], f"α_{j + 1}") for j in involved), (task.y[i], "b")])
        for i, state in enumerate(states)
        if state == FREE
    ]
    fixed = [f"α_{j + 1} =" for j, state in enumerate(states) if state == FULL]
    return [
        sentence("The equations ", math("∑ Q_ij α_j + y_i b = 1"), " of the points on their margins, and the balance:"),
        *(formula(left, "= 1") for left in on_margin),
        formula(combination([(task.y[j], f"α_{j + 1}") for j in involved]), "= 0"),
        *([sentence("with ", math(*fixed, "C"), ", the price of the slack.")] if fixed else []),
    ]


def _plane_step(svm: ExactSVM) -> Step:
    task, w = svm.task, svm.w
    products = list(task.X * w)
    support = [(a * task.y[i], column(task.X[i, :])) for i, a in enumerate(svm.alpha) if a != 0]
    blocks: list[Block] = [
        sentence("The plane is the sum of the support vectors, those with a multiplier above 0:"),
        formula("w = ∑ α_i y_i x_i =", combination(support), "=", column(w)),
    ]
    if FREE in svm.states:
        rows = [[math(i + 1), p, task.y[i] - p] for i, p in enumerate(products) if svm.states[i] == FREE]
        blocks += [
            sentence(
                "A point on its margin gives ",
                math("b = y_i − w^T x_i"),
                ". We average over the points on the margin only: one inside it would give another number.",
            ),
            table(["point", math("w^T x_i"), math("y_i − w^T x_i")], rows),
        ]
    else:
        blocks.append(sentence("No point must lie on its margin, so that b may vary; we take the middle of what fits."))
    return step("The plane", *blocks, result("b =", svm.b))


def _check_step(svm: ExactSVM) -> Step:
    y, scores, slack = svm.task.y, svm.scores, svm.slack
    rows = [[math(i + 1), s, scores[i], s * scores[i], slack[i]] for i, s in enumerate(y)]
    distance: list[Block] = [sentence("There is no plane, as w = 0: at this price none is worth its slack.")]
    if svm.square:
        distance = [
            sentence("The margin, the distance from the plane to points with the score 1, is"),
            formula(over(1, NORM), "=", shown(1 / sqrt(svm.square))),
        ]
    return step(
        "Check the points",
        table(["point", math("y_i"), math("w^T x_i + b"), math("y_i", fenced("w^T x_i + b")), math("ξ_i")], rows),
        *distance,
    )


def _gap_step(svm: ExactSVM) -> Step:
    half = over(svm.square, 2)
    slack: list[Any] = [] if svm.task.C is None else ["+ C ∑ ξ_i"]
    price: list[Any] = [] if svm.task.C is None else ["+", typed(svm.task.C), "·", sum(svm.slack)]
    return step(
        "Primal and dual meet",
        formula(over("1", "2"), SQUARED_NORM, *slack, "=", half, *price, "=", svm.primal_value),
        formula("∑ α_i −", over("1", "2"), SQUARED_NORM, "=", sum(svm.alpha), "−", half, "=", svm.dual_value),
        result("gap =", svm.primal_value - svm.dual_value),
        sentence("No gap is left: no other plane does better."),
    )
