"""LinearSVC by hand: its Lagrangian, its multipliers in fractions, and every optimality condition checked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, oo, sqrt

from pellucid.core.checks import check_one_of, check_positive
from pellucid.core.types import Data
from pellucid.optimize.constrained.exact_machine_workings import (
    HALF,
    MARGIN,
    NORM,
    SQUARED_NORM,
    ExactMachine,
    Terms,
    intercept_cost,
    lagrangian_step,
    machine_steps,
    slack_price,
    solve_machine,
)
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import (
    ExactData,
    Label,
    class_column,
    exact_features,
    exact_number,
    exact_parameter,
    read_labels,
    require,
    sorted_classes,
)
from pellucid.show.notation import math, over, typed

if TYPE_CHECKING:
    from pellucid.svm.linear_svc.linear_svc import LinearSVC

MOST_POINTS = 6


def linear_svc_workings(estimator: LinearSVC, X: Data, y: Data) -> Document:
    """Show how the machine, of more than two classes the machines, are found."""
    check_one_of(("l2",), hint="The steps of the l1 penalty are not written down.", penalty=estimator.penalty)
    check_one_of(("hinge", "squared_hinge"), loss=estimator.loss)
    check_one_of(("ovr",), hint="Show one machine per class.", multi_class=estimator.multi_class)
    check_positive(C=estimator.C)
    require(estimator, "class_weight", None)
    features, names, rounded = exact_features(X, max_rows=MOST_POINTS)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    positive = classes[1:] if len(classes) == 2 else classes
    terms = Terms(exact_parameter(estimator, "C"), estimator.loss == "squared_hinge", _constant(estimator))
    data = ExactData(features, Matrix([0] * features.rows), names, rounded)
    machines = [solve_machine(replace(data, y=_signs(labels, name)), terms) for name in positive]
    steps = [lagrangian_step(terms)]
    for name, machine in zip(positive, machines, strict=True):
        parts = machine_steps(machine)
        if len(machines) > 1:
            parts = [replace(part, heading=f"{part.heading}: {name} against the rest") for part in parts]
        steps += parts
    if len(machines) > 1:
        steps.append(_decision_step(machines, labels, classes))
    answer = {
        "coef_": [list(machine.w) for machine in machines],
        "intercept_": [machine.b for machine in machines] if terms.constant else Rational(0),
        "alpha": [machine.alpha for machine in machines],
        "objective": [machine.primal_value for machine in machines],
    }
    return Document("A linear support vector machine", _opening(data, labels, classes, terms), tuple(steps), answer)


def _constant(estimator: LinearSVC) -> Rational:
    if not estimator.fit_intercept:
        return Rational(0)
    check_positive(intercept_scaling=estimator.intercept_scaling)
    return exact_parameter(estimator, "intercept_scaling")


def _signs(labels: list[Label], positive: Any) -> Matrix:
    return Matrix([1 if label == positive else -1 for label in labels])


def _opening(data: ExactData, labels: list[Label], classes: list[Label], terms: Terms) -> tuple[Block, ...]:
    if len(classes) == 2:
        coding = sentence("The sign ", math("t_i"), f" is +1 for {classes[1]} and −1 for {classes[0]}. Find")
    else:
        coding = sentence(
            "Each class gets a machine of its own: ", math("t_i"), " is +1 for it and −1 for the rest. Find"
        )
    scale = [", ", math("s =", terms.constant)] if terms.constant else []
    return (
        *data.opening(class_column(labels)),
        coding,
        formula("min", HALF, SQUARED_NORM, *intercept_cost(terms), *slack_price(terms)),
        formula(MARGIN, "≥ 1 − ξ_i ,", "ξ_i ≥ 0"),
        sentence("with ", math("C =", terms.C), *scale, "."),
        remark("The soft margin is a minimum: the slack is paid for, not earned."),
        *_intercept_remark(terms),
    )


def _intercept_remark(terms: Terms) -> list[Block]:
    if not terms.constant:
        return []
    return [
        remark(
            "LinearSVC counts the intercept as the weight of one more feature, the constant s, and so makes it small "
            "like any weight. The lecture's intercept is free: see show_maximum_margin of pellucid.svm."
        )
    ]


def _decision_step(machines: list[ExactMachine], labels: list[Label], classes: list[Label]) -> Step:
    scores = [[m * t for m, t in zip(machine.margins, machine.t, strict=True)] for machine in machines]
    rows = []
    for i, label in enumerate(labels):
        own = [scored[i] for scored in scores]
        decided = classes[own.index(max(own))]
        rows.append([math(i + 1), str(label), *own, str(decided), "" if decided == label else "wrong"])
    return step(
        "Decide",
        sentence("The largest score in a row decides."),
        table([math("i"), "class", *map(str, classes), "decision", ""], rows),
    )


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
    return Document(
        f"The {kind} margin by its KKT conditions", _margin_opening(data, labels, classes, terms), steps, answer
    )


def _margin_opening(data: ExactData, labels: list[Label], classes: list[Label], terms: Terms) -> tuple[Block, ...]:
    C = terms.C
    price = [] if C is None else [sentence("with the price of slack ", math("C =", typed(C)), ".")]
    return (
        *data.opening(class_column(labels), (math("t_i"), data.y)),
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
