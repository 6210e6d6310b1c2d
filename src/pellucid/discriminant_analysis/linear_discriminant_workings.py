"""Linear discriminant analysis by hand: means, the shared covariance, and the boundary as explicit coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Expr, Matrix, Rational, log, logcombine, zeros

from pellucid.core.types import Data
from pellucid.discriminant_analysis.discriminant_workings import ClassRows, read_class_rows, with_decimal
from pellucid.show.decisions import read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step
from pellucid.show.eigenpairs import eliminate
from pellucid.show.exact_data import ExactData, Label, require
from pellucid.show.notation import Math, column, combination, fenced, math, matrix, over

if TYPE_CHECKING:
    from pellucid.discriminant_analysis.linear_discriminant_analysis import LinearDiscriminantAnalysis


def linear_discriminant_workings(estimator: LinearDiscriminantAnalysis, X: Data, y: Data, new: Data = None) -> Document:
    """Show how the linear discriminants are found, and for two classes the boundary between them."""
    require(estimator, "shrinkage", None)
    require(estimator, "covariance_estimator", None)
    rows = read_class_rows(estimator, X, y)
    data, classes, means, priors = rows.data, rows.classes, rows.means, rows.priors
    p = data.n_features
    within = sum((centered.T * centered for centered in rows.centered), zeros(p, p)) / data.n_samples
    system = eliminate(within, Matrix.hstack(*means))
    if system.is_singular:
        raise ValueError(
            "X must vary within classes in every direction to show the work, got a singular covariance. "
            "Leave out a feature that depends on the others."
        )
    weights = [system.solution.col(k) for k in range(len(classes))]
    offsets = [-(mean.T * w)[0] / 2 + log(prior) for mean, w, prior in zip(means, weights, priors, strict=True)]
    steps = [
        rows.means_step(),
        _covariance_step(rows, within),
        step("Solve for the weights", *_solving(classes), *system.blocks),
        _discriminant_step(data, weights, offsets),
    ]
    answer: dict[str, Any] = {"means_": [list(mean) for mean in means], "priors_": priors}
    if len(classes) == 2:
        steps.append(_boundary_step(data, classes, means, weights, priors))
        difference = weights[1] - weights[0]
        answer |= {"coef_": [list(difference)], "intercept_": [logcombine(offsets[1] - offsets[0], force=True)]}
    pairs = list(zip(weights, offsets, strict=True))
    steps.append(rows.decision_step([[(data.X.row(i) * w)[0] + c for w, c in pairs] for i in range(data.n_samples)]))
    if new is not None:
        asked = read_new(new, data.n_features)
        decided, answer["predicted"] = rows.new_steps(
            asked, [[(Matrix([row]) * w)[0] + c for w, c in pairs] for row in asked]
        )
        steps += decided
    words = "Every class has a normal density with its own mean; all share one covariance. Which class is likelier?"
    return Document("Linear discriminant analysis", rows.opening(words), tuple(steps), answer)


def _covariance_step(rows: ClassRows, within: Matrix) -> Step:
    parts: list[Block] = [
        formula(f"D_{k + 1} =", matrix(centered), f", D_{k + 1}^T D_{k + 1} =", matrix(centered.T * centered))
        for k, centered in enumerate(rows.centered)
    ]
    return step(
        "The shared covariance",
        sentence("Subtract from every row the mean of its own class:"),
        *parts,
        sentence("Add the products up and divide by the number of all rows:"),
        formula("Σ =", over(1, rows.data.n_samples), fenced(math("∑ D_k^T D_k")), "=", matrix(within)),
    )


def _solving(classes: list[Label]) -> list[Block]:
    return [
        sentence(
            "The log of density times prior is quadratic in x, but the quadratic term is the same for all classes. "
            "What is left is linear, with the weights"
        ),
        formula("w_k = Σ^−1 μ_k", ", that is ,", "Σ w_k = μ_k"),
        sentence(f"One system with {len(classes)} right-hand sides, a column per class:"),
    ]


def _discriminant_step(data: ExactData, weights: list[Matrix], offsets: list[Expr]) -> Step:
    lines = [
        formula(f"δ_{k + 1} =", _linear(data, w), "+", fenced(with_decimal(offset)))
        for k, (w, offset) in enumerate(zip(weights, offsets, strict=True))
    ]
    return step(
        "The discriminants",
        sentence("The constant collects the half square of the mean and the log of the prior:"),
        formula("δ_k = w_k^T x −", over(1, 2), "μ_k^T w_k + log", fenced("π_k")),
        *lines,
    )


def _boundary_step(
    data: ExactData, classes: list[Label], means: list[Matrix], weights: list[Matrix], priors: list[Rational]
) -> Step:
    w = weights[1] - weights[0]
    middle = (means[0] + means[1]) / 2
    plain = -(middle.T * w)[0]
    offset = plain + log(priors[1] / priors[0])
    return step(
        "The boundary",
        sentence(
            f"The two discriminants are equal on a line or plane; where the difference is positive, it is {classes[1]}."
        ),
        formula("w = Σ^−1", fenced("μ_2 − μ_1"), "=", column(w)),
        formula(
            "w_0 = −",
            over(1, 2),
            fenced("μ_1 + μ_2"),
            "· w + log",
            over("π_2", "π_1"),
            "=",
            plain,
            "+ log",
            fenced(priors[1] / priors[0]),
        ),
        result(_linear(data, w), "+", fenced(with_decimal(offset)), "= 0"),
        remark("Some notes leave out the log of the priors. It is 0 only if both classes are equally likely."),
    )


def _linear(data: ExactData, w: Matrix) -> Math:
    return combination([(w[j], data.symbol("x", j)) for j in range(data.n_features)])
