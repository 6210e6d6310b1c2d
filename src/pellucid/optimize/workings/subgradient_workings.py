"""Subgradient descent by hand: steps that may go up, and the best point so far."""

from __future__ import annotations

from typing import Any

from sympy import Matrix

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.settings import exact_step_size
from pellucid.optimize.workings.step_notation import scaled
from pellucid.optimize.workings.walk import Walk
from pellucid.workings.document import Block, formula, remark, sentence, step
from pellucid.workings.notation import column, fenced, math


def subgradient_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Step along subgradients and remember the best point."""
    visited, best, steps = [start], [start], []
    for k in range(count):
        x, gradient, eta = visited[-1], f.gradient(visited[-1]), exact_step_size(method.step_size, k)
        visited.append(f.pencil.kept(x - eta * gradient))
        value, record = f.value(visited[-1]), f.value(best[-1])
        best.append(visited[-1] if value < record else best[-1])
        named = math("f", fenced(f.point(k + 1)), "=", value)
        verdict = (
            sentence("There ", named, ", the best value so far.")
            if value < record
            else remark("There ", named, ", no better than the best value so far, ", math(record), ".")
        )
        steps.append(
            step(
                f"Iteration {k + 1}",
                sentence("A subgradient here is"),
                formula(f"g_{k} =", column(gradient)),
                sentence("and with the step size ", math("η =", eta), " we get"),
                formula(f.point(k + 1), "=", column(x), "−", scaled(eta, column(gradient)), "=", column(visited[-1])),
                verdict,
            )
        )
    return Walk(
        "Subgradient descent",
        _rule(f),
        tuple(steps),
        tuple(best),
        visited=tuple(visited),
        reported="It reports the best point so far.",
    )


def _rule(f: ExactFunction) -> tuple[Block, ...]:
    return (
        sentence(
            "The function has kinks. There a subgradient takes the place of the gradient: the slope of any line that "
            "touches the function and stays below it. For |x| at 0 every number from −1 to 1 will do, and we take 0; "
            "where several arguments of a maximum are the largest, we take the slope of the first."
        ),
        formula(f.point("k+1"), "=", f.point("k"), "− η_k g_k"),
        sentence(
            "A step may lead upwards, and the subgradient need not vanish at the minimum: so the step sizes must "
            "shrink, and the answer is the best point so far."
        ),
    )
