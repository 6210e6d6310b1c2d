"""Linear discriminant analysis by hand: means, the shared covariance, and the boundary as explicit coefficients."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Matrix, Rational, log, logcombine, zeros

from pellucid.core.types import Data
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.elimination import eliminate
from pellucid.workings.exact_data import ExactData, exact_features, exact_number
from pellucid.workings.exact_labels import read_labels, sorted_classes
from pellucid.workings.notation import Math, column, combination, fenced, math, matrix, over, typed
from pellucid.workings.parameters import require


def linear_discriminant_workings(estimator: Any, X: Data, y: Data) -> Document:
    """Show how the linear discriminants are found, and for two classes the boundary between them."""
    require(estimator, "shrinkage", None)
    require(estimator, "covariance_estimator", None)
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    data = ExactData(features, zeros(features.rows, 1), names, rounded)
    groups = [
        features.extract([i for i, label in enumerate(labels) if label == k], list(range(features.cols)))
        for k in classes
    ]
    priors = _priors(estimator, [group.rows for group in groups])
    means = [_mean(group) for group in groups]
    within = sum((_scatter(group) for group in groups), zeros(features.cols, features.cols)) / features.rows
    system = eliminate(within, Matrix.hstack(*means))
    if system.is_singular:
        raise ValueError(
            "X must vary within classes in every direction to show the work, got a singular covariance. "
            "Leave out a feature that depends on the others."
        )
    weights = [system.solution.col(k) for k in range(len(classes))]
    offsets = [-(mean.T * w)[0] / 2 + log(prior) for mean, w, prior in zip(means, weights, priors, strict=True)]
    steps = [
        _means_step(classes, groups, means, priors),
        _covariance_step(groups, means, within),
        step("Solve for the weights", *_solving(classes), *system.blocks),
        _discriminant_step(data, weights, offsets),
    ]
    answer: dict[str, Any] = {"means_": [list(mean) for mean in means], "priors_": priors}
    if len(classes) == 2:
        steps.append(_boundary_step(data, classes, means, weights, priors))
        difference = weights[1] - weights[0]
        answer |= {"coef_": [list(difference)], "intercept_": [logcombine(offsets[1] - offsets[0], force=True)]}
    steps.append(_decision_step(features, labels, classes, weights, offsets))
    return Document("Linear discriminant analysis", _opening(data, labels), tuple(steps), answer)


def _priors(estimator: Any, counts: list[int]) -> list[Rational]:
    if estimator.priors is None:
        return [Rational(count, sum(counts)) for count in counts]
    given = [exact_number(value, "priors")[0] for value in estimator.priors]
    if len(given) != len(counts) or sum(given) != 1:
        raise ValueError(f"priors must be {len(counts)} numbers that add up to 1, got {list(estimator.priors)}.")
    return given


def _mean(group: Matrix) -> Matrix:
    return Matrix([sum(group.col(j), Rational(0)) / group.rows for j in range(group.cols)])


def _scatter(group: Matrix) -> Matrix:
    centered = group - Matrix([list(_mean(group))] * group.rows)
    return centered.T * centered


def _opening(data: ExactData, labels: list[Any]) -> tuple[Block, ...]:
    p = data.n_features
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(labels[i])] for i in range(data.n_samples)]
    return (
        sentence(
            "Every class has a normal density with its own mean; all share one covariance. Which class is likelier?"
        ),
        table([math("i"), *(data.symbol("x", j) for j in range(p)), "class"], rows, caption="The data"),
        *data.notes(),
    )


def _means_step(classes: list[Any], groups: list[Matrix], means: list[Matrix], priors: list[Rational]) -> Step:
    rows = [
        [str(k), math(group.rows), prior, matrix([list(mean)])]
        for k, group, mean, prior in zip(classes, groups, means, priors, strict=True)
    ]
    return step(
        "Means and priors of the classes",
        sentence("Average the rows of each class. The prior of a class is its share, unless it is given."),
        table(["class", "rows", math("π_k"), math("μ_k")], rows),
    )


def _covariance_step(groups: list[Matrix], means: list[Matrix], within: Matrix) -> Step:
    n = sum(group.rows for group in groups)
    parts: list[Block] = []
    for k, (group, mean) in enumerate(zip(groups, means, strict=True)):
        centered = group - Matrix([list(mean)] * group.rows)
        parts.append(
            formula(f"D_{k + 1} =", matrix(centered), f", D_{k + 1}^T D_{k + 1} =", matrix(centered.T * centered))
        )
    return step(
        "The shared covariance",
        sentence("Subtract from every row the mean of its own class:"),
        *parts,
        sentence("Add the products up and divide by the number of all rows:"),
        formula("Σ =", over(1, n), fenced(math("∑ D_k^T D_k")), "=", matrix(within)),
    )


def _solving(classes: list[Any]) -> list[Block]:
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
        formula(f"δ_{k + 1} =", _linear(data, w), "+", fenced(_constant(offset)))
        for k, (w, offset) in enumerate(zip(weights, offsets, strict=True))
    ]
    return step(
        "The discriminants",
        sentence("The constant collects the half square of the mean and the log of the prior:"),
        formula("δ_k = w_k^T x −", over(1, 2), "μ_k^T w_k + log", fenced("π_k")),
        *lines,
    )


def _boundary_step(
    data: ExactData, classes: list[Any], means: list[Matrix], weights: list[Matrix], priors: list[Rational]
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
        result(_linear(data, w), "+", fenced(_constant(offset)), "= 0"),
        remark("Some notes leave out the log of the priors. It is 0 only if both classes are equally likely."),
    )


def _linear(data: ExactData, w: Matrix) -> Math:
    return combination([(w[j], data.symbol("x", j)) for j in range(data.n_features)])


def _constant(offset: Expr) -> Math:
    exact = math(offset)
    return exact if offset.is_Rational else math(exact, "≈", f"{float(offset):.4f}".replace("-", "− "))


def _decision_step(
    X: Matrix, labels: list[Any], classes: list[Any], weights: list[Matrix], offsets: list[Expr]
) -> Step:
    rows = []
    wrong = 0
    for i, label in enumerate(labels):
        scores = [float((X.row(i) * w)[0] + offset) for w, offset in zip(weights, offsets, strict=True)]
        decided = classes[max(range(len(classes)), key=lambda k: (scores[k], -k))]
        wrong += decided != label
        rows.append([math(i + 1), str(label), *(f"{score:.4f}" for score in scores), str(decided)])
    head = [math("i"), "class", *(math(f"δ_{k + 1}") for k in range(len(classes))), "decision"]
    return step(
        "Decide",
        sentence("The largest discriminant decides; as decimals:"),
        table(head, rows),
        sentence(f"{len(labels) - wrong} of {len(labels)} rows are on the right side."),
    )
