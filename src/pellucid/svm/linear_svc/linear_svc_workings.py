"""LinearSVC by hand: its Lagrangian, its multipliers in fractions, and every optimality condition checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sympy import Matrix, Rational

from pellucid.core.checks import check_one_of, check_positive
from pellucid.core.types import Data
from pellucid.optimize.constrained.exact_machine_workings import (
    HALF,
    MARGIN,
    SQUARED_NORM,
    ExactMachine,
    Terms,
    intercept_cost,
    lagrangian_step,
    machine_steps,
    slack_price,
    solve_machine,
)
from pellucid.workings.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.workings.exact_data import ExactData, exact_features
from pellucid.workings.exact_labels import read_labels, sorted_classes
from pellucid.workings.notation import math, typed
from pellucid.workings.parameters import exact_parameter, require

MOST_POINTS = 6


def linear_svc_workings(estimator: Any, X: Data, y: Data) -> Document:
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


def _constant(estimator: Any) -> Rational:
    if not estimator.fit_intercept:
        return Rational(0)
    check_positive(intercept_scaling=estimator.intercept_scaling)
    return exact_parameter(estimator, "intercept_scaling")


def _signs(labels: list[Any], positive: Any) -> Matrix:
    return Matrix([1 if label == positive else -1 for label in labels])


def _opening(data: ExactData, labels: list[Any], classes: list[Any], terms: Terms) -> tuple[Block, ...]:
    head = [math("i"), *(data.symbol("x", j) for j in range(data.n_features)), "class"]
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(label)] for i, label in enumerate(labels)]
    if len(classes) == 2:
        coding = sentence("The sign ", math("t_i"), f" is +1 for {classes[1]} and −1 for {classes[0]}. Find")
    else:
        coding = sentence(
            "Each class gets a machine of its own: ", math("t_i"), " is +1 for it and −1 for the rest. Find"
        )
    scale = [", ", math("s =", terms.constant)] if terms.constant else []
    return (
        table(head, rows, caption="The data"),
        *data.notes(),
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


def _decision_step(machines: list[ExactMachine], labels: list[Any], classes: list[Any]) -> Step:
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
