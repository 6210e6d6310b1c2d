"""Gaussian naive Bayes on a handful of points, by hand: means, variances, and the largest log score."""

from __future__ import annotations

from math import log, pi
from typing import Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.naive_bayes.prior_workings import decimal, exact_labels, exact_prior, prior_step, probability_of, winner
from pellucid.workings.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.workings.exact_data import ExactData, exact_features
from pellucid.workings.notation import Math, Script, Words, fenced, math, over, total, typed
from pellucid.workings.parameters import exact_parameter


def gaussian_nb_workings(estimator: Any, X: Data, y: Data, new: Data = None) -> Document:
    """Show how normal densities classify points; ``new`` holds rows to decide about, by default all of ``X``."""
    features, names, rounded = exact_features(X)
    labels, classes = exact_labels(y, features.rows)
    data = ExactData(features, Matrix([classes.index(label) for label in labels]), names, rounded)
    groups = [[i for i, label in enumerate(labels) if label == c] for c in classes]
    prior = exact_prior([len(rows) for rows in groups], estimator.priors)
    smoothing = exact_parameter(estimator, "var_smoothing")
    columns = range(features.cols)
    epsilon = smoothing * max(_variance(features.col(j)) for j in columns)
    means = [[_mean(_part(features, rows, j)) for j in columns] for rows in groups]
    spreads = [[_variance(_part(features, rows, j)) for j in columns] for rows in groups]
    variances = [[v + epsilon for v in row] for row in spreads]
    if any(v == 0 for row in variances for v in row):
        raise ValueError(
            "X must vary within every class to be worked by hand with var_smoothing=0, got a variance of 0."
        )
    asked = features if new is None else exact_features(new)[0]
    decision, predicted = _decision_step(data, asked, classes, prior, means, variances)
    steps = (
        prior_step(classes, [len(rows) for rows in groups], prior, is_share=estimator.priors is None),
        _mean_step(data, groups, classes, means),
        _variance_step(data, groups, classes, means, spreads, smoothing),
        _density_step(),
        decision,
    )
    found = {"class_prior_": prior, "theta_": means, "var_": variances, "predicted": predicted}
    return Document("Gaussian naive Bayes", _opening(data, labels), steps, found)


def _part(X: Matrix, rows: list[int], j: int) -> list[Rational]:
    return [X[i, j] for i in rows]


def _mean(values: Any) -> Rational:
    values = list(values)
    return Rational(sum(values, Rational(0))) / len(values)


def _variance(values: Any) -> Rational:
    values, middle = list(values), _mean(values)
    return _mean([(v - middle) ** 2 for v in values])


def _opening(data: ExactData, labels: list[Any]) -> tuple[Block, ...]:
    head = [math("i"), *(data.symbol("x", j) for j in range(data.n_features)), "class"]
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(labels[i])] for i in range(data.n_samples)]
    return (
        sentence(
            "Which class does a point belong to? Naive Bayes takes the features of a class to be independent, here "
            "with a normal density each."
        ),
        table(head, rows, caption="The data"),
        *data.notes(),
    )


def _indexed(letter: str, data: ExactData, j: int, label: Any) -> Math:
    """Return the mean or variance of a feature in a class, such as ``μ_1 (a)`` or ``σ_1^2 (a)``."""
    base, _, power = letter.partition("^")
    index = f"_{j + 1}" if data.n_features > 1 else ""
    return math(f"{base}{index}{'^' + power if power else ''}", fenced(Words(str(label))))


def _mean_step(data: ExactData, groups: list[list[int]], classes: list[Any], means: Any) -> Step:
    lines = [
        formula(
            _indexed("μ", data, j, c),
            "=",
            over(total([typed(data.X[i, j]) for i in rows]), len(rows)),
            "=",
            means[k][j],
        )
        for k, (c, rows) in enumerate(zip(classes, groups, strict=True))
        for j in range(data.n_features)
    ]
    return step("Mean of each class", sentence("Average every feature over the rows of a class:"), *lines)


def _variance_step(
    data: ExactData, groups: list[list[int]], classes: list[Any], means: Any, spreads: Any, smoothing: Rational
) -> Step:
    lines = []
    for k, (c, rows) in enumerate(zip(classes, groups, strict=True)):
        for j in range(data.n_features):
            squares = [Script(fenced(data.X[i, j] - means[k][j]), above=math(2)) for i in rows]
            lines.append(formula(_indexed("σ^2", data, j, c), "=", over(total(squares), len(rows)), "=", spreads[k][j]))
    remarks = [
        remark(
            "The program adds ",
            math(smoothing),
            " times the largest variance of a feature to each of them, so that no variance is 0. The decisions below "
            "use the variances with that, which changes no digit shown unless a variance is tiny.",
        )
    ]
    return step(
        "Variance of each class",
        sentence("The mean squared distance from the mean; divided by the number of rows, not one less:"),
        *lines,
        *(remarks if smoothing else []),
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
    data: ExactData, asked: Matrix, classes: list[Any], prior: Any, means: Any, variances: Any
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
