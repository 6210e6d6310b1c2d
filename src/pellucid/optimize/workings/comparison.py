"""The last step of all workings: run the program from the same start and put its points next to ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.recording import record
from pellucid.core.solution import Solution
from pellucid.core.types import Array
from pellucid.optimize.workings.walk import Walk
from pellucid.workings.document import Block, Step, remark, sentence, step, table
from pellucid.workings.notation import math

CLOSE = 1e-9
"""A point of the program further than this from the exact one, relative to its size, is pointed out."""


def comparison_step(method: Any, problem: Any, walk: Walk, variables: Sequence[Any], **options: Any) -> Step:
    """Return the step that compares the exact points with those of the float program."""
    points, solution = walk.points, _solution(method, problem, walk, **options)
    found = [state["x"] for state in solution.trace.states]
    names = [variable.name for variable in variables]
    digits = 12 if len(names) <= 2 else 7
    rows, farthest = [], 0.0
    for k, (exact, program) in enumerate(zip(points, found, strict=False)):
        right = np.array(exact, dtype=float).ravel()
        distance = float(np.abs(right - program).max())
        farthest = max(farthest, distance / max(1.0, float(np.abs(right).max())))
        rows.append([math(k), *(f"{value:.{digits}g}" for value in program), f"{distance:.1e}" if distance else "0"])
    blocks: list[Block] = [
        sentence(
            f"{type(method).__name__} of the program, in floating point, from the same start, and how far its points "
            f"are from ours. {walk.reported}".rstrip()
        ),
        table([math("k"), *names, "distance"], rows),
    ]
    if len(found) < len(points):
        blocks.append(sentence(f"In floating point it could not go on. {solution.certificate.reason}"))
    if farthest > CLOSE:
        blocks.append(
            remark(
                "That is more than rounding: the program took another turn, because a comparison was a tie, or "
                "rounding grew from step to step."
            )
        )
    return step("Compare with the program", *blocks)


def _solution(method: Any, problem: Any, walk: Walk, **options: Any) -> Solution[Array]:
    """Run the real method; it is imported here, so that the workings themselves know no solver."""
    from pellucid.optimize.minimize import descend
    from pellucid.optimize.stopping import Stopping

    with record():
        return descend(
            problem,
            np.array(walk.points[0], dtype=float).ravel(),
            method,
            stopping=Stopping(gradient=0.0, max_iter=len(walk.points) - 1),
            **options,
        )
