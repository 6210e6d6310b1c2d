"""Naive Bayes on yes and no, by hand: count the ones, smooth, and multiply a factor for every column, zeros too."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational, log

from pellucid.core.types import Data
from pellucid.naive_bayes.prior_workings import (
    Factor,
    decision_step,
    exact_labels,
    exact_prior,
    one_alpha,
    prior_step,
    probability_of,
    rows_of_classes,
)
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import exact_features, exact_number
from pellucid.show.notation import math, over, typed
from pellucid.show.text_printer import name_columns

MAX_COLUMNS = 8


def bernoulli_nb_workings(estimator: Any, X: Data, y: Data, new: Data = None) -> Document:
    """Show how ones and zeros classify rows; ``new`` holds rows to decide about, by default all of ``X``."""
    ones, names = _ones(estimator, X)
    columns, notes = name_columns(names, ones.cols)
    labels, classes = exact_labels(y, ones.rows)
    alpha, groups = one_alpha(estimator), rows_of_classes(labels, classes)
    sizes = [len(rows) for rows in groups]
    prior = exact_prior(sizes, estimator.class_prior, uniform=not estimator.fit_prior)
    counts = Matrix([[sum(ones[i, j] for i in rows) for j in range(ones.cols)] for rows in groups])
    shares = Matrix(len(classes), ones.cols, lambda k, j: (counts[k, j] + alpha) / (sizes[k] + 2 * alpha))
    asked = ones if new is None else _ones(estimator, new)[0]
    decisions = [
        _decision(i, asked.row(i), columns, classes, prior, shares, is_new=new is not None) for i in range(asked.rows)
    ]
    steps = (
        _count_step(counts, sizes, columns, classes),
        prior_step(classes, sizes, prior, is_share=estimator.class_prior is None and bool(estimator.fit_prior)),
        _share_step(counts, shares, sizes, columns, classes, alpha),
        *(made for made, _ in decisions),
    )
    found: dict[str, Any] = {"feature_count_": counts.tolist(), "shares": shares.tolist(), "prior": prior}
    if all(0 < p < 1 for p in shares):  # otherwise a logarithm is not finite
        found["feature_log_prob_"] = shares.applyfunc(log).tolist()
    found["predicted"] = [label for _, label in decisions]
    return Document(
        "Naive Bayes on yes and no", _opening(estimator, X, ones, columns, labels, alpha, notes), steps, found
    )


def _ones(estimator: Any, X: Data) -> tuple[Matrix, tuple[str, ...]]:
    """Return the rows as ones and zeros, and the names of the columns."""
    values, names, rounded = exact_features(X, max_features=MAX_COLUMNS)
    if estimator.binarize is not None:
        threshold = exact_number(estimator.binarize, "binarize")[0]
        return Matrix(*values.shape, lambda i, j: int(bool(values[i, j] > threshold))), names
    if rounded or any(value not in (0, 1) for value in values):
        raise ValueError(
            "X must hold 0 and 1 to be worked by hand with binarize=None, got other numbers. Set binarize."
        )
    return values, names


def _opening(
    estimator: Any, X: Data, ones: Matrix, columns: list[str], labels: list[Any], alpha: Rational, notes: list[Block]
) -> tuple[Block, ...]:
    rows = [[math(i + 1), *map(typed, ones.row(i)), str(labels[i])] for i in range(ones.rows)]
    is_changed = exact_features(X, max_features=MAX_COLUMNS)[0] != ones
    threshold = [sentence(f"Values above {estimator.binarize:g} count as 1, the others as 0.")] if is_changed else []
    return (
        sentence(
            "Which class does a row of ones and zeros belong to? Naive Bayes takes every column to be a coin of its "
            "own, with one probability of a 1 for each class, and adds ",
            math("α =", alpha),
            " to the counts of ones and of zeros.",
        ),
        *threshold,
        table([math("i"), *columns, "class"], rows, caption="The data"),
        *notes,
    )


def _count_step(counts: Matrix, sizes: list[int], columns: list[str], classes: list[Any]) -> Step:
    rows = [[str(c), *map(math, counts.row(k)), math(sizes[k])] for k, c in enumerate(classes)]
    return step(
        "Count the ones of each class",
        sentence("In how many rows of a class does a column hold a 1?"),
        table(["class", *columns, "rows"], rows),
    )


def _share_step(
    counts: Matrix, shares: Matrix, sizes: list[int], columns: list[str], classes: list[Any], alpha: Rational
) -> Step:
    lines: list[Block] = []
    for k, c in enumerate(classes):
        for j, name in enumerate(columns):
            share = over(math(counts[k, j], "+", alpha), math(sizes[k], "+ 2 ·", alpha))
            lines.append(formula(probability_of(name, c), "=", share, "=", shares[k, j]))
    return step(
        "Probability of a 1 in each class",
        sentence("Add ", math("α"), " to the ones and as much to the zeros, so twice to the rows:"),
        *lines,
        remark("A 0 is evidence too: it has the probability of what is left to 1. Counts of words ignore it."),
    )


def _decision(
    i: int,
    row: Matrix,
    columns: list[str],
    classes: list[Any],
    prior: list[Rational],
    shares: Matrix,
    *,
    is_new: bool,
) -> tuple[Step, Any]:
    told = ", ".join(f"{name} is {row[j]}" for j, name in enumerate(columns))
    factors = [_factors(row, shares.row(k)) for k in range(len(classes))]
    words = f"Here {told}. Prior times the share of each 1, and 1 less the share for each 0:"
    return decision_step(f"Classify {'new row' if is_new else 'row'} {i + 1}", words, classes, prior, factors)


def _factors(row: Matrix, shares: Matrix) -> list[Factor]:
    values = [share if one else 1 - share for one, share in zip(row, shares, strict=True)]
    return [(math(value), value) for value in values]
