"""Why weights must not start at zero, or equal: hidden units that are equal stay equal for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Matrix, Rational

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import ExactNetwork, exact_matrix, exact_network, exactly
from pellucid.show.comparison import CUT_REMARK, has_cut_numbers
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.notation import math, matrix

MOST_STEPS, MOST_ROWS = 10, 4

STARTS: dict[str, tuple[list[list[Any]], list[Any], list[list[Any]], list[Any]]] = {
    "zero": ([[0, 0], [0, 0]], [0, 0], [[0], [0]], [0]),
    "equal": (
        [[Rational(1, 2)] * 2, [Rational(1, 4)] * 2],
        [Rational(1, 4)] * 2,
        [[Rational(1, 2)], [Rational(1, 2)]],
        [0],
    ),
    "different": (
        [[Rational(1, 2), Rational(-1, 4)], [Rational(1, 4), Rational(1, 2)]],
        [Rational(1, 4), 0],
        [[Rational(1, 2)], [Rational(-1, 2)]],
        [0],
    ),
}
"""First weights of both layers: all zero, the same for both hidden units, and different."""


def show_zero_initialization(
    X: Data = ((1, 0), (0, 1), (1, 1)), y: Data = (1, 1, 0), *, step_size: float = 0.25, steps: int = 3
) -> Document:
    """Return what gradient descent makes of a network of two hidden units from three starts: zero, equal, different.

    Parameters
    ----------
    X, y : array-like of shape (rows, 2) and (rows,)
        The data, at most 4 rows.
    step_size : float, default=0.25
        Of gradient descent on the mean of half the squared errors.
    steps : int, default=3
        At most 10.

    Returns
    -------
    Document
        ``answer`` has, for each start, ``coefs`` and ``intercepts`` after the last step.

    Examples
    --------
    >>> work = show_zero_initialization()
    >>> work.answer["zero"]["coefs"]
    [[[0, 0], [0, 0]], [[0], [0]]]
    """
    check_positive(step_size=step_size)
    check_whole(steps=steps)
    rows, targets = exact_matrix(X, "X"), exact_matrix(y, "y")
    if rows.cols != 2 or not 1 <= rows.rows <= MOST_ROWS or targets.shape != (rows.rows, 1) or steps > MOST_STEPS:
        raise ValueError(
            f"X must have at most {MOST_ROWS} rows of 2 features, y as many numbers, and steps be at most "
            f"{MOST_STEPS} to "
            f"show the work, got {rows.shape}, {targets.shape} and {steps}."
        )
    eta = exactly(step_size, "step_size")
    walks = {name: _walk(_first(name), rows, targets, eta, steps) for name in STARTS}
    shown = (
        _zero_step(walks["zero"]),
        _equal_step(walks["equal"]),
        _different_step(walks["different"]),
        _losses_step(walks, rows, targets),
    )
    introduction: tuple[Block, ...] = (
        sentence(
            "A network of 2 inputs, 2 hidden units with relu, and one output; the loss is the mean of half the squared "
            f"errors of {rows.rows} rows."
        ),
        formula("X =", matrix(rows), ", y =", matrix(targets), ", η =", eta),
        *([CUT_REMARK] if has_cut_numbers(shown) else []),
    )
    answer = {
        name: {"coefs": [W.tolist() for W in walk[-1].coefs], "intercepts": [list(b) for b in walk[-1].intercepts]}
        for name, walk in walks.items()
    }
    return Document("Why weights must not start equal", introduction, shown, answer)


def _first(name: str) -> ExactNetwork:
    W1, b1, W2, b2 = STARTS[name]
    return exact_network([W1, W2], [b1, b2], "relu", "identity")


def _walk(network: ExactNetwork, X: Matrix, y: Matrix, eta: Rational, steps: int) -> list[ExactNetwork]:
    """Return the networks along gradient descent on the mean loss."""
    walk = [network]
    for _ in range(steps):
        weights, biases = mean_gradients(walk[-1], X, y)
        now = walk[-1]
        coefs = tuple(W - eta * slope for W, slope in zip(now.coefs, weights, strict=True))
        intercepts = tuple(b - eta * slope for b, slope in zip(now.intercepts, biases, strict=True))
        walk.append(ExactNetwork(coefs, intercepts, now.activation, now.output, now.pencil))
    return walk


def mean_gradients(network: ExactNetwork, X: Matrix, y: Matrix) -> tuple[list[Matrix], list[Matrix]]:
    """Return the gradients of the weights and biases of the mean loss over all rows."""
    found = []
    for i in range(X.rows):
        sums, values = network.forward(X.row(i).T)
        weights, errors, _ = network.backward(sums, values, y.row(i).T)
        found.append([*weights, *errors])
    means = [_mean(parts) for parts in zip(*found, strict=True)]
    return means[: len(network.coefs)], means[len(network.coefs) :]


def _mean(parts: Sequence[Matrix]) -> Matrix:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole / Rational(len(parts))


def _tables(walk: list[ExactNetwork]) -> list[Block]:
    """Return the weights into and out of each hidden unit, step by step."""
    head = [math("k"), math("w_1"), math("w_2"), "bias", "weight out"]
    blocks: list[Block] = []
    for unit in range(2):
        rows = [
            [math(k), *now.coefs[0].col(unit), now.intercepts[0][unit], now.coefs[1][unit]]
            for k, now in enumerate(walk)
        ]
        blocks.append(table(head, rows, caption=f"Hidden unit {unit + 1}"))
    return blocks


def _zero_step(walk: list[ExactNetwork]) -> Step:
    return step(
        "All weights zero",
        sentence(
            "Every hidden value is 0, so the second weights get the gradient 0; they are 0 themselves, so they hand "
            "nothing back, and the first weights get 0 as well. Only the last bias moves, to the mean of the targets:"
        ),
        *_tables(walk),
        result("ŷ = b_2 =", walk[-1].intercepts[1][0]),
    )


def _equal_step(walk: list[ExactNetwork]) -> Step:
    return step(
        "All hidden units equal",
        sentence(
            "Both units see the same inputs with the same weights, give the same value, and get the same gradient "
            "back: after any number of steps they are still the same. The network is as wide as one unit:"
        ),
        *_tables(walk),
    )


def _different_step(walk: list[ExactNetwork]) -> Step:
    return step(
        "Different weights",
        sentence(
            "Units that start differently get different gradients, and learn different things. Random weights see to "
            "that; their size is another matter: with He's, of variance 2 / inputs, values keep their size."
        ),
        *_tables(walk),
    )


def _losses_step(walks: dict[str, list[ExactNetwork]], X: Matrix, y: Matrix) -> Step:
    rows = [[name, _mean_loss(walk[0], X, y), _mean_loss(walk[-1], X, y)] for name, walk in walks.items()]
    return step("The loss", table(["start", "before", f"after {len(walks['zero']) - 1} steps"], rows))


def _mean_loss(network: ExactNetwork, X: Matrix, y: Matrix) -> Rational:
    losses = [network.loss(network.forward(X.row(i).T)[1][-1], y.row(i).T) for i in range(X.rows)]
    return sum(losses) / Rational(X.rows)
