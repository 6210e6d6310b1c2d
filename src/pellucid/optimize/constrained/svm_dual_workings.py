"""The support vector machine by hand: its dual in fractions, the plane it gives, and both objectives."""

from __future__ import annotations

from typing import Any

from sympy import oo, sqrt

from pellucid.core.types import Data
from pellucid.optimize.constrained.exact_machine_workings import (
    HALF,
    MARGIN,
    NORM,
    SQUARED_NORM,
    ExactMachine,
    Terms,
    machine_steps,
    solve_machine,
)
from pellucid.show.document import Block, Document, formula, remark, sentence
from pellucid.show.exact_data import exact_data, exact_number
from pellucid.show.notation import math, typed

MOST_POINTS = 5


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
    data = exact_data(X, y, max_rows=MOST_POINTS)
    if set(data.y) != {-1, 1}:
        raise ValueError(f"y must hold both classes -1 and 1, got {sorted(set(data.y))}. Recode it.")
    price = None if C is None else exact_number(C, "C")[0]
    if price is not None and price <= 0:
        raise ValueError(f"C must be above 0, got {C!r}. For a hard margin pass None.")
    machine = solve_machine(data, Terms(price, squared=False, constant=None))
    answer = {
        "alpha": machine.alpha,
        "w": list(machine.w),
        "b": machine.b,
        "margin": 1 / sqrt(machine.square) if machine.square else oo,
        "primal_value": machine.primal_value,
        "dual_value": machine.dual_value,
    }
    title = "The dual of a support vector machine"
    return Document(title, _opening(machine), tuple(machine_steps(machine)), answer)


def _opening(machine: ExactMachine) -> tuple[Block, ...]:
    C = machine.terms.C
    slack: list[Any] = [] if C is None else ["+ C ∑ ξ_i"]
    price = [] if C is None else [sentence("Here ", math("C =", typed(C)), " is the price of slack.")]
    return (
        *machine.data.opening(),
        sentence(
            "With the classes ",
            math("t_i = y_i"),
            " the plane with the widest margin between them solves the primal problem",
        ),
        formula("min", HALF, SQUARED_NORM, *slack),
        formula(MARGIN, "≥ 1" if C is None else "≥ 1 − ξ_i"),
        *price,
        sentence("The multipliers of its constraints solve the dual"),
        formula("max ∑ α_i −", HALF, "∑ α_i α_j t_i t_j x_i^T x_j"),
        formula("∑ α_i t_i = 0 ,", "α_i ≥ 0" if C is None else "0 ≤ α_i ≤ C"),
        remark(
            "The primal is a minimum. Notes that print it as a maximum mean the margin: the reciprocal of ", NORM, "."
        ),
    )
