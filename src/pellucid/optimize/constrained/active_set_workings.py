r"""The multipliers of a small support vector machine in exact arithmetic, by the rounds a person would go through.

.. math:: \max_\alpha\ \sum_i g_i\alpha_i - \tfrac12\alpha'Q\alpha,\qquad 0 \le \alpha_i \le u_i,
   \quad \sum_i t_i\alpha_i = 0\ \text{if the intercept is free}

Each round lets the point that is most wrong come in, solves the linear equations of the points on their margins, and
stops a multiplier that would leave its bounds at the bound. The dual value rises in every round, so no choice of
points comes twice and the rounds come to an end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sympy import Matrix, Rational, zeros

HALF = Rational(1, 2)


@dataclass(frozen=True)
class BoxedDual:
    """The dual problem: products ``Q``, signs, the upper bound if there is one, and whether the multipliers balance.

    ``wanted`` are the margins ``g`` that the points want; those of a classifier want 1.
    """

    Q: Matrix
    signs: Sequence[Rational]
    most: Rational | None
    balanced: bool
    wanted: Sequence[Rational] | None = None

    @property
    def goals(self) -> Sequence[Rational]:
        """The margins that the points want."""
        return [Rational(1)] * self.n if self.wanted is None else self.wanted

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.signs)


@dataclass(frozen=True)
class Round:
    """Who came in, who was on the margin at the end, and the multipliers then."""

    entered: tuple[int, ...]
    on_margin: tuple[int, ...]
    alpha: tuple[Rational, ...]


@dataclass
class Multipliers:
    """The state of the search: the multipliers, the points on their margins, and the rounds so far."""

    dual: BoxedDual
    alpha: Matrix
    free: list[int] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    @property
    def margins(self) -> Matrix:
        """What each point has of its margin, without the intercept."""
        return self.dual.Q * self.alpha

    def is_full(self, i: int) -> bool:
        """Return whether a multiplier is at its upper bound."""
        return self.dual.most is not None and self.alpha[i] == self.dual.most

    def can_rise(self, i: int) -> bool:
        """Return whether the sign times the multiplier can grow."""
        return not self.is_full(i) if self.dual.signs[i] > 0 else self.alpha[i] > 0

    def can_fall(self, i: int) -> bool:
        """Return whether the sign times the multiplier can shrink."""
        return self.alpha[i] > 0 if self.dual.signs[i] > 0 else not self.is_full(i)

    @property
    def lacks(self) -> list[Rational]:
        """What each point lacks of the margin it wants, without the intercept."""
        return [goal - margin for goal, margin in zip(self.dual.goals, self.margins, strict=True)]

    def offsets(self) -> list[Rational]:
        """Return the intercept at which each point would lie on its margin."""
        return [sign * lack for sign, lack in zip(self.dual.signs, self.lacks, strict=True)]

    def intercept(self) -> Rational:
        """Return the free intercept: that of the points on their margins, else the middle of those that fit."""
        offsets = self.offsets()
        if self.free:
            return sum(offsets[i] for i in self.free) / len(self.free)
        return sum(self.intercept_range()) * HALF

    def intercept_range(self) -> tuple[Rational, Rational]:
        """Return the least and the largest free intercept that fit."""
        offsets = self.offsets()
        lowest = max(offsets[i] for i in range(self.dual.n) if self.can_rise(i))
        highest = min(offsets[i] for i in range(self.dual.n) if self.can_fall(i))
        return lowest, highest


def solve_dual(dual: BoxedDual) -> Multipliers | None:
    """Return the best multipliers with the rounds that led to them; None if there is no bound on the dual value."""
    state = Multipliers(dual, zeros(dual.n, 1))
    while entered := _most_wrong(state):
        state.free = sorted([*state.free, *entered])
        if not _solve_free(state):
            return None
        state.rounds.append(Round(tuple(entered), tuple(state.free), tuple(state.alpha)))
    return state


def _most_wrong(state: Multipliers) -> list[int]:
    """Return who comes in next: nobody, one point, or a pair if no point tells the free intercept."""
    dual = state.dual
    if dual.balanced and not state.free:
        offsets = state.offsets()
        up = max((i for i in range(dual.n) if state.can_rise(i)), key=lambda i: (offsets[i], -i))
        down = min((i for i in range(dual.n) if state.can_fall(i)), key=lambda i: (offsets[i], i))
        return [up, down] if offsets[up] > offsets[down] else []
    b = state.intercept() if dual.balanced else Rational(0)
    lacks = [lack - sign * b for lack, sign in zip(state.lacks, dual.signs, strict=True)]
    wrong = [i for i in range(dual.n) if (lacks[i] < 0 if state.is_full(i) else lacks[i] > 0) and i not in state.free]
    return [max(wrong, key=lambda i: (abs(lacks[i]), -i))] if wrong else []


def _solve_free(state: Multipliers) -> bool:
    """Solve for the points on their margins, less those whose multipliers reach a bound; False if none stops them."""
    while state.free:
        direction, is_finite = _direction(state)
        step = min([*([Rational(1)] if is_finite else []), *_steps_to_bounds(state, direction)], default=None)
        if step is None:
            return False
        for i, slope in zip(state.free, direction, strict=True):
            state.alpha[i] += step * slope
        inside = [i for i in state.free if state.alpha[i] > 0 and not state.is_full(i)]
        if inside == state.free and is_finite:
            return True
        state.free = inside
    return True


def _direction(state: Multipliers) -> tuple[Matrix, bool]:
    """Return the way to the best multipliers of the free points, or one along which the dual value rises forever."""
    dual, free = state.dual, state.free
    k = len(free)
    lacks = Matrix([state.lacks[i] for i in free])
    system = dual.Q.extract(free, free)
    if dual.balanced:
        signs = Matrix([dual.signs[i] for i in free])
        system = Matrix([[system, signs], [signs.T, zeros(1, 1)]])
    idle = system.nullspace()
    if idle:
        endless = Matrix(idle[0][:k])
        return (endless if (lacks.T * endless)[0] > 0 else -endless), False
    rest = Matrix([lacks, zeros(1, 1)]) if dual.balanced else lacks
    return Matrix(system.LUsolve(rest)[:k]), True


def _steps_to_bounds(state: Multipliers, direction: Matrix) -> list[Rational]:
    """Return how far each free multiplier can go until it is at a bound."""
    steps = []
    for i, slope in zip(state.free, direction, strict=True):
        if slope < 0:
            steps.append(-state.alpha[i] / slope)
        elif slope > 0 and state.dual.most is not None:
            steps.append((state.dual.most - state.alpha[i]) / slope)
    return steps
