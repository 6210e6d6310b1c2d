"""The strong Wolfe search by hand: trials further out until a minimum is bracketed, then cubics inside the bracket."""

from __future__ import annotations

from typing import Any, NamedTuple

from sympy import Rational

from pellucid.optimize.workings.line import Found, Line, fall_blocks
from pellucid.optimize.workings.pencil import Pencil
from pellucid.optimize.workings.settings import exact_setting
from pellucid.workings.document import Block, formula, sentence, table
from pellucid.workings.notation import Script, fenced, math, typed

MOST_TRIALS = 12
GROWTH = 4
"""While no minimum is bracketed, the next trial is so many times further out."""
MARGIN = Rational(1, 10)
"""A trial keeps this share of the bracket away from its ends, so that the bracket shrinks."""


class Trial(NamedTuple):
    """A step with the value and the slope there."""

    step: Rational
    value: Rational
    slope: Rational


def strong_wolfe(search: Any, line: Line) -> Found:
    """Try steps until the function has fallen enough and its slope has flattened enough."""
    share, flat = exact_setting(search.decrease, "decrease"), exact_setting(search.curvature, "curvature")
    start = Trial(Rational(0), line.f.value(line.x), line.slope)
    low, high, step = start, None, line.first
    rows: list[list[Any]] = []
    while len(rows) < MOST_TRIALS:
        trial = _try(line, step)
        bound = line.f.pencil.kept(start.value + share * step * start.slope)
        fell, flattened = trial.value <= bound, abs(trial.slope) <= -flat * start.slope
        rows.append([step, trial.value, trial.slope, "yes" if fell else "no", "yes" if flattened else "no"])
        if fell and flattened:
            return step, _blocks(line, share, flat, rows)
        if not fell or trial.value >= low.value:
            high = trial
        else:
            if trial.slope * (step - low.step) >= 0:
                high = low
            low = trial
        step = GROWTH * low.step if high is None else _between(low, high, line.f.pencil)
    raise ValueError(
        f"line search must need at most {MOST_TRIALS} trials to be worked by hand, got more from StrongWolfe in "
        f"iteration {line.k + 1}. Use Backtracking."
    )


def _try(line: Line, step: Rational) -> Trial:
    there = line.at(step)
    slope = line.f.pencil.kept((line.f.gradient(there).T * line.direction)[0])
    return Trial(step, line.f.value(there), slope)


def _between(low: Trial, high: Trial, pencil: Pencil) -> Rational:
    """Return the minimum of the cubic through both trials, kept away from the ends of the bracket."""
    width = high.step - low.step
    twist = pencil.kept(low.slope + high.slope - 3 * (high.value - low.value) / width)
    square = pencil.kept(twist**2 - low.slope * high.slope)
    middle = pencil.kept(low.step + width / 2)
    if square < 0:
        return middle
    root = pencil.root(square) * (1 if width > 0 else -1)
    below = high.slope - low.slope + 2 * root
    if below == 0:
        return middle
    nearest, farthest = sorted((low.step + MARGIN * width, high.step - MARGIN * width))
    return pencil.kept(min(max(high.step - width * (high.slope + root - twist) / below, nearest), farthest))


def _blocks(line: Line, share: Rational, flat: Rational, rows: list[list[Any]]) -> list[Block]:
    f, k = line.f, line.k
    ahead = math("f", fenced(line.ahead))
    slope = math("∇ f", Script(fenced(line.ahead), above=math("T")), f"d_{k}")
    blocks: list[Block] = [
        *fall_blocks(line),
        sentence("Wolfe asks for two things: the function has fallen enough, and its slope has flattened enough,"),
        formula(ahead, "≤ f", fenced(f.point(k)), "+ c_1 t", line.slope_symbol),
        formula(fenced(slope, "||"), "≤ c_2", fenced(line.slope_symbol, "||")),
        sentence("with ", math("c_1 =", typed(share)), " and ", math("c_2 =", typed(flat)), ". We try:"),
        table([math("t"), ahead, slope, "fell?", "flat?"], rows),
    ]
    if len(rows) > 1:
        blocks.append(
            sentence(
                "While the function still falls too steeply, the next trial is four times further out. Once a minimum "
                "lies between two trials, it is where the cubic with their values and slopes is lowest, at least a "
                "tenth of their distance away from both."
            )
        )
    return blocks
