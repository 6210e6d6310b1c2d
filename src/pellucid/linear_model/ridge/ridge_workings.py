"""Ridge regression by hand: the normal equations with alpha on the diagonal, and what it does to least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, eye, roots, simplify, symbols

from pellucid.core.types import Data
from pellucid.linear_model.least_squares.line_workings import (
    Centered,
    bar,
    center,
    dot,
    intercept_step,
    mean,
    mean_formulas,
    products_step,
    quality_step,
    residuals,
    solve_step,
    squares,
    stationarity,
    subtract_means,
)
from pellucid.linear_model.least_squares.linear_regression_workings import answer, fitted_line_figure, opening
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import (
    ExactData,
    Label,
    class_column,
    exact_data,
    exact_features,
    exact_parameter,
    read_labels,
    require,
    sorted_classes,
)
from pellucid.show.notation import Math, Mathlike, Words, combination, fenced, math, matrix, over, total

if TYPE_CHECKING:
    from pellucid.linear_model.ridge.ridge import Ridge
    from pellucid.linear_model.ridge.ridge_classifier import RidgeClassifier


def ridge_workings(estimator: Ridge | RidgeClassifier, X: Data, y: Data) -> Document:
    """Show how the ridge coefficients are found and how they compare with least squares."""
    require(estimator, "positive", False)
    data, alpha = exact_data(X, y), exact_parameter(estimator, "alpha")
    fit_intercept = bool(estimator.fit_intercept)
    centered = center(data, fit_intercept=fit_intercept)
    w, solving = (_one_feature if data.n_features == 1 else _several_features)(centered, alpha)
    b = centered.intercept(w)
    check = stationarity(centered.X, residuals(data, w, b), alpha, w)
    steps = [*centered.steps, *solving, intercept_step(data, centered, w), quality_step(data, w, b, check=check)]
    if data.n_features == 1:
        steps.append(step("Draw it", fitted_line_figure(data, w, b)))
    return Document("Ridge regression", _opening(data, fit_intercept, alpha), tuple(steps), answer(w, b))


def _opening(data: ExactData, fit_intercept: bool, alpha: Rational) -> tuple[Block, ...]:
    squared = [math("w^2")] if data.n_features == 1 else [math(f"w_{j + 1}^2") for j in range(data.n_features)]
    penalty = squared[0] if len(squared) == 1 else fenced(total(squared))
    return opening(data, fit_intercept, "+ α", penalty, where=[sentence("with ", math("α =", alpha), ".")])


def _one_feature(centered: Centered, alpha: Rational) -> tuple[Matrix, list[Step]]:
    x, y = centered.X, centered.y
    sxx, sxy = squares(x), (x.T * y)[0]
    w = sxy / (sxx + alpha) if sxx + alpha else Rational(0)
    blocks: list[Block] = [
        formula("S_xx =", dot(x, x)),
        formula("S_xy =", dot(x, y)),
        sentence("The penalty adds ", math("α"), " to the denominator of the slope, and nothing else:"),
        formula("w =", over("S_xy", "S_xx + α"), "=", over(sxy, math(sxx, "+", alpha)), "=", w),
    ]
    if sxx:
        shrink = sxx / (sxx + alpha)
        blocks += [
            sentence("Least squares alone gives ", math(over("S_xy", "S_xx"), "=", sxy / sxx), ". Ridge shrinks it by"),
            formula(over("S_xx", "S_xx + α"), "=", shrink),
            sentence(
                "a factor between 0 and 1 that tends to 0 as the penalty grows: the slope shrinks but never vanishes."
            ),
        ]
    return Matrix([w]), [step("Shrink the slope", *blocks)]


def _several_features(centered: Centered, alpha: Rational) -> tuple[Matrix, list[Step]]:
    system, solving = solve_step(centered.X, centered.y, alpha)
    steps = [products_step(centered.X, centered.y), solving]
    shrinkage = _shrinkage(centered, alpha, system.solution)
    return system.solution, [*steps, *([step("Compare with least squares", *shrinkage)] if shrinkage else [])]


def _shrinkage(centered: Centered, alpha: Rational, w: Matrix) -> list[Block]:
    gram = centered.X.T * centered.X
    if alpha == 0 or gram.det() == 0:
        return []
    plain = gram.LUsolve(centered.X.T * centered.y)
    rows = [[math(f"w_{j + 1}"), plain[j], w[j], w[j] / plain[j] if plain[j] else "—"] for j in range(len(w))]
    blocks: list[Block] = [
        table(["coefficient", "least squares", "ridge", "ratio"], rows),
        sentence(
            "A single coefficient may even grow; what must shrink is the length of w: ",
            math(squares(w), "<" if squares(w) < squares(plain) else "=", squares(plain)),
            ", the sums of squares of ridge and of least squares.",
        ),
    ]
    return blocks + _directions(gram, alpha)


def _directions(gram: Matrix, alpha: Rational) -> list[Block]:
    """Return the shrinkage along the principal directions, if the squared singular values can be written down."""
    unknown = symbols("t")
    squared = roots((gram - unknown * eye(gram.rows)).det(), unknown)
    readable = sum(squared.values()) == gram.rows and (gram.rows == 2 or all(value.is_Rational for value in squared))
    if not readable:
        return []
    ordered = sorted(squared, key=lambda value: -float(value))
    rows = [[value, simplify(value / (value + alpha)), f"{float(value / (value + alpha)):.4f}"] for value in ordered]
    return [
        sentence(
            "Along the principal directions of X the shrinkage is exact. With the squared singular values ",
            math("s^2"),
            " (the eigenvalues of ",
            math("X^T X"),
            ") the component of w in each direction is multiplied by ",
            over("s^2", "s^2 + α"),
            ": weak directions shrink most.",
        ),
        table([math("s^2"), over("s^2", "s^2 + α"), "as a decimal"], rows),
    ]


def ridge_classifier_workings(estimator: Ridge | RidgeClassifier, X: Data, y: Data) -> Document:
    """Show how regression on coded targets classifies, and its confusion matrix."""
    require(estimator, "positive", False)
    require(estimator, "class_weight", None)
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    alpha, fit_intercept = exact_parameter(estimator, "alpha"), bool(estimator.fit_intercept)
    Y = _coded(labels, classes)
    data = ExactData(features, Y.col(0), names, rounded)
    XC, YC = (subtract_means(features), subtract_means(Y)) if fit_intercept else (features, Y)
    system, solving = solve_step(XC, YC, alpha, target="Y")
    W = system.solution
    intercepts = [_intercept(features, Y.col(k), W.col(k), fit_intercept) for k in range(Y.cols)]
    scores = features * W + Matrix([intercepts] * features.rows)
    predicted = [_winner(scores.row(i), classes) for i in range(features.rows)]
    steps = (
        _coding_step(Y, classes),
        *([_centering_step(data, Y, XC, YC)] if fit_intercept else []),
        products_step(XC, YC, target="Y"),
        solving,
        _score_step(data, W, intercepts, classes),
        _decision_step(labels, scores, predicted, classes),
        _confusion_step(labels, predicted, classes),
    )
    found = {"coef_": W.T.tolist(), "intercept_": intercepts if fit_intercept else Rational(0), "predicted": predicted}
    return Document("Classification by ridge regression", _classifier_opening(data, labels, alpha), steps, found)


def _coded(labels: list[Label], classes: list[Label]) -> Matrix:
    positive = classes[1:] if len(classes) == 2 else classes
    return Matrix([[Rational(1 if label == k else -1) for k in positive] for label in labels])


def _intercept(X: Matrix, target: Matrix, w: Matrix, fit_intercept: bool) -> Rational:
    if not fit_intercept:
        return Rational(0)
    return mean(target) - sum((w[j] * mean(X.col(j)) for j in range(X.cols)), Rational(0))


def _winner(scores: Matrix, classes: list[Label]) -> Any:
    if len(classes) == 2:
        return classes[1] if scores[0] > 0 else classes[0]
    return classes[max(range(len(classes)), key=lambda k: (scores[k], -k))]


def _classifier_opening(data: ExactData, labels: list[Label], alpha: Rational) -> tuple[Block, ...]:
    return (
        sentence(
            "Turn the classes into numbers, fit them by ridge regression with ",
            math("α =", alpha),
            ", and let the largest fitted score decide.",
        ),
        *data.opening(class_column(labels)),
    )


def _coding_step(Y: Matrix, classes: list[Label]) -> Step:
    if len(classes) == 2:
        rule = sentence(f"There are two classes, so one column is enough: +1 for {classes[1]}, −1 for {classes[0]}.")
        return step("Code the classes", rule, formula("Y^T =", matrix(Y.T)))
    return step(
        "Code the classes",
        sentence(
            "One column per class: +1 in the rows of that class, −1 in all others. In the order of the classes ("
            + ", ".join(map(str, classes))
            + "):"
        ),
        formula("Y^T =", matrix(Y.T)),
        remark(
            "Many books write 1 and 0 instead of +1 and −1. With an intercept that halves the coefficients and moves "
            "the scores, for all classes alike, so the largest score belongs to the same class."
        ),
    )


def _centering_step(data: ExactData, Y: Matrix, XC: Matrix, YC: Matrix) -> Step:
    means = [
        line
        for j in range(data.n_features)
        for line in mean_formulas(bar("x", data, j), data.symbol("x", j), data.X.col(j))
    ]
    y_means: list[Mathlike] = ["Ȳ =", matrix([[mean(Y.col(k)) for k in range(Y.cols)]])]
    return step(
        "Subtract the means",
        sentence("The intercepts are not penalized. Subtracting the mean of every column removes them:"),
        *means,
        formula(*y_means),
        formula("X =", matrix(XC), ", Y =", matrix(YC)),
    )


def _score_step(data: ExactData, W: Matrix, intercepts: list[Rational], classes: list[Label]) -> Step:
    names = classes[1:] if len(classes) == 2 else classes
    lines = [
        formula(
            _score(name, classes),
            "=",
            combination([(intercepts[k], ""), *((W[j, k], data.name(j)) for j in range(data.n_features))]),
        )
        for k, name in enumerate(names)
    ]
    return step("Write down the scores", sentence("With the intercepts put back, the fitted functions are"), *lines)


def _score(name: Any, classes: list[Label]) -> Math:
    return math("f") if len(classes) == 2 else math(Words(f"score of {name}"))


def _decision_step(labels: list[Label], scores: Matrix, predicted: list[Any], classes: list[Label]) -> Step:
    two = len(classes) == 2
    head = [math("i"), "class", *([math("f")] if two else map(str, classes)), "decision", ""]
    rows = [
        [math(i + 1), str(label), *scores.row(i), str(predicted[i]), "" if label == predicted[i] else "wrong"]
        for i, label in enumerate(labels)
    ]
    rule = (
        f"A positive score means {classes[1]}, any other {classes[0]}."
        if two
        else "The largest score in a row decides."
    )
    return step("Decide", sentence(rule), table(head, rows))


def _confusion_step(labels: list[Label], predicted: list[Any], classes: list[Label]) -> Step:
    pairs = list(zip(labels, predicted, strict=True))
    rows = [[str(true), *(math(pairs.count((true, given))) for given in classes)] for true in classes]
    right = sum(label == given for label, given in pairs)
    return step(
        "Count the confusions",
        table(["true class, decided as:", *map(str, classes)], rows),
        sentence(
            f"{right} of {len(pairs)} rows are on the diagonal: the accuracy on these data is ",
            math(Rational(right, len(pairs))),
            ".",
        ),
    )
