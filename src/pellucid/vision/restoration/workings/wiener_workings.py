"""Wiener's filter on eight samples by hand: one number for each frequency."""

from __future__ import annotations

from typing import Any

from sympy import I, Rational, cos, expand, im, nsimplify, pi, re, simplify, sin

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix, exactly
from pellucid.show.document import Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import fenced, math, matrix, over

MOST_SAMPLES = 8
DECIMALS = 5


def show_wiener(y: Data, signal: Data = None, sigma: Any = 1, kernel: Data = None) -> Document:
    """Return a short periodic signal without its noise, and without its blur if a kernel is given.

    Parameters
    ----------
    y : list of at most 8 numbers
        What was measured.
    signal : list of as many numbers, default=None
        The expected power of the clean signal at each frequency; None takes that of a random walk.
    sigma : number, default=1
        Standard deviation of the noise.
    kernel : list of numbers, default=None
        A blur, its first number on the sample itself; None for none.

    Examples
    --------
    >>> show_wiener([4, 0, 0, 0], [3, 1, 1, 1], 1).answer["x"]
    [9/4, 1/4, 1/4, 1/4]
    """
    samples, s = list(exact_matrix(y, "y")), exactly(sigma, "sigma")
    n = len(samples)
    if not 2 <= n <= MOST_SAMPLES or s < 0:
        raise ValueError(f"y must have 2 to {MOST_SAMPLES} samples, and sigma be at least 0, got {n} and {sigma!r}.")
    power = list(exact_matrix(signal, "signal")) if signal is not None else _walk_power(n)
    response = [Rational(1)] if kernel is None else list(exact_matrix(kernel, "kernel"))
    if len(power) != n or len(response) > n or any(p < 0 for p in power):
        raise ValueError(
            f"signal must have {n} numbers of at least 0 and kernel at most {n}, got {len(power)} and {len(response)}."
        )
    wave = _transform(samples)
    transfer = _transform([*response, *[Rational(0)] * (n - len(response))])
    gains = [_gain(a, p, s) for a, p in zip(transfer, power, strict=True)]
    kept = [simplify(expand(g * v)) for g, v in zip(gains, wave, strict=True)]
    x = _back(kept)
    noise = s**2 * sum((_square(g) for g in gains), Rational(0)) / n
    bias = sum((_square(1 - g * a) * p for g, a, p in zip(gains, transfer, power, strict=True)), Rational(0)) / n
    opening = (
        sentence("Measured around a ring: ", math("y =", matrix([samples])), " with noise ", math("σ =", s), "."),
        formula("x̂_f =", over("ā_f S_f", "b_f S_f + σ^2"), "ŷ_f"),
        sentence(
            "where ",
            math("S_f"),
            " is the expected power of the signal, ",
            math("a_f"),
            " the transform of the blur and ",
            math("b_f"),
            " its square.",
        ),
    )
    steps = (
        _waves_step(wave, n),
        _gains_step(transfer, power, gains, wave, kept, s, kernel is None),
        _back_step(x, n),
        _error_step(noise, bias, n),
    )
    return Document("Wiener's filter", opening, steps, {"x": x, "noise": noise, "bias": bias})


def _walk_power(n: int) -> list[Any]:
    """Return the power of a signal whose differences are white: large at low frequencies."""
    return [Rational(2 * n)] + [Rational(1) / nsimplify(simplify(2 - 2 * cos(2 * pi * k / n))) for k in range(1, n)]


def _transform(values: list[Any]) -> list[Any]:
    """Return the discrete Fourier transform, exactly."""
    n = len(values)
    sums = [
        sum((v * (cos(2 * pi * k * f / n) - I * sin(2 * pi * k * f / n)) for k, v in enumerate(values)), Rational(0))
        for f in range(n)
    ]
    return [simplify(expand(value)) for value in sums]


def _back(values: list[Any]) -> list[Any]:
    n = len(values)
    sums = [
        sum((v * (cos(2 * pi * k * f / n) + I * sin(2 * pi * k * f / n)) for f, v in enumerate(values)), Rational(0))
        / n
        for k in range(n)
    ]
    return [simplify(re(expand(value))) for value in sums]


def _gain(a: Any, p: Any, s: Rational) -> Any:
    down = _square(a) * p + s**2
    return simplify(expand((re(a) - I * im(a)) * p / down)) if down != 0 else Rational(0)


def _square(value: Any) -> Any:
    return simplify(re(value) ** 2 + im(value) ** 2)


def _waves_step(wave: list[Any], n: int) -> Step:
    rows = [[math(f), _shown(value), _shown(_square(value) / n)] for f, value in enumerate(wave)]
    return step(
        "Into waves",
        sentence("Frequency ", math("f"), " turns ", math("f"), " times around the ring of ", math(n), " samples:"),
        formula("ŷ_f = ∑ y_k", fenced(math("cos", over("2 π k f", n), "− i sin", over("2 π k f", n)))),
        table([math("f"), math("ŷ_f"), "power"], rows),
    )


def _gains_step(
    transfer: list[Any],
    power: list[Any],
    gains: list[Any],
    wave: list[Any],
    kept: list[Any],
    s: Rational,
    is_sharp: bool,
) -> Step:
    rows = [
        [math(f), *([] if is_sharp else [_shown(a)]), _shown(p), _shown(g), _shown(v), _shown(k)]
        for f, (a, p, g, v, k) in enumerate(zip(transfer, power, gains, wave, kept, strict=True))
    ]
    head = [math("f"), *([] if is_sharp else [math("a_f")]), math("S_f"), "factor", math("ŷ_f"), math("x̂_f")]
    said = "near 1 where the signal is stronger than the noise, near 0 where it is weaker"
    return step(
        "A number for each frequency",
        sentence(f"With σ² = {s**2}, the factor is {said}:"),
        table(head, rows),
    )


def _back_step(x: list[Any], n: int) -> Step:
    return step(
        "Back to samples",
        formula("x_k =", over(1, n), "∑ x̂_f", fenced(math("cos", over("2 π k f", n), "+ i sin", over("2 π k f", n)))),
        result("x =", matrix([[_shown(value) for value in x]])),
    )


def _error_step(noise: Any, bias: Any, n: int) -> Step:
    return step(
        "What is left of the noise, and what is lost of the signal",
        sentence(
            "Noise is multiplied by the factors ",
            math("h_f"),
            ", the signal by what they are short of, ",
            math("d_f = 1 − h_f a_f"),
            ":",
        ),
        formula("σ^2", over("∑ h_f^2", n), "=", _shown(noise), ",", over("∑ d_f^2 S_f", n), "=", _shown(bias)),
        sentence("Together, the mean squared error to be expected:"),
        result(_shown(simplify(noise + bias))),
        remark("No other linear filter has a smaller sum, if the power of the signal is what was said."),
    )


def _shown(value: Any) -> Any:
    """Return a number as a fraction where it is one, else with its first digits; complex ones in both parts."""
    value = simplify(value)
    real, imaginary = re(value), im(value)
    if imaginary == 0:
        return _digits(real)
    sign = "+" if imaginary > 0 else "−"
    return math(_digits(real), sign, _digits(abs(imaginary)), "i")


def _digits(value: Any) -> Any:
    return value if value.is_Rational else Rational(str(round(float(value), DECIMALS)))
