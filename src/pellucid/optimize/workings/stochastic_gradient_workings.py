"""Stochastic gradient descent by hand: the shuffled order, each term's gradient, and why it is right on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from sympy import Matrix, Rational, zeros

from pellucid.core.checks import check_whole
from pellucid.core.types import Array
from pellucid.optimize.formula import Formula
from pellucid.optimize.problem import FiniteSum, Problem
from pellucid.optimize.workings.exact_function import ExactFunction, exact_step_size
from pellucid.optimize.workings.step_notation import added, scaled
from pellucid.optimize.workings.walk import Walk, value_sentence
from pellucid.show.document import Block, Step, formula, remark, sentence, step, table
from pellucid.show.notation import Math, Script, column, fenced, math, over

MOST_TERMS = 12
MOST_UPDATES = 24


def stochastic_gradient_workings(
    method: Any,
    f: ExactFunction,
    terms: list[Formula],
    start: Matrix,
    epochs: int,
    batch_size: int,
    random_state: int,
) -> Walk:
    """Walk through all terms once per epoch, a few at a time."""
    check_whole(batch_size=batch_size)
    updates = -(-len(terms) // batch_size)
    if len(terms) > MOST_TERMS or updates * epochs > MOST_UPDATES:
        raise ValueError(
            f"function must have at most {MOST_TERMS} terms and {MOST_UPDATES} updates in all to be worked by hand, "
            f"got {len(terms)} terms and {updates * epochs} updates. Show fewer terms or epochs."
        )
    exact_terms = [ExactFunction(term, f.pencil) for term in terms]
    random = np.random.RandomState(random_state)  # the program draws from the same
    points, steps, visited = [start], [_unbiased(f, exact_terms, start)], [start]
    for epoch in range(epochs):
        order = [int(i) for i in random.permutation(len(terms))]
        blocks: list[Block] = [_order_sentence(order, batch_size)]
        for first in range(0, len(order), batch_size):
            t = len(visited) - 1
            eta, batch = exact_step_size(method.step_size, t), order[first : first + batch_size]
            new, shown = _update(f, exact_terms, batch, visited[-1], eta, t)
            visited.append(new)
            blocks += shown
        blocks.append(value_sentence(f, len(visited) - 1, visited[-1], f.value(points[-1])))
        points.append(visited[-1])
        steps.append(step(f"Epoch {epoch + 1}", *blocks))
    return Walk(
        "Stochastic gradient descent",
        _rule(f, len(terms), terms),
        tuple(steps),
        tuple(points),
        visited=tuple(visited),
        reported="It reports the point after each epoch.",
    )


def _rule(f: ExactFunction, n: int, terms: list[Formula]) -> tuple[Block, ...]:
    batch_mean = math(over("1", fenced("B_k", "||")), Script(math("∑"), math("i ∈ B_k")), "∇ f_i", fenced(f.point("k")))
    return (
        sentence(f"The function is the mean of {n} terms:"),
        *(formula(f"f_{i} =", term.expression) for i, term in enumerate(terms, 1)),
        sentence(
            "Each update uses the terms of one batch ", math("B_k"), " only, with the step size ", math("η_k"), ":"
        ),
        formula(f.point("k+1"), "=", f.point("k"), "− η_k", batch_mean),
        sentence("In each epoch the terms are shuffled anew, and each is used once."),
    )


def _unbiased(f: ExactFunction, terms: list[ExactFunction], x: Matrix) -> Step:
    rows = [[math(f"∇ f_{i}"), *term.gradient(x)] for i, term in enumerate(terms, 1)]
    return step(
        "Check that one term is right on average",
        sentence("At the start the gradients of the terms are"),
        table(["", *f.variables], rows, summary=[["mean", *f.gradient(x)]]),
        sentence(
            "Their mean is the gradient of ", math("f"), ": if every term is drawn with the same chance, the expected "
            "direction is the right one. A single draw is noisy, and the noise does not vanish at the minimum."
        ),
    )  # fmt: skip


def _order_sentence(order: list[int], batch_size: int) -> Block:
    listed: list[str | Math] = []
    for position, i in enumerate(order):
        separator = "" if position == 0 else " | " if position % batch_size == 0 else ", "
        listed += [separator, math(f"f_{i + 1}")]
    return sentence("The shuffled order is ", *listed, ".")


def _update(
    f: ExactFunction, terms: list[ExactFunction], batch: list[int], x: Matrix, eta: Rational, t: int
) -> tuple[Matrix, list[Block]]:
    gradients = [terms[i].gradient(x) for i in batch]
    mean = f.pencil.kept(sum(gradients, zeros(len(x), 1)) / len(batch))
    new = f.pencil.kept(x - eta * mean)
    names = added([math(f"∇ f_{i + 1}", fenced(f.point(t))) for i in batch])
    if len(batch) == 1:
        shown = formula(names, "=", column(mean))
    else:
        share = over("1", len(batch))
        shown = formula(share, fenced(names), "=", share, fenced(added(map(column, gradients))), "=", column(mean))
    return new, [shown, formula(f.point(t + 1), "=", column(x), "−", scaled(eta, column(mean)), "=", column(new))]


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
        _subgradient_rule(f),
        tuple(steps),
        tuple(best),
        visited=tuple(visited),
        reported="It reports the best point so far.",
    )


def _subgradient_rule(f: ExactFunction) -> tuple[Block, ...]:
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


def as_terms(functions: Sequence[Any]) -> list[Formula]:
    """Return the terms as formulas of the same variables."""
    if len(functions) < 2:
        raise ValueError(f"function must have at least 2 terms if it is a list, got {len(functions)}.")
    terms = [function if isinstance(function, Formula) else Formula(function) for function in functions]
    variables = mean_formula(terms).variables
    return [Formula(term.expression, [variable.name for variable in variables]) for term in terms]


def mean_formula(terms: Sequence[Formula]) -> Formula:
    """Return the mean of the terms as one formula."""
    names = sorted({variable.name for term in terms for variable in term.variables})
    whole = Formula(sympy.Add(*(sympy.Symbol(name) for name in names)))  # sorts the variables as a reader would
    mean = sympy.Add(*(term.expression for term in terms)) / len(terms)
    return Formula(mean, [variable.name for variable in whole.variables])


def mean_problem(terms: Sequence[Formula]) -> Problem:
    """Return the problem of minimizing the mean, with its terms."""
    gradients = [term.problem().gradient for term in terms]

    def of_rows(x: Array, rows: Array) -> Array:
        return np.mean([gradients[i](x) for i in rows], axis=0)  # type: ignore[misc]  # formulas have gradients

    return mean_formula(terms).problem(terms=FiniteSum(len(terms), of_rows))
