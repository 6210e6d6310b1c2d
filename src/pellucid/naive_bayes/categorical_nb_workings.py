"""Naive Bayes on categories, by hand: a table of counts for every column, smoothed to shares, multiplied, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Matrix, Rational, log

from pellucid.core.types import Data
from pellucid.naive_bayes.prior_workings import (
    decision_step,
    exact_labels,
    exact_prior,
    one_alpha,
    prior_step,
    probability_of,
    rows_of_classes,
)
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import Label, class_column, exact_features, numbered_table
from pellucid.show.notation import math, over
from pellucid.show.text_printer import name_columns

if TYPE_CHECKING:
    from pellucid.naive_bayes.counting_nb import CategoricalNB

MAX_COLUMNS = 6
MAX_CATEGORIES = 12


def categorical_nb_workings(estimator: CategoricalNB, X: Data, y: Data, new: Data = None) -> Document:
    """Show how categories 0, 1, 2, ... classify rows; ``new`` holds rows to decide about, by default all of ``X``."""
    codes, names = _codes(X)
    columns, notes = name_columns(names, codes.cols)
    labels, classes = exact_labels(y, codes.rows)
    alpha, groups = one_alpha(estimator), rows_of_classes(labels, classes)
    sizes = [len(rows) for rows in groups]
    prior = exact_prior(sizes, estimator.class_prior, uniform=not estimator.fit_prior)
    numbers = _category_numbers(estimator, codes)
    tables = [
        Matrix(len(classes), m, lambda k, t, j=j: sum(codes[i, j] == t for i in groups[k]))
        for j, m in enumerate(numbers)
    ]
    shares = [
        Matrix(*counts.shape, lambda k, t, counts=counts: (counts[k, t] + alpha) / (sizes[k] + alpha * counts.cols))
        for counts in tables
    ]
    asked = codes if new is None else _codes(new)[0]
    _check_known(asked, numbers)
    decisions = [
        _decision(i, asked.row(i), columns, classes, prior, shares, is_new=new is not None) for i in range(asked.rows)
    ]
    steps = (
        prior_step(classes, sizes, prior, is_share=estimator.class_prior is None and bool(estimator.fit_prior)),
        *(_column_step(*column, sizes, classes, alpha) for column in zip(columns, tables, shares, strict=True)),
        *(made for made, _ in decisions),
    )
    found: dict[str, Any] = {"category_count_": [counts.tolist() for counts in tables], "prior": prior}
    found["shares"] = [table_.tolist() for table_ in shares]
    if all(p > 0 for table_ in shares for p in table_):  # otherwise a logarithm is not finite
        found["feature_log_prob_"] = [table_.applyfunc(log).tolist() for table_ in shares]
    found["predicted"] = [label for _, label in decisions]
    return Document(
        "Naive Bayes on categories", _categorical_opening(codes, columns, labels, alpha, notes), steps, found
    )


def _codes(X: Data) -> tuple[Matrix, tuple[str, ...]]:
    """Return the categories as whole numbers, fractions cut off as the program does, and the names of the columns."""
    values, names, _ = exact_features(X, max_features=MAX_COLUMNS)
    if min(values) < 0 or max(values) >= MAX_CATEGORIES:
        got = min(values) if min(values) < 0 else max(values)
        raise ValueError(
            f"X must hold categories from 0 to {MAX_CATEGORIES - 1} to be worked by hand, got {got}. "
            "Show the work on columns with fewer categories."
        )
    return values.applyfunc(lambda value: Rational(int(value))), names


def _category_numbers(estimator: CategoricalNB, codes: Matrix) -> list[int]:
    least = np.broadcast_to(0 if estimator.min_categories is None else estimator.min_categories, (codes.cols,))
    numbers = [max(int(max(codes.col(j))) + 1, int(least[j])) for j in range(codes.cols)]
    if max(numbers) > MAX_CATEGORIES:
        raise ValueError(
            f"min_categories must be at most {MAX_CATEGORIES} to be worked by hand, got {estimator.min_categories!r}."
        )
    return numbers


def _check_known(asked: Matrix, numbers: list[int]) -> None:
    for i in range(asked.rows):
        for j, m in enumerate(numbers):
            if asked[i, j] >= m:
                raise ValueError(f"new must hold categories below {m} in column {j}, got {asked[i, j]}.")


def _categorical_opening(
    codes: Matrix, columns: list[str], labels: list[Label], alpha: Rational, notes: list[Block]
) -> tuple[Block, ...]:
    return (
        sentence(
            "Which class does a row of categories belong to? Naive Bayes takes the columns of a class to be "
            "independent, each with its own share of every category, and adds ",
            math("α =", alpha),
            " to every count.",
        ),
        numbered_table(codes, columns, class_column(labels)),
        *notes,
    )


def _column_step(
    name: str, counts: Matrix, shares: Matrix, sizes: list[int], classes: list[Label], alpha: Rational
) -> Step:
    m = counts.cols
    counted = [[str(c), *map(math, counts.row(k)), math(sizes[k])] for k, c in enumerate(classes)]
    lines = [
        formula(
            probability_of(f"{name} = {t}", c),
            "=",
            over(math(counts[k, t], "+", alpha), math(sizes[k], "+", alpha, "·", m)),
            "=",
            shares[k, t],
        )
        for k, c in enumerate(classes)
        for t in range(m)
    ]
    return step(
        f"Shares of the categories: {name}",
        sentence("Count each category within each class:"),
        table(["class", *map(str, range(m)), "rows"], counted),
        sentence("Add ", math("α"), " to every count, and ", math("α"), f" times the {m} categories to the rows:"),
        *lines,
        *([remark("The shares of a class add up to 1, those of a category need not.")] if m > 1 else []),
    )


def _decision(
    i: int,
    row: Matrix,
    columns: list[str],
    classes: list[Label],
    prior: list[Rational],
    shares: list[Matrix],
    *,
    is_new: bool,
) -> tuple[Step, Any]:
    told = ", ".join(f"{name} = {row[j]}" for j, name in enumerate(columns))
    values = [[of[k, int(row[j])] for j, of in enumerate(shares)] for k in range(len(classes))]
    factors = [[(math(value), value) for value in of] for of in values]
    words = f"Here {told}. Prior times the share of each category:"
    return decision_step(f"Classify {'new row' if is_new else 'row'} {i + 1}", words, classes, prior, factors)
