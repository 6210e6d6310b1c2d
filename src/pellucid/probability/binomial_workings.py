"""Counts of successes by hand: the likelihood without its binomial coefficients is that of one long row of tosses."""

from __future__ import annotations

from inspect import isclass
from math import comb
from typing import Any

import numpy as np

from pellucid.core.types import Data
from pellucid.probability.bernoulli_workings import powers, share_steps
from pellucid.probability.beta import Beta
from pellucid.show.document import Block, Document, Step, formula, sentence, step, table
from pellucid.show.notation import Script, fenced, math

MOST_COUNTS = 12
MOST_TRIALS = 40


def binomial_workings(density: Any, X: Data, prior: Beta | None = None) -> Document:
    """Show the estimate of the probability of a success, with a Beta prior if one is given."""
    trials = _trials(density)
    counts = _counts(X, trials)
    k, n = sum(counts), trials * len(counts)
    steps, answer = share_steps(k, n, prior, constant=True)
    rule = "maximum likelihood" if prior is None else "maximum a posteriori with a Beta prior"
    return Document(
        f"Counts of successes: {rule}", _opening(counts, trials), (_likelihood(counts, trials), *steps), {"p": answer}
    )


def _trials(density: Any) -> int:
    if isclass(density):
        raise ValueError(
            "Binomial must come with its number of tosses to show the work, got the class. "
            "Pass an object, such as Binomial(4, 0.5): its p does not matter."
        )
    if density.n_trials > MOST_TRIALS:
        raise ValueError(f"n_trials must be at most {MOST_TRIALS} to be worked by hand, got {density.n_trials}.")
    return int(density.n_trials)


def _counts(X: Data, trials: int) -> list[int]:
    values = np.asarray(X).ravel().tolist()
    if not 1 <= len(values) <= MOST_COUNTS:
        raise ValueError(f"X must have 1 to {MOST_COUNTS} counts to be worked by hand, got {len(values)}.")
    wrong = [value for value in values if value not in range(trials + 1)]
    if wrong:
        raise ValueError(f"X must hold whole numbers from 0 to n_trials={trials}, got {wrong[0]!r}.")
    return [int(value) for value in values]


def _opening(counts: list[int], trials: int) -> tuple[Block, ...]:
    shown = ", ".join(map(str, counts))
    return (
        sentence(
            f"Each number counts the successes in {trials} independent tosses; every toss succeeds with probability ",
            math("p"),
            f". The numbers are {shown}. Which ",
            math("p"),
            " makes them most likely?",
        ),
    )


def _likelihood(counts: list[int], trials: int) -> Step:
    head = [math("i"), "successes", "failures", "ways to order them", "probability"]
    rows = [
        [math(i + 1), math(x), math(trials - x), math(comb(trials, x)), math(*_factor(x, trials))]
        for i, x in enumerate(counts)
    ]
    k, n = sum(counts), trials * len(counts)
    totals = [["sum", math(k), math(n - k), "", ""]]
    tails = Script(fenced("1 − p"), above=fenced(math(trials, "− x")))
    return step(
        "Write down the likelihood",
        sentence(f"There are several orders in which x of the {trials} tosses succeed, and each is equally likely:"),
        formula("P", fenced("x"), "=", Script(math("p"), above=math("x")), tails, "· number of orders"),
        table(head, rows, summary=totals),
        sentence("Independent counts multiply; the numbers of orders are a factor without p, written C:"),
        formula("L", fenced("p"), "= C", *powers(k, n - k)),
        sentence("It is the likelihood of ", math("n =", n), " single tosses with ", math("k =", k), " successes."),
    )


def _factor(x: int, trials: int) -> list[Any]:
    ways = comb(trials, x)
    return [*([] if ways == 1 else [ways]), *powers(x, trials - x)]
