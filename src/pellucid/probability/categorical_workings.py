"""Shares of labels by hand: the likelihood, a multiplier for the sum of 1, and what a Dirichlet prior adds."""

from __future__ import annotations

from inspect import isclass
from math import factorial, prod
from typing import Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.probability.conjugate_priors import Dirichlet
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import Label, exact_number
from pellucid.show.notation import Math, Script, Words, fenced, math, over, total

MOST_DRAWS = 40
MOST_LABELS = 8


def categorical_workings(density: Any, X: Data, prior: Dirichlet | None = None) -> Document:
    """Show how shares are estimated, with a Dirichlet prior if one is given."""
    draws, labels = _draws(density, X)
    counts = [draws.count(label) for label in labels]
    steps = [_count_step(labels, counts), _likelihood_step(counts), _multiplier_step(labels, counts)]
    answer = [Rational(n, len(draws)) for n in counts]
    if prior is not None:
        alpha = _concentration(prior, len(labels))
        prior_step, answer = _prior_step(labels, counts, alpha)
        steps.append(prior_step)
    rule = "maximum likelihood" if prior is None else "maximum a posteriori with a Dirichlet prior"
    return Document(f"Shares of labels: {rule}", _opening(draws, labels), tuple(steps), {"probabilities": answer})


def multinomial_workings(
    density: Any,  # noqa: ARG001  (workings are told what they show, and this one knows)
    X: Data,
    prior: Dirichlet | None = None,
) -> Document:
    """Show how the shares of rows of counts are estimated: they are those of all draws together."""
    rows = np.asarray(X)
    if rows.ndim != 2 or rows.size == 0 or rows.shape[1] > MOST_LABELS:
        raise ValueError(f"X must be rows of at most {MOST_LABELS} counts, got shape {rows.shape}.")
    exact = [[int(value) for value in row] for row in rows]
    if (rows < 0).any() or (rows != np.array(exact)).any() or len({sum(row) for row in exact}) > 1:
        raise ValueError("X must hold counts whose rows add up to one number of draws, got others.")
    labels: list[Label] = [f"category {j + 1}" for j in range(rows.shape[1])]
    counts = [sum(row[j] for row in exact) for j in range(rows.shape[1])]
    n = sum(exact[0])
    ways = [math(over(math(f"{n} !"), _factorials(row)), "=", multinomial_coefficient(row)) for row in exact]
    first = step(
        "What does not depend on the shares",
        sentence("The draws of a row may come in any order, so many ways:"),
        table(
            ["row", *(math(f"k_{j + 1}") for j in range(len(labels))), "orders"],
            [[math(i + 1), *map(math, row), way] for i, (row, way) in enumerate(zip(exact, ways, strict=True))],
        ),
        sentence("That is a factor of the likelihood without p in it: it changes no maximum."),
    )
    steps = [first, _count_step(labels, counts), _likelihood_step(counts), _multiplier_step(labels, counts)]
    answer = [Rational(count, sum(counts)) for count in counts]
    if prior is not None:
        prior_step, answer = _prior_step(labels, counts, _concentration(prior, len(labels)))
        steps.append(prior_step)
    opening = (
        sentence(f"Every row counts {n} independent draws, category j with probability ", math("p_j"), "."),
        formula(
            "P",
            fenced("k"),
            "=",
            over("n !", "k_1 ! k_2 ! …"),
            Script(math("p_1"), above=math("k_1")),
            Script(math("p_2"), above=math("k_2")),
            "…",
        ),
    )
    return Document("Shares of counted draws", opening, tuple(steps), {"probabilities": answer, "n_trials": n})


def _factorials(row: list[int]) -> Math:
    return math(*(part for k in row for part in (math(f"{k} !"),)))


def multinomial_coefficient(row: list[int]) -> int:
    """Return in how many orders draws with these counts may come."""
    return factorial(sum(row)) // prod(map(factorial, row))


def _draws(density: Any, X: Data) -> tuple[list[Any], list[Any]]:
    """Return the draws and all labels there are: those of the density if it has some, or those that occur, sorted."""
    values = np.asarray(X)
    draws = (values.astype(str) if values.dtype == object else values).ravel().tolist()
    if not 1 <= len(draws) <= MOST_DRAWS:
        raise ValueError(f"X must have 1 to {MOST_DRAWS} draws to be worked by hand, got {len(draws)}.")
    labels = sorted(set(draws)) if isclass(density) else density.categories.tolist()
    unknown = [draw for draw in draws if draw not in labels]
    if unknown:
        raise ValueError(f"X must hold only the categories {labels}, got {unknown[0]!r}.")
    if len(labels) > MOST_LABELS:
        raise ValueError(f"X must have at most {MOST_LABELS} different labels to be worked by hand, got {len(labels)}.")
    return draws, labels


def _concentration(prior: Dirichlet, n: int) -> list[Rational]:
    alpha = [exact_number(value, "concentration")[0] for value in prior.concentration.tolist()]
    if len(alpha) != n:
        raise ValueError(f"prior must have one concentration per category ({n}), got {len(alpha)}.")
    return alpha


def _opening(draws: list[Any], labels: list[Label]) -> tuple[Block, ...]:
    return (
        sentence(
            f"Every draw is one of {len(labels)} labels, independently, label j with probability ",
            math("p_j"),
            ". Which probabilities make these draws most likely?",
        ),
        sentence("The draws: " + ", ".join(map(str, draws)) + "."),
    )


def _count_step(labels: list[Label], counts: list[int]) -> Step:
    rows = [[math(j + 1), str(label), math(n)] for j, (label, n) in enumerate(zip(labels, counts, strict=True))]
    counted = table([math("j"), "label", math("n_j")], rows, summary=[["", "all", math(sum(counts))]])
    return step("Count the labels", counted)


def _likelihood_step(counts: list[int]) -> Step:
    seen = [(j, n) for j, n in enumerate(counts) if n]
    factors = [_power(f"p_{j + 1}", n) for j, n in seen]
    terms = [math(*([] if n == 1 else [n]), "log", fenced(f"p_{j + 1}")) for j, n in seen]
    return step(
        "Write down the likelihood",
        sentence("Independent draws multiply, and equal ones make powers; the logarithm turns them into a sum:"),
        formula("L =", *factors),
        formula("ℓ =", total(terms)),
    )


def _power(base: str, n: int) -> Math:
    index, exponent = math(base), math(n)
    return index if n == 1 else math(f"{base}^{n}") if n < 10 else Script(fenced(index), above=exponent)


def _multiplier_step(labels: list[Label], counts: list[int]) -> Step:
    n = sum(counts)
    blocks: list[Block] = [
        sentence("The probabilities must add up to 1. Give that condition a multiplier ", math("λ"), ":"),
        formula("ℓ − λ", fenced(math("∑ p_j − 1"))),
        sentence("The derivative in each ", math("p_j"), " vanishes:"),
        formula(over("n_j", "p_j"), "− λ = 0 ,", "p_j =", over("n_j", "λ")),
        sentence("Their sum is 1, so ", math("λ = ∑ n_j =", n), ": every probability is the share of its label."),
        *(
            formula(_p(j, label), "=", _carried_out(m, n))
            for j, (label, m) in enumerate(zip(labels, counts, strict=True))
        ),
    ]
    if 0 in counts:
        blocks.append(
            remark(
                "A label that did not come up gets probability 0, as if it never could. A prior does not claim that."
            )
        )
    return step("Maximize under the condition", *blocks)


def _p(j: int, label: Any) -> Math:
    return math(f"p̂_{j + 1} = P", fenced(Words(str(label))))


def _carried_out(above: Any, below: Any) -> Math:
    share = Rational(above) / below
    return math(over(above, below), *(["=", share] if share.q != below or share.p != above else []))


def _prior_step(labels: list[Label], counts: list[int], alpha: list[Rational]) -> tuple[Step, list[Rational]]:
    excess = [n + a - 1 for n, a in zip(counts, alpha, strict=True)]
    whole = sum(excess, Rational(0))
    if min(excess) < 0 or whole == 0:
        raise ValueError("prior must leave a posterior with one mode, got none. Use a prior with larger parameters.")
    listed = math(*(part for j, a in enumerate(alpha) for part in ([","] if j else []) + [a]))
    lines = [
        formula(_p(j, label), "=", over(math(n, "+", a, "− 1"), whole), "=", e / whole)
        for j, (label, n, a, e) in enumerate(zip(labels, counts, alpha, excess, strict=True))
    ]
    made = step(
        "Add the prior",
        sentence(
            "The prior is Dirichlet with ", math("α ="), " ", listed, ": a factor of each probability to a power."
        ),
        formula(math("f = c ·"), Script(math("p_1"), above=fenced("α_1 − 1")), "· … "),
        sentence(
            "Times the likelihood the exponents add up, as if label j had come up ",
            math("α_j − 1"),
            " times before: pseudo-counts. The same multiplier gives",
        ),
        *lines,
    )
    return made, [e / whole for e in excess]
