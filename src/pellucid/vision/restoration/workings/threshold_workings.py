"""Soft thresholding, Stein's estimate of its error, and the PSNR, by hand."""

from __future__ import annotations

from math import log10
from typing import Any

from sympy import Rational

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix, exactly
from pellucid.show.document import Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import Math, Script, Words, cases, fenced, math, matrix, over

MOST_NUMBERS = 12
DECIMALS = 4


def show_soft_threshold(y: Data, threshold: Any = 1) -> Document:
    """Return the minimizer of half the squared distance plus a penalty on absolute values, number by number.

    Parameters
    ----------
    y : array-like
        At most twelve numbers.
    threshold : number, default=1
        Weight of the absolute values, at least 0.

    Examples
    --------
    >>> show_soft_threshold([3, -1, 2], 1).answer["x"]
    [2, 0, 1]
    """
    numbers, t = _numbers(y), _nonnegative(threshold, "threshold")
    x = [_soft(value, t) for value in numbers]
    rows = [
        [math(k + 1), value, abs(value) - t, _said(value, t), kept]
        for k, (value, kept) in enumerate(zip(numbers, x, strict=True))
    ]
    rest = [
        [math(k + 1), kept, value - kept, _condition(kept, value - kept, t)]
        for k, (value, kept) in enumerate(zip(numbers, x, strict=True))
    ]
    objective = sum(((a - b) ** 2 for a, b in zip(numbers, x, strict=True)), Rational(0)) / 2 + t * sum(map(abs, x))
    steps = (
        step(
            "One number at a time",
            sentence("The sum is least where each of its terms is. For one of them:"),
            formula("x > 0 :", Words("slope "), "x − y + t = 0 ,", Words("so "), "x = y − t ,", Words("if "), "y > t"),
            formula(
                "x < 0 :", Words("slope "), "x − y − t = 0 ,", Words("so "), "x = y + t ,", Words("if "), "y < − t"
            ),
            sentence("Otherwise neither side falls, and 0 is the best:"),
            formula("x =", cases(("y − t", "y > t"), ("y + t", "y < − t"), ("0", Words("otherwise")))),
        ),
        step(
            "Threshold",
            table([math("k"), math("y"), math(size_of("y"), "− t"), "", math("x")], rows),
            result("x =", matrix([x])),
        ),
        step(
            "Check the answer",
            sentence(
                "At the minimum, what was taken away is ",
                math("t"),
                " times the sign of what is left, and anything up to ",
                math("t"),
                " where nothing is left:",
            ),
            table([math("k"), math("x"), math("y − x"), ""], rest),
            result("F", fenced("x"), "=", objective),
        ),
    )
    opening = (
        sentence("Find the numbers that are near those measured, and small:"),
        formula("F", fenced("x"), "= ∑", over(1, 2), squared("x_k − y_k"), "+ t ∑", size_of("x_k"), ", t =", t),
    )
    return Document("Soft threshold", opening, steps, {"x": x, "objective": objective})


def show_sure(y: Data, threshold: Any = 1, sigma: Any = 1) -> Document:
    """Return Stein's unbiased estimate of the squared error of a soft threshold, number by number.

    Parameters
    ----------
    y : array-like
        At most twelve numbers, as they were measured.
    threshold : number, default=1
        By how much each number is drawn to 0, at least 0.
    sigma : number, default=1
        Standard deviation of the noise of each number, at least 0.

    Examples
    --------
    >>> show_sure([3, -1, 2], 1, 1).answer["risk"]
    4
    """
    numbers, t, s = _numbers(y), _nonnegative(threshold, "threshold"), _nonnegative(sigma, "sigma")
    x = [_soft(value, t) for value in numbers]
    n, slopes = len(numbers), [Rational(1 if abs(value) > t else 0) for value in numbers]
    residual = sum(((a - b) ** 2 for a, b in zip(numbers, x, strict=True)), Rational(0))
    trace = sum(slopes, Rational(0))
    risk = residual - n * s**2 + 2 * s**2 * trace
    rows = [[math(k + 1), a, b, (a - b) ** 2, d] for k, (a, b, d) in enumerate(zip(numbers, x, slopes, strict=True))]
    steps = (
        step(
            "Threshold, and see how the answer moves",
            sentence("A number that is kept moves as much as what was measured; one that is set to 0 does not move:"),
            table(
                [math("k"), math("y"), math("x"), math(squared("y − x")), math(over("d x", "d y"))],
                rows,
                summary=[["sum", "", "", residual, trace]],
            ),
        ),
        step(
            "Stein's formula",
            formula("R = ∑", squared("y − x"), "− n σ^2 + 2 σ^2 ∑", over("d x", "d y")),
            result("R =", residual, "−", n, "·", s**2, "+ 2 ·", s**2, "·", trace, "=", risk),
            sentence(
                "That is the mean of ", over(risk, n), " for each number, found without knowing a single clean one."
            ),
            *_thresholds_compared(numbers, s),
        ),
    )
    opening = (
        sentence(
            "Each number was measured with noise of standard deviation ",
            math("σ =", s),
            ", and shrunk by ",
            math("t =", t),
            ".",
        ),
        sentence("How far is the result from the clean numbers, which nobody knows? On average as far as this says:"),
    )
    return Document("Stein's unbiased estimate of the error", opening, steps, {"x": x, "risk": risk})


def _thresholds_compared(numbers: list[Rational], s: Rational) -> list[Any]:
    """Return the estimate at every threshold that matters: those at which one number more is set to 0."""
    rows = []
    for t in sorted({Rational(0), *map(abs, numbers)}):
        residual = sum((min(abs(v), t) ** 2 for v in numbers), Rational(0))
        trace = sum(1 for v in numbers if abs(v) > t)
        rows.append([t, residual, math(trace), residual - len(numbers) * s**2 + 2 * s**2 * trace])
    best = min(rows, key=lambda row: row[3])
    return [
        sentence("Between two measured sizes it rises with the threshold, so the best one is among these:"),
        table([math("t"), math("∑", squared("y − x")), "kept", math("R")], rows),
        sentence("The least estimate is at ", math("t =", best[0]), "."),
    ]


def show_psnr(clean: Data, image: Data = None, peak: Any = 255) -> Document:
    """Return the mean squared error of an image and its peak signal-to-noise ratio.

    Parameters
    ----------
    clean, image : array-like of one shape
        The image as it should be, and the one to be judged: at most twelve numbers each.
    peak : number, default=255
        Largest gray value there can be.

    Examples
    --------
    >>> show_psnr([[100, 50]], [[103, 54]]).answer["mse"]
    25/2
    """
    a, b, top = exact_matrix(clean, "clean"), exact_matrix(image, "image"), _nonnegative(peak, "peak")
    if a.shape != b.shape or len(a) > MOST_NUMBERS:
        raise ValueError(
            f"clean and image must have the same shape and at most {MOST_NUMBERS} numbers to show the work, got "
            f"{a.shape} and {b.shape}."
        )
    difference = b - a
    squares = [value**2 for value in difference]
    total = sum(squares, Rational(0))
    error = total / len(squares)
    steps = [
        step(
            "Differences",
            formula(Words("image"), "−", Words("clean"), "=", matrix(b), "−", matrix(a), "=", matrix(difference)),
        ),
        step(
            "Mean squared error",
            sentence("Their squares are added and divided by how many they are:"),
            result(Words("MSE"), "=", over(total, len(squares)), "=", error),
        ),
        _decibels_step(error, top),
    ]
    answer = {"mse": error} | ({} if error == 0 else {"psnr": 10 * log10(float(top**2 / error))})
    opening = (sentence("How far is an image from the clean one, if the largest gray value is ", math(top), "?"),)
    return Document("Peak signal-to-noise ratio", opening, tuple(steps), answer)


def _decibels_step(error: Rational, top: Rational) -> Step:
    if error == 0:
        return step("In decibels", sentence("Without an error the ratio is infinite."))
    value = round(10 * log10(float(top**2 / error)), DECIMALS)
    return step(
        "In decibels",
        sentence("Ten times the logarithm of the largest square there could be, over this:"),
        result(Words("PSNR"), "= 10 log_10", fenced(over(top**2, error)), "≈", Rational(str(value))),
        remark("Twice the error in gray values costs 6.02 decibels; ten times the error 20."),
    )


def _soft(value: Rational, t: Rational) -> Rational:
    return max(value - t, Rational(0)) + min(value + t, Rational(0))


def _said(value: Rational, t: Rational) -> str:
    return "set to 0" if abs(value) <= t else "less t" if value > 0 else "plus t"


def _condition(kept: Rational, taken: Rational, t: Rational) -> str:
    if kept == 0:
        return "at most t" if abs(taken) <= t else "wrong"
    return "t times the sign" if taken == (t if kept > 0 else -t) else "wrong"


def _numbers(y: Data) -> list[Rational]:
    numbers = list(exact_matrix(y, "y"))
    if len(numbers) > MOST_NUMBERS:
        raise ValueError(f"y must have at most {MOST_NUMBERS} numbers to show the work, got {len(numbers)}.")
    return numbers


def _nonnegative(value: Any, name: str) -> Rational:
    number = exactly(value, name)
    if number < 0:
        raise ValueError(f"{name} must be at least 0, got {value!r}.")
    return number


def squared(inside: str) -> Math:
    """Return something between brackets, squared."""
    return Script(fenced(inside), above=math(2))


def size_of(inside: str) -> Math:
    """Return the absolute value of something."""
    return fenced(inside, "||")
