"""Convexity by hand: the Hessian is positive semidefinite everywhere, or two points refute it."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from sympy import Expr, Matrix, Rational, Symbol, hessian

from pellucid.optimize.checks.real_algebra import principal_minors, shown, shown_point, sign_of
from pellucid.show.document import Block, Step, formula, result, sentence, step
from pellucid.show.notation import matrix, over, total

GRID = (0, 1, -1, 2, -2)
"""Coordinates of the points that are searched for negative curvature."""
HALVINGS = 8


class ExactCounterexample(NamedTuple):
    """Two points whose midpoint is above their chord."""

    left: tuple[Expr, ...]
    right: tuple[Expr, ...]
    middle: tuple[Expr, ...]
    ends: tuple[Expr, Expr]
    above: Expr

    @property
    def chord(self) -> Expr:
        """The height of the chord in the middle."""
        return (self.ends[0] + self.ends[1]) / 2


def convexity_step(f: Expr, variables: list[Symbol]) -> tuple[Step, bool | None, ExactCounterexample | None]:
    """Return the step that decides convexity, the verdict (None if undecided) and the counterexample, if any."""
    H = hessian(f, variables)
    minors = principal_minors(H)
    counterexample = find_counterexample(f, variables, H)
    if counterexample is not None:
        return step("Is it convex?", *_refuted(counterexample)), False, counterexample
    if all(_is_nonnegative(minor) for minor in minors):
        return step("Is it convex?", *_proved(minors)), True, None
    blocks: list[Block] = [
        sentence("The principal minors of the Hessian are "),
        *(formula(minor) for minor in minors),
        sentence("and neither a sign for all points nor a counterexample was found among small numbers."),
    ]
    return step("Is it convex?", *blocks), None, None


def find_counterexample(f: Expr, variables: list[Symbol], H: Matrix) -> ExactCounterexample | None:
    """Search small numbers for a direction of negative curvature, and shrink the segment until it refutes."""
    n = len(variables)
    directions = [Matrix(v) for v in product((0, 1, -1), repeat=n) if next((x for x in v if x), 0) == 1]
    for point in product(GRID, repeat=n):
        here = dict(zip(variables, point, strict=True))
        at = H.subs(here)
        if not all(entry.is_real and entry.is_finite for entry in at):
            continue
        for v in directions:
            if sign_of((v.T * at * v)[0]) < 0:
                found = _segment(f, variables, Matrix(point), v)
                if found is not None:
                    return found
    return None


def _segment(f: Expr, variables: list[Symbol], middle: Matrix, v: Matrix) -> ExactCounterexample | None:
    for k in range(HALVINGS):
        h = Rational(1, 2**k)
        ends = [tuple(middle + sign * h * v) for sign in (-1, 1)]
        values = [f.subs(dict(zip(variables, point, strict=True))) for point in (*ends, tuple(middle))]
        if not all(value.is_real and value.is_finite for value in values):
            continue
        found = ExactCounterexample(ends[0], ends[1], tuple(middle), (values[0], values[1]), values[2])
        if sign_of(found.above - found.chord) > 0:
            return found
    return None


def _refuted(found: ExactCounterexample) -> tuple[Block, ...]:
    return (
        sentence(
            "No. Between ", shown_point(found.left), " and ", shown_point(found.right),
            " the graph is above its chord. In the middle, at ", shown_point(found.middle), ", it has the value",
        ),
        formula("f =", shown(found.above)),
        sentence("but the chord, half way between the values at its ends, has only"),
        result(over(total([*map(shown, found.ends)]), 2), "=", shown(found.chord), "<", shown(found.above)),
    )  # fmt: skip


def _proved(minors: list[Any]) -> tuple[Block, ...]:
    return (
        sentence(
            "Yes. A symmetric matrix has no negative curvature if no principal minor is negative, and those of the "
            "Hessian are, for all points,"
        ),
        *(formula(minor, "≥ 0") for minor in minors),
        sentence("so the function is convex, and a stationary point is a global minimum."),
    )


def _is_nonnegative(minor: Expr) -> bool:
    return sign_of(minor) >= 0 if minor.is_number else minor.is_nonnegative is True


def hessian_formula(H: Matrix) -> Block:
    """Return the Hessian on its own line."""
    return formula("H =", matrix(H))
