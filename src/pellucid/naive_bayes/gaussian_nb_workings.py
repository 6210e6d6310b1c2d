"""Gaussian naive Bayes on a handful of points, by hand: means, variances, and the largest log score."""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.naive_bayes.prior_workings import (
    decimal,
    exact_labels,
    exact_prior,
    prior_pseudo,
    prior_step,
    probability_of,
    rows_of_classes,
    winner,
)
from pellucid.show.document import Block, Document, Sentence, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import MAX_CELLS, ExactData, Label, class_column, exact_features, exact_parameter
from pellucid.show.notation import Math, Script, Words, fenced, math, over, total, typed

if TYPE_CHECKING:
    from pellucid.naive_bayes.gaussian_nb import GaussianNB


def gaussian_nb_workings(estimator: GaussianNB, X: Data, y: Data, new: Data = None) -> Document:
    """Show how normal densities classify points; ``new`` holds rows to decide about, by default all of ``X``."""
    features, names, rounded = exact_features(X, max_cells=MAX_CELLS)
    labels, classes = exact_labels(y, features.rows)
    data = ExactData(features, Matrix([classes.index(label) for label in labels]), names, rounded)
    groups = rows_of_classes(labels, classes)
    pseudo = prior_pseudo(estimator)
    prior = exact_prior([len(rows) for rows in groups], estimator.priors, pseudo=pseudo)
    smoothing = exact_parameter(estimator, "var_smoothing")
    columns = range(features.cols)
    epsilon = smoothing * max(variance_of(features.col(j)) for j in columns)
    means = [[mean_of(_part(features, rows, j)) for j in columns] for rows in groups]
    spreads = [[variance_of(_part(features, rows, j)) for j in columns] for rows in groups]
    variances = [[v + epsilon for v in row] for row in spreads]
    if any(v == 0 for row in variances for v in row):
        raise ValueError(
            "X must vary within every class to be worked by hand with var_smoothing=0, got a variance of 0."
        )
    asked = features if new is None else exact_features(new)[0]
    decision, predicted = _decision_step(data, asked, classes, prior, means, variances)
    steps = (
        prior_step(classes, [len(rows) for rows in groups], prior, is_share=estimator.priors is None, pseudo=pseudo),
        _mean_step(data, groups, classes),
        _variance_step(data, groups, classes, smoothing),
        _density_step(),
        decision,
    )
    found = {"class_prior_": prior, "theta_": means, "var_": variances, "predicted": predicted}
    return Document("Gaussian naive Bayes", _opening(data, labels), steps, found)


def _part(X: Matrix, rows: list[int], j: int) -> list[Rational]:
    return [X[i, j] for i in rows]


def mean_of(values: Any) -> Rational:
    """Return the average."""
    values = list(values)
    return Rational(sum(values, Rational(0))) / len(values)


def variance_of(values: Any) -> Rational:
    """Return the mean squared distance from the average."""
    values, middle = list(values), mean_of(values)
    return mean_of([(v - middle) ** 2 for v in values])


def mean_line(symbol: Math, values: Any) -> Block:
    """Return how an average is worked."""
    return formula(symbol, "=", over(total([typed(v) for v in values]), len(values)), "=", mean_of(values))


def variance_line(symbol: Math, values: Any) -> Block:
    """Return how a variance is worked."""
    squares = [Script(fenced(v - mean_of(values)), above=math(2)) for v in values]
    return formula(symbol, "=", over(total(squares), len(values)), "=", variance_of(values))


def smoothing_remark(smoothing: Rational) -> Sentence:
    """Return the sentence on what the program adds to all variances."""
    return remark(
        "The program adds ",
        math(smoothing),
        " times the largest variance of a feature to each of them, so that no variance is 0. The decisions below "
        "use the variances with that, which changes no digit shown unless a variance is tiny.",
    )


def _opening(data: ExactData, labels: list[Label]) -> tuple[Block, ...]:
    return (
        sentence(
            "Which class does a point belong to? Naive Bayes takes the features of a class to be independent, here "
            "with a normal density each."
        ),
        *data.opening(class_column(labels)),
    )


def _indexed(letter: str, data: ExactData, j: int, label: Any) -> Math:
    """Return the mean or variance of a feature in a class, such as ``μ_1 (a)`` or ``σ_1^2 (a)``."""
    base, _, power = letter.partition("^")
    index = f"_{j + 1}" if data.n_features > 1 else ""
    return math(f"{base}{index}{'^' + power if power else ''}", fenced(Words(str(label))))


def _mean_step(data: ExactData, groups: list[list[int]], classes: list[Label]) -> Step:
    lines = [
        mean_line(_indexed("μ", data, j, c), _part(data.X, rows, j))
        for c, rows in zip(classes, groups, strict=True)
        for j in range(data.n_features)
    ]
    return step("Mean of each class", sentence("Average every feature over the rows of a class:"), *lines)


def _variance_step(data: ExactData, groups: list[list[int]], classes: list[Label], smoothing: Rational) -> Step:
    lines = [
        variance_line(_indexed("σ^2", data, j, c), _part(data.X, rows, j))
        for c, rows in zip(classes, groups, strict=True)
        for j in range(data.n_features)
    ]
    return step(
        "Variance of each class",
        sentence("The mean squared distance from the mean; divided by the number of rows, not one less:"),
        *lines,
        *([smoothing_remark(smoothing)] if smoothing else []),
    )


def _density_step() -> Step:
    width = math(over(1, 2), "log", fenced("2 π σ_j^2"))
    distance = over(Script(fenced("x_j − μ_j"), above=math(2)), math("2 σ_j^2"))
    return step(
        "Score of a class",
        sentence("Prior times normal densities, in logarithms so that products become sums:"),
        formula("score = log", probability_of("class"), "−", "∑_j", fenced(math(width, "+", distance))),
    )


def _decision_step(
    data: ExactData, asked: Matrix, classes: list[Label], prior: Any, means: Any, variances: Any
) -> tuple[Step, list[Any]]:
    rows, predicted = [], []
    for i in range(asked.rows):
        scores = [_score(asked.row(i), p, m, v) for p, m, v in zip(prior, means, variances, strict=True)]
        predicted.append(winner(scores, classes))
        rows.append([*map(typed, asked.row(i)), *(decimal(s) for s in scores), str(predicted[-1])])
    head = [*(data.symbol("x", j) for j in range(data.n_features)), *(f"score of {c}" for c in classes), "decision"]
    return (
        step("Decide", sentence("The class of the largest score wins; of tied ones, the first:"), table(head, rows)),
        predicted,
    )


def _score(x: Any, prior: Rational, mean: Any, variance: Any) -> float:
    if prior == 0:
        return -float("inf")
    exact = sum(((a - m) ** 2 / (2 * v) for a, m, v in zip(x, mean, variance, strict=True)), Rational(0))
    return log(prior) - float(exact) - sum(0.5 * log(2 * pi * float(v)) for v in variance)
