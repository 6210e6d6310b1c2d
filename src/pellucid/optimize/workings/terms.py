"""A mean of a few formulas, for methods that look at one term at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from pellucid.core.types import Array
from pellucid.optimize.formula import Formula
from pellucid.optimize.problem import FiniteSum, Problem


def as_terms(functions: Sequence[Any]) -> list[Formula]:
    """Return the terms as formulas of the same variables."""
    if len(functions) < 2:
        raise ValueError(f"function must have at least 2 terms if it is a list, got {len(functions)}.")
    terms = [function if isinstance(function, Formula) else Formula(function) for function in functions]
    variables = mean_formula(terms).variables
    return [Formula(term.expression, [variable.name for variable in variables]) for term in terms]


def mean_formula(terms: Sequence[Formula]) -> Formula:
    """Return the mean of the terms as one formula."""
    names = sorted({variable.name for term in terms for variable in term.variables})
    whole = Formula(sympy.Add(*(sympy.Symbol(name) for name in names)))  # sorts the variables as a reader would
    mean = sympy.Add(*(term.expression for term in terms)) / len(terms)
    return Formula(mean, [variable.name for variable in whole.variables])


def mean_problem(terms: Sequence[Formula]) -> Problem:
    """Return the problem of minimizing the mean, with its terms."""
    gradients = [term.problem().gradient for term in terms]

    def of_rows(x: Array, rows: Array) -> Array:
        return np.mean([gradients[i](x) for i in rows], axis=0)  # type: ignore[misc]  # formulas have gradients

    return mean_formula(terms).problem(terms=FiniteSum(len(terms), of_rows))
