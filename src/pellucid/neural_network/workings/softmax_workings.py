"""Softmax and cross-entropy by hand: the gradient is what came out less what should have."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational, exp, log

from pellucid.core.checks import check_whole
from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix
from pellucid.optimize.workings.pencil import Pencil
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import Script, Symbol, column, fenced, math, over

MOST_CLASSES = 5
MOST_APART = 100
"""Probabilities of scores further apart have too many zeros to be read."""
SMALL = Rational(1, 10**6)


def show_softmax(scores: Data, target: int) -> Document:
    """Return the probabilities of some scores by softmax, the cross-entropy, and its gradient.

    Parameters
    ----------
    scores : array-like of shape (classes,)
        What a network gives before softmax; at most 5 numbers.
    target : int
        The number of the true class, from 0.

    Returns
    -------
    Document
        ``answer`` has ``probabilities``, ``loss`` and ``gradient``.

    Examples
    --------
    >>> work = show_softmax([0, 0, 0, 0], target=1)
    >>> work.answer["probabilities"], work.answer["gradient"]
    ([1/4, 1/4, 1/4, 1/4], [1/4, -3/4, 1/4, 1/4])
    """
    s = exact_matrix(scores, "scores")
    if s.cols != 1 or not 2 <= s.rows <= MOST_CLASSES:
        raise ValueError(f"scores must be from 2 to {MOST_CLASSES} numbers to be worked by hand, got {len(s)}.")
    if max(s) - min(s) > MOST_APART:
        raise ValueError(f"scores must be within {MOST_APART} of each other to show the work, got {list(s)}.")
    check_whole(0, target=target)
    if target >= s.rows:
        raise ValueError(f"target must be below the {s.rows} classes, got {target}. Classes count from 0.")
    pencil = Pencil()
    powers = pencil.kept((s - _ones(s) * max(s)).applyfunc(exp))
    p = pencil.kept(powers / sum(powers))
    loss = pencil.kept(-log(p[target]))
    gradient = p - Matrix([int(k == target) for k in range(s.rows)])
    steps = (
        _probability_step(s, powers, p),
        step("The loss", formula(f"L = − log p_{target + 1} = − log", fenced(p[target]), "=", loss)),
        _gradient_step(p, target, gradient),
        _check_step(s, target, gradient, pencil),
    )
    introduction: tuple[Block, ...] = (
        sentence(f"The scores of {s.rows} classes, of which the true one is number {target + 1}:"),
        formula("s =", column(s)),
        *pencil.remark(),
    )
    answer = {"probabilities": list(p), "loss": loss, "gradient": list(gradient)}
    return Document("Softmax and cross-entropy", introduction, steps, answer)


def _ones(s: Matrix) -> Matrix:
    return Matrix([1] * s.rows)


def _power(letter: str) -> Script:
    return Script(Symbol("e"), above=math(letter))


def _probability_step(s: Matrix, powers: Matrix, p: Matrix) -> Step:
    rows = [[math(k + 1), s[k], s[k] - max(s), powers[k], p[k]] for k in range(s.rows)]
    return step(
        "The probabilities",
        formula("p_k =", over(_power("s_k"), math("∑", _power("s_j")))),
        sentence(
            "Subtracting the largest score from all changes no quotient, and keeps the powers at most 1, so that none "
            "overflows:"
        ),
        table(
            ["class", math("s_k"), math("s_k − m"), "power of e", math("p_k")],
            rows,
            summary=[["sum", "", "", sum(powers), sum(p)]],
        ),
    )


def _gradient_step(p: Matrix, target: int, gradient: Matrix) -> Step:
    t = target + 1
    rows: list[list[Any]] = [
        [math(j + 1), -p[target] * p[j] if j != target else p[target] * (1 - p[target]), p[j], gradient[j]]
        for j in range(p.rows)
    ]
    return step(
        "The gradient",
        sentence("A probability falls when another score rises, and grows with its own:"),
        formula(
            over(f"∂ p_{t}", f"∂ s_{t}"),
            f"= p_{t}",
            fenced(f"1 − p_{t}"),
            ",",
            over(f"∂ p_{t}", "∂ s_j"),
            f"= − p_{t} p_j",
        ),
        sentence("The logarithm divides by ", math(f"p_{t}"), ", which cancels:"),
        formula(over("∂ L", "∂ s_j"), "= −", over(1, f"p_{t}"), over(f"∂ p_{t}", "∂ s_j"), "= p_j − y_j"),
        sentence("with ", math("y_j"), " 1 for the true class and 0 for the others:"),
        table(["class", over(f"∂ p_{t}", "∂ s_j"), math("p_j"), math("p_j − y_j")], rows),
        result(over("∂ L", "∂ s"), "= p − y =", column(gradient)),
        sentence("Its entries add up to 0: raising all scores alike changes nothing."),
    )


def _check_step(s: Matrix, target: int, gradient: Matrix, pencil: Pencil) -> Step:
    rows = []
    for j in range(s.rows):
        ahead, back = (_loss(s, j, h, target, pencil) for h in (SMALL, -SMALL))
        rows.append([math(j + 1), gradient[j], (ahead - back) / (2 * SMALL)])
    return step(
        "Check by differences",
        sentence("Move one score by ", math(SMALL), " to either side:"),
        table(["class", "gradient", "difference quotient"], rows),
        remark("Nothing has to be differentiated twice: the last layer hands ", math("p − y"), " to the one before."),
    )


def _loss(s: Matrix, j: int, by: Rational, target: int, pencil: Pencil) -> Rational:
    moved = s.copy()
    moved[j] += by
    return pencil.kept(log(sum(pencil.kept((moved - _ones(s) * moved[target]).applyfunc(exp)))))
