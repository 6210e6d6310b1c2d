"""Naive Bayes on categories, by hand: a table of counts for every column, smoothed to shares, multiplied, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Matrix, Rational, log

from pellucid.core.types import Data
from pellucid.naive_bayes.prior_workings import (
    MAX_COLUMNS,
    decided_rows,
    decision_step,
    exact_labels,
    exact_prior,
    one_alpha,
    prior_pseudo,
    prior_step,
    probability_of,
    rows_of_classes,
)
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import MAX_COUNTED_CELLS, Label, WordCodes, exact_features, word_codes
from pellucid.show.notation import math, over
from pellucid.show.text_printer import name_columns

if TYPE_CHECKING:
    from pellucid.naive_bayes.counting_nb import CategoricalNB

MAX_CATEGORIES = 12


def categorical_nb_workings(estimator: CategoricalNB, X: Data, y: Data, new: Data = None) -> Document:
    """Show how categories 0, 1, 2, ... or words classify rows; ``new`` holds rows to decide about, else those of X."""
    coding = word_codes(X)
    codes, names = _codes(X, coding)
    columns, notes = name_columns(names, codes.cols)
    labels, classes = exact_labels(y, codes.rows)
    alpha, groups = one_alpha(estimator), rows_of_classes(labels, classes)
    sizes = [len(rows) for rows in groups]
    pseudo = prior_pseudo(estimator)
    prior = exact_prior(sizes, estimator.class_prior, uniform=not estimator.fit_prior, pseudo=pseudo)
    numbers = _category_numbers(estimator, codes)
    tables = [
        Matrix(len(classes), m, lambda k, t, j=j: sum(codes[i, j] == t for i in groups[k]))
        for j, m in enumerate(numbers)
    ]
    shares = [
        Matrix(*counts.shape, lambda k, t, counts=counts: (counts[k, t] + alpha) / (sizes[k] + alpha * counts.cols))
        for counts in tables
    ]
    called = [
        [str(t) for t in range(m)] if coding is None or coding.words[j] is None else list(coding.words[j] or ())
        for j, m in enumerate(numbers)
    ]
    asked = codes[: len(decided_rows(labels)), :] if new is None else _codes(new, coding)[0]
    _check_known(asked, numbers)
    decisions = [
        _decision(i, asked.row(i), columns, called, classes, prior, shares, is_new=new is not None)
        for i in range(asked.rows)
    ]
    steps = (
        prior_step(
            classes, sizes, prior, is_share=estimator.class_prior is None and bool(estimator.fit_prior), pseudo=pseudo
        ),
        *(_column_step(*column, sizes, classes, alpha) for column in zip(columns, called, tables, shares, strict=True)),
        *(made for made, _ in decisions),
    )
    found: dict[str, Any] = {"category_count_": [counts.tolist() for counts in tables], "prior": prior}
    found["shares"] = [table_.tolist() for table_ in shares]
    if all(p > 0 for table_ in shares for p in table_):  # otherwise a logarithm is not finite
        found["feature_log_prob_"] = [table_.applyfunc(log).tolist() for table_ in shares]
    found["predicted"] = [label for _, label in decisions]
    opening = _categorical_opening(codes, columns, called, labels, alpha, [*notes, *_coding_notes(coding, columns)])
    return Document("Naive Bayes on categories", opening, steps, found)


def _codes(X: Data, coding: WordCodes | None) -> tuple[Matrix, tuple[str, ...]]:
    """Return the categories as whole numbers, fractions cut off as the program does, and the names of the columns."""
    coded = X if coding is None else coding.encode(X)
    values, names, _ = exact_features(coded, max_features=MAX_COLUMNS, max_cells=MAX_COUNTED_CELLS)
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


def _coding_notes(coding: WordCodes | None, columns: list[str]) -> list[Block]:
    """Return which number the program is given for which word."""
    if coding is None:
        return []
    told = [
        f"{name}: " + ", ".join(f"{word} {code}" for code, word in enumerate(words))
        for name, words in zip(columns, coding.words, strict=True)
        if words is not None
    ]
    return [remark(f"The program reads categories as numbers, in the order of the alphabet. {'; '.join(told)}.")]


def _categorical_opening(
    codes: Matrix,
    columns: list[str],
    called: list[list[str]],
    labels: list[Label],
    alpha: Rational,
    notes: list[Block],
) -> tuple[Block, ...]:
    rows = [
        [math(i + 1), *(called[j][int(codes[i, j])] for j in range(codes.cols)), str(label)]
        for i, label in enumerate(labels)
    ]
    return (
        sentence(
            "Which class does a row of categories belong to? Naive Bayes takes the columns of a class to be "
            "independent, each with its own share of every category, and adds ",
            math("α =", alpha),
            " to every count.",
        ),
        table([math("i"), *columns, "class"], rows, caption="The data"),
        *notes,
    )


def _column_step(
    name: str,
    called: list[str],
    counts: Matrix,
    shares: Matrix,
    sizes: list[int],
    classes: list[Label],
    alpha: Rational,
) -> Step:
    m = counts.cols
    counted = [[str(c), *map(math, counts.row(k)), math(sizes[k])] for k, c in enumerate(classes)]
    lines = [
        formula(
            probability_of(f"{name} = {called[t]}", c),
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
        table(["class", *called, "rows"], counted),
        sentence("Add ", math("α"), " to every count, and ", math("α"), f" times the {m} categories to the rows:"),
        *lines,
        *([remark("The shares of a class add up to 1, those of a category need not.")] if m > 1 else []),
    )


def _decision(
    i: int,
    row: Matrix,
    columns: list[str],
    called: list[list[str]],
    classes: list[Label],
    prior: list[Rational],
    shares: list[Matrix],
    *,
    is_new: bool,
) -> tuple[Step, Any]:
    told = ", ".join(f"{name} = {called[j][int(row[j])]}" for j, name in enumerate(columns))
    values = [[of[k, int(row[j])] for j, of in enumerate(shares)] for k in range(len(classes))]
    factors = [[(math(value), value) for value in of] for of in values]
    words = f"Here {told}. Prior times the share of each category:"
    return decision_step(f"Classify {'new row' if is_new else 'row'} {i + 1}", words, classes, prior, factors)
