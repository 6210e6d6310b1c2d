"""EM by hand: one round of a mixture of Gaussians of one column, then the rounds that follow.

Squared distances, weights and sums are exact; exponentials and logarithms are numbers of ``DIGITS`` digits, of which
the first are written.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from mpmath import mp, mpf  # type: ignore[import-untyped]
from sympy import Rational

from pellucid.core.cards import find_card
from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_features, rounding_remark
from pellucid.show.notation import Math, Script, fenced, math, over, root, typed

if TYPE_CHECKING:
    from pellucid.mixture.gaussian_mixture import GaussianMixture

DIGITS = 40
TINY = 1e-200
"""A narrow Gaussian gives far rows 1e-500000, and fractions of that length take minutes."""
MOST_COMPONENTS = 2
MOST_ROWS = 10
SIMPLE = 1000
"""Denominators up to which a number of the start is read as a fraction."""


@dataclass(frozen=True)
class EmRound:
    """Components, the parts of the density of each row, its responsibilities, and the mean log likelihood."""

    weights: list[Any]
    means: list[Any]
    variances: list[Any]
    parts: list[list[Any]]
    shares: list[list[Any]]
    log_likelihood: Any


def gaussian_mixture_workings(estimator: GaussianMixture, X: Data, _y: Data = None) -> Document:
    """Show the first round of EM in full and the others in a table, every row counted once."""
    features, _, rounded = exact_features(X, max_rows=MOST_ROWS, max_features=1)
    if estimator.n_components != MOST_COMPONENTS:
        raise ValueError(f"n_components must be {MOST_COMPONENTS} to be worked by hand, got {estimator.n_components}.")
    x = [Rational(value) for value in features]
    with mp.workdps(DIGITS):
        rounds, last = _rounds(x, _start(estimator, X), estimator)
    found = {
        "weights_": last[0],
        "means_": [[mean] for mean in last[1]],
        "covariances_": _shaped(last[2], estimator.covariance_type),
        "lower_bound_": rounds[-1].log_likelihood,
        "n_iter_": len(rounds),
    }
    steps = [_responsibility_step(x, rounds[0]), _likelihood_step(rounds[0])]
    steps += [_component_step(x, rounds[0], k, estimator) for k in range(MOST_COMPONENTS)]
    if estimator.covariance_type == "tied":
        steps.append(_tied_step(x, rounds[0], estimator))
    notes = (rounding_remark(),) if rounded else ()
    return Document(
        "A mixture of two Gaussians", (*_opening(x, rounds[0]), *notes), (*steps, _end(rounds, last)), found
    )


def _start(estimator: GaussianMixture, X: Data) -> tuple[list[Any], list[Any], list[Any]]:
    """Return weights, means and variances to start from: those given, or found by our estimator with this seed."""
    card = find_card("GaussianMixture")
    assert card is not None
    settings = {**estimator.get_params(deep=False), "max_iter": 0, "warm_start": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has not converged, and is not asked to
        model = card.estimator(**settings).fit(X)
    variances = np.ravel(model.covariances_)
    variances = np.repeat(variances, MOST_COMPONENTS) if len(variances) == 1 else variances
    return tuple([_read(value) for value in part] for part in (model.weights_, np.ravel(model.means_), variances))  # type: ignore[return-value]


def _read(value: float) -> Rational:
    """Return a simple fraction where that is what the number is, else all its digits."""
    simple = Fraction(float(value)).limit_denominator(SIMPLE)
    near = abs(float(simple) - float(value)) <= 4 * np.spacing(abs(float(value)))
    return Rational(simple.numerator, simple.denominator) if near else Rational(Fraction(float(value)))


def _rounds(
    x: list[Any], start: Any, estimator: GaussianMixture
) -> tuple[list[EmRound], tuple[list[Any], list[Any], list[Any]]]:
    """Return the rounds, with the rule of the program that ends them, and the components after the last."""
    rounds: list[EmRound] = []
    now, moved_before = start, mpf("inf")
    for _ in range(max(estimator.max_iter, 1)):
        rounds.append(_round(x, *now))
        new = _next(x, rounds[-1], estimator)
        moved = _movement(new, now)
        now = new
        gain = abs(_float(rounds[-1].log_likelihood - rounds[-2].log_likelihood)) if len(rounds) > 1 else mpf("inf")
        if gain < estimator.tol and moved <= moved_before:
            break
        moved_before = moved
    return rounds, now


def _round(x: list[Any], weights: list[Any], means: list[Any], variances: list[Any]) -> EmRound:
    parts, shares, logs = [], [], mpf(0)
    for value in x:
        joint = [
            _float(p) * mp.exp(-_float((value - m) ** 2 / (2 * v))) / mp.sqrt(2 * mp.pi * _float(v))
            for p, m, v in zip(weights, means, variances, strict=True)
        ]
        total = mp.fsum(joint)
        parts.append([_kept(part) for part in joint])
        shares.append([_kept(part / total) for part in joint])
        logs += mp.log(total)
    return EmRound(weights, means, variances, parts, shares, _kept(logs / len(x)))


def _next(x: list[Any], now: EmRound, estimator: GaussianMixture) -> tuple[list[Any], list[Any], list[Any]]:
    n, k = len(x), len(now.weights)
    totals = [sum((share[j] for share in now.shares), Rational(0)) for j in range(k)]
    means = [sum((s[j] * v for s, v in zip(now.shares, x, strict=True)), Rational(0)) / totals[j] for j in range(k)]
    scatters = [
        sum((s[j] * (v - means[j]) ** 2 for s, v in zip(now.shares, x, strict=True)), Rational(0)) for j in range(k)
    ]
    floor = _floor(estimator)
    if estimator.covariance_type == "tied":
        variances = [sum(scatters, Rational(0)) / n + floor] * k
    else:
        variances = [scatters[j] / totals[j] + floor for j in range(k)]
    return [_short(t / n) for t in totals], [_short(m) for m in means], [_short(v) for v in variances]


def _movement(new: Any, old: Any) -> Any:
    total = mpf(0)
    for p, m, v, q, c, w in zip(*new, *old, strict=True):
        ratio = _float(v / w)
        total += _float(p) * (mp.log(_float(p / q)) + (ratio - 1 - mp.log(ratio) + _float((m - c) ** 2 / w)) / 2)
    return total


def _floor(estimator: GaussianMixture) -> Rational:
    return Rational(Fraction(str(float(estimator.reg_covar))))


def _float(value: Any) -> Any:
    return mpf(value.p) / mpf(value.q)


def _kept(value: Any) -> Rational:
    """Return the digits that are kept; a part so small that it changes none of any sum is 0."""
    return Rational(Fraction(mp.nstr(value, DIGITS))) if abs(value) > TINY else Rational(0)


def _short(value: Rational) -> Rational:
    """Return a fraction of few digits as it is, a longer one to the digits that are kept."""
    return value if value.q < SIMPLE**2 else _kept(_float(value))


def _shaped(variances: list[Any], covariance_type: str) -> list[Any]:
    shapes = {"full": [[[v]] for v in variances], "tied": [[variances[0]]], "spherical": list(variances)}
    return shapes.get(covariance_type, [[v] for v in variances])


def _opening(x: list[Any], first: EmRound) -> tuple[Block, ...]:
    head = ["component", math("π"), math("μ"), math("v")]
    rows = [[math(k + 1), p, m, v] for k, (p, m, v) in enumerate(_components(first))]
    numbers: list[Any] = []
    for value in x:
        numbers += [typed(value), ","]
    return (
        sentence("The numbers ", math(*numbers[:-1]), " come from two Gaussians, and nobody says which from which:"),
        formula("f", fenced("x"), "= π_1 N", fenced("x ; μ_1 , v_1"), "+ π_2 N", fenced("x ; μ_2 , v_2")),
        sentence(
            "A round first asks how probable each Gaussian is for each number (the responsibilities), and then takes "
            "weights, means and variances of the numbers so shared out. The likelihood rises in every round."
        ),
        table(head, rows, caption="The start"),
        remark(f"Exponentials and logarithms are computed to {DIGITS} digits, of which the first are written."),
    )


def _components(now: EmRound) -> list[tuple[Any, Any, Any]]:
    return list(zip(now.weights, now.means, now.variances, strict=True))


def _responsibility_step(x: list[Any], now: EmRound) -> Step:
    power = math("−", over(_square("x − μ_k"), "2 v_k"))
    head = [math("i"), math("x_i"), math("p_1"), math("p_2"), math("r_1"), math("r_2")]
    rows = [[math(i + 1), typed(value), *now.parts[i], *now.shares[i]] for i, value in enumerate(x)]
    totals = [sum((share[k] for share in now.shares), Rational(0)) for k in range(MOST_COMPONENTS)]
    first, second = ((x[0] - m) ** 2 / (2 * v) for _, m, v in _components(now))
    return step(
        "Share out the numbers",
        sentence("The part of each Gaussian in the density of a number, and its share of their sum:"),
        formula("p_k =", over("π_k", root("2 π v_k")), "exp", fenced(power), ", r_k =",
                over("p_k", "p_1 + p_2")),
        sentence("For the first number the exponents are ", math("−", first), " and ", math("−", second), "."),
        table(head, rows, summary=[["sum", "", "", "", *totals]]),
        remark("The shares of a number add up to 1, so all of them add up to the number of rows."),
    )  # fmt: skip


def _square(inside: str) -> Math:
    return Script(fenced(inside), above=math(2))


def _likelihood_step(now: EmRound) -> Step:
    return step(
        "Measure the likelihood",
        sentence("The mean logarithm of the densities says how well the components suit the numbers:"),
        result("L =", over(math("∑ log", fenced("p_1 + p_2")), "n"), "=", now.log_likelihood),
    )


def _component_step(x: list[Any], now: EmRound, k: int, estimator: GaussianMixture) -> Step:
    n, name = len(x), k + 1
    total = sum((share[k] for share in now.shares), Rational(0))
    first = sum((share[k] * value for share, value in zip(now.shares, x, strict=True)), Rational(0))
    mean = first / total
    scatter = sum((share[k] * (value - mean) ** 2 for share, value in zip(now.shares, x, strict=True)), Rational(0))
    blocks: list[Block] = [
        result(f"π_{name} =", over(f"∑ r_{name}", "n"), "=", over(total, n), "=", total / n),
        result(f"μ_{name} =", over(f"∑ r_{name} x_i", f"∑ r_{name}"), "=", over(first, total), "=", mean),
    ]
    if estimator.covariance_type != "tied":
        floor = _floor(estimator)
        added = ["+", typed(floor)] if floor else []
        blocks.append(result(f"v_{name} =", over(scatter, total), *added, "=", scatter / total + floor))
        if floor:
            blocks.append(sentence("What is added, ", math(typed(floor)), ", is reg_covar: no variance becomes 0."))
    return step(f"The numbers of Gaussian {name}", *blocks)


def _tied_step(x: list[Any], now: EmRound, estimator: GaussianMixture) -> Step:
    return step(
        "One variance for both",
        sentence("The squares of both Gaussians together, divided by the number of rows:"),
        result("v =", _next(x, now, estimator)[2][0]),
    )


def _end(rounds: list[EmRound], last: tuple[list[Any], list[Any], list[Any]]) -> Step:
    head = ["round", math("L"), math("π_1"), math("μ_1"), math("μ_2"), math("v_1"), math("v_2")]
    shown = rounds if len(rounds) <= 12 else [*rounds[:6], *rounds[-5:]]
    numbers = (
        list(range(1, len(rounds) + 1))
        if len(rounds) <= 12
        else [*range(1, 7), *range(len(rounds) - 4, len(rounds) + 1)]
    )
    rows = [
        [
            math(number),
            _digits(r.log_likelihood),
            _digits(r.weights[0]),
            *map(_digits, r.means),
            *map(_digits, r.variances),
        ]
        for number, r in zip(numbers, shown, strict=True)
    ]
    left_out = (
        [] if len(rows) == len(rounds) else [remark(f"Of {len(rounds)} rounds the first 6 and the last 5 are listed.")]
    )
    ends = [["after", "", _digits(last[0][0]), *map(_digits, last[1]), *map(_digits, last[2])]]
    return step(
        "The rounds that follow",
        sentence("Each line has what a round starts from, and its likelihood; the last line is the answer."),
        table(head, rows, summary=ends),
        *left_out,
        remark("That is a local maximum, up to tol; another start may end in another."),
    )


def _digits(value: Rational) -> Math:
    """Return a number to six digits, for a table of many."""
    return typed(Rational(Fraction(f"{float(value):.6g}")))
