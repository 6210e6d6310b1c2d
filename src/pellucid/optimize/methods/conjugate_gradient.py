"""Nonlinear conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.checks import check_one_of
from pellucid.core.types import Array
from pellucid.optimize.line_searches import LineSearch, StrongWolfe
from pellucid.optimize.methods.quasi_newton import first_trial
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point


def _fletcher_reeves(new: Array, old: Array, _: Array) -> float:
    return float(new @ new) / float(old @ old)


def _polak_ribiere(new: Array, old: Array, _: Array) -> float:
    return max(0.0, float(new @ (new - old)) / float(old @ old))


def _hestenes_stiefel(new: Array, old: Array, direction: Array) -> float:
    return max(0.0, float(new @ (new - old)) / float(direction @ (new - old)))


FORMULAS: dict[str, Callable[[Array, Array, Array], float]] = {
    "fletcher-reeves": _fletcher_reeves,
    "polak-ribiere": _polak_ribiere,
    "hestenes-stiefel": _hestenes_stiefel,
}


class ConjugateState(NamedTuple):
    """The iterate, its value and gradient, the direction to search, the step to try first, and the number of steps."""

    x: Array
    point: Point
    direction: Array
    first: float
    t: int


@dataclass(frozen=True)
class ConjugateGradient:
    r"""Bend the gradient by the last direction, so that no progress is undone.

    .. math:: x_{t+1} = x_t + \eta_t d_t, \qquad d_{t+1} = -g_{t+1} + \beta_t d_t

    .. math::
        \beta^{FR} = \frac{g_{t+1}'g_{t+1}}{g_t'g_t}, \qquad
        \beta^{PR} = \max\Bigl(0, \frac{g_{t+1}'(g_{t+1} - g_t)}{g_t'g_t}\Bigr), \qquad
        \beta^{HS} = \max\Bigl(0, \frac{g_{t+1}'(g_{t+1} - g_t)}{d_t'(g_{t+1} - g_t)}\Bigr)

    On a quadratic in :math:`n` variables with exact line search it ends after at most :math:`n` steps.

    Parameters
    ----------
    formula : {"polak-ribiere", "fletcher-reeves", "hestenes-stiefel"}, default="polak-ribiere"
    line_search : LineSearch, default=StrongWolfe(curvature=0.1)
        How the length of a step is found.
    """

    formula: str = "polak-ribiere"
    line_search: LineSearch = StrongWolfe(curvature=0.1)

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_one_of(FORMULAS, formula=self.formula)

    def start(self, oracle: Oracle, x: Array) -> ConjugateState:
        """Return the first state, which looks along the gradient."""
        point = oracle.at(x)
        return ConjugateState(x, point, -point.gradient, first_trial(point), 0)

    def step(self, oracle: Oracle, state: ConjugateState) -> ConjugateState:
        """Search along the direction, then bend it."""
        old = state.point
        point = self.line_search.search(oracle, old, state.direction, state.first, state.t)
        new, g = point.gradient, old.gradient
        direction = -new + FORMULAS[self.formula](new, g, state.direction) * state.direction
        slope = float(new @ direction)
        if not slope < 0:  # start over
            direction, slope = -new, -float(new @ new)
        # the first trial promises the same first-order fall as the last step did
        taken = float((point.x - old.x) @ state.direction) / float(state.direction @ state.direction)
        first = taken * float(g @ state.direction) / slope if slope else state.first
        return ConjugateState(point.x, point, direction, first, state.t + 1)
