"""From a formula of two variables and a method that minimizes it to a recording."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pellucid.app.playing.layers import Layer, PointsLayer, PolylineLayer, handle, heat
from pellucid.app.playing.performance import Performance, ReachedPoint
from pellucid.app.playing.recording import Frame, Recording
from pellucid.app.playing.stages import ANSWER, FitStage, Report
from pellucid.app.playing.telling import (
    is_wide,
    numbered_steps,
    thinned,
    told_certificate,
    told_trace,
    told_workings,
    written,
)
from pellucid.core.checks import check_whole
from pellucid.core.trace import record
from pellucid.core.types import Array

CONTOUR_CELLS = 96


class IterationClock:
    """When each iteration was done, told to whoever wants to know."""

    def __init__(self, report: Report | None) -> None:
        self.times = [0.0]
        self.report = report
        self._start = time.perf_counter()

    def tick(self, _x: Array) -> None:
        """Note that an iteration is done."""
        done = len(self.times)
        self.times.append(time.perf_counter() - self._start)
        if self.report is not None:
            self.report(done, f"iteration {done}", self.times[-1])


def record_descent(
    formula: str,
    start: Sequence[float],
    method: Any = "gradient descent",
    *,
    stopping: Any = None,
    most_frames: int = 200,
) -> Recording:
    """Return the way of a method that minimizes a formula of two variables, over its contours.

    Parameters
    ----------
    formula : str
        For example ``"x**2 + 10*y**2"``. SymPy evaluates it: it must be yours.
    start : two numbers
        Where the way begins.
    method : str or Method, default="gradient descent"
        A method of :mod:`pellucid.optimize`, or the name of one.
    stopping : Stopping, default=None
        When to stop.
    most_frames : int, default=200
        Most frames, at least 2.

    Examples
    --------
    >>> recording = record_descent("x**2 + 3*y**2", [2.0, 1.0], "newton")
    >>> [frame.label for frame in recording.frames]
    ['start', 'the answer']
    """
    return perform_descent(formula, start, method, stopping=stopping, most_frames=most_frames).recording


def perform_descent(
    formula: str,
    start: Sequence[float],
    method: Any = "gradient descent",
    *,
    stopping: Any = None,
    most_frames: int = 200,
    report: Report | None = None,
) -> Performance:
    """Return the recording of :func:`record_descent`, and the place it ends at, which can be moved and proved."""
    from pellucid.optimize.certifying import certify
    from pellucid.optimize.formula import Formula
    from pellucid.optimize.methods import find_method
    from pellucid.optimize.minimize import descend
    from pellucid.optimize.stopping import Stopping

    check_whole(2, most_frames=most_frames)
    read, rule = Formula(formula), find_method(method)
    if len(read.variables) != 2 or len(start) != 2:
        raise ValueError(f"formula must have two variables and start two numbers, got {formula!r} and {list(start)}.")
    problem = read.problem()
    clock = IterationClock(report)
    with record():
        found = descend(
            problem, np.asarray(start, dtype=float), rule, stopping=stopping, random_state=0, callback=clock.tick
        )
    clock.tick(found.x)
    path = np.array([state["x"] for state in found.trace.states])
    path[-1] = found.x
    labels = ["start", *(f"iteration {i}" for i in range(1, len(path) - 1)), ANSWER]
    whole = [FitStage(labels[i], None, i, number=i, seconds=clock.times[i]) for i in range(len(path))]
    stages = thinned(whole, most_frames)
    workings = told_workings(rule, formula, list(start))
    steps = numbered_steps(workings)
    trace, rows = told_trace(found.trace, [stage.row for stage in stages])
    variables = [str(variable) for variable in read.variables]
    axes = _axes(variables, path)
    kind = type(rule).__name__
    recording = Recording(
        title=f"{kind} on {formula}",
        method=kind,
        parameters=_settings(rule),
        python=_python(formula, start, rule, stopping),
        data={"name": formula, "columns": variables, "rows": 0, "classes": None},
        axes=axes,
        layers=(_contours(problem, axes), PolylineLayer(path[:, 0], path[:, 1], width=1)),
        frames=tuple(
            Frame(s.label, _layers(path, int(s.row or 0)), rows.get(s.row), steps.get(s.number), s.seconds)
            for s in stages
        ),
        trace=trace,
        certificate=told_certificate(found.certificate),
        workings=workings,
        fitted=({"name": "x", "shape": (1, 2), "values": path[-1], "labels": variables},),
    )
    tolerance = (stopping or Stopping()).tolerance(float(np.finfo(float).eps))
    return Performance(
        recording,
        ReachedPoint(path[-1:].copy()),
        prove=lambda candidate: certify(problem, candidate.x[0], tolerance=tolerance),
        redraw=lambda candidate: list(_layers(np.vstack([path, candidate.x]), len(path))),
    )


def _settings(rule: Any) -> dict[str, str]:
    return {field.name: written(getattr(rule, field.name)) for field in fields(rule)} if is_dataclass(rule) else {}


def _layers(path: Array, i: int) -> tuple[Layer, ...]:
    (x, y), step = path[i], path[max(i - 1, 0) : i + 1]
    last = PolylineLayer(step[:, 0], step[:, 1], 0, width=3)
    return (last, PointsLayer([x], [y], [0], marker="star", movable=handle("x", columns=[0, 1])))


def _axes(names: Sequence[str], path: Array) -> dict[str, Any]:
    from pellucid.plots.drawing.race_plot import view_of as view_of_paths

    view = view_of_paths(path[0], path[-1:], [path])
    return {
        "x": {"label": names[0], "range": list(view.x)},
        "y": {"label": names[1], "range": list(view.y)},
        "equal": view.is_equal,
    }


def _contours(problem: Any, axes: Mapping[str, Any]) -> Layer:
    (x0, x1), (y0, y1) = axes["x"]["range"], axes["y"]["range"]
    middle = (np.arange(CONTOUR_CELLS) + 0.5) / CONTOUR_CELLS
    with np.errstate(all="ignore"):
        values = np.array(
            [[problem.value(np.array([x0 + (x1 - x0) * s, y0 + (y1 - y0) * t])) for s in middle] for t in middle]
        )
    return heat(values, (x0, x1, y0, y1), log=is_wide((values - np.nanmin(values)).ravel()))


def _python(formula: str, start: Sequence[float], rule: Any, stopping: Any) -> str:
    call = f"Formula({formula!r}), np.array({list(map(float, start))}), {rule!r}"
    call += "" if stopping is None else f", stopping={stopping!r}"
    used = sorted({"minimize", *re.findall(r"\b([A-Z]\w+)\(", call)})
    return (
        f"import numpy as np\n\nfrom pellucid.optimize import {', '.join(used)}\n\n"
        f"solution = minimize({call}, random_state=0)\nprint(solution.certificate)\n"
    )
