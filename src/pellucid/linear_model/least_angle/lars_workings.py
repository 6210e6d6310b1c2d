"""Least-angle regression by hand: every breakpoint of the path, for LARS and for the lasso."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, sign, zeros

from pellucid.core.types import Data
from pellucid.linear_model.least_squares.line_workings import center, intercept_step, matrix_or_number
from pellucid.show.document import Block, Document, Figure, Series, Step, formula, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_data, exact_parameter, require
from pellucid.show.notation import Math, Words, fenced, math, over

if TYPE_CHECKING:
    from pellucid.linear_model.least_angle.lars import Lars, LassoLars


def lars_workings(estimator: Lars | LassoLars, X: Data, y: Data) -> Document:
    """Show the path of least-angle regression."""
    data = exact_data(X, y)
    most = int(min(estimator.n_nonzero_coefs, data.n_features))
    return _workings(estimator, data, "Least-angle regression", lasso=False, alpha=Rational(0), most=most)


def lasso_lars_workings(estimator: Lars | LassoLars, X: Data, y: Data) -> Document:
    """Show the lasso path, down to the penalty asked for."""
    require(estimator, "positive", False)
    data, alpha = exact_data(X, y), exact_parameter(estimator, "alpha")
    return _workings(estimator, data, "The lasso path", lasso=True, alpha=alpha, most=data.n_features + 1)


def _workings(
    estimator: Lars | LassoLars, data: ExactData, title: str, *, lasso: bool, alpha: Rational, most: int
) -> Document:
    n = data.n_samples
    centered = center(data, fit_intercept=bool(estimator.fit_intercept))
    segments = lars_path(centered.X, centered.y, lasso=lasso, stop=n * alpha, most=most)
    start = centered.X.T * centered.y
    top = max(map(abs, start))
    coefs = [zeros(data.n_features, 1), *(segment.end for segment in segments)]
    levels = [top if segments else n * alpha, *(segment.next_level for segment in segments)]
    w = coefs[-1]
    steps = [
        *centered.steps,
        _start_step(data, start, top, alpha if lasso else None),
        *([_rule_step(lasso=lasso)] if segments else []),
        *(_segment_step(data, segment, k) for k, segment in enumerate(segments, 1)),
        _path_step(data, coefs, levels, segments),
        intercept_step(data, centered, w),
    ]
    answer = {
        "coef_": list(w),
        "intercept_": centered.intercept(w),
        "alphas_": [level / n for level in levels],
        "coef_path_": Matrix.hstack(*coefs).tolist(),
    }
    return Document(title, _opening(data, lasso=lasso, alpha=alpha), tuple(steps), answer)


def _opening(data: ExactData, *, lasso: bool, alpha: Rational) -> tuple[Block, ...]:
    blocks: list[Block] = [
        sentence(
            "Start with all coefficients at zero. Move the feature that correlates most with the residuals; when "
            "another correlates as strongly, move both so that their correlations fall together; and so on."
        )
    ]
    if lasso:
        blocks.append(
            sentence(
                "With one more rule this is the whole path of the lasso: a coefficient that comes back to zero leaves. "
                "Where the largest correlation is ",
                math("n α"),
                ", the coefficients are those of the lasso with penalty ",
                math("α"),
                "; we stop at ",
                math("α =", alpha),
                ".",
            )
        )
    return (*blocks, *data.opening())


def _start_step(data: ExactData, start: Matrix, top: Rational, alpha: Rational | None) -> Step:
    blocks: list[Block] = [
        sentence("At the start the residuals are ", math("y"), ", and the correlations (sums of products) are"),
        formula("c = X^T y =", matrix_or_number(start)),
        sentence("The largest in absolute value is ", math("C =", top), "."),
    ]
    if alpha is not None and top <= data.n_samples * alpha:
        blocks.append(
            sentence(
                "That is no more than ",
                math("n α =", data.n_samples * alpha),
                ": no feature is strong enough, and all coefficients stay at zero.",
            )
        )
    return step("Find the first feature", *blocks)


def _segment_step(data: ExactData, segment: Segment, number: int) -> Step:
    names: list[str | Math] = []
    for j in segment.active:
        names += [", ", data.symbol("x", j)] if names else [data.symbol("x", j)]
    signs = "sign" if len(segment.active) == 1 else "signs"
    direction = Matrix([segment.direction[j] for j in segment.active])
    return step(
        f"Walk segment {number}",
        sentence("Active: ", *names, f", with {signs} ", _signs(segment), ", at ", math("C =", segment.level), "."),
        formula("d =", matrix_or_number(direction)),
        *_event_blocks(data, segment),
        formula("w =", matrix_or_number(segment.end)),
        formula("C =", segment.level, "−", segment.chosen.gamma, "=", segment.next_level),
    )


def _signs(segment: Segment) -> Math:
    first, *others = segment.signs
    return math(first) if not others else fenced(math(first, *[math(",", other) for other in others]))


def _rule_step(*, lasso: bool) -> Step:
    moving = [
        "The active features share the correlation ",
        math("C"),
        ", up to sign. Their coefficients move along the direction ",
        math("d"),
        " that solves ",
        math("X_A^T X_A d = s"),
        " for their signs ",
        math("s"),
        ": then every active correlation falls at rate 1 in absolute value, and any other, ",
        math("c_j"),
        ", at the rate ",
        math("a_j = x_j^T X_A d"),
        ".",
    ]
    meeting = [
        "An idle feature catches up after a step of ",
        over("C − c_j", "1 − a_j"),
        " with sign +, or of ",
        over("C + c_j", "1 + a_j"),
        " with sign −",
    ]
    leaving = ["; an active coefficient is back at zero after ", over("− w_j", "d_j")] if lasso else []
    ending = ". The shortest step ends the segment."
    return step("Know how far a segment goes", sentence(*moving), sentence(*meeting, *leaving, ending))


def _event_blocks(data: ExactData, segment: Segment) -> list[Block]:
    rows = [_event_row(data, segment, event) for event in segment.events]
    return [
        table(["what would happen", math("c_j"), math("a_j"), "after a step of"], rows),
        sentence(
            "The shortest step is ", math("γ =", segment.chosen.gamma), ": ", *_happens(data, segment.chosen), "."
        ),
    ]


def _event_row(data: ExactData, segment: Segment, event: Event) -> list[Any]:
    if event.kind == "end":
        return [Words("the path ends"), "", "", event.gamma]
    return [
        math(data.symbol("x", event.j), Words(_verb(event))),
        segment.correlations[event.j],
        segment.rates[event.j],
        event.gamma,
    ]


def _verb(event: Event) -> str:
    return {1: "joins with sign +", -1: "joins with sign −", 0: "leaves"}[event.sign]


def _happens(data: ExactData, event: Event) -> list[str | Math]:
    if event.kind == "end":
        return ["the path ends here"]
    return [data.symbol("x", event.j), f" {_verb(event)}"]


def _path_step(data: ExactData, coefs: list[Matrix], levels: list[Rational], segments: list[Segment]) -> Step:
    n = data.n_samples
    head = [math("C"), math("α =", over("C", "n")), *(data.symbol("w", j) for j in range(data.n_features))]
    rows = [[level, level / n, *w] for level, w in zip(levels, coefs, strict=True)]
    blocks: list[Block] = [
        sentence("Between these breakpoints every coefficient is a straight line."),
        table(head, rows),
    ]
    if segments:
        series = tuple(
            Series(
                tuple(float(levels[0] - level) for level in levels),
                tuple(float(w[j]) for w in coefs),
                joined=True,
                label=data.names[j] if data.names else f"w{j + 1}",
            )
            for j in range(data.n_features)
        )
        blocks.append(Figure(series, "fall of C", "w", "The coefficients along the path"))
    return step("Look at the whole path", *blocks)


# Least-angle regression in exact arithmetic.
#
# With the direction :math:`d = G_{AA}^{-1} s_A` all active correlations fall at the same rate 1, so every step length
# is a ratio of rationals: the square root of the textbook's equiangular vector never appears.


MAX_SEGMENTS = 40
"""Four features have fewer breakpoints than this unless ties make the path go in circles."""


@dataclass(frozen=True)
class Event:
    """Something that would end a segment after the step ``gamma``: a feature joins or leaves, or the path ends."""

    gamma: Rational
    kind: str
    j: int = -1
    sign: int = 0


@dataclass(frozen=True)
class Segment:
    """One straight piece of the path, from the coefficients ``start`` to ``end``."""

    active: tuple[int, ...]
    signs: tuple[int, ...]
    start: Matrix
    end: Matrix
    correlations: Matrix
    direction: Matrix
    rates: Matrix
    events: tuple[Event, ...]
    chosen: Event
    level: Rational

    @property
    def next_level(self) -> Rational:
        """The largest absolute correlation at the end of the segment."""
        return self.level - self.chosen.gamma


def lars_path(X: Matrix, y: Matrix, *, lasso: bool, stop: Rational, most: int) -> list[Segment]:
    """Return the segments until the largest correlation is ``stop``, or a feature would join ``most`` active ones."""
    w = zeros(X.cols, 1)
    segments: list[Segment] = []
    active: list[int] = []
    dependent: set[int] = set()
    joining: int | None = None
    while len(segments) < MAX_SEGMENTS:
        correlations = X.T * (y - X * w)
        level = max(map(abs, correlations))
        if level <= stop:
            return segments
        if not active:
            joining = next(j for j in range(X.cols) if abs(correlations[j]) == level)
        if joining is not None:
            independent = X[:, [*active, joining]].rank() == len(active) + 1
            (active.append if independent else dependent.add)(joining)
        segment = _segment(X, w, correlations, level, active, dependent, lasso=lasso, stop=stop)
        segments.append(segment)
        w, chosen = segment.end, segment.chosen
        joining = chosen.j if chosen.kind == "joins" else None
        if chosen.kind == "end" or (joining is not None and len(active) >= most):
            return segments
        if chosen.kind == "leaves":
            active.remove(chosen.j)
            dependent.clear()
    raise ValueError(
        f"X must not have ties that keep the path from moving, got {MAX_SEGMENTS} segments. Change a number."
    )


def _segment(
    X: Matrix,
    w: Matrix,
    correlations: Matrix,
    level: Rational,
    active: list[int],
    dependent: set[int],
    *,
    lasso: bool,
    stop: Rational,
) -> Segment:
    signs = [int(sign(correlations[j])) for j in active]
    columns = X[:, active]
    solved = (columns.T * columns).LUsolve(Matrix(signs))
    direction = zeros(X.cols, 1)
    for j, value in zip(active, solved, strict=True):
        direction[j] = value
    rates = X.T * X * direction
    events = [Event(level - stop, "end")]
    for j in range(X.cols):
        if j not in active and j not in dependent:
            events += _joins(j, level, correlations[j], rates[j])
        elif lasso and w[j] * direction[j] < 0:
            events.append(Event(-w[j] / direction[j], "leaves", j))
        elif lasso and w[j] == 0 and correlations[j] * direction[j] < 0:  # one that joined with others, and would turn
            events.append(Event(Rational(0), "leaves", j))
    chosen = min(events, key=lambda event: (event.gamma, event.kind != "leaves", event.j))
    return Segment(
        tuple(active),
        tuple(signs),
        w,
        w + chosen.gamma * direction,
        correlations,
        direction,
        rates,
        tuple(events),
        chosen,
        level,
    )


def _joins(j: int, level: Rational, correlation: Rational, rate: Rational) -> list[Event]:
    """Return when the correlation of an idle feature meets the falling level, from either side.

    A side on which it falls at least as fast as the level is never met.
    """
    sides = [(1, level - correlation, 1 - rate), (-1, level + correlation, 1 + rate)]
    return [Event(distance / speed, "joins", j, side) for side, distance, speed in sides if speed > 0]
