"""AdaGrad and RMSProp by hand: a step size for each variable, one table per iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sympy import Matrix, Rational, zeros

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.settings import exact_setting, exact_step_size, small
from pellucid.optimize.workings.step_notation import indexed
from pellucid.optimize.workings.walk import Walk, value_sentence
from pellucid.workings.document import Block, Step, formula, sentence, step, table
from pellucid.workings.notation import fenced, math, over, root

Accumulate = Callable[[Rational, Rational], Rational]
"""From what a variable remembers and its gradient to what it remembers next."""


KEPT_SAFEGUARD = "Its points are compared with ours as they are with ε."


class Sizes(NamedTuple):
    """One iteration, a column each: point, gradient, what is remembered of squares, its root, step and new point."""

    x: Matrix
    gradient: Matrix
    squares: Matrix
    roots: Matrix
    move: Matrix
    new: Matrix


def adagrad_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Divide each entry of the gradient by the root of the sum of its squares so far."""
    rule: tuple[Block, ...] = (
        sentence("Every variable keeps the sum of its squared gradients; where they were large, the steps get small:"),
        formula(indexed("r", "k+1"), "= r_k + g_k^2"),
        formula(f.point("k+1"), "=", f.point("k"), "−", _rate(), "g_k"),
        *words_about_roots(method),
    )
    return _walk("AdaGrad", rule, method, f, start, count, lambda r, g: r + g**2)


def rmsprop_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Divide each entry of the gradient by the root of a moving mean of its squares."""
    rho = exact_setting(method.decay, "decay")
    rule: tuple[Block, ...] = (
        sentence(
            "Every variable keeps a moving mean of its squared gradients (AdaGrad's sum never forgets, this does):"
        ),
        moving_mean("r", "ρ", "g_k^2"),
        formula(f.point("k+1"), "=", f.point("k"), "−", _rate(), "g_k"),
        sentence("Here ", math("ρ =", rho), "."),
        *words_about_roots(method),
    )
    return _walk("RMSProp", rule, method, f, start, count, lambda r, g: rho * r + (1 - rho) * g**2)


def moving_mean(letter: str, rate: str, new: str) -> Block:
    """Return the formula of a mean that forgets at a rate."""
    return formula(indexed(letter, "k+1"), f"= {rate} {letter}_k +", fenced(f"1 − {rate}"), new)


def words_about_roots(method: Any) -> list[Block]:
    """Return what is said about starting values, the safeguard and roots."""
    return [
        sentence(
            "All of this is done for each variable by itself, and what it remembers starts at 0. The program adds ",
            math("ε =", small(exact_setting(method.epsilon, "epsilon"))),
            " to the root, so that 0 divided by 0 is 0. By hand we leave it out; the comparison at the end keeps it. "
            "A root that is a fraction is written as one, the others as decimals.",
        )
    ]


def divided(numerator: Rational, root_: Rational, epsilon: Rational) -> Rational:
    """Return the quotient with the safeguard; without it, 0 by 0 is 0."""
    below = root_ + epsilon
    return numerator / below if below else Rational(0)


def _rate() -> Any:
    return over("η", root(indexed("r", "k+1")))


def _walk(
    title: str,
    rule: tuple[Block, ...],
    method: Any,
    f: ExactFunction,
    start: Matrix,
    count: int,
    accumulate: Accumulate,
) -> Walk:
    by_hand = _iterations(method, f, start, count, accumulate, Rational(0))
    epsilon = exact_setting(method.epsilon, "epsilon")
    as_program = _iterations(method, f.afresh(), start, count, accumulate, epsilon)
    steps = tuple(_shown(f, k, now, exact_step_size(method.step_size, k)) for k, now in enumerate(by_hand))
    visited = (start, *(now.new for now in by_hand))
    points = (start, *(now.new for now in as_program))
    return Walk(title, rule, steps, points, visited=visited, reported=KEPT_SAFEGUARD)


def _iterations(
    method: Any, f: ExactFunction, x: Matrix, count: int, accumulate: Accumulate, epsilon: Rational
) -> list[Sizes]:
    pencil, squares, found = f.pencil, zeros(len(x), 1), []
    for k in range(count):
        gradient, eta = f.gradient(x), exact_step_size(method.step_size, k)
        squares = pencil.kept(Matrix([accumulate(r, g) for r, g in zip(squares, gradient, strict=True)]))
        roots = squares.applyfunc(pencil.root)
        pairs = zip(gradient, roots, strict=True)
        move = pencil.kept(Matrix([eta * divided(g, size, epsilon) for g, size in pairs]))
        found.append(Sizes(x, gradient, squares, roots, move, pencil.kept(x - move)))
        x = found[-1].new
    return found


def _shown(f: ExactFunction, k: int, now: Sizes, eta: Rational) -> Step:
    head = ["", f.point(k), math(f"g_{k}"), math(f"r_{k + 1}"), root(f"r_{k + 1}"), "step", f.point(k + 1)]
    rows = [[variable, *(math(values[j]) for values in now)] for j, variable in enumerate(f.variables)]
    return step(
        f"Iteration {k + 1}",
        sentence("With the step size ", math("η =", eta), ", variable by variable:"),
        table(head, rows),
        value_sentence(f, k + 1, now.new, f.value(now.x)),
    )
