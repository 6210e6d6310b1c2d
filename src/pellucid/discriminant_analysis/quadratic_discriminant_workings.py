"""Quadratic discriminant analysis by hand: a covariance for each class, its inverse, and the boundary as a quadric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Expr, Matrix, Poly, Rational, eye, log, logcombine

from pellucid.core.types import Data
from pellucid.discriminant_analysis.discriminant_workings import ClassRows, read_class_rows, with_decimal
from pellucid.show.decisions import read_new
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step
from pellucid.show.eigenpairs import eliminate
from pellucid.show.exact_data import ExactData, exact_parameter, require
from pellucid.show.notation import Math, Script, combination, factor, fenced, math, matrix, over

if TYPE_CHECKING:
    from pellucid.discriminant_analysis.quadratic_discriminant_analysis import QuadraticDiscriminantAnalysis

DIGITS = 20
"""Digits of the variances along the axes, which are no fractions."""


def quadratic_discriminant_workings(
    estimator: QuadraticDiscriminantAnalysis, X: Data, y: Data, new: Data = None
) -> Document:
    """Show how the quadratic discriminants are found, and for two classes the boundary between them."""
    require(estimator, "shrinkage", None)
    require(estimator, "covariance_estimator", None)
    rows = read_class_rows(estimator, X, y)
    share = exact_parameter(estimator, "reg_param") if estimator.solver == "svd" else Rational(0)
    spreads = [centered.T * centered / centered.rows for centered in rows.centered]
    covariances = [(1 - share) * spread + share * eye(spread.rows) for spread in spreads]
    _check_full_rank(rows, covariances)
    quadrics = [
        _quadric(covariance, mean, prior)
        for covariance, mean, prior in zip(covariances, rows.means, rows.priors, strict=True)
    ]
    steps = [
        rows.means_step(),
        _covariance_step(rows, spreads, covariances, share),
        *(_inverse_step(k, covariance, rows.classes[k]) for k, covariance in enumerate(covariances)),
        _discriminant_step(rows, quadrics),
        *([_boundary_step(rows, quadrics)] if len(quadrics) == 2 else []),
        rows.decision_step([[_value(q, rows.data.X.row(i).T) for q in quadrics] for i in range(rows.data.n_samples)]),
    ]
    answer: dict[str, Any] = {
        "means_": [list(mean) for mean in rows.means],
        "priors_": rows.priors,
        "covariance_": [covariance.tolist() for covariance in covariances],
        "scalings_": [_variances_along_axes(covariance) for covariance in covariances],
    }
    if new is not None:
        asked = read_new(new, rows.data.n_features)
        decided, answer["predicted"] = rows.new_steps(
            asked, [[_value(q, Matrix(row)) for q in quadrics] for row in asked]
        )
        steps += decided
    words = "Every class has a normal density with a mean and a covariance of its own. Which class is likelier?"
    return Document("Quadratic discriminant analysis", rows.opening(words), tuple(steps), answer)


def _check_full_rank(rows: ClassRows, covariances: list[Matrix]) -> None:
    for label, covariance in zip(rows.classes, covariances, strict=True):
        if covariance.det() == 0:
            raise ValueError(
                f"X must vary within class {label} in every direction to show the work, got a singular covariance. "
                "Add rows of it, leave out a feature, or set reg_param."
            )


def _quadric(covariance: Matrix, mean: Matrix, prior: Rational) -> tuple[Matrix, Matrix, Expr]:
    """Return A, b and c of the discriminant x'Ax + b'x + c."""
    inverse = covariance.inv()
    constant = -(mean.T * inverse * mean)[0] / 2 - log(covariance.det()) / 2 + log(prior)
    return -inverse / 2, inverse * mean, constant


def _value(quadric: tuple[Matrix, Matrix, Expr], x: Matrix) -> Expr:
    A, b, c = quadric
    return (x.T * A * x)[0] + (b.T * x)[0] + c


def _variances_along_axes(covariance: Matrix) -> list[Expr]:
    """Return the eigenvalues, the largest first."""
    roots = Poly(covariance.charpoly().as_expr()).nroots(n=DIGITS)
    return sorted((root.as_real_imag()[0] for root in roots), reverse=True)


def _covariance_step(rows: ClassRows, spreads: list[Matrix], covariances: list[Matrix], share: Rational) -> Step:
    blocks: list[Block] = [sentence("Subtract from every row the mean of its own class, and multiply:")]
    for k, (centered, spread) in enumerate(zip(rows.centered, spreads, strict=True)):
        name = f"D_{k + 1}"
        mean = math(f"Σ_{k + 1} =", over(1, centered.rows), f"{name}^T {name} =", matrix(spread))
        blocks += [formula(f"{name} =", matrix(centered)), formula(mean)]
    if share:
        blocks.append(
            sentence("reg_param mixes the share ", math("r =", share), " of the identity into each covariance:")
        )
        blocks += [
            formula(fenced("1 − r"), f"Σ_{k + 1} + r I =", matrix(covariance))
            for k, covariance in enumerate(covariances)
        ]
    return step("A covariance for each class", *blocks)


def _inverse_step(k: int, covariance: Matrix, label: Any) -> Step:
    inverse, determinant = covariance.inv(), covariance.det()
    size = fenced(f"Σ_{k + 1}", "||")
    if covariance.rows == 1:
        blocks: tuple[Block, ...] = (sentence("With one feature the covariance is a number, and so is its inverse:"),)
    elif covariance.rows == 2:
        (a, b), (_, d) = covariance.tolist()
        blocks = (
            sentence("Of a matrix with two rows, swap the diagonal, turn the other signs, divide by the determinant:"),
            formula(size, "=", factor(a), "·", factor(d), "−", factor(b), "·", factor(b), "=", determinant),
        )
    else:
        blocks = eliminate(covariance, eye(covariance.rows)).blocks
    return step(
        f"Invert the covariance of {label}",
        *blocks,
        *([] if covariance.rows == 2 else [formula(size, "=", determinant)]),
        formula(f"Σ_{k + 1}^−1 =", matrix(inverse)),
    )


def _discriminant_step(rows: ClassRows, quadrics: list[tuple[Matrix, Matrix, Expr]]) -> Step:
    half, centered = over(1, 2), fenced("x − μ_k")
    lines = [formula(f"δ_{k + 1} =", _polynomial(rows.data, quadric)) for k, quadric in enumerate(quadrics)]
    return step(
        "The discriminants",
        sentence("The log of density times prior, without the part that all classes share:"),
        formula(
            "δ_k = −", half, Script(centered, above=math("T")), "Σ_k^−1", centered,
            "−", half, "log", fenced("Σ_k", "||"), "+ log", fenced("π_k"),
        ),
        sentence("Multiplied out, with the numbers of each class:"),
        *lines,
    )  # fmt: skip


def _boundary_step(rows: ClassRows, quadrics: list[tuple[Matrix, Matrix, Expr]]) -> Step:
    (A1, b1, c1), (A2, b2, c2) = quadrics
    A, b = A2 - A1, b2 - b1
    difference = (A, b, logcombine(c2 - c1, force=True))
    shape = "a line or plane, as the covariances are equal" if A.is_zero_matrix else "a curve of degree two"
    return step(
        "The boundary",
        sentence(
            f"The two discriminants are equal on {shape}; where the difference is positive, it is {rows.classes[1]}."
        ),
        result("δ_2 − δ_1 =", _polynomial(rows.data, difference), "= 0"),
    )


def _polynomial(data: ExactData, quadric: tuple[Matrix, Matrix, Expr]) -> Math:
    """Return the quadric with its squares, products, linear terms and constant, zeros left out."""
    A, b, c = quadric
    p, name = data.n_features, [data.symbol("x", j) for j in range(data.n_features)]
    pairs: list[tuple[Any, Any]] = [
        (A[j, j], Script(data.symbol("x", j), above=math(2)) if p == 1 else f"x_{j + 1}^2") for j in range(p)
    ]
    pairs += [(2 * A[j, i], math(name[j], name[i])) for j in range(p) for i in range(j + 1, p)]
    pairs += [(b[j], name[j]) for j in range(p)]
    return math(combination(pairs), "+", fenced(with_decimal(c)))
