"""Naive Bayes on counts of words, or on their presence, by hand: count, smooth, multiply, compare."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, log

from pellucid.core.types import Data
from pellucid.naive_bayes.prior_workings import (
    MAX_COLUMNS,
    Factor,
    boundary_step,
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
from pellucid.show.exact_data import (
    MAX_COUNTED_CELLS,
    Label,
    class_column,
    exact_features,
    exact_number,
    numbered_table,
)
from pellucid.show.notation import Script, fenced, math, over, typed
from pellucid.show.text_printer import is_wide, name_columns

if TYPE_CHECKING:
    from pellucid.naive_bayes.counting_nb import BernoulliNB, MultinomialNB


def multinomial_nb_workings(estimator: BernoulliNB | MultinomialNB, X: Data, y: Data, new: Data = None) -> Document:
    """Show how counts of words classify documents; ``new`` holds rows to decide about, by default all of ``X``."""
    counts, names, rounded = exact_features(X, max_features=MAX_COLUMNS, max_cells=MAX_COUNTED_CELLS)
    if rounded or min(counts) < 0:
        raise ValueError("X must hold counts to be worked by hand, got a negative number or one with many digits.")
    words = list(names) if names else [f"word {j + 1}" for j in range(counts.cols)]
    labels, classes = exact_labels(y, counts.rows)
    alpha = one_alpha(estimator)
    sizes = [labels.count(c) for c in classes]
    pseudo = prior_pseudo(estimator)
    prior = exact_prior(sizes, estimator.class_prior, uniform=not estimator.fit_prior, pseudo=pseudo)
    groups = rows_of_classes(labels, classes)
    sums = Matrix([[sum(counts[i, j] for i in rows) for j in range(counts.cols)] for rows in groups])
    totals = [sum(sums.row(k)) + alpha * counts.cols for k in range(len(classes))]
    if 0 in totals:
        raise ValueError("alpha must be above 0 to show the work, got 0 and a class without words. Set alpha=1.")
    shares = Matrix([[(sums[k, j] + alpha) / totals[k] for j in range(counts.cols)] for k in range(len(classes))])
    asked = (
        counts[: len(decided_rows(labels)), :]
        if new is None
        else exact_features(new, max_features=MAX_COLUMNS, max_cells=MAX_COUNTED_CELLS)[0]
    )
    decisions, predicted = _decisions(asked, words, classes, prior, shares, is_new=new is not None)
    steps = (
        _count_step(sums, words, classes),
        prior_step(
            classes, sizes, prior, is_share=estimator.class_prior is None and bool(estimator.fit_prior), pseudo=pseudo
        ),
        _share_step(sums, shares, words, classes, alpha),
        *boundary_step(classes, words, list(zip(shares.row(0), shares.row(-1), strict=True)), prior),
        *decisions,
    )
    found = {"feature_count_": sums.tolist(), "predicted": predicted, "shares": shares.tolist(), "prior": prior}
    return Document("Naive Bayes on counts", _opening(counts, words, labels, alpha), steps, found)


def _opening(counts: Matrix, words: list[str], labels: list[Label], alpha: Rational) -> tuple[Block, ...]:
    documents = [math(i + 1) for i in range(counts.rows)]
    by_word = [[word, *map(typed, counts.col(j))] for j, word in enumerate(words)]
    caption = "How often each word stands in each document"
    listing = (
        table(["document", *documents], [*by_word, ["class", *map(str, labels)]], caption=caption)
        if is_wide(words)
        else numbered_table(counts, words, class_column(labels), caption=caption)
    )
    return (
        sentence(
            "Which class does a document belong to? Naive Bayes takes its words to be drawn independently, and adds ",
            math("α =", alpha),
            " to every count.",
        ),
        listing,
    )


def _count_step(sums: Matrix, words: list[str], classes: list[Label]) -> Step:
    if is_wide(words):
        lines = [[word, *map(math, sums.col(j))] for j, word in enumerate(words)]
        totals = [["all words", *(math(sum(sums.row(k))) for k in range(sums.rows))]]
        counted = table(["class", *map(str, classes)], lines, summary=totals)
    else:
        rows = [[str(c), *map(math, sums.row(k)), math(sum(sums.row(k)))] for k, c in enumerate(classes)]
        counted = table(["class", *words, "all words"], rows)
    return step("Count the words of each class", sentence("Put the documents of a class together and count:"), counted)


def _share_step(sums: Matrix, shares: Matrix, words: list[str], classes: list[Label], alpha: Rational) -> Step:
    lines: list[Block] = []
    for k, c in enumerate(classes):
        for j, word in enumerate(words):
            unsmoothed = over(math(sums[k, j], "+", alpha), math(sum(sums.row(k)), "+", alpha, "·", sums.cols))
            lines.append(formula(probability_of(word, c), "=", unsmoothed, "=", shares[k, j]))
    return step(
        "Share of each word in each class",
        sentence(
            "Add ",
            math("α"),
            " to every count, and ",
            math("α"),
            f" times the {len(words)} different words to the sum:",
        ),
        *lines,
        remark("Without the addition, one word that a class never used would rule the class out for good."),
    )


def _decisions(
    asked: Matrix, words: list[str], classes: list[Label], prior: list[Rational], shares: Matrix, *, is_new: bool
) -> tuple[list[Step], list[Any]]:
    found = []
    for i in range(asked.rows):
        told = ", ".join(f"{asked[i, j]} × {word}" for j, word in enumerate(words) if asked[i, j])
        found.append(
            decision_step(
                f"Classify {'new document' if is_new else 'document'} {i + 1}",
                f"It holds {told or 'no words'}. Prior times the share of each of its words:",
                classes,
                prior,
                [_powers(asked.row(i), shares.row(k)) for k in range(len(classes))],
            )
        )
    return [made for made, _ in found], [label for _, label in found]


def _powers(counts: Matrix, shares: Matrix) -> list[Factor]:
    return [
        (math(share) if count == 1 else Script(fenced(share), above=math(count)), share**count)
        for count, share in zip(counts, shares, strict=True)
        if count
    ]


def bernoulli_nb_workings(estimator: BernoulliNB | MultinomialNB, X: Data, y: Data, new: Data = None) -> Document:
    """Show how ones and zeros classify rows; ``new`` holds rows to decide about, by default all of ``X``."""
    ones, names = _ones(estimator, X)
    columns, notes = name_columns(names, ones.cols)
    labels, classes = exact_labels(y, ones.rows)
    alpha, groups = one_alpha(estimator), rows_of_classes(labels, classes)
    sizes = [len(rows) for rows in groups]
    pseudo = prior_pseudo(estimator)
    prior = exact_prior(sizes, estimator.class_prior, uniform=not estimator.fit_prior, pseudo=pseudo)
    counts = Matrix([[sum(ones[i, j] for i in rows) for j in range(ones.cols)] for rows in groups])
    shares = Matrix(len(classes), ones.cols, lambda k, j: (counts[k, j] + alpha) / (sizes[k] + 2 * alpha))
    asked = ones[: len(decided_rows(labels)), :] if new is None else _ones(estimator, new)[0]
    decisions = [
        _decision(i, asked.row(i), columns, classes, prior, shares, is_new=new is not None) for i in range(asked.rows)
    ]
    steps = (
        _bernoulli_count_step(counts, sizes, columns, classes),
        prior_step(
            classes, sizes, prior, is_share=estimator.class_prior is None and bool(estimator.fit_prior), pseudo=pseudo
        ),
        _bernoulli_share_step(counts, shares, sizes, columns, classes, alpha),
        *_coin_boundary(classes, columns, shares, prior),
        *(made for made, _ in decisions),
    )
    found: dict[str, Any] = {"feature_count_": counts.tolist(), "shares": shares.tolist(), "prior": prior}
    if all(0 < p < 1 for p in shares):  # otherwise a logarithm is not finite
        found["feature_log_prob_"] = shares.applyfunc(log).tolist()
    found["predicted"] = [label for _, label in decisions]
    return Document(
        "Naive Bayes on yes and no", _bernoulli_opening(estimator, X, ones, columns, labels, alpha, notes), steps, found
    )


def _coin_boundary(classes: list[Label], columns: list[str], shares: Matrix, prior: list[Rational]) -> list[Step]:
    """Return the boundary of two classes of coins: a 0 speaks too, so its odds go to the constant."""
    if len(classes) != 2 or any(p in (0, 1) for p in shares):
        return []
    odds = [(shares[0, j] / (1 - shares[0, j]), shares[1, j] / (1 - shares[1, j])) for j in range(shares.cols)]
    absent = prod(((1 - shares[1, j]) / (1 - shares[0, j]) for j in range(shares.cols)), start=Rational(1))
    return boundary_step(classes, columns, odds, prior, absent)


def _ones(estimator: BernoulliNB | MultinomialNB, X: Data) -> tuple[Matrix, tuple[str, ...]]:
    """Return the rows as ones and zeros, and the names of the columns."""
    values, names, rounded = exact_features(X, max_features=MAX_COLUMNS, max_cells=MAX_COUNTED_CELLS)
    if estimator.binarize is not None:
        threshold = exact_number(estimator.binarize, "binarize")[0]
        return Matrix(*values.shape, lambda i, j: int(bool(values[i, j] > threshold))), names
    if rounded or any(value not in (0, 1) for value in values):
        raise ValueError(
            "X must hold 0 and 1 to be worked by hand with binarize=None, got other numbers. Set binarize."
        )
    return values, names


def _bernoulli_opening(
    estimator: BernoulliNB | MultinomialNB,
    X: Data,
    ones: Matrix,
    columns: list[str],
    labels: list[Label],
    alpha: Rational,
    notes: list[Block],
) -> tuple[Block, ...]:
    is_changed = exact_features(X, max_features=MAX_COLUMNS, max_cells=MAX_COUNTED_CELLS)[0] != ones
    threshold = [sentence(f"Values above {estimator.binarize:g} count as 1, the others as 0.")] if is_changed else []
    return (
        sentence(
            "Which class does a row of ones and zeros belong to? Naive Bayes takes every column to be a coin of its "
            "own, with one probability of a 1 for each class, and adds ",
            math("α =", alpha),
            " to the counts of ones and of zeros.",
        ),
        *threshold,
        numbered_table(ones, columns, class_column(labels)),
        *notes,
    )


def _bernoulli_count_step(counts: Matrix, sizes: list[int], columns: list[str], classes: list[Label]) -> Step:
    rows = [[str(c), *map(math, counts.row(k)), math(sizes[k])] for k, c in enumerate(classes)]
    return step(
        "Count the ones of each class",
        sentence("In how many rows of a class does a column hold a 1?"),
        table(["class", *columns, "rows"], rows),
    )


def _bernoulli_share_step(
    counts: Matrix, shares: Matrix, sizes: list[int], columns: list[str], classes: list[Label], alpha: Rational
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
    classes: list[Label],
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
