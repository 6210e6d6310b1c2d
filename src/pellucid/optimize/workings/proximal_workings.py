"""Proximal gradient descent and FISTA by hand: a gradient step, the penalty's own step, and a look ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Matrix, Rational

from pellucid.optimize.workings.exact_function import ExactFunction, ExactPenalty, exact_step_size
from pellucid.optimize.workings.step_notation import indexed, scaled
from pellucid.optimize.workings.walk import Walk
from pellucid.show.document import Block, Step, formula, remark, sentence, step, table
from pellucid.show.notation import Math, column, fenced, math, over, root

MOST_HALVINGS = 100


@dataclass(frozen=True)
class _ProximalMove:
    """Where a step led, its size, the point before the penalty's step, and the sizes that were tried."""

    x: Matrix
    eta: Rational
    free: Matrix
    tries: tuple[tuple[Rational, Rational, Rational], ...]


def fista_workings(
    method: Any, f: ExactFunction, start: Matrix, count: int, penalty: ExactPenalty | None = None
) -> Walk:
    """Take proximal steps from a point ahead of the last one."""
    rule = (
        *_proximal_rule(f, penalty, at=math("y_k")),
        sentence("Then look ahead along the last move, further after every step, with ", math("w_0 = 1"), ":"),
        formula(indexed("w", "k+1"), "=", over(math("1 +", root("1 + 4 w_k^2")), 2)),
        formula(
            indexed("y", "k+1"), "=", f.point("k+1"), "+", over("w_k − 1", indexed("w", "k+1")),
            fenced(math(f.point("k+1"), "−", f.point("k"))),
        ),
        sentence("It starts with nothing ahead: ", math("y_0 =", f.point(0)), "."),
    )  # fmt: skip
    points, ahead, weights, eta, steps = [start], [start], [Rational(1)], Rational(1), []
    for k in range(count):
        moved = _move(method, f, ahead[-1], eta, k, penalty)
        if moved.x == points[-1] == ahead[-1]:
            steps.append(_rest(f, k))
            break
        eta, weight = moved.eta, f.pencil.kept((1 + f.pencil.root(1 + 4 * weights[-1] ** 2)) / 2)
        share = f.pencil.kept((weights[-1] - 1) / weight)
        points.append(moved.x)
        ahead.append(f.pencil.kept(moved.x + share * (moved.x - points[-2])))
        weights.append(weight)
        blocks = _step_blocks(f, k, ahead[-2], moved, penalty, at=math(f"y_{k}"))
        blocks += [
            formula(f"w_{k + 1} =", over(math("1 +", root(1 + 4 * weights[-2] ** 2)), 2), "=", weight),
            formula(
                f"y_{k + 1} =", column(points[-1]), "+", scaled(share, column(points[-1] - points[-2])),
                "=", column(ahead[-1]),
            ),
        ]  # fmt: skip
        blocks.append(_value_block(f, k + 1, points[-1], points[-2], penalty))
        steps.append(step(f"Iteration {k + 1}", *blocks))
    answer = {"ahead": [list(x) for x in ahead], "weights": weights}
    is_plain = type(method).__name__ == "AcceleratedGradient"
    title = "Accelerated gradient descent" if is_plain else "Accelerated proximal gradient descent (FISTA)"
    return Walk(title, rule, tuple(steps), tuple(points), answer)


def proximal_gradient_workings(
    method: Any, f: ExactFunction, start: Matrix, count: int, penalty: ExactPenalty | None = None
) -> Walk:
    """Take a gradient step and the step of the penalty, again and again."""
    points, eta, steps = [start], Rational(1), []
    for k in range(count):
        moved = _move(method, f, points[-1], eta, k, penalty)
        if moved.x == points[-1]:
            steps.append(_rest(f, k))
            break
        eta = moved.eta
        points.append(moved.x)
        blocks = _step_blocks(f, k, points[-2], moved, penalty, at=f.point(k))
        blocks.append(_value_block(f, k + 1, points[-1], points[-2], penalty))
        steps.append(step(f"Iteration {k + 1}", *blocks))
    rule = _proximal_rule(f, penalty, at=f.point("k"))
    return Walk("Proximal gradient descent", rule, tuple(steps), tuple(points))


def _proximal_rule(f: ExactFunction, penalty: ExactPenalty | None, at: Math) -> tuple[Block, ...]:
    free = math(at, "− η ∇ f", fenced(at))
    if penalty is None:
        return (sentence("Without a penalty a step is one of gradient descent:"), formula(f.point("k+1"), "=", free))
    return (
        sentence(
            "Beside f there is the penalty ", math("h =", penalty.written), ". We minimize ", math("F = f + h"), "."
        ),
        sentence(
            "Each step goes down the gradient of f alone; then the proximal step finds the best compromise between "
            "the penalty and staying near:"
        ),
        formula(f.point("k+1"), "=", math("prox", fenced(free))),
    )


def _move(
    method: Any, f: ExactFunction, y: Matrix, last: Rational, k: int, penalty: ExactPenalty | None
) -> _ProximalMove:
    """Take one step from y: of the size that is given, or the last one halved until its parabola lies above f."""
    gradient = f.gradient(y)

    def stepped(eta: Rational) -> tuple[Matrix, Matrix]:
        free = f.pencil.kept(y - eta * gradient)
        return free, free if penalty is None else f.pencil.kept(penalty.prox(free, eta))

    if method.step_size is not None:
        eta = exact_step_size(method.step_size, k)
        free, x = stepped(eta)
        return _ProximalMove(x, eta, free, ())
    eta, tries = last, list[tuple[Rational, Rational, Rational]]()
    for _ in range(MOST_HALVINGS):
        free, x = stepped(eta)
        move = x - y
        above = f.value(y) + (gradient.T * move)[0] + (move.T * move)[0] / (2 * eta)
        tries.append((eta, f.value(x), f.pencil.kept(above)))
        if tries[-1][1] <= tries[-1][2]:
            return _ProximalMove(x, eta, free, tuple(tries))
        eta = eta / 2
    raise ValueError("function must have a gradient that does not jump to find a step size, got none small enough.")


def _step_blocks(
    f: ExactFunction, k: int, y: Matrix, moved: _ProximalMove, penalty: ExactPenalty | None, at: Math
) -> list[Block]:
    gradient = f.gradient(y)
    blocks: list[Block] = [f.gradient_formula(k, gradient, at=at)]
    if moved.tries:
        rows = [[eta, value, above, "yes" if value <= above else "no"] for eta, value, above in moved.tries]
        blocks += [
            sentence(
                "The step size: halve the last one until the parabola ",
                math("f + g^T d +", over("d^T d", "2 η")),
                ", with d the whole move, lies above f there:",
            ),
            table([math("η"), math("f"), "parabola", "above?"], rows),
        ]
    name = "u" if penalty is not None else f.point(k + 1)
    blocks.append(
        formula(
            name, "=", at, f"− η g_{k} =", column(y), "−", scaled(moved.eta, column(gradient)), "=", column(moved.free)
        )
    )
    if penalty is not None:
        blocks += [
            penalty.told(moved.eta),
            formula(f.point(k + 1), "=", math("prox", fenced("u")), "=", column(moved.x)),
        ]
    return blocks


def _rest(f: ExactFunction, k: int) -> Step:
    return step("Stop", sentence("The step from ", f.point(k), " leads back to it: no point is better."))


def _value_block(f: ExactFunction, k: int, x: Matrix, before: Matrix, penalty: ExactPenalty | None) -> Block:
    def objective(point: Matrix) -> Rational:
        return f.value(point) + (Rational(0) if penalty is None else penalty.value(point))

    value, old = objective(x), objective(before)
    named = math("f" if penalty is None else "F", fenced(f.point(k)), "=", value)
    if value > old:
        return remark("There ", named, ": it rose by ", math(value - old), ". Looking ahead may overshoot.")
    fell = [", lower than before by ", math(old - value), "."] if value < old else [", as before."]
    return sentence("There ", named, *fell)
