"""The logistic density by hand: its cdf is the sigmoid, and Newton's method finds location and scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf  # type: ignore[import-untyped]  # it comes with sympy
from sympy import Rational

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Script, Words, fenced, math, minus, over, typed

DIGITS = 30
MOST_NUMBERS = 12
MOST_STEPS = 60
SHOWN = 8


def logistic_workings(
    density: Any,  # noqa: ARG001  (workings are told what they show, and this one knows)
    X: Data,
    prior: None = None,  # noqa: ARG001  (there is no conjugate one)
) -> Document:
    """Show the likelihood, the steps of Newton's method, and the cdf at the numbers."""
    values = np.asarray(X).ravel().tolist()
    if not 2 <= len(values) <= MOST_NUMBERS or len(set(values)) < 2:
        raise ValueError(f"X must have 2 to {MOST_NUMBERS} numbers that differ to be worked by hand, got {values!r}.")
    exact = [exact_number(value, "X")[0] for value in values]
    with mp.workdps(DIGITS):
        x = [mpf(int(v.p)) / int(v.q) for v in exact]
        path = _newton(x)
        location, scale = path[-1][0], path[-1][1]
        cdf = [1 / (1 + mp.exp(-(v - location) / scale)) for v in x]
    steps = (_likelihood_step(), _steps_step(path), _cdf_step(exact, cdf))
    found = {"location": Rational(mp.nstr(location, 20)), "scale": Rational(mp.nstr(scale, 20))}
    return Document("The logistic density", _opening(exact), steps, found)


def _newton(x: list[Any]) -> list[tuple[Any, Any, Any]]:
    """Return location, scale and log likelihood of every iterate, from the mean and the moments on.

    In a = 1/s and b = mu/s the log likelihood, the sum of log a - z - 2 log(1 + e^-z) with z = a x - b, is concave.
    """
    n = len(x)
    mean = mp.fsum(x) / n
    spread = mp.sqrt(mp.fsum((v - mean) ** 2 for v in x) / n)
    a = mp.pi / (mp.sqrt(3) * spread)
    b, path = a * mean, []
    for _ in range(MOST_STEPS):
        path.append((b / a, 1 / a, _value(x, a, b)))
        p = [1 / (1 + mp.exp(-(a * v - b))) for v in x]
        ga = n / a + mp.fsum(v * (1 - 2 * q) for v, q in zip(x, p, strict=True))
        gb = -mp.fsum(1 - 2 * q for q in p)
        w = [2 * q * (1 - q) for q in p]
        haa = -n / a**2 - mp.fsum(v * v * k for v, k in zip(x, w, strict=True))
        hab, hbb = mp.fsum(v * k for v, k in zip(x, w, strict=True)), -mp.fsum(w)
        det = haa * hbb - hab**2
        da, db = -(hbb * ga - hab * gb) / det, -(haa * gb - hab * ga) / det
        share = mpf(1)
        while a + share * da <= 0 or _value(x, a + share * da, b + share * db) < path[-1][2] - mpf(10) ** (5 - DIGITS):
            share /= 2
        a, b = a + share * da, b + share * db
        if abs(ga) + abs(gb) < mpf(10) ** (8 - DIGITS):
            break
    path.append((b / a, 1 / a, _value(x, a, b)))
    return path


def _value(x: list[Any], a: Any, b: Any) -> Any:
    return mp.fsum(mp.log(a) - (a * v - b) - 2 * mp.log(1 + mp.exp(-(a * v - b))) for v in x)


def _opening(x: list[Rational]) -> tuple[Block, ...]:
    power = Script(math("e"), above=math("− z"))
    listed: list[Any] = []
    for value in x:
        listed += [",", typed(value)] if listed else [typed(value)]
    return (
        sentence("The numbers ", math(*listed), " are taken to come from a logistic density,"),
        formula(
            "f",
            fenced("x"),
            "=",
            over(power, math("s", Script(fenced(math("1 +", power)), above=math(2)))),
            ", z =",
            over("x − μ", "s"),
        ),
        sentence("Its cdf is the sigmoid of z, and it has the mean μ and the variance ", math(over("π^2 s^2", 3)), ":"),
        formula("F", fenced("x"), "=", over(1, math("1 +", power))),
        remark(f"Exponentials have no end: all is computed to {DIGITS} digits, of which a few are written."),
    )


def _likelihood_step() -> Step:
    tail = fenced(math("1 +", Script(math("e"), above=math("− z_i"))))
    return step(
        "The logarithm of the likelihood",
        formula("ℓ = ∑", fenced(math("− log", fenced("s"), "− z_i − 2 log", tail))),
        sentence(
            "In ", math("a =", over(1, "s")), " and ", math("b =", over("μ", "s")),
            " it is concave, so Newton's method finds the only maximum. No closed form is known.",
        ),
    )  # fmt: skip


def _steps_step(path: list[tuple[Any, Any, Any]]) -> Step:
    rows = [
        [math(k), _told(location), _told(scale), _told(value)]
        for k, (location, scale, value) in enumerate(path[:SHOWN])
    ]
    location, scale, _ = path[-1]
    return step(
        "Newton's steps",
        sentence("From the mean, and the scale that has the variance of the numbers:"),
        table(["step", math("μ"), math("s"), math("ℓ")], rows),
        result("μ =", _told(location), ", s =", _told(scale)),
    )


def _cdf_step(x: list[Rational], cdf: list[Any]) -> Step:
    rows = [[typed(value), _told(share)] for value, share in zip(x, cdf, strict=True)]
    return step(
        "The cdf at the numbers",
        sentence("How probable a number up to x is; at μ it is one half:"),
        table([math("x"), math("F", fenced("x"))], rows),
    )


def _told(value: Any) -> Words:
    return Words(minus(f"{float(value):.7g}"))
