"""The lecture's support vector machine by hand: hard or soft margin, free intercept, by its KKT conditions."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, oo, sqrt

from pellucid.core.checks import check_positive
from pellucid.core.types import Data
from pellucid.optimize.constrained.exact_machine_workings import (
    HALF,
    MARGIN,
    NORM,
    SQUARED_NORM,
    Terms,
    lagrangian_step,
    machine_steps,
    slack_price,
    solve_machine,
)
from pellucid.svm.linear_svc.linear_svc_workings import MOST_POINTS
from pellucid.workings.document import Block, Document, formula, remark, sentence, table
from pellucid.workings.exact_data import ExactData, exact_features, exact_number
from pellucid.workings.exact_labels import read_labels
from pellucid.workings.notation import math, over, typed


def show_maximum_margin(X: Data, y: Data, C: float | None = None) -> Document:
    r"""Return the workings of the machine with a free intercept, in exact fractions.

    .. math:: \min_{w,\,b}\ \tfrac12\|w\|^2\ [+\ C\sum_i\xi_i],\qquad t_i(w'x_i + b) \ge 1\ [-\ \xi_i]

    ``pellucid.show_work(LinearSVC(...), X, y)`` shows the machine that ``LinearSVC`` fits: its intercept is penalized.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At most 6 points of at most 4 features.
    y : array-like of shape (n_samples,)
        Their classes, two of any kind.
    C : float, default=None
        Price of slack; None for a hard margin.

    Returns
    -------
    Document
        ``answer`` has ``w``, ``b``, ``alpha``, ``support``, ``width`` and ``objective``, all exact.

    Examples
    --------
    Two points at distance 2: the plane stands in the middle, and the margin is as wide as they are apart.

    >>> work = show_maximum_margin([[0], [2]], ["a", "b"])
    >>> work.answer["w"], work.answer["b"], work.answer["width"]
    ([1], -1, 2)
    """
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
    answer = {
        "w": list(machine.w),
        "b": machine.b,
        "alpha": machine.alpha,
        "support": [i for i, a in enumerate(machine.alpha) if a > 0],
        "width": 2 / sqrt(machine.square) if machine.square else oo,
        "objective": machine.primal_value,
    }
    steps = (lagrangian_step(terms), *machine_steps(machine))
    kind = "hard" if C is None else "soft"
    return Document(f"The {kind} margin by its KKT conditions", _opening(data, labels, classes, terms), steps, answer)


def _opening(data: ExactData, labels: list[Any], classes: list[Any], terms: Terms) -> tuple[Block, ...]:
    head = [math("i"), *(data.symbol("x", j) for j in range(data.n_features)), "class", math("t_i")]
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(label), data.y[i]] for i, label in enumerate(labels)]
    C = terms.C
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
        formula("min", HALF, SQUARED_NORM, *slack_price(terms)),
        formula(MARGIN, "≥ 1" if C is None else "≥ 1 − ξ_i ,", *([] if C is None else ["ξ_i ≥ 0"])),
        *price,
        remark(
            "This is a minimum. Notes that print it as a maximum mean the width of the margin"
            + ("." if C is None else "; slack is always paid for.")
        ),
    )
