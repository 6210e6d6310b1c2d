"""Noise, bias and variance by hand: several fits at one point, and how their errors split."""

from __future__ import annotations

from typing import Any

from sympy import Rational

from pellucid.core.types import Data
from pellucid.show.document import Document, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Mathlike, Script, fenced, math, over, typed

MOST_FITS = 20


def bias_variance_workings(_: Any, predictions: Data, truth: Any, noise_variance: Any = 0) -> Document:
    """Show how the mean squared error of predictions of one point splits.

    Parameters
    ----------
    predictions : sequence of numbers
        What models fitted to different training sets predict at the point.
    truth : number
        The value of the function there, without noise.
    noise_variance : number, default=0
        Variance of the noise around it.
    """
    values = [exact_number(value, "predictions")[0] for value in predictions]
    if not 2 <= len(values) <= MOST_FITS:
        raise ValueError(f"predictions must be of 2 to {MOST_FITS} fits to be worked by hand, got {len(values)}.")
    right, noise = exact_number(truth, "truth")[0], exact_number(noise_variance, "noise_variance")[0]
    n = len(values)
    mean = sum(values, Rational(0)) / n
    bias, variance = (mean - right) ** 2, sum(((v - mean) ** 2 for v in values), Rational(0)) / n
    error = sum(((v - right) ** 2 for v in values), Rational(0)) / n
    rows = [[math(k + 1), typed(v), v - mean, (v - mean) ** 2, (v - right) ** 2] for k, v in enumerate(values)]
    sums = [["mean", mean, Rational(0), variance, error]]
    steps = (
        step(
            "Average the fits",
            sentence("Each training set gives another model. At this point they predict"),
            table(
                ["fit", math("ŷ_k"), math("ŷ_k − ȳ"), _squared("ŷ_k − ȳ"), _squared("ŷ_k − f")],
                rows,
                summary=sums,
            ),
            sentence("The last row averages: ", math("ȳ =", mean), "."),
        ),
        step(
            "Bias",
            sentence("How far the average fit is from the truth ", math("f =", right), ":"),
            formula(_squared("ȳ − f"), "=", _squared(math(mean, "−", typed(right))), "=", bias),
        ),
        step(
            "Variance",
            sentence("How far single fits are from their average, squared, on average:"),
            formula(over("1", "n"), "∑", _squared("ŷ_k − ȳ"), "=", variance),
        ),
        step(
            "They add up",
            sentence(
                "The mean squared distance from the truth is their sum, because the deviations from a mean cancel:"
            ),
            formula(error, "=", bias, "+", variance),
            sentence("A new observation adds its own noise, which no model can predict:"),
            result(math("error ="), noise, "+", bias, "+", variance, "=", noise + error),
            remark(
                f"With only {n} fits the average itself is uncertain. The program divides the variance by n − 1 and "
                "takes a share 1/n of it off the squared bias; the sum stays the same."
            ),
        ),
    )
    answer = {"noise": noise, "bias": bias, "variance": variance, "error": noise + error}
    return Document("Noise, bias and variance", (sentence("Why do predictions miss? Three reasons."),), steps, answer)


def _squared(inside: Mathlike) -> Script:
    return Script(fenced(inside), above=math("2"))
