"""The kernel perceptron by hand: products of the rows, mistakes counted row by row, and the bound on their number."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.linear_model.sgd.perceptron_exact_workings import Look, Stop, Walk, walk
from pellucid.linear_model.sgd.perceptron_workings import number_of_mistakes, two_classes
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.exact_data import ExactData, exact_features, exact_number
from pellucid.workings.exact_labels import read_labels
from pellucid.workings.notation import Math, Mathlike, Script, combination, fenced, math, matrix, over, typed
from pellucid.workings.parameters import require

MAX_ROWS = 7
"""More products do not stand side by side."""


def kernel_perceptron_workings(estimator: Any, X: Data, y: Data) -> Document:
    """Show the epochs of a kernel perceptron of two classes with a polynomial kernel, rows in the order given."""
    require(estimator, "shuffle", False)
    features, names, rounded = exact_features(X, max_rows=MAX_ROWS)
    labels = read_labels(y, features.rows)
    classes = two_classes(labels)
    signs = [1 if label == classes[1] else -1 for label in labels]
    data = ExactData(features, Matrix(signs), names, rounded)
    constant = Rational(int(estimator.fit_intercept))
    kernel = _Polynomial(estimator)
    products = (features * features.T).applyfunc(kernel) + constant * Matrix.ones(len(signs), len(signs))
    done = walk(products, signs, Rational(1), Stop(estimator.max_iter))
    steps = (
        _products_step(products, kernel, bool(constant)),
        *(_epoch_step(number + 1, looks, signs) for number, looks in enumerate(done.epochs)),
        _end_step(done, signs, bool(constant)),
        *([_bound_step(done, signs, products)] if done.is_done else []),
    )
    dual = [count * sign for count, sign in zip(done.counts, signs, strict=True)]
    support = [i for i, count in enumerate(done.counts) if count]
    found = {
        "support_": support,
        "dual_coef_": [[dual[i] for i in support]],
        "intercept_": [constant * sum(dual)],
        "n_mistakes_": done.n_mistakes,
    }
    return Document("The kernel perceptron", _opening(data, labels, classes), steps, found)


class _Polynomial:
    """The kernel as a function of the plain product of two rows."""

    def __init__(self, estimator: Any) -> None:
        kernel, gamma = estimator.kernel, estimator.gamma
        if kernel not in ("linear", "poly"):
            raise ValueError(
                f"kernel must be 'linear' or 'poly' to show the work, got {kernel!r}. Others have no exact products."
            )
        if kernel == "poly" and (isinstance(gamma, str) or estimator.degree != int(estimator.degree)):
            raise ValueError(
                f"gamma must be a number and degree a whole one to show the work, got {gamma!r} and "
                f"{estimator.degree!r}. Set gamma=1.0, for example."
            )
        linear = kernel == "linear"
        self.gamma = Rational(1) if linear else exact_number(gamma, "gamma")[0]
        self.coef0 = Rational(0) if linear else exact_number(estimator.coef0, "coef0")[0]
        self.degree = 1 if linear else int(estimator.degree)

    def __call__(self, product: Rational) -> Rational:
        return (self.gamma * product + self.coef0) ** self.degree

    def formula(self) -> Math:
        """Return the kernel as it is written."""
        inside = math(*([] if self.gamma == 1 else [self.gamma]), "x z", *(["+", self.coef0] if self.coef0 else []))
        return inside if self.degree == 1 else to_power(inside, self.degree)


def to_power(inside: Mathlike, power: int = 2) -> Math:
    """Return something between parentheses to a power."""
    return Script(fenced(inside), above=math(power))


def _opening(data: ExactData, labels: list[Any], classes: list[Any]) -> tuple[Block, ...]:
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(labels[i]), data.y[i]] for i in range(data.n_samples)]
    head = [math("i"), *(data.symbol("x", j) for j in range(data.n_features)), "class", math("y")]
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
        table(head, rows, caption="The data"),
        *data.notes(),
    )


def _products_step(products: Matrix, kernel: _Polynomial, has_constant: bool) -> Step:
    blocks: list[Block] = [
        sentence("The kernel multiplies two rows as if they had been mapped to more features:"),
        formula("k =", kernel.formula()),
    ]
    if has_constant:
        blocks.append(
            sentence("The intercept is one more feature that is 1 in every row, so 1 is added to each product.")
        )
    return step("Multiply the rows", *blocks, formula("K =", matrix(products)))


def _epoch_step(number: int, looks: tuple[Look, ...], signs: list[int]) -> Step:
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


def _end_step(done: Walk, signs: list[int], has_constant: bool) -> Step:
    pairs = [
        (count * sign, f"k_{i + 1}") for i, (count, sign) in enumerate(zip(done.counts, signs, strict=True)) if count
    ]
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


def _bound_step(done: Walk, signs: list[int], products: Matrix) -> Step:
    dual = Matrix([count * sign for count, sign in zip(done.counts, signs, strict=True)])
    scores = products * dual
    margins = [sign * score for sign, score in zip(signs, scores, strict=True)]
    length, radius = (dual.T * scores)[0], max(products[i, i] for i in range(len(signs)))
    bound = radius * length / min(margins) ** 2
    return step(
        "How many mistakes there can be",
        sentence(
            "As for the perceptron, with the weights w of the mapped features, whose length follows from K, and the "
            "largest product of a row with itself:"
        ),
        formula("R^2 =", radius),
        formula("w^2 = a^T K a =", length, ", a_i = y_i m_i"),
        formula("γ^2 =", over(math("min", to_power("y f")), "w^2"), "=", over(min(margins) ** 2, length)),
        result(done.n_mistakes, "≤", over("R^2", "γ^2"), "=", bound),
    )
