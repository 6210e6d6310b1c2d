"""AdaGrad and RMSProp by hand: a step size for each variable, one table per iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sympy import Matrix, Rational, zeros

from pellucid.optimize.workings.exact_function import ExactFunction, exact_setting, exact_step_size, small
from pellucid.optimize.workings.step_notation import indexed
from pellucid.optimize.workings.walk import Walk, value_sentence
from pellucid.show.document import Block, Step, formula, remark, sentence, step, table
from pellucid.show.notation import Script, fenced, math, over, root, typed

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


USUAL_DECAY = Rational(999, 1000)
"""The second decay rate that the authors of the method recommend."""


class Moments(NamedTuple):
    """One iteration: point, gradient, moving means, corrected means, roots, step and new point, a column each."""

    x: Matrix
    gradient: Matrix
    mean: Matrix
    squares: Matrix
    corrected_mean: Matrix
    corrected_squares: Matrix
    roots: Matrix
    move: Matrix
    new: Matrix


def adam_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Divide a moving mean of gradients by the root of a moving mean of their squares."""
    by_hand = _adam_iterations(method, f, start, count, Rational(0))
    as_program = _adam_iterations(method, f.afresh(), start, count, exact_setting(method.epsilon, "epsilon"))
    steps = tuple(_adam_shown(method, f, k, now) for k, now in enumerate(by_hand))
    visited = (start, *(now.new for now in by_hand))
    points = (start, *(now.new for now in as_program))
    return Walk("Adam", _rule(f, method), steps, points, visited=visited, reported=KEPT_SAFEGUARD)


def _adam_iterations(method: Any, f: ExactFunction, x: Matrix, count: int, epsilon: Rational) -> list[Moments]:
    kept = f.pencil.kept
    decay1, decay2 = _decays(method)
    mean = squares = zeros(len(x), 1)
    found = []
    for k in range(count):
        gradient, eta = f.gradient(x), exact_step_size(method.step_size, k)
        mean = kept(decay1 * mean + (1 - decay1) * gradient)
        squares = kept(decay2 * squares + (1 - decay2) * gradient.applyfunc(lambda entry: entry**2))
        corrected_mean, corrected_squares = (
            kept(mean / (1 - decay1 ** (k + 1))),
            kept(squares / (1 - decay2 ** (k + 1))),
        )
        roots = corrected_squares.applyfunc(f.pencil.root)
        pairs = zip(corrected_mean, roots, strict=True)
        move = kept(Matrix([eta * divided(m, size, epsilon) for m, size in pairs]))
        new = kept(x - move)
        found.append(Moments(x, gradient, mean, squares, corrected_mean, corrected_squares, roots, move, new))
        x = new
    return found


def _decays(method: Any) -> tuple[Rational, Rational]:
    return exact_setting(method.decay1, "decay1"), exact_setting(method.decay2, "decay2")


def _rule(f: ExactFunction, method: Any) -> tuple[Block, ...]:
    decay1, decay2 = _decays(method)
    blocks: list[Block] = [
        sentence("Every variable keeps two moving means, of its gradients (momentum) and of their squares (RMSProp):"),
        moving_mean("m", "ρ_1", "g_k"),
        moving_mean("r", "ρ_2", "g_k^2"),
        sentence(
            "with ", math("ρ_1 =", typed(decay1)), " and ", math("ρ_2 =", typed(decay2)),
            ". Both start at 0 and are too small at first, so they are corrected; t = k + 1 counts the iterations:",
        ),
        formula(
            _hat("m", "k+1"), "=", over(indexed("m", "k+1"), "1 − ρ_1^t"), ",",
            _hat("r", "k+1"), "=", over(indexed("r", "k+1"), "1 − ρ_2^t"),
        ),
        formula(f.point("k+1"), "=", f.point("k"), "− η", over(_hat("m", "k+1"), root(_hat("r", "k+1")))),
        *words_about_roots(method),
    ]  # fmt: skip
    usual = remark("The usual ", math("ρ_2"), " is ", math(typed(USUAL_DECAY)), ", as its authors recommend.")
    outside = remark(
        "The safeguard stands beside the root, ", math(root("r̂"), "+ ε"), "; some notes put it elsewhere, where it is "
        "of another size.",
    )  # fmt: skip
    return (*blocks, usual, outside)


def _hat(letter: str, k: int | str) -> Script:
    return Script(math(letter + "\u0302"), indexed(letter, k).below)


def _adam_shown(method: Any, f: ExactFunction, k: int, now: Moments) -> Step:
    t, corrections = k + 1, [1 - decay ** (k + 1) for decay in _decays(method)]
    means = table(
        ["", math(f"g_{k}"), math(f"m_{t}"), _hat("m", t), math(f"r_{t}"), _hat("r", t)],
        _rows(f, now.gradient, now.mean, now.corrected_mean, now.squares, now.corrected_squares),
    )
    moves = table(
        ["", f.point(k), root(_hat("r", t)), "step", f.point(t)], _rows(f, now.x, now.roots, now.move, now.new)
    )
    return step(
        f"Iteration {t}",
        sentence(
            "The means are corrected by dividing by ", math(f"1 − ρ_1^{t} =", typed(corrections[0])),
            " and ", math(f"1 − ρ_2^{t} =", typed(corrections[1])), ":",
        ),
        means,
        sentence("With the step size ", math("η =", exact_step_size(method.step_size, k)), " the variables move:"),
        moves,
        value_sentence(f, t, now.new, f.value(now.x)),
    )  # fmt: skip


def _rows(f: ExactFunction, *columns: Matrix) -> list[list[Any]]:
    return [[variable, *(math(values[j]) for values in columns)] for j, variable in enumerate(f.variables)]
