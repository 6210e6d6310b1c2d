"""BFGS and DFP by hand: one matrix update after another, until the inverse Hessian is learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from sympy import Matrix, Rational, eye

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.line_search_workings import Line, dot, search_line
from pellucid.optimize.workings.step_notation import indexed, scaled
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.show.document import Block, Step, formula, remark, sentence, step
from pellucid.show.notation import column, fenced, math, matrix, over


class Pair(NamedTuple):
    """The step ``s`` of iteration ``k`` and the change ``y`` of the gradient along it."""

    k: int
    s: Matrix
    y: Matrix
    curvature: Rational


Update: TypeAlias = Callable[[ExactFunction, Matrix, Pair], tuple[Matrix, list[Block]]]
"""From the inverse Hessian and a new pair to the next inverse Hessian, and the blocks that show how."""


def bfgs_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Learn the inverse Hessian by the update of Broyden, Fletcher, Goldfarb and Shanno."""
    update = formula(
        indexed("H", "k+1"), "= V^T H_k V + ρ s_k s_k^T , V = I − ρ y_k s_k^T , ρ =", over("1", "s_k^T y_k")
    )
    return _walk("BFGS", update, _bfgs, method, f, start, count)


def dfp_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Learn the inverse Hessian by the update of Davidon, Fletcher and Powell."""
    update = formula(
        indexed("H", "k+1"), "= H_k −", over("H_k y_k y_k^T H_k", "y_k^T H_k y_k"), "+", over("s_k s_k^T", "s_k^T y_k")
    )
    return _walk("DFP", update, _dfp, method, f, start, count)


def _walk(title: str, update: Block, learn: Update, method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    points, steps, H = [start], [], eye(len(start))
    inverses = [H]
    for k in range(count):
        x, gradient = points[-1], f.gradient(points[-1])
        if gradient.is_zero_matrix:
            steps.append(_ending(f, k, H))
            break
        first = Rational(1) if k else first_trial(f, gradient)
        line = Line(f, k, x, f.pencil.kept(-H * gradient), gradient, first)
        t, searching = search_line(method.line_search, line)
        points.append(line.at(t))
        pair = pair_of(f, k, x, points[-1])
        H, learning = _learned(f, H, pair, learn)
        inverses.append(H)
        steps.append(
            step(
                f"Iteration {k + 1}",
                f.gradient_formula(k, gradient),
                formula(f"d_{k} = − H_{k} g_{k} =", column(line.direction)),
                *searching,
                moved(line, t, points[-1]),
                value_sentence(f, k + 1, points[-1], f.value(x)),
                *pair_blocks(f, pair, points[-1]),
                *learning,
            )
        )
    return Walk(title, _rule(f, update), tuple(steps), tuple(points), {"inverse_hessian": inverses})


def _rule(f: ExactFunction, update: Block) -> tuple[Block, ...]:
    return (
        sentence(
            "Newton's direction needs the inverse of the Hessian. We start with the identity and learn it on the way:"
        ),
        formula("H_0 = I , d_k = − H_k g_k ,", f.point("k+1"), "=", f.point("k"), "+ t d_k"),
        sentence("Each step says something about the curvature along it: the step and the change of the gradient are"),
        formula("s_k =", f.point("k+1"), "−", f.point("k"), ", y_k =", indexed("g", "k+1"), "− g_k"),
        sentence(
            "On a parabola the inverse Hessian maps ",
            math("y_k"),
            " to ",
            math("s_k"),
            ", so the update makes ours do that:",
        ),
        update,
    )


def first_trial(f: ExactFunction, gradient: Matrix) -> Rational:
    """Return the first step along the gradient, of length 1 at most."""
    length = f.pencil.root((gradient.T * gradient)[0])
    return f.pencil.kept(min(Rational(1), 1 / length))


def moved(line: Line, t: Rational, new: Matrix) -> Block:
    """Return ``z_(k+1) = z_k + t d_k`` with its numbers."""
    f, k = line.f, line.k
    return formula(
        f.point(k + 1), "=", f.point(k), f"+ t d_{k} =", column(line.x), "+", scaled(t, column(line.direction)), "=",
        column(new),
    )  # fmt: skip


def pair_of(f: ExactFunction, k: int, x: Matrix, new: Matrix) -> Pair:
    """Return the step and the change of the gradient."""
    s, y = f.pencil.kept(new - x), f.pencil.kept(f.gradient(new) - f.gradient(x))
    return Pair(k, s, y, f.pencil.kept((s.T * y)[0]))


def pair_blocks(f: ExactFunction, pair: Pair, new: Matrix) -> list[Block]:
    """Return the new gradient, the pair and its curvature."""
    k = pair.k
    return [
        sentence("What this step has taught us:"),
        f.gradient_formula(k + 1, f.gradient(new)),
        formula(f"s_{k} =", column(pair.s), f", y_{k} =", column(pair.y)),
        dot(math(f"s_{k}^T y_{k}"), pair.s, pair.y, pair.curvature),
    ]


def _learned(f: ExactFunction, H: Matrix, pair: Pair, learn: Update) -> tuple[Matrix, list[Block]]:
    k = pair.k
    if pair.curvature <= 0:
        return H, [
            remark(math(f"s_{k}^T y_{k} ≤ 0"), ": no parabola that opens upwards looks like this, so we do not update.")
        ]
    blocks: list[Block] = []
    if k == 0:
        scale = f.pencil.kept(pair.curvature / (pair.y.T * pair.y)[0])
        H = f.pencil.kept(scale * H)
        blocks += [
            sentence("Before the first update the identity is scaled to the curvature just seen:"),
            formula("γ =", over("s_0^T y_0", "y_0^T y_0"), "=", scale, ", H_0 ← γ I"),
        ]
    new, learning = learn(f, H, pair)
    checked = f.pencil.kept(new * pair.y)
    check = formula(f"H_{k + 1} y_{k} =", column(checked), f"= s_{k}")
    return new, [*blocks, *learning, sentence("Check that the new matrix maps the one to the other:"), check]


def _bfgs(f: ExactFunction, H: Matrix, pair: Pair) -> tuple[Matrix, list[Block]]:
    k, rho = pair.k, f.pencil.kept(1 / pair.curvature)
    V = f.pencil.kept(eye(H.rows) - rho * pair.y * pair.s.T)
    new = f.pencil.kept(V.T * H * V + rho * pair.s * pair.s.T)
    return new, [
        formula("ρ =", rho, f", V = I − ρ y_{k} s_{k}^T =", matrix(V)),
        sentence("The new opinion about this direction, ", math(f"ρ s_{k} s_{k}^T"), ", is"),
        formula(matrix(f.pencil.kept(rho * pair.s * pair.s.T))),
        formula(f"H_{k + 1} = V^T H_{k} V + ρ s_{k} s_{k}^T =", matrix(new)),
    ]


def _dfp(f: ExactFunction, H: Matrix, pair: Pair) -> tuple[Matrix, list[Block]]:
    k, product = pair.k, f.pencil.kept(H * pair.y)
    size = f.pencil.kept((pair.y.T * product)[0])
    removed = f.pencil.kept(product * product.T / size)
    added = f.pencil.kept(pair.s * pair.s.T / pair.curvature)
    new = f.pencil.kept(H - removed + added)
    return new, [
        formula(f"H_{k} y_{k} =", column(product), f", y_{k}^T H_{k} y_{k} =", size),
        sentence("The old opinion about this direction is taken out and the new one is put in:"),
        formula(f"H_{k + 1} =", matrix(H), "−", matrix(removed), "+", matrix(added), "=", matrix(new)),
    ]


def _ending(f: ExactFunction, k: int, H: Matrix) -> Step:
    """Return the last step; on a quadratic it shows what has been learned."""
    stop, n = minimum_step(f, k), len(f.variables)
    if not f.is_quadratic or H * f.formula.hessian != eye(n):
        return stop
    return step(
        stop.heading,
        *stop.blocks,
        sentence(
            f"A quadratic in {n} variables with exact line searches takes at most {n} iterations. The matrix ",
            math(f"H_{k}"),
            " is now the inverse of the Hessian ",
            math("A"),
            ":",
        ),
        formula(f"H_{k} A =", matrix(H), matrix(f.formula.hessian), "=", matrix(eye(n))),
    )


def lbfgs_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Walk along directions made from the last few pairs, without a matrix."""
    points, steps = [start], []
    pairs: list[Pair] = []
    for k in range(count):
        x, gradient = points[-1], f.gradient(points[-1])
        if gradient.is_zero_matrix:
            steps.append(minimum_step(f, k))
            break
        direction, looping = _two_loops(f, k, gradient, pairs)
        first = Rational(1) if pairs else first_trial(f, gradient)
        line = Line(f, k, x, direction, gradient, first)
        t, searching = search_line(method.line_search, line)
        points.append(line.at(t))
        pair = pair_of(f, k, x, points[-1])
        shown = [*pair_blocks(f, pair, points[-1]), _memory(pair, method.memory)]
        pairs = [*pairs, pair][-method.memory :] if pair.curvature > 0 else pairs
        steps.append(
            step(
                f"Iteration {k + 1}",
                f.gradient_formula(k, gradient),
                *looping,
                *searching,
                moved(line, t, points[-1]),
                value_sentence(f, k + 1, points[-1], f.value(x)),
                *shown,
            )
        )
    return Walk("L-BFGS", _lbfgs_rule(f, method.memory), tuple(steps), tuple(points))


def _lbfgs_rule(f: ExactFunction, memory: int) -> tuple[Block, ...]:
    return (
        sentence(
            "L-BFGS goes the way of BFGS without its matrix. It remembers the last ",
            math(memory),
            " pairs of a step and the change of the gradient along it,",
        ),
        formula(
            "s_k =", f.point("k+1"), "−", f.point("k"), ", y_k =", indexed("g", "k+1"), "− g_k , ρ_k =",
            over("1", "s_k^T y_k"),
        ),
        sentence(
            "and finds ", math("H_k g_k"), " in two loops: from the newest pair to the oldest, starting from ",
            math("q = g_k"), ",",
        ),
        formula("α_i = ρ_i s_i^T q , q ← q − α_i y_i"),
        sentence(
            "then a scaling by the newest pair, ", math("r = γ q"), " with ",
            math("γ =", over("s_i^T y_i", "y_i^T y_i")), ", and back from the oldest to the newest,",
        ),
        formula("β_i = ρ_i y_i^T r , r ← r +", fenced("α_i − β_i"), "s_i"),
        sentence("The direction is ", math("d_k = − r"), "."),
    )  # fmt: skip


def _two_loops(f: ExactFunction, k: int, gradient: Matrix, pairs: list[Pair]) -> tuple[Matrix, list[Block]]:
    kept = f.pencil.kept
    if not pairs:
        return -gradient, [
            sentence("Nothing is remembered yet, so the direction is that of gradient descent:"),
            formula(f"d_{k} = − g_{k} =", column(-gradient)),
        ]
    q, shares = gradient, {}
    blocks: list[Block] = [sentence("First loop, from the newest pair to the oldest:")]
    for pair in reversed(pairs):
        i, share = pair.k, kept((pair.s.T * q)[0] / pair.curvature)
        q, shares[i] = kept(q - share * pair.y), share
        blocks.append(formula(f"α_{i} = ρ_{i} s_{i}^T q =", share, f", q ← q − α_{i} y_{i} =", column(q)))
    newest = pairs[-1]
    scale = kept(newest.curvature / (newest.y.T * newest.y)[0])
    r = kept(scale * q)
    blocks += [
        formula("γ =", scale, ", r = γ q =", column(r)),
        sentence("Second loop, from the oldest pair to the newest:"),
    ]
    for pair in pairs:
        i, back = pair.k, kept((pair.y.T * r)[0] / pair.curvature)
        r = kept(r + (shares[i] - back) * pair.s)
        turned = math("r ← r +", fenced(f"α_{i} − β_{i}"), f"s_{i} =", column(r))
        blocks.append(formula(f"β_{i} = ρ_{i} y_{i}^T r =", back, ",", turned))
    return -r, [*blocks, formula(f"d_{k} = − r =", column(-r))]


def _memory(pair: Pair, memory: int) -> Block:
    if pair.curvature <= 0:
        return remark("The curvature is not positive: the pair is not remembered.")
    forgotten = pair.k - memory
    if forgotten >= 0:
        return sentence(
            "The pair is remembered, and the oldest is forgotten: ", math(f"s_{forgotten} , y_{forgotten}"), "."
        )
    return sentence("The pair is remembered.")
