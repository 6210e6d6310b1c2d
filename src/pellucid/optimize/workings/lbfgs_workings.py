"""L-BFGS by hand: the two loops over the pairs that are remembered."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.line import Line
from pellucid.optimize.workings.line_search_workings import search_line
from pellucid.optimize.workings.quasi_newton_workings import Pair, first_trial, moved, pair_blocks, pair_of
from pellucid.optimize.workings.step_notation import indexed
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.workings.document import Block, formula, remark, sentence, step
from pellucid.workings.notation import column, fenced, math, over


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
    return Walk("L-BFGS", _rule(f, method.memory), tuple(steps), tuple(points))


def _rule(f: ExactFunction, memory: int) -> tuple[Block, ...]:
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
