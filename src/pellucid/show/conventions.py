"""Conventions that books do not share: what show_work translates for the program, and the sentence that names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.show.document import Block, formula, sentence
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Math, fenced, math, over, typed

SQUARES = "∑ e^2 + λ"
LAMBDAS: dict[str, tuple[str, Callable[[Rational, int], Rational], Math, Math]] = {
    "Ridge": ("alpha", lambda lam, _n: lam, math(SQUARES, "∑ w^2"), math("α = λ")),
    "KernelRidge": ("alpha", lambda lam, _n: lam, math("∑ e^2 + λ a^T K a"), math("α = λ")),
    "Lasso": (
        "alpha",
        lambda lam, n: lam / (2 * n),
        math(SQUARES, "∑", fenced("w", "||")),
        math("α =", over("λ", "2 n")),
    ),
    "LassoLars": (
        "alpha",
        lambda lam, n: lam / (2 * n),
        math(SQUARES, "∑", fenced("w", "||")),
        math("α =", over("λ", "2 n")),
    ),
    "LogisticRegression": (
        "C",
        lambda lam, _n: 1 / lam,
        math("∑ − log", fenced("p_i"), "+", over("λ", 2), "∑ w^2"),
        math("C =", over(1, "λ")),
    ),
    "LinearSVC": ("C", lambda lam, _n: 1 / lam, math("∑ ξ_i +", over("λ", 2), "∑ w^2"), math("C =", over(1, "λ"))),
    "SVC": ("C", lambda lam, _n: 1 / lam, math("∑ ξ_i +", over("λ", 2), "∑ w^2"), math("C =", over(1, "λ"))),
}
"""What a book minimizes with λ, and the parameter of the program that does the same: its name and its value."""

CONVENTIONS = ("lam", "cost_rows")


def translate(estimator: Any, given: dict[str, Any], X: Data) -> tuple[dict[str, Any], list[Block]]:
    """Return the parameters that conventions of a book come to, and the blocks that say so."""
    settings: dict[str, Any] = {}
    blocks: list[Block] = []
    if given.get("lam") is not None:
        settings, blocks = _penalty(estimator, given["lam"], len(np.asarray(X)))
    if given.get("cost_rows") is not None:
        found, told = _costs(estimator, given["cost_rows"])
        settings, blocks = settings | found, [*blocks, *told]
    return settings, blocks


def _penalty(estimator: Any, lam: Any, n: int) -> tuple[dict[str, Any], list[Block]]:
    name = type(estimator).__name__
    if name not in LAMBDAS:
        raise TypeError(f"lam must be left out for {name}, got {lam!r}. It is for one of {', '.join(LAMBDAS)}.")
    exact = exact_number(lam, "lam")[0]
    if exact <= 0:
        raise ValueError(f"lam must be above 0, got {lam!r}.")
    parameter, value, objective, relation = LAMBDAS[name]
    setting = value(exact, n)
    blocks: list[Block] = [
        sentence("The penalty is given on the scale of the notes, ", math("λ =", typed(exact)), ", which stands in"),
        formula("min", objective),
        sentence("The program has its own scale: ", relation, ", so ", math(f"{parameter} =", setting), "."),
    ]
    return {parameter: float(setting)}, blocks


def _costs(estimator: Any, rows: str) -> tuple[dict[str, Any], list[Block]]:
    if not hasattr(estimator, "costs"):
        raise TypeError(f"cost_rows must be left out for {type(estimator).__name__}, got {rows!r}. It has no costs.")
    if rows not in ("true", "decision"):
        raise ValueError(f"cost_rows must be 'true' or 'decision', got {rows!r}: what a row of the costs stands for.")
    if rows == "true" or estimator.costs is None:
        return {}, []
    turned = np.asarray(estimator.costs).T.tolist()
    words = "The costs were given with a row for each decision; below they stand with a row for each true class."
    return {"costs": turned}, [sentence(words)]
