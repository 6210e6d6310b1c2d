"""Momentum and Nesterov's momentum by hand."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational, zeros

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.settings import exact_setting, exact_step_size
from pellucid.optimize.workings.step_notation import indexed, scaled
from pellucid.optimize.workings.walk import Walk, value_sentence
from pellucid.workings.document import Block, formula, sentence, step
from pellucid.workings.notation import column, fenced, math


def momentum_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Roll a heavy ball: the gradient pushes, the velocity stays."""
    rule: tuple[Block, ...] = (
        sentence("A ball keeps the share ", _beta(method), " of its velocity, and the gradient pushes it downhill:"),
        formula(indexed("v", "k+1"), "= β v_k − η", math("∇ f", fenced(f.point("k")))),
        formula(f.point("k+1"), "=", f.point("k"), "+", indexed("v", "k+1")),
        sentence("It starts at rest: ", math("v_0 = 0"), "."),
    )
    return _walk("Gradient descent with momentum", rule, method, f, start, count, looks_ahead=False)


def nesterov_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Roll a ball that looks ahead before it is pushed."""
    ahead = fenced(math(f.point("k"), "+ β v_k"))
    rule: tuple[Block, ...] = (
        sentence(
            "The ball keeps the share ",
            _beta(method),
            " of its velocity. The push is the gradient where that velocity alone would lead, so it brakes in time:",
        ),
        formula(indexed("v", "k+1"), "= β v_k − η", math("∇ f", ahead)),
        formula(f.point("k+1"), "=", f.point("k"), "+", indexed("v", "k+1")),
        sentence("It starts at rest: ", math("v_0 = 0"), "."),
    )
    return _walk("Gradient descent with Nesterov's momentum", rule, method, f, start, count, looks_ahead=True)


def _beta(method: Any) -> Any:
    return math("β =", exact_setting(method.momentum, "momentum"))


def _walk(
    title: str, rule: tuple[Block, ...], method: Any, f: ExactFunction, start: Matrix, count: int, *, looks_ahead: bool
) -> Walk:
    beta = exact_setting(method.momentum, "momentum")
    points, velocities, steps = [start], [zeros(len(start), 1)], []
    for k in range(count):
        x, v, eta = points[-1], velocities[-1], exact_step_size(method.step_size, k)
        at = f.pencil.kept(x + beta * v) if looks_ahead else x
        gradient = f.gradient(at)
        velocities.append(f.pencil.kept(beta * v - eta * gradient))
        points.append(f.pencil.kept(x + velocities[-1]))
        steps.append(
            step(
                f"Iteration {k + 1}",
                *_push(f, k, at, gradient, looks_ahead=looks_ahead),
                _velocity(k, beta, v, eta, gradient, velocities[-1]),
                formula(f.point(k + 1), "=", column(x), "+", column(velocities[-1]), "=", column(points[-1])),
                value_sentence(f, k + 1, points[-1], f.value(x)),
            )
        )
    return Walk(title, rule, tuple(steps), tuple(points), {"velocity": [list(v) for v in velocities]})


def _push(f: ExactFunction, k: int, at: Matrix, gradient: Matrix, *, looks_ahead: bool) -> list[Block]:
    if not looks_ahead:
        return [sentence("The push comes from the gradient here:"), f.gradient_formula(k, gradient)]
    ahead = math(f.point(k), f"+ β v_{k}")
    return [
        sentence("Look ahead to where the velocity alone would lead, and take the gradient there:"),
        formula(ahead, "=", column(at)),
        f.gradient_formula(k, gradient, at=ahead),
    ]


def _velocity(k: int, beta: Rational, v: Matrix, eta: Rational, gradient: Matrix, new: Matrix) -> Block:
    return formula(
        f"v_{k + 1} =", scaled(beta, column(v)), "−", scaled(eta, column(gradient)), "=", column(new)
    )  # fmt: skip
