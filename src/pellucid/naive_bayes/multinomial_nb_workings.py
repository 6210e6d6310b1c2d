"""Naive Bayes on counts of words, by hand: count, smooth, multiply, compare."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

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
from pellucid.show.exact_data import exact_features
from pellucid.show.notation import Script, fenced, math, over, typed
from pellucid.show.text_printer import is_wide

MAX_WORDS = 8
MAX_ROWS = 12


def multinomial_nb_workings(estimator: Any, X: Data, y: Data, new: Data = None) -> Document:
    """Show how counts of words classify documents; ``new`` holds rows to decide about, by default all of ``X``."""
    counts, names, rounded = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_WORDS)
    if rounded or min(counts) < 0:
        raise ValueError("X must hold counts to be worked by hand, got a negative number or one with many digits.")
    words = list(names) if names else [f"word {j + 1}" for j in range(counts.cols)]
    labels, classes = exact_labels(y, counts.rows)
    alpha = one_alpha(estimator)
    sizes = [labels.count(c) for c in classes]
    prior = exact_prior(sizes, estimator.class_prior, uniform=not estimator.fit_prior)
    groups = rows_of_classes(labels, classes)
    sums = Matrix([[sum(counts[i, j] for i in rows) for j in range(counts.cols)] for rows in groups])
    totals = [sum(sums.row(k)) + alpha * counts.cols for k in range(len(classes))]
    if 0 in totals:
        raise ValueError("alpha must be above 0 to show the work, got 0 and a class without words. Set alpha=1.")
    shares = Matrix([[(sums[k, j] + alpha) / totals[k] for j in range(counts.cols)] for k in range(len(classes))])
    asked = counts if new is None else exact_features(new, max_rows=MAX_ROWS, max_features=MAX_WORDS)[0]
    decisions, predicted = _decisions(asked, words, classes, prior, shares, is_new=new is not None)
    steps = (
        _count_step(sums, words, classes),
        prior_step(classes, sizes, prior, is_share=estimator.class_prior is None and bool(estimator.fit_prior)),
        _share_step(sums, shares, words, classes, alpha),
        *decisions,
    )
    found = {"feature_count_": sums.tolist(), "predicted": predicted, "shares": shares.tolist(), "prior": prior}
    return Document("Naive Bayes on counts", _opening(counts, words, labels, alpha), steps, found)


def _opening(counts: Matrix, words: list[str], labels: list[Any], alpha: Rational) -> tuple[Block, ...]:
    rows = [[math(i + 1), *map(typed, counts.row(i)), str(labels[i])] for i in range(counts.rows)]
    documents = [math(i + 1) for i in range(counts.rows)]
    by_word = [[word, *map(typed, counts.col(j))] for j, word in enumerate(words)]
    caption = "How often each word stands in each document"
    listing = (
        table(["document", *documents], [*by_word, ["class", *map(str, labels)]], caption=caption)
        if is_wide(words)
        else table([math("i"), *words, "class"], rows, caption=caption)
    )
    return (
        sentence(
            "Which class does a document belong to? Naive Bayes takes its words to be drawn independently, and adds ",
            math("α =", alpha),
            " to every count.",
        ),
        listing,
    )


def _count_step(sums: Matrix, words: list[str], classes: list[Any]) -> Step:
    if is_wide(words):
        lines = [[word, *map(math, sums.col(j))] for j, word in enumerate(words)]
        totals = [["all words", *(math(sum(sums.row(k))) for k in range(sums.rows))]]
        counted = table(["class", *map(str, classes)], lines, summary=totals)
    else:
        rows = [[str(c), *map(math, sums.row(k)), math(sum(sums.row(k)))] for k, c in enumerate(classes)]
        counted = table(["class", *words, "all words"], rows)
    return step("Count the words of each class", sentence("Put the documents of a class together and count:"), counted)


def _share_step(sums: Matrix, shares: Matrix, words: list[str], classes: list[Any], alpha: Rational) -> Step:
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
    asked: Matrix, words: list[str], classes: list[Any], prior: list[Rational], shares: Matrix, *, is_new: bool
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
