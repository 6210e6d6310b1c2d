"""show_steps: what a method does to a small function, with exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from sympy import Matrix

from pellucid.core.checks import check_whole
from pellucid.optimize.formula import Formula
from pellucid.optimize.workings.exact_function import ExactFunction, exact_penalty
from pellucid.optimize.workings.stochastic_gradient_workings import (
    as_terms,
    mean_formula,
    mean_problem,
    stochastic_gradient_workings,
)
from pellucid.optimize.workings.walk import Walk, comparison_step, opening, path_step
from pellucid.show.comparison import CUT_REMARK, has_cut_numbers
from pellucid.show.document import Document, Step
from pellucid.show.exact_data import exact_number, rounding_remark

MOST_STEPS = 20
MOST_VARIABLES = 4

METHOD_WORKINGS = {
    "AdaGrad": "adaptive_workings:adagrad_workings",
    "AcceleratedGradient": "proximal_workings:fista_workings",
    "Adam": "adaptive_workings:adam_workings",
    "AlternatingMinimization": "coordinate_workings:alternating_workings",
    "BFGS": "quasi_newton_workings:bfgs_workings",
    "ConjugateGradient": "conjugate_gradient_workings:conjugate_gradient_workings",
    "CoordinateDescent": "coordinate_workings:coordinate_workings",
    "DFP": "quasi_newton_workings:dfp_workings",
    "FISTA": "proximal_workings:fista_workings",
    "GradientDescent": "gradient_descent_workings:gradient_descent_workings",
    "LBFGS": "quasi_newton_workings:lbfgs_workings",
    "Momentum": "gradient_descent_workings:momentum_workings",
    "Nesterov": "gradient_descent_workings:nesterov_workings",
    "Newton": "newton_workings:newton_workings",
    "ProximalGradient": "proximal_workings:proximal_gradient_workings",
    "RMSProp": "adaptive_workings:rmsprop_workings",
    "Subgradient": "stochastic_gradient_workings:subgradient_workings",
}
"""Class name of a method -> the function in this room that works it by hand, imported on first use."""

Maker = Callable[..., Walk]
"""Takes the method, the function, the start and the number of steps; of proximal methods, a penalty too."""


def show_steps(
    method: Any,
    function: Any,
    start: Sequence[Any],
    steps: int | None = None,
    *,
    batch_size: int = 1,
    random_state: int = 0,
    penalty: Any = None,
) -> Document:
    """Return the first iterations of a method on a small function, as a person would work them.

    Parameters
    ----------
    method : Method
        An object of ``pellucid.optimize``, such as ``GradientDescent(step_size=0.1)``.
    function : str, sympy expression, Formula, or list of these
        The function to minimize, of at most 4 variables. A list holds the terms of a mean, for ``StochasticGradient``.
    start : sequence of numbers
        Where to start; 0.1 is read as 1/10.
    steps : int, default=3, or 1 for a list of terms
        Iterations to show, at most 20; for a list of terms, epochs.
    batch_size : int, default=1
        Terms per update, for a list of terms.
    random_state : int, default=0
        Seed of the order of the terms; ``minimize`` takes them in the same order.
    penalty : L1, SquaredL2 or Box, default=None
        A part beside the function, for ``FISTA`` and ``ProximalGradient``.

    Returns
    -------
    Document
        ``answer["x"]`` holds the exact points, start included, and ``answer["reported"]`` those of them that the
        program reports. The last step compares the two.

    Examples
    --------
    >>> from pellucid.optimize import GradientDescent
    >>> work = show_steps(GradientDescent(step_size=0.25), "x**2 + 2*y**2", [1, 1], steps=2)
    >>> work.answer["x"]
    [[1, 1], [1/2, 0], [1/4, 0]]
    """
    is_sum = isinstance(function, (list, tuple))
    count = (1 if is_sum else 3) if steps is None else steps
    check_whole(steps=count)
    if count > MOST_STEPS:
        raise ValueError(f"steps must be at most {MOST_STEPS} to be worked by hand, got {count}. Show fewer.")
    if penalty is not None and not getattr(method, "takes_penalty", False):
        raise ValueError(f"penalty must be None for {type(method).__name__}, got {penalty!r}. Show FISTA instead.")
    if is_sum:
        return _of_terms(method, as_terms(function), start, count, batch_size, random_state)
    maker = _find(method)
    formula = function if isinstance(function, Formula) else Formula(function)
    x, rounded = _start(start, formula)
    f, exact = ExactFunction(formula), None if penalty is None else exact_penalty(penalty)
    walk = maker(method, f, x, count) if exact is None else maker(method, f, x, count, exact)
    compared = comparison_step(method, formula.problem(penalty=penalty), walk, f.variables)
    return _document(walk, f, rounded, path_step(f, walk.path, exact), compared)


def _of_terms(
    method: Any, terms: list[Formula], start: Sequence[Any], epochs: int, batch_size: int, random_state: int
) -> Document:
    if type(method).__name__ != "StochasticGradient":
        raise ValueError(
            f"function must be one formula for {type(method).__name__}, got a list of terms. "
            "Show StochasticGradient on terms."
        )
    formula = mean_formula(terms)
    x, rounded = _start(start, formula)
    f = ExactFunction(formula)
    walk = stochastic_gradient_workings(method, f, terms, x, epochs, batch_size, random_state)
    options = {"batch_size": batch_size, "random_state": random_state}
    compared = comparison_step(method, mean_problem(terms), walk, f.variables, **options)
    return _document(walk, f, rounded, path_step(f, walk.path), compared)


def _document(walk: Walk, f: ExactFunction, rounded: bool, path: Step, compared: Step) -> Document:
    steps = (*walk.steps, path, compared)
    remarks = f.pencil.remark() or ([CUT_REMARK] if has_cut_numbers((walk.rule, steps)) else [])
    introduction = (*opening(f, walk.points[0]), *walk.rule, *([rounding_remark()] if rounded else []), *remarks)
    worked, reported = ([list(point) for point in points] for points in (walk.path, walk.points))
    answer = {"x": worked, "reported": reported, **walk.answer}
    return Document(walk.title, introduction, steps, answer)


def _find(method: Any) -> Maker:
    name = type(method).__name__
    if name == "StochasticGradient":
        raise ValueError("function must be a list of terms for StochasticGradient, got one formula. Give its terms.")
    if isinstance(method, type) or name not in METHOD_WORKINGS:
        got = f"the class {method.__name__}" if isinstance(method, type) else name
        known = ", ".join(sorted([*METHOD_WORKINGS, "StochasticGradient"]))
        raise TypeError(f"method must be an instance of one of {known} to be worked by hand, got {got}.")
    module, function = METHOD_WORKINGS[name].split(":")
    maker: Maker = getattr(import_module(f"pellucid.optimize.workings.{module}"), function)
    return maker


def _start(start: Sequence[Any], formula: Formula) -> tuple[Matrix, bool]:
    """Return the start as exact numbers, one for each variable, and whether one was rounded."""
    n = len(formula.variables)
    if n > MOST_VARIABLES:
        raise ValueError(f"function must have at most {MOST_VARIABLES} variables to be worked by hand, got {n}.")
    if len(start) != n:
        names = ", ".join(variable.name for variable in formula.variables)
        raise ValueError(f"start must have one number for each of the variables {names}, got {len(start)}.")
    numbers = [exact_number(value, "start") for value in start]
    return Matrix([value for value, _ in numbers]), any(rounded for _, rounded in numbers)
