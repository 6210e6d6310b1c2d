"""Gradient descent by hand: fixed step, exact line search, backtracking."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational, zeros

from pellucid.optimize.workings.exact_function import ExactFunction, exact_setting, exact_step_size
from pellucid.optimize.workings.line_search_workings import Line, search_line
from pellucid.optimize.workings.step_notation import indexed, scaled
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.show.document import Block, Step, formula, sentence, step
from pellucid.show.notation import column, fenced, math, over

GROWTH = 2
"""A line search tries twice the last step first, so that steps can grow again."""


def gradient_descent_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Walk downhill along the negative gradient."""
    points, steps = [start], []
    first: Rational | None = None
    for k in range(count):
        x, gradient = points[-1], f.gradient(points[-1])
        if gradient.is_zero_matrix:
            steps.append(minimum_step(f, k))
            break
        first = 1 / max(map(abs, gradient)) if first is None else GROWTH * first
        line = Line(f, k, x, -gradient, gradient, first)
        first, searching = search_line(method.step_size, line)
        points.append(line.at(first))
        steps.append(_iteration(line, first, searching, points[-1]))
    return Walk("Gradient descent", _rule(f, method.step_size), tuple(steps), tuple(points))


def _rule(f: ExactFunction, step_size: Any) -> tuple[Block, ...]:
    return (
        sentence("The gradient points uphill, so each step goes the other way, along ", math("d_k = − g_k"), ":"),
        formula(f.point("k+1"), "=", f.point("k"), "− t_k g_k"),
        *([] if hasattr(step_size, "search") else _largest_fixed_step(f)),
    )


def _largest_fixed_step(f: ExactFunction) -> list[Block]:
    """Return the bound on a fixed step, where the curvature is known: on a quadratic."""
    if not f.is_quadratic:
        return []
    eigenvalues = f.afresh().pencil.eigenvalues(f.formula.hessian)
    largest = eigenvalues[-1]
    if eigenvalues[0] < 0 or largest == 0:
        return []
    return [
        sentence(
            "The function is quadratic and its largest curvature, the largest eigenvalue of the Hessian, is ",
            math("L =", largest),
            ". A fixed step converges to the minimum if it is below ",
            math(over("2", "L"), "=", 2 / largest),
            ".",
        )
    ]


def _iteration(line: Line, t: Rational, searching: list[Block], new: Matrix) -> Step:
    f, k = line.f, line.k
    return step(
        f"Iteration {k + 1}",
        sentence("The gradient here is"),
        f.gradient_formula(k, line.gradient),
        *searching,
        formula(
            f.point(k + 1), "=", f.point(k), f"− t g_{k} =", column(line.x), "−", scaled(t, column(line.gradient)),
            "=", column(new),
        ),
        value_sentence(f, k + 1, new, f.value(line.x)),
    )  # fmt: skip


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
