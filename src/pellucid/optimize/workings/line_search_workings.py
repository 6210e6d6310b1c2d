"""Line searches by hand: a fixed step, the exact one, and backtracking with every trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pellucid.optimize.workings.line import Found, Line, dot, fall_blocks
from pellucid.optimize.workings.settings import exact_setting, exact_step_size
from pellucid.optimize.workings.step_notation import parabola
from pellucid.optimize.workings.strong_wolfe_workings import strong_wolfe
from pellucid.workings.document import formula, sentence, table
from pellucid.workings.notation import fenced, math, over

MOST_TRIALS = 20
"""A backtracking search that needs more is no exercise any more."""


def search_line(search: Any, line: Line) -> Found:
    """Return the step of a line search, or of a fixed step size or schedule."""
    if type(search).__name__ in SEARCHES:
        return SEARCHES[type(search).__name__](search, line)
    if hasattr(search, "search"):
        raise ValueError(
            f"line search must be one of {', '.join(SEARCHES)} to be worked by hand, got {type(search).__name__}. "
            "Give the method one of these."
        )
    return _fixed(search, line)


def _fixed(step_size: Any, line: Line) -> Found:
    eta = exact_step_size(getattr(step_size, "step_size", step_size), line.k)
    return eta, [sentence("The step size is fixed beforehand: ", math("t =", eta), ".")]


def _exact(_search: Any, line: Line) -> Found:
    """Minimize the parabola that the function is along the line."""
    f, k, d = line.f, line.k, line.direction
    if not f.is_quadratic:
        raise ValueError("function must be quadratic for ExactStep, got one that is not. Use Backtracking.")
    curved = f.pencil.kept(f.hessian(line.x) * d)
    curvature = f.pencil.kept((d.T * curved)[0])
    if curvature <= 0:
        raise ValueError(
            f"function must curve upwards along the line for ExactStep, got curvature {curvature}. Show another method."
        )
    step = f.pencil.kept(-line.slope / curvature)
    bend, phi = math(f"d_{k}^T A d_{k}"), parabola(curvature / 2, line.slope, f.value(line.x), "t")
    return step, [
        sentence("Along the line the function is a parabola in the step t,"),
        formula("φ", fenced("t"), "= f", fenced(line.ahead), "=", phi),
        sentence("because its slope and its curvature at the start of the line are"),
        dot(line.slope_symbol, line.gradient, d, line.slope),
        dot(bend, d, curved, curvature),
        sentence("(", math("A"), " is the Hessian.) The parabola is lowest where its derivative is 0:"),
        formula("t = −", over(line.slope_symbol, bend), "=", step),
    ]


def _backtracking(search: Any, line: Line) -> Found:
    """Try, and shrink until Armijo's inequality holds."""
    f, start = line.f, line.f.value(line.x)
    share, shrink = exact_setting(search.decrease, "decrease"), exact_setting(search.shrink, "shrink")
    step = line.first if search.first is None else exact_setting(search.first, "first")
    rows: list[list[Any]] = []
    falls = False
    while not falls:
        if len(rows) == MOST_TRIALS:
            raise ValueError(
                f"first must need at most {MOST_TRIALS} trials to be worked by hand, got more. Try a smaller one."
            )
        value, bound = f.value(line.at(step)), f.pencil.kept(start + share * step * line.slope)
        falls = value <= bound
        rows.append([step, value, bound, "yes" if falls else "no"])
        step = step if falls else f.pencil.kept(step * shrink)
    ahead, promised = math("f", fenced(line.ahead)), math("f", fenced(f.point(line.k)), "+ c t", line.slope_symbol)
    return step, [
        *fall_blocks(line),
        sentence(
            "Armijo asks for the share ", math("c =", share), " of the fall that this slope promises: ",
            math(ahead, "≤", promised), ". We shrink ", math("t"), " by the factor ", math(shrink),
            " until it holds:",
        ),
        table([math("t"), ahead, promised, "holds?"], rows),
    ]  # fmt: skip


SEARCHES: dict[str, Callable[[Any, Line], Found]] = {
    "FixedStep": _fixed,
    "ExactStep": _exact,
    "Backtracking": _backtracking,
    "StrongWolfe": strong_wolfe,
}
"""Class name -> the search by hand."""
