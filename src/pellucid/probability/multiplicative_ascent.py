r"""Maximize a concave function of a probability vector by multiplying it with exponentials.

.. math:: p \leftarrow p\, e^{\mu g(p)} / Z

Blahut and Arimoto's methods are of this form: with their :math:`g` and :math:`\mu = 1` the objective never falls.
Longer steps are tried as long as it keeps rising.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array

LONGER = 1.5
"""Factor on the step after one that raised the objective."""

SHORTER = 0.25
"""Factor on the step after one that did not."""


class Ascent(NamedTuple):
    """What a method says about a point: its value, how far below the maximum it can be, and where to go."""

    objective: float
    gap: float
    exponents: Array


def ascend(
    look: Callable[[Array], Ascent], p: Array, *, goal: float, max_iter: int, trace: Trace, unit: float = 1.0
) -> Array:
    """Return a probability vector whose gap is at most the goal, or the last one; the trace is in the unit given."""
    here, step = look(p), 1.0
    for _ in range(max_iter):
        trace.add(iteration=len(trace) + 1, objective=here.objective / unit, gap=here.gap / unit, step=step)
        trace.keep(p=p)
        if here.gap <= goal:
            break
        further = _tilted(p, step * here.exponents)
        there = look(further)
        if step > 1 and not there.objective >= here.objective:
            step = max(1.0, SHORTER * step)
            further = _tilted(p, here.exponents)
            there = look(further)
        else:
            step *= LONGER
        p, here = further, there
    return p


def _tilted(p: Array, exponents: Array) -> Array:
    raised = p * np.exp(exponents - exponents.max())
    return np.asarray(raised / raised.sum())
