"""The kernel perceptron by hand: products of the rows, mistakes counted row by row, and the bound on their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.kernels.kernel_workings import ExactKernel, exact_kernel, to_power
from pellucid.linear_model.sgd.perceptron_workings import (
    PerceptronWalk,
    RowLook,
    Stop,
    counted_blocks,
    number_of_mistakes,
    two_classes,
    walk,
    weighted_mistakes,
)
from pellucid.show.decisions import kernel_step, read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, Label, class_column, exact_features, read_labels
from pellucid.show.notation import combination, math, matrix, over
from pellucid.show.shown_rows import ShownRows, read_shown_rows

if TYPE_CHECKING:
    from pellucid.linear_model.sgd.kernel_perceptron import KernelPerceptron

MAX_ROWS = 7
"""More products do not stand side by side."""


def kernel_perceptron_workings(estimator: KernelPerceptron, X: Data, y: Data, new: Data = None) -> Document:
    """Show the epochs of a kernel perceptron of two classes, rows in the order in which the program shows them."""
    features, names, rounded = exact_features(X, max_rows=MAX_ROWS)
    labels = read_labels(y, features.rows)
    classes = two_classes(labels)
    signs = [1 if label == classes[1] else -1 for label in labels]
    data = ExactData(features, Matrix(signs), names, rounded)
    constant = Rational(int(estimator.fit_intercept))
    kernel = exact_kernel(estimator, features)
    products = kernel.products(features) + constant * Matrix.ones(len(signs), len(signs))
    shown = read_shown_rows(estimator, X, y, features, signs)
    done = walk(products, signs, shown, Rational(1), Stop(estimator.max_iter))
    dual = [m * s * t for m, s, t in zip(done.counts, shown.weights, signs, strict=True)]
    steps = (
        _products_step(products, kernel, bool(constant)),
        *(_epoch_step(number + 1, looks, signs) for number, looks in enumerate(done.epochs)),
        _end_step(done, dual, bool(constant)),
        *([_bound_step(done, shown, signs, dual, products)] if done.is_done else []),
    )
    support = [i for i, count in enumerate(done.counts) if count]
    found: dict[str, Any] = {
        "support_": support,
        "dual_coef_": [[dual[i] for i in support]],
        "intercept_": [constant * sum(dual)],
        "n_mistakes_": done.n_mistakes,
    }
    asked = [] if new is None else read_new(new, data.n_features)
    decided = [
        kernel_step(i, row, kernel.products(Matrix([row]), features), dual, constant * sum(dual), classes)
        for i, row in enumerate(asked)
    ]
    if decided:
        found["predicted"] = [label for _, label in decided]
    opening = (*_opening(data, labels, classes), *shown.notes(estimator.random_state))
    return Document("The kernel perceptron", opening, (*steps, *(made for made, _ in decided)), found)


def _opening(data: ExactData, labels: list[Label], classes: list[Label]) -> tuple[Block, ...]:
    return (
        sentence(
            f"Learn from mistakes alone, and keep nothing but their number m for each row. Write +1 for {classes[1]} "
            f"and −1 for {classes[0]}; the score of a row x is the sum of ",
            math("m y k"),
            " over all rows, where ",
            math("k"),
            " is the product of that row with x. A row is a mistake if ",
            math("y f ≤ 0"),
            "; then its m grows by 1.",
        ),
        *data.opening(class_column(labels), (math("y"), data.y)),
    )


def _products_step(products: Matrix, kernel: ExactKernel, has_constant: bool) -> Step:
    blocks: list[Block] = [
        sentence("The kernel multiplies two rows as if they had been mapped to more features:"),
        formula("k =", kernel.formula()),
    ]
    if has_constant:
        blocks.append(
            sentence("The intercept is one more feature that is 1 in every row, so 1 is added to each product.")
        )
    return step("Multiply the rows", *blocks, *kernel.notes(), formula("K =", matrix(products)))


def _epoch_step(number: int, looks: tuple[RowLook, ...], signs: list[int]) -> Step:
    head = [math("i"), math("f"), math("y f"), "", *(math(f"m_{i + 1}") for i in range(len(signs)))]
    rows = [
        [
            math(look.row + 1),
            look.score,
            signs[look.row] * look.score,
            "wrong" if look.is_mistake else "right",
            *map(math, look.counts),
        ]
        for look in looks
    ]
    mistakes = sum(look.is_mistake for look in looks)
    return step(f"Epoch {number}", table(head, rows), sentence(f"{mistakes} mistake{'' if mistakes == 1 else 's'}."))


def _end_step(done: PerceptronWalk, dual: list[int], has_constant: bool) -> Step:
    pairs = [(value, f"k_{i + 1}") for i, value in enumerate(dual) if value]
    words = (
        f"Epoch {done.n_epochs} finds every row right: {number_of_mistakes(done)} in all."
        if done.is_done
        else f"max_iter ends the work after {done.n_epochs} epochs and {number_of_mistakes(done)}."
    )
    own = "with the 1 of the intercept in it, " if has_constant else ""
    return step(
        "The scores",
        sentence(words, f" With the product of row i and x, {own}written ", math("k_i"), ","),
        result("f =", combination(pairs)),
        *(
            []
            if done.is_done
            else [remark("Without an epoch free of mistakes there is no margin to bound their number by.")]
        ),
    )


def _bound_step(done: PerceptronWalk, shown: ShownRows, signs: list[int], dual: list[int], products: Matrix) -> Step:
    weights = Matrix(dual)
    scores = products * weights
    margins = [sign * score for sign, score in zip(signs, scores, strict=True)]
    length, radius = (weights.T * scores)[0], max(products[i, i] for i in range(len(signs)))
    bound = radius * length / min(margins) ** 2
    return step(
        "How many mistakes there can be",
        sentence(
            "As for the perceptron, with the weights w of the mapped features, whose length follows from K, and the "
            "largest product of a row with itself:"
        ),
        formula("R^2 =", radius),
        formula("w^2 = a^T K a =", length, ", a_i = y_i m_i" if max(shown.weights) == 1 else ", a_i = y_i s_i m_i"),
        formula("γ^2 =", over(math("min", to_power("y f")), "w^2"), "=", over(min(margins) ** 2, length)),
        *counted_blocks(done, shown),
        result(weighted_mistakes(done, shown), "≤", over("R^2", "γ^2"), "=", bound),
    )
