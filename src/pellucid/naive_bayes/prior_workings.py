"""What the workings of all naive Bayes models share: classes, their prior, and the decision by the largest score."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, prod
from typing import Any, TypeAlias

import numpy as np
from sympy import Rational

from pellucid.core.checks import is_number
from pellucid.core.types import Data
from pellucid.show.document import Block, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import MAX_ROWS, exact_number, exact_parameter, read_labels, sorted_classes
from pellucid.show.notation import Math, Words, fenced, math, over, typed

Factor: TypeAlias = tuple[Math, Any]
"""A factor of a score as it is written, and its value: a fraction, or a float where it is a density."""


MAX_COLUMNS = 8
NO_COUNT, ONE = Rational(0), Rational(1)


def decided_rows(rows: Sequence[Any]) -> Sequence[Any]:
    """Return the training rows to decide about where no new ones are given: all of a few, the first of many."""
    return rows if len(rows) <= MAX_ROWS else rows[:1]


def exact_labels(y: Data, n: int) -> tuple[list[Any], list[Any]]:
    """Return the label of each row and the different labels, sorted; refuse too many."""
    labels = read_labels(y, n)
    return labels, sorted_classes(labels, least=1)


def rows_of_classes(labels: Sequence[Any], classes: Sequence[Any]) -> list[list[int]]:
    """Return the positions of the rows of each class."""
    return [[i for i, label in enumerate(labels) if label == c] for c in classes]


def one_alpha(estimator: Any) -> Rational:
    """Return the pseudo-count of all columns, or refuse several."""
    if not is_number(estimator.alpha):
        raise ValueError(f"alpha must be one number to show the work, got {estimator.alpha!r}.")
    return exact_parameter(estimator, "alpha")


def probability_of(name: Any, given: Any = None) -> Math:
    """Return ``P(name)`` or ``P(name | given)``; names are the user's words."""
    inside = [Words(str(name))] if given is None else [Words(f"{name} | {given}")]
    return math("P", fenced(math(*inside)))


def exact_prior(
    counts: Sequence[int], given: Any, *, uniform: bool = False, pseudo: Rational = NO_COUNT
) -> list[Rational]:
    """Return the prior as rationals: as given, uniform, or the shares of the classes, smoothed by a pseudo-count."""
    if given is not None:
        values = [exact_number(value, "prior")[0] for value in np.asarray(given).tolist()]
        if len(values) != len(counts):
            raise ValueError(f"the prior must have {len(counts)} entries, one for each class, got {len(values)}.")
        return values
    if uniform:
        return [Rational(1, len(counts))] * len(counts)
    return [(n + pseudo) / (sum(counts) + pseudo * len(counts)) for n in counts]


def prior_pseudo(estimator: Any) -> Rational:
    """Return the pseudo-count of the classes; scikit-learn's models have none."""
    return exact_parameter(estimator, "prior_alpha") if hasattr(estimator, "prior_alpha") else NO_COUNT


def prior_step(
    classes: Sequence[Any],
    counts: Sequence[int],
    prior: Sequence[Rational],
    *,
    is_share: bool,
    pseudo: Rational = NO_COUNT,
) -> Step:
    """Return the step that finds the prior, with what smoothing changes or would change."""
    n, k = sum(counts), len(classes)
    if not is_share:
        lines = [formula(probability_of(c), "=", p) for c, p in zip(classes, prior, strict=True)]
        return step("Prior", sentence("The probabilities of the classes, before any row is seen, were given:"), *lines)
    if pseudo:
        lines = [
            formula(probability_of(c), "=", over(math(m, "+", pseudo), math(n, "+", pseudo, "·", k)), "=", p)
            for c, m, p in zip(classes, counts, prior, strict=True)
        ]
        words = "count those of each class, and add "
        opening = sentence(f"Of the {n} rows, {words}", math("a =", pseudo), " to every count (prior_alpha):")
        plain = [math(probability_of(c), "=", over(m, n)) for c, m in zip(classes, counts, strict=True)]
        return step("Prior", opening, *lines, remark("Without the addition: ", *listed(plain), "."))
    lines = [
        formula(probability_of(c), "=", over(m, n), *(["=", p] if p.q != n else []))
        for c, m, p in zip(classes, counts, prior, strict=True)
    ]
    return step(
        "Prior",
        sentence(f"Of the {n} rows, count those of each class:"),
        *lines,
        remark(
            "Some books add one to these counts too, so that no class is impossible: ",
            *listed([math(probability_of(c), "=", over(m + 1, n + k)) for c, m in zip(classes, counts, strict=True)]),
            ". prior_alpha=1 does so.",
        ),
    )


def decision_step(
    heading: str, words: str, classes: Sequence[Any], prior: Sequence[Rational], factors: Sequence[Sequence[Factor]]
) -> tuple[Step, Any]:
    """Return the decision about one row, prior times factors of each class, and the class that wins."""
    scores = [p * prod(value for _, value in of) for p, of in zip(prior, factors, strict=True)]
    decided = winner(scores if any(scores) else prior, classes)
    lines = []
    for c, p, of, score in zip(classes, prior, factors, scores, strict=True):
        product = [part for written, _ in of for part in ("·", written)]
        exact = ["=", score] if isinstance(score, Rational) else []
        rounded = [] if score == 0 else ["≈", decimal(score)]
        lines.append(formula("score", fenced(Words(str(c))), "=", p, *product, *exact, *rounded))
    return (
        step(
            heading, sentence(words), *lines, *posterior_blocks(classes, scores), result("class =", Words(str(decided)))
        ),
        decided,
    )


def boundary_step(
    classes: Sequence[Any],
    names: Sequence[str],
    weights: Sequence[tuple[Rational, Rational]],
    prior: Sequence[Rational],
    absent: Rational = ONE,
) -> list[Step]:
    """Return the boundary of two classes as coefficients; none where a probability is 0.

    ``weights`` holds for each column the ratio whose logarithm is its coefficient, first for the second class, and
    ``absent`` the ratio of a row of zeros.
    """
    ratios = [b / a if a else Rational(0) for a, b in weights]
    if len(classes) != 2 or 0 in (*ratios, *prior) or any(a == 0 for a, _ in weights) or absent == 0:
        return []
    constant = prior[1] / prior[0] * absent
    rows = [
        [name, math("log", fenced(ratio)), decimal(log(float(ratio)))]
        for name, ratio in zip(names, ratios, strict=True)
    ]
    return [
        step(
            "The boundary as coefficients",
            sentence(
                f"The logarithm of the odds of {classes[1]} is linear in the row: naive Bayes is a linear classifier."
            ),
            formula("f", fenced("x"), "= w_0 + ∑ w_j x_j"),
            table(["column", math("w_j"), ""], rows),
            formula("w_0 = log", fenced(constant), "≈", decimal(log(float(constant)))),
            sentence(f"Where it is above 0 the class is {classes[1]}, below 0 {classes[0]}."),
        )
    ]


def winner(scores: Sequence[Any], classes: Sequence[Any]) -> Any:
    """Return the class of the largest score; of tied ones, the first."""
    return classes[max(range(len(classes)), key=lambda k: (scores[k], -k))]


def decimal(value: Any) -> Words:
    """Return the first digits of a number that is no short fraction."""
    digits = f"{float(value):.2g}" if abs(float(value)) < 1e-3 else f"{float(value):.5g}"
    return Words(digits.replace("-", "−"))


def typed_text(value: Rational) -> str:
    """Return a number of the data as words."""
    return "".join(part if i != 2 or not part else f"/{part}" for i, part in enumerate(typed(value).spelling))


def posterior_blocks(classes: Sequence[Any], scores: Sequence[Rational]) -> list[Block]:
    """Return the probabilities of the classes: the scores divided by their sum."""
    total = sum(scores, Rational(0))
    if total == 0:
        return [sentence("No class can produce this row: the prior is all there is to go by.")]
    shares = [math(probability_of(c, "row"), "≈", decimal(s / total)) for c, s in zip(classes, scores, strict=True)]
    return [sentence("Divided by their sum, the scores are probabilities: ", *listed(shares), ".")]


def listed(parts: Sequence[Math]) -> list[Any]:
    """Return formulas with commas between them, for a sentence."""
    found: list[Any] = []
    for part in parts:
        found += [", ", part] if found else [part]
    return found
