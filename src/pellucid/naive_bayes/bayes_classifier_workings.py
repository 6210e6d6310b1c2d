"""A Bayes decision with costs, by hand: prior times density, divided by the sum, and the least expected cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.naive_bayes.gaussian_nb_workings import (
    mean_line,
    mean_of,
    smoothing_remark,
    variance_line,
    variance_of,
)
from pellucid.naive_bayes.prior_workings import (
    decimal,
    exact_labels,
    exact_prior,
    prior_step,
    probability_of,
    rows_of_classes,
    typed_text,
    winner,
)
from pellucid.probability.gaussian import Gaussian
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.exact_data import exact_features, exact_number, exact_parameter
from pellucid.show.notation import Math, Script, Words, fenced, math, over, root

if TYPE_CHECKING:
    from pellucid.naive_bayes.bayes_classifier import BayesClassifier

MAX_DECISIONS = 4


def bayes_classifier_workings(estimator: BayesClassifier, X: Data, y: Data = None, new: Data = None) -> Document:
    """Show the decisions about the rows of ``X``, or of ``new``, for densities of one column that were given."""
    learned = isinstance(estimator.densities, str | type)
    densities, classes, fitted = _fitted(estimator, X, y) if learned else (*_given(estimator, y), [])
    labels = None if y is None else exact_labels(y, len(np.asarray(X)))[0]
    if estimator.priors is None and labels is None:
        raise ValueError("y must be given if priors are not, got None. The shares of the classes are the prior.")
    counts = [1] * len(classes) if labels is None else [labels.count(c) for c in classes]
    prior = exact_prior(counts, estimator.priors)
    costs = _exact_costs(estimator.costs, len(classes))
    rows = _numbers((np.asarray(X)[:MAX_DECISIONS] if learned else X) if new is None else new)
    decisions = [_decision(x, densities, classes, prior, costs) for x in rows]
    steps = (
        *fitted,
        prior_step(classes, counts, prior, is_share=estimator.priors is None),
        *([_threshold_step(classes, prior, costs)] if len(classes) == 2 else []),
        *(made for made, _ in decisions),
    )
    found = {"class_prior_": prior, "costs_": costs, "predicted": [label for _, label in decisions]}
    return Document("The Bayes decision", _opening(densities, classes, costs), steps, found)


def _fitted(estimator: BayesClassifier, X: Data, y: Data) -> tuple[list[Any], list[Any], list[Step]]:
    """Return normal densities with the mean and variance of the rows of each class, the classes, how they are found."""
    name = getattr(estimator.densities, "__name__", estimator.densities)
    if name not in ("gaussian", "Gaussian", "multivariate_gaussian", "MultivariateGaussian"):
        raise ValueError(f"densities must be given, or be 'gaussian' to be fitted by hand, got {name!r}.")
    features, _, _ = exact_features(X, max_features=1)
    labels, classes = exact_labels(y, features.rows)
    smoothing = exact_parameter(estimator, "var_smoothing")
    added = smoothing * variance_of(list(features))
    densities, lines = [], list[Block]()
    for c, rows in zip(classes, rows_of_classes(labels, classes), strict=True):
        own = [features[i, 0] for i in rows]
        if variance_of(own) + added == 0:
            raise ValueError(f"X must vary within class {c} to be worked by hand, got a variance of 0.")
        densities.append(Gaussian(float(mean_of(own)), float(variance_of(own) + added)))
        lines += [
            mean_line(math("μ", fenced(Words(str(c)))), own),
            variance_line(math("σ^2", fenced(Words(str(c)))), own),
        ]
    fitting = step(
        "Fit the densities",
        sentence("The densities are not given but normal, with mean and variance of the rows of each class:"),
        *lines,
        *([smoothing_remark(smoothing)] if smoothing else []),
    )
    return densities, classes, [fitting]


def _given(estimator: BayesClassifier, y: Data) -> tuple[list[Any], list[Any]]:
    if isinstance(estimator.densities, Mapping):
        classes = sorted(estimator.densities)
        densities = [estimator.densities[c] for c in classes]
    else:
        densities = list(estimator.densities)
        classes = exact_labels(y, len(np.asarray(y)))[1]
    for density in densities:
        if type(density).__name__ not in ("Gaussian", "Bernoulli", "Categorical"):
            raise ValueError(
                "densities must be Gaussian, Bernoulli or Categorical to be worked by hand, got "
                f"{type(density).__name__}."
            )
    return densities, classes


def _exact_costs(costs: Any, n: int) -> list[list[Rational]]:
    if costs is None:
        return [[Rational(int(i != j)) for j in range(n)] for i in range(n)]
    return [[exact_number(value, "costs")[0] for value in row] for row in np.asarray(costs).tolist()]


def _numbers(X: Data) -> list[Rational]:
    values = np.asarray(X)
    if values.ndim != 2 or values.shape[1] != 1 or not 1 <= len(values) <= MAX_DECISIONS:
        raise ValueError(
            f"X must have one column and 1 to {MAX_DECISIONS} rows to be worked by hand, got shape {values.shape}. "
            "Show the work on some of the rows."
        )
    return [exact_number(value, "X")[0] for value in values[:, 0].tolist()]


def _opening(densities: Sequence[Any], classes: Sequence[Any], costs: Any) -> tuple[Block, ...]:
    rows = [[str(c), *map(math, costs[k])] for k, c in enumerate(classes)]
    described = [f"{c}: {_described(d)}" for c, d in zip(classes, densities, strict=True)]
    return (
        sentence(
            "Every decision has a cost that depends on the true class. The Bayes rule takes the decision whose "
            "expected cost, given what was observed, is least; no other rule costs less on average."
        ),
        sentence("The densities of the classes: " + "; ".join(described) + "."),
        table(["true class", *(f"decide {c}" for c in classes)], rows, caption="The costs"),
    )


def _described(density: Any) -> str:
    if type(density).__name__ == "Gaussian":
        return f"normal with mean {density.mean:g} and variance {density.variance:g}"
    if type(density).__name__ == "Bernoulli":
        return f"1 with probability {density.p:g}, else 0"
    pairs = zip(density.categories.tolist(), density.probabilities.tolist(), strict=True)
    return ", ".join(f"{label} with probability {p:g}" for label, p in pairs)


def _threshold_step(classes: Sequence[Any], prior: Sequence[Rational], costs: Any) -> Step:
    """Return the rule for two classes as a bound on the ratio of the densities."""
    first, second = classes
    miss, alarm = costs[0][1] - costs[0][0], costs[1][0] - costs[1][1]
    ratio = over(math("f", fenced(Words(f"x | {first}"))), math("f", fenced(Words(f"x | {second}"))))
    if miss <= 0 or alarm <= 0 or 0 in prior:
        return step("Rule", sentence("One decision is never worse than the other, whatever is observed."))
    bound = prior[1] * alarm / (prior[0] * miss)
    return step(
        "Rule",
        sentence(f"With two classes, {first} is the better decision where its density is large enough:"),
        formula(ratio, "≥", over(math(prior[1], "·", fenced(alarm)), math(prior[0], "·", fenced(miss))), "=", bound),
        sentence("The numbers in parentheses are what an error costs more than the right decision."),
    )


def _decision(
    x: Rational, densities: Sequence[Any], classes: Sequence[Any], prior: Sequence[Rational], costs: Any
) -> tuple[Step, Any]:
    values = [_density(d, x) for d in densities]
    joint = [p * v for p, v in zip(prior, values, strict=True)]
    total = sum(joint)
    if total == 0:
        raise ValueError(f"X must hold values that some class can produce, got {x}.")
    posterior = [s / total for s in joint]
    expected = [sum(p * costs[k][a] for k, p in enumerate(posterior)) for a in range(len(classes))]
    best = winner([-e for e in expected], classes)
    lines: list[Block] = [
        formula("f", fenced(Words(f"x | {c}")), *_density_parts(d, x, v))
        for c, d, v in zip(classes, densities, values, strict=True)
    ]
    shares = [
        formula(probability_of(c, "x"), "=", over(math(p, "·", _written(v)), _written(total)), *_equals(q))
        for c, p, v, q in zip(classes, prior, values, posterior, strict=True)
    ]
    sums = [
        formula("cost", fenced(Words(f"decide {c}")), *_expected(posterior, costs, a, expected[a]))
        for a, c in enumerate(classes)
    ]
    return (
        step(
            f"Decide about x = {typed_text(x)}",
            sentence("How likely each class makes this observation:"),
            *lines,
            sentence("Bayes' rule: times the prior, divided by the sum, which is ", *_told(total), ":"),
            *shares,
            sentence("The expected cost of each decision is the average of its column of costs, with these weights:"),
            *sums,
            result("decide", Words(str(best))),
        ),
        best,
    )


def _density(density: Any, x: Rational) -> Any:
    """Return the density at ``x``: exact for labels, a float for real numbers."""
    if type(density).__name__ == "Gaussian":
        return exp(-float((x - _exact(density.mean)) ** 2 / (2 * _exact(density.variance)))) / sqrt(
            2 * pi * density.variance
        )
    if type(density).__name__ == "Bernoulli":
        p = _exact(density.p)
        return p if x == 1 else 1 - p if x == 0 else Rational(0)
    labels = density.categories.tolist()
    return next((_exact(density.probabilities[j]) for j, label in enumerate(labels) if x == label), Rational(0))


def _exact(value: float) -> Rational:
    return exact_number(float(value), "density")[0]


def _density_parts(density: Any, x: Rational, value: Any) -> list[Any]:
    if type(density).__name__ != "Gaussian":
        return ["=", value]
    mean, variance = _exact(density.mean), _exact(density.variance)
    power = math("−", over((x - mean) ** 2, 2 * variance))
    return ["=", over(1, root(math("2 π ·", variance))), Script(math("e"), above=power), "≈", decimal(value)]


def _written(value: Any) -> Math:
    return math(value) if isinstance(value, Rational) else decimal(value)


def _equals(value: Any) -> list[Any]:
    return ["=", value] if isinstance(value, Rational) else ["≈", decimal(value)]


def _told(value: Any) -> list[Any]:
    return [math(value)] if isinstance(value, Rational) else ["about ", decimal(value)]


def _expected(posterior: Sequence[Any], costs: Any, a: int, value: Any) -> list[Any]:
    parts: list[Any] = []
    for k, p in enumerate(posterior):
        parts += ["+"] * bool(parts) + [_written(p), "·", fenced(costs[k][a]) if costs[k][a] < 0 else costs[k][a]]
    return ["=", *parts, *_equals(value)]
