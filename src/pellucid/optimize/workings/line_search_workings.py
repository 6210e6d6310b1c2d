"""Line searches by hand: a fixed step, the exact one, and backtracking with every trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from sympy import Matrix, Rational

from pellucid.optimize.workings.exact_function import ExactFunction, exact_setting, exact_step_size
from pellucid.optimize.workings.pencil import Pencil
from pellucid.optimize.workings.step_notation import parabola
from pellucid.show.document import Block, formula, sentence, table
from pellucid.show.notation import Mathlike, Script, factor, fenced, math, over, total, typed

MOST_WOLFE_TRIALS = 12
GROWTH = 4
"""While no minimum is bracketed, the next trial is so many times further out."""
MARGIN = Rational(1, 10)
"""A trial keeps this share of the bracket away from its ends, so that the bracket shrinks."""


class ExactStepTried(NamedTuple):
    """A step with the value and the slope there."""

    step: Rational
    value: Rational
    slope: Rational


def strong_wolfe(search: Any, line: Line) -> StepFound:
    """Try steps until the function has fallen enough and its slope has flattened enough."""
    share, flat = exact_setting(search.decrease, "decrease"), exact_setting(search.curvature, "curvature")
    start = ExactStepTried(Rational(0), line.f.value(line.x), line.slope)
    low, high, step = start, None, line.first
    rows: list[list[Any]] = []
    while len(rows) < MOST_WOLFE_TRIALS:
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
        f"line search must need at most {MOST_WOLFE_TRIALS} trials to be worked by hand, got more from StrongWolfe in "
        f"iteration {line.k + 1}. Use Backtracking."
    )


def _try(line: Line, step: Rational) -> ExactStepTried:
    there = line.at(step)
    slope = line.f.pencil.kept((line.f.gradient(there).T * line.direction)[0])
    return ExactStepTried(step, line.f.value(there), slope)


def _between(low: ExactStepTried, high: ExactStepTried, pencil: Pencil) -> Rational:
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


MOST_TRIALS = 20
"""A backtracking search that needs more is no exercise any more."""


def search_line(search: Any, line: Line) -> StepFound:
    """Return the step of a line search, or of a fixed step size or schedule."""
    if type(search).__name__ in SEARCHES:
        return SEARCHES[type(search).__name__](search, line)
    if hasattr(search, "search"):
        raise ValueError(
            f"line search must be one of {', '.join(SEARCHES)} to be worked by hand, got {type(search).__name__}. "
            "Give the method one of these."
        )
    return _fixed(search, line)


def _fixed(step_size: Any, line: Line) -> StepFound:
    eta = exact_step_size(getattr(step_size, "step_size", step_size), line.k)
    return eta, [sentence("The step size is fixed beforehand: ", math("t =", eta), ".")]


def _exact(_search: Any, line: Line) -> StepFound:
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


def _backtracking(search: Any, line: Line) -> StepFound:
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


SEARCHES: dict[str, Callable[[Any, Line], StepFound]] = {
    "FixedStep": _fixed,
    "ExactStep": _exact,
    "Backtracking": _backtracking,
    "StrongWolfe": strong_wolfe,
}
"""Class name -> the search by hand."""


class Line(NamedTuple):
    """The line to search: from point ``k`` along a direction, with the gradient there and a step to try first."""

    f: ExactFunction
    k: int
    x: Matrix
    direction: Matrix
    gradient: Matrix
    first: Rational

    @property
    def slope(self) -> Rational:
        """The derivative of the function along the line, where it starts."""
        return self.f.pencil.kept((self.gradient.T * self.direction)[0])

    @property
    def slope_symbol(self) -> Mathlike:
        """The notation for the slope."""
        return math(f"g_{self.k}^T d_{self.k}")

    @property
    def ahead(self) -> Mathlike:
        """The notation for the point a step further."""
        return math(self.f.point(self.k), f"+ t d_{self.k}")

    def at(self, step: Rational) -> Matrix:
        """Return the point a step further."""
        return self.f.pencil.kept(self.x + step * self.direction)


StepFound: TypeAlias = tuple[Rational, list[Block]]
"""A step, and the blocks that show how it was found."""


def dot(name: Mathlike, a: Matrix, b: Matrix, result: Rational) -> Block:
    """Return ``name = 1 · 2 + (−1) · 3 = −1``."""
    terms = [math(factor(u), "·", factor(v)) for u, v in zip(a, b, strict=True)]
    return formula(name, "=", total(terms), "=", result)


def fall_blocks(line: Line) -> list[Block]:
    """Return the slope at the start of the line, worked out."""
    return [
        sentence("Along the direction the function falls at the rate"),
        dot(line.slope_symbol, line.gradient, line.direction, line.slope),
    ]
