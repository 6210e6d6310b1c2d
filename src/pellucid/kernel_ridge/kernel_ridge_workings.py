"""Kernel ridge regression by hand: products of the rows, one inverse matrix, and what it says of left-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Matrix, Rational, eye

from pellucid.core.types import Data
from pellucid.kernels.kernel_workings import ExactKernel, exact_kernel
from pellucid.show.decisions import kernel_step, read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_data, exact_parameter
from pellucid.show.notation import Script, Words, combination, factor, fenced, math, matrix, over

if TYPE_CHECKING:
    from pellucid.kernel_ridge.kernel_ridge import KernelRidge

MAX_ROWS = 5
"""Inverse matrices of more rows are not worked by hand."""

SIDE_BY_SIDE = 3
"""Rows up to which a product of matrices stands on one line."""


def kernel_ridge_workings(estimator: KernelRidge, X: Data, y: Data, new: Data = None) -> Document:
    """Show the dual coefficients of a few rows, and the errors of each row when it is left out."""
    data, alpha = exact_data(X, y), exact_parameter(estimator, "alpha")
    if data.n_samples > MAX_ROWS:
        raise ValueError(
            f"X must have at most {MAX_ROWS} rows to show the work, got {data.n_samples}. Take a few of them."
        )
    kernel = exact_kernel(estimator, data.X)
    K = kernel.products(data.X)
    A = K + alpha * eye(K.rows)
    if A.det() == 0:
        raise ValueError(f"alpha must be above 0 where the products have no inverse, got {alpha}.")
    inverse = A.inv()
    dual = inverse * data.y
    steps = (
        _products_step(kernel, K),
        _inverse_step(A, inverse, alpha),
        _coefficients_step(inverse, data.y, dual),
        _fitted_step(data, K, dual, alpha),
        _left_out_step(inverse, dual),
    )
    answer = {"dual_coef_": list(dual)}
    asked = [] if new is None else read_new(new, data.n_features)
    decided = [
        kernel_step(i, row, kernel.products(Matrix([row]), data.X), dual, Rational(0)) for i, row in enumerate(asked)
    ]
    if decided:
        answer["predicted"] = [value for _, value in decided]
    return Document("Kernel ridge regression", _opening(data, alpha), (*steps, *(made for made, _ in decided)), answer)


def _opening(data: ExactData, alpha: Rational) -> tuple[Block, ...]:
    return (
        sentence(
            "Look for a function f that is a sum of products with the training rows, ",
            math("f = a_1 k_1 + a_2 k_2 + …"),
            ", close to the targets and not too long: the sum of the squared errors plus ",
            math("α"),
            " times the squared length of f is least, with ",
            math("α =", alpha),
            ".",
        ),
        *data.opening(),
    )


def _products_step(kernel: ExactKernel, K: Matrix) -> Step:
    return step(
        "Multiply the rows",
        sentence("The kernel of two rows x and z is"),
        formula("k =", kernel.formula()),
        *kernel.notes(),
        sentence("and for each pair of training rows"),
        formula("K =", matrix(K)),
    )


def _inverse_step(A: Matrix, inverse: Matrix, alpha: Rational) -> Step:
    blocks: list[Block] = [
        sentence(
            "The squared length of f is ",
            math("a^T K a"),
            ". Setting the derivative to 0 leaves ",
            math(fenced("K + α I"), "a = y"),
            ".",
        ),
        formula("A = K +", *([] if alpha == 1 else [factor(alpha)]), "I =", matrix(A)),
    ]
    if A.rows > 1:
        blocks += [
            sentence("Its inverse is the matrix of cofactors over the determinant:"),
            formula(Words("det"), "A =", A.det()),
            formula(Words("cof"), "A =", matrix(A.adjugate().T)),
            remark("A is symmetric, so its cofactors are as well, and need not be transposed."),
        ]
    return step(
        "Add the penalty and invert", *blocks, formula(Script(math("A"), above=math("−1")), "=", matrix(inverse))
    )


def _coefficients_step(inverse: Matrix, y: Matrix, dual: Matrix) -> Step:
    pairs = [(value, f"k_{i + 1}") for i, value in enumerate(dual)]
    shown = [matrix(inverse), matrix(y), "="] if len(dual) <= SIDE_BY_SIDE else []
    return step(
        "The coefficients",
        sentence("Each row of the inverse times the targets:"),
        formula("a =", Script(math("A"), above=math("−1")), "y =", *shown, matrix(dual)),
        sentence("With the product of row i and x written ", math("k_i"), ","),
        result("f =", combination(pairs)),
    )


def _fitted_step(data: ExactData, K: Matrix, dual: Matrix, alpha: Rational) -> Step:
    fitted = K * dual
    rows = [[math(i + 1), data.y[i], fitted[i], data.y[i] - fitted[i], alpha * dual[i]] for i in range(len(dual))]
    return step(
        "Check",
        sentence("What is left of each target is ", math("α a"), ", as the equations say:"),
        table([math("i"), math("y"), math("f"), math("y − f"), math("α a")], rows),
    )


def _left_out_step(inverse: Matrix, dual: Matrix) -> Step:
    errors = [dual[i] / inverse[i, i] for i in range(len(dual))]
    rows = [
        [math(i + 1), dual[i], inverse[i, i], math(over(dual[i], inverse[i, i]), "=", errors[i])]
        for i in range(len(dual))
    ]
    mean = sum((error**2 for error in errors), Rational(0)) / len(errors)
    return step(
        "Leave one row out",
        sentence(
            "Fitted to the other rows, f misses the target of the row that was left out by its coefficient over the "
            "entry of the inverse on the diagonal: no second fit is needed."
        ),
        table([math("i"), math("a_i"), "entry of the inverse", "error when left out"], rows),
        formula(Words("mean of the squares"), "=", mean),
    )
