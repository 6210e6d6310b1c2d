"""Naive Bayes on counts of words, by hand: count, smooth, multiply, compare."""

from __future__ import annotations

from math import prod
from typing import Any

from sympy import Matrix, Rational

from pellucid.core.checks import is_number
from pellucid.core.types import Data
from pellucid.naive_bayes.prior_workings import (
    decimal,
    exact_labels,
    exact_prior,
    posterior_blocks,
    prior_step,
    probability_of,
    winner,
)
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.exact_data import exact_features
from pellucid.workings.notation import Math, Script, Words, fenced, math, over, typed
from pellucid.workings.parameters import exact_parameter

MAX_WORDS = 8
MAX_ROWS = 12
WIDEST = 56
"""Characters of all words together, with space between, that fit above columns."""


def multinomial_nb_workings(estimator: Any, X: Data, y: Data, new: Data = None) -> Document:
    """Show how counts of words classify documents; ``new`` holds rows to decide about, by default all of ``X``."""
    counts, names, rounded = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_WORDS)
    if rounded or min(counts) < 0:
        raise ValueError("X must hold counts to be worked by hand, got a negative number or one with many digits.")
    words = list(names) if names else [f"word {j + 1}" for j in range(counts.cols)]
    labels, classes = exact_labels(y, counts.rows)
    alpha = _one_alpha(estimator)
    sizes = [labels.count(c) for c in classes]
    prior = exact_prior(sizes, estimator.class_prior, uniform=not estimator.fit_prior)
    of_class = [[i for i, label in enumerate(labels) if label == c] for c in classes]
    sums = Matrix([[sum(counts[i, j] for i in rows) for j in range(counts.cols)] for rows in of_class])
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


def _one_alpha(estimator: Any) -> Rational:
    if not is_number(estimator.alpha):
        raise ValueError(f"alpha must be one number to show the work, got {estimator.alpha!r}.")
    return exact_parameter(estimator, "alpha")


def _opening(counts: Matrix, words: list[str], labels: list[Any], alpha: Rational) -> tuple[Block, ...]:
    rows = [[math(i + 1), *map(typed, counts.row(i)), str(labels[i])] for i in range(counts.rows)]
    documents = [math(i + 1) for i in range(counts.rows)]
    by_word = [[word, *map(typed, counts.col(j))] for j, word in enumerate(words)]
    caption = "How often each word stands in each document"
    listing = (
        table(["document", *documents], [*by_word, ["class", *map(str, labels)]], caption=caption)
        if _is_wide(words)
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


def _is_wide(words: list[str]) -> bool:
    """Return whether the words are too long to head columns: then they stand before rows."""
    return sum(map(len, words)) + 2 * len(words) > WIDEST


def _count_step(sums: Matrix, words: list[str], classes: list[Any]) -> Step:
    if _is_wide(words):
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
    steps, predicted = [], []
    for i in range(asked.rows):
        scores = [p * prod(shares[k, j] ** asked[i, j] for j in range(asked.cols)) for k, p in enumerate(prior)]
        predicted.append(winner(scores, classes))
        lines = [
            formula(_score(c), "=", p, *_powers(asked.row(i), shares.row(k)), "=", scores[k], *_rounded(scores[k]))
            for k, (c, p) in enumerate(zip(classes, prior, strict=True))
        ]
        told = ", ".join(f"{asked[i, j]} × {word}" for j, word in enumerate(words) if asked[i, j])
        steps.append(
            step(
                f"Classify {'new document' if is_new else 'document'} {i + 1}",
                sentence(f"It holds {told or 'no words'}. Prior times the share of each of its words:"),
                *lines,
                *posterior_blocks(classes, scores),
                result("class =", Words(str(predicted[-1]))),
            )
        )
    return steps, predicted


def _rounded(score: Rational) -> list[Any]:
    return [] if score == 0 else ["≈", decimal(score)]


def _score(label: Any) -> Math:
    return math("score", fenced(Words(str(label))))


def _powers(counts: Matrix, shares: Matrix) -> list[Any]:
    parts: list[Any] = []
    for count, share in zip(counts, shares, strict=True):
        if count:
            parts += ["·", math(share) if count == 1 else Script(fenced(share), above=math(count))]
    return parts
