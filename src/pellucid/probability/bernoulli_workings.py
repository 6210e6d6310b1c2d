"""A coin by hand, tossed once or several times: likelihood, logarithm, derivative, and what a Beta prior adds."""

from __future__ import annotations

from inspect import isclass
from math import comb
from typing import Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.probability.conjugate_priors import Beta
from pellucid.show.document import Block, Document, Figure, Series, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Math, Script, combination, fenced, math, over

MOST_TOSSES = 40
SPELLED_OUT = 8
"""Tosses up to which every factor of the likelihood is written."""

CURVE_POINTS = 41


def bernoulli_workings(
    density: Any,  # noqa: ARG001  (workings are told what they show, and this one knows)
    X: Data,
    prior: Beta | None = None,
) -> Document:
    """Show the estimate of a coin's probability, with a Beta prior if one is given."""
    tosses = _tosses(X)
    k, n = sum(tosses), len(tosses)
    steps, answer = share_steps(k, n, prior)
    title = "A coin: maximum likelihood" if prior is None else "A coin: maximum a posteriori with a Beta prior"
    return Document(title, _opening(tosses, k, n), (_likelihood(tosses, k, n), *steps), {"p": answer})


def share_steps(k: int, n: int, prior: Beta | None, *, constant: bool = False) -> tuple[list[Step], Rational]:
    """Return how k ones among n tosses give a probability, from the logarithm on, and that probability.

    ``constant``: the likelihood has a factor without p in it.
    """
    steps, answer = [_logarithm(k, n, constant), _derivative(k, n)], Rational(k, n)
    if prior is not None:
        a, b = (exact_number(value, name)[0] for value, name in ((prior.alpha, "alpha"), (prior.beta, "beta")))
        answer = _mode(k + a, n - k + b)
        steps.append(_with_prior(k, n, a, b, answer))
    return [*steps, step("Draw the likelihood", _figure(k, n, answer, prior is not None))], answer


def _tosses(X: Data) -> list[int]:
    values = np.asarray(X).ravel().tolist()
    if not 1 <= len(values) <= MOST_TOSSES:
        raise ValueError(f"X must have 1 to {MOST_TOSSES} tosses to be worked by hand, got {len(values)}.")
    if any(value not in (0, 1) for value in values):
        got = next(value for value in values if value not in (0, 1))
        raise ValueError(f"X must hold 0 and 1, got {got!r}.")
    return [int(value) for value in values]


def _opening(tosses: list[int], k: int, n: int) -> tuple[Block, ...]:
    shown = ", ".join(map(str, tosses))
    return (
        sentence(
            "A coin shows 1 with probability ", math("p"), " and 0 with probability ", math("1 − p"), ", independently."
        ),
        sentence(
            f"The tosses are {shown}: the number of ones is ", math("k =", k), ", of tosses ", math("n =", n), "."
        ),
        sentence("Which ", math("p"), " makes these tosses most likely?"),
    )


def powers(ones: Any, zeros: Any) -> list[Math]:
    """Return ``p^ones (1 - p)^zeros`` without exponents 0 and 1."""
    factors = [(math("p"), ones), (fenced("1 − p"), zeros)]
    return [base if power == 1 else Script(base, above=math(power)) for base, power in factors if power] or [math(1)]


def _likelihood(tosses: list[int], k: int, n: int) -> Step:
    tails = fenced("1 − p")
    one_by_one: list[Any] = []
    if n <= SPELLED_OUT:
        for toss in tosses:
            one_by_one += ["·"] * bool(one_by_one) + ["p" if toss else tails]
        one_by_one += ["="] if n > 1 else []
    return step(
        "Write down the likelihood",
        sentence("Independent tosses multiply: a factor ", math("p"), " for each 1, a factor ", tails, " for each 0."),
        formula("L", fenced("p"), "=", *(one_by_one if n > 1 else []), *powers(k, n - k)),
    )


def _log_terms(ones: Any, zeros: Any) -> list[Any]:
    heads, tails = math("log", fenced("p")), math("log", fenced("1 − p"))
    terms: list[Any] = []
    for count, node in ((ones, heads), (zeros, tails)):
        if count:
            terms += ["+"] * bool(terms) + ([node] if count == 1 else [count, node])
    return terms


def _logarithm(k: int, n: int, constant: bool) -> Step:
    return step(
        "Take the logarithm",
        sentence("The logarithm rises with its argument, so the best p stays the same, and products become sums."),
        formula("ℓ", fenced("p"), "=", *_log_terms(k, n - k), *(["+ c"] if constant else [])),
        *([sentence("The number c has no p in it and does not move the maximum.")] if constant else []),
    )


def _derivative(k: int, n: int) -> Step:
    if k in (0, n):
        end = 0 if k == 0 else 1
        direction = "falls" if k == 0 else "rises"
        return step(
            "Look at the slope",
            formula("ℓ′", fenced("p"), "=", *(["−", over(n, "1 − p")] if k == 0 else [over(n, "p")])),
            sentence(
                f"It is never 0: the likelihood {direction} all the way, so the best p is at the end of the interval."
            ),
            result("p̂ =", end),
            remark(
                "So few tosses make the other side impossible for ever. A prior, even a weak one, does not claim that."
            ),
        )
    return step(
        "Set the derivative to zero",
        formula("ℓ′", fenced("p"), "=", over(k, "p"), "−", over(n - k, "1 − p"), "= 0"),
        sentence("Multiply by ", math("p", fenced("1 − p")), ":"),
        formula(*([] if k == 1 else [k]), fenced("1 − p"), "=", combination([(n - k, "p")])),
        formula(k, "=", combination([(n, "p")])),
        result("p̂ =", over("k", "n"), "=", over(k, n), *(["=", Rational(k, n)] if Rational(k, n).q != n else [])),
        sentence(
            "The second derivative ",
            math("−", over(k, "p^2"), "−", over(n - k, Script(fenced("1 − p"), above=math(2)))),
            " is negative everywhere, so this is the maximum and the only one.",
        ),
    )


def _with_prior(k: int, n: int, a: Rational, b: Rational, answer: Rational) -> Step:
    tails = fenced("1 − p")
    ones, zeros = k + a - 1, n - k + b - 1
    blocks: list[Block] = [
        sentence("The prior is Beta with ", math("α =", a), " and ", math("β =", b), "; the factor c has no p in it:"),
        formula(
            "f", fenced("p"), "= c", Script(math("p"), above=fenced("α − 1")), Script(tails, above=fenced("β − 1"))
        ),
        sentence("Times the likelihood: the exponents add up."),
        formula("f", fenced("p"), "L", fenced("p"), "= c", *powers(ones, zeros)),
        sentence(
            "The prior acts like tosses seen before, ",
            math("α − 1 =", a - 1),
            " with a 1 and ",
            math("β − 1 =", b - 1),
            " with a 0: pseudo-counts.",
        ),
    ]
    if ones <= 0 or zeros <= 0:
        blocks += [
            sentence("One exponent is not above 0, so the posterior is largest at the end of the interval:"),
            result("p̂_MAP =", answer),
        ]
        return step("Add the prior", *blocks)
    blocks += [
        sentence("The same derivative as before gives"),
        result("p̂_MAP =", over("k + α − 1", "n + α + β − 2"), "=", over(ones, ones + zeros), "=", answer),
    ]
    return step("Add the prior", *blocks, *_average(k, n, a, b, answer))


def _average(k: int, n: int, a: Rational, b: Rational, answer: Rational) -> list[Block]:
    """Return the estimate as an average of the data's opinion and the prior's, if the prior has a best p."""
    pseudo = a + b - 2
    if pseudo <= 0 or a < 1 or b < 1:
        return []
    return [
        sentence("That is an average of the share in the data and the prior's favorite, weighted by their numbers:"),
        formula(
            answer,
            "=",
            over(n, n + pseudo),
            "·",
            Rational(k, n),
            "+",
            over(pseudo, n + pseudo),
            "·",
            (a - 1) / pseudo,
        ),
        sentence("More tosses make the first weight grow: the data win in the end."),
    ]


def _mode(a: Rational, b: Rational) -> Rational:
    """Return the mode of a Beta density, exactly; refuse if no point is best."""
    if a <= 1 and b <= 1 and (a < 1) == (b < 1):
        raise ValueError("prior must leave a posterior with one mode, got none. Use a prior with larger parameters.")
    if a <= 1 or b <= 1:
        return Rational(0) if a <= 1 and not b < 1 else Rational(1)
    return (a - 1) / (a + b - 2)


def _figure(k: int, n: int, answer: Rational, with_prior: bool) -> Figure:
    grid = np.linspace(0, 1, CURVE_POINTS)
    curve = grid**k * (1 - grid) ** (n - k)
    best = float(answer)
    curve_label, point_label = "likelihood", "estimate with prior" if with_prior else "estimate"
    return Figure(
        (
            Series(tuple(grid.tolist()), tuple((curve / curve.max()).tolist()), joined=True, label=curve_label),
            Series((best,), (float(best**k * (1 - best) ** (n - k) / curve.max()),), label=point_label),
        ),
        "p",
        "L(p) / max",
        "The likelihood of the data, and the estimate",
    )


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
        f"Counts of successes: {rule}",
        _binomial_opening(counts, trials),
        (_binomial_likelihood(counts, trials), *steps),
        {"p": answer},
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


def _binomial_opening(counts: list[int], trials: int) -> tuple[Block, ...]:
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


def _binomial_likelihood(counts: list[int], trials: int) -> Step:
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
