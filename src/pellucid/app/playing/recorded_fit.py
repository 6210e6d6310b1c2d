"""From an estimator and data to a recording; from a formula and a method that minimizes it, too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pellucid.app.playing.layers import Layer, PointsLayer, PolylineLayer, heat
from pellucid.app.playing.recording import LARGEST, Frame, Recording
from pellucid.app.playing.sets import FEWEST_ROWS, MADE, MOST_ROWS, load_set, set_names
from pellucid.app.playing.stages import ANSWER, Stage, fit_in_stages
from pellucid.app.playing.views import Scene, view_of
from pellucid.core.checks import check_whole
from pellucid.core.trace import Trace, record
from pellucid.core.types import Array, Data
from pellucid.proofs.certificate import Certificate

MOST_WORKED_ROWS = 20
"""More rows are not worked by hand on a page."""
MOST_TRACE_ROWS = 2000
"""A longer trace is told at the rows of the frames."""
ROOM = 0.8 * LARGEST
"""Bytes for what moves; the rest is for trace, certificate and workings."""
WIDE = 100.0
"""A column of the trace that falls by more than this factor is drawn on a log scale."""
CONTOUR_CELLS = 96
NUMBERED = re.compile(r"\b(?:round|epoch|iteration|pair|segment|newton's step) (\d+)", re.IGNORECASE)
"""Headings of the steps of workings that belong to an iteration."""


def record_play(
    estimator: Any,
    X: Data,
    y: Data = None,
    *,
    name: str = "",
    names: Sequence[str] | None = None,
    most_frames: int = 200,
) -> Recording:
    """Return what a fit of the estimator does, as a recording of at most 1 MB.

    Parameters
    ----------
    estimator : estimator of pellucid
        A clone of it is fitted; a random state of None counts as 0.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        Rows of numbers, and the target. A method that takes no target draws its rows in the colors of one.
    name : str, default=""
        What the data are called; if it is the set of this name, the Python code loads it.
    names : sequence of str, default=None
        Names of the columns; None takes those of a data frame, or x0, x1, ...
    most_frames : int, default=200
        Most frames, at least 2; of more iterations some are left out.

    Examples
    --------
    >>> from pellucid.cluster import KMeans
    >>> recording = record_play(KMeans(2, random_state=0), [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> recording.frames[-1].label, recording.certificate["holds"]
    ('the answer', True)
    """
    check_whole(2, most_frames=most_frames)
    takes_target = is_classifier(estimator) or is_regressor(estimator)
    model, stages = fit_in_stages(estimator, X, y if takes_target else None)
    shown = _names_of(X, names)
    target = None if y is None else np.asarray(y)
    workings = _workings(model, X, y if takes_target else None) if len(X) <= MOST_WORKED_ROWS else None
    while True:
        stages = _thinned(stages, most_frames)
        scene = Scene(X, target, shown, stages, ROOM / len(stages))
        found = _recorded(scene, name, workings)
        if found.size <= LARGEST or most_frames == 2:
            return found
        most_frames = max(2, len(stages) // 2)


def _recorded(scene: Scene, name: str, workings: Mapping[str, Any] | None) -> Recording:
    view, model = view_of(scene), scene.model
    steps = _numbered_steps(workings)
    trace, rows = _told_trace(model.trace_, [stage.row for stage in scene.stages])
    frames = tuple(
        Frame(stage.label, tuple(view.layers(stage)), rows.get(stage.row), steps.get(stage.number))
        for stage in scene.stages
    )
    data = {"name": name, "columns": scene.names, "rows": len(scene.numbers), "classes": scene.classes}
    return Recording(
        title=f"{type(model).__name__} on {name}" if name else type(model).__name__,
        method=type(model).__name__,
        parameters={key: _written(value) for key, value in model.get_params(deep=False).items()},
        python=_python(model, scene.numbers, name),
        data=data,
        axes=view.axes,
        layers=tuple(view.base()),
        frames=frames,
        trace=trace,
        certificate=told_certificate(model.certificate_),
        workings=workings,
    )


def told_certificate(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as the page shows it."""
    claims = [
        {
            "name": claim.name,
            "about": claim.statement,
            "value": float(claim.value),
            "bound": float(claim.bound),
            "holds": claim.holds,
        }
        for claim in certificate.claims
    ]
    return {"grade": certificate.grade, "holds": certificate.holds, "claims": claims}


def _thinned(stages: list[Stage], most: int) -> list[Stage]:
    """Return at most so many stages, the first and the last among them."""
    if len(stages) <= most:
        return stages
    return [stages[i] for i in np.unique(np.linspace(0, len(stages) - 1, most).round().astype(int))]


def _told_trace(trace: Trace, rows: Sequence[int | None]) -> tuple[dict[str, Any], dict[int | None, int]]:
    """Return the columns of a trace, and where its rows stand in them."""
    kept = range(len(trace))
    if len(trace) > MOST_TRACE_ROWS:
        kept = sorted({row for row in rows if row is not None})  # type: ignore[assignment]
    columns = {name: trace[name][list(kept)] for name in trace.columns} if len(trace) else {}
    return {"columns": columns, "log": [name for name in columns if _is_wide(columns[name])]}, {
        row: place for place, row in enumerate(kept)
    }


def _is_wide(values: Array) -> bool:
    known = values[np.isfinite(values)]
    positive = known[known > 0]
    return bool((known >= 0).all()) and positive.size > 1 and bool(positive.max() > WIDE * positive.min())


def _workings(work: Any, *given: Any) -> dict[str, Any] | None:
    """Return the workings in pieces of HTML; None where there are none, or too much data for them."""
    from pellucid.show import show_work
    from pellucid.show.html_printer import print_blocks

    try:
        document = show_work(work, *given)
    except (TypeError, ValueError):  # a method without workings, or more than a person would do by hand
        return None
    steps = [{"heading": step.heading, "html": print_blocks(step.blocks)} for step in document.steps]
    return {"title": document.title, "opening": print_blocks(document.introduction), "steps": steps}


def _numbered_steps(workings: Mapping[str, Any] | None) -> dict[int | None, int]:
    """Return the place of the step that shows each iteration, by the number in its heading."""
    found: dict[int | None, int] = {}
    for place, step in enumerate(workings["steps"] if workings else ()):
        number = NUMBERED.search(step["heading"])
        if number:
            found.setdefault(int(number[1]), place)
    return found


def _names_of(X: Data, names: Sequence[str] | None) -> list[str]:
    if names is None:
        names = getattr(X, "columns", None)
    n = np.shape(X)[1]
    if names is None:
        return [f"x{j}" for j in range(n)]
    if len(names) != n:
        raise ValueError(f"names must be as many as columns ({n}), got {len(names)}.")
    return [str(one) for one in names]


def _python(model: Any, X: Array, name: str) -> str:
    """Return the code that makes the same fit."""
    package = ".".join(type(model).__module__.split(".")[:2])
    lines = [f"from {package} import {type(model).__name__}"]
    call = _loading_call(name, X)
    if call:
        lines = ["from pellucid.app.playing import load_set", *lines, "", f"X, y, names = {call}"]
    else:
        lines += ["", "# X and y are your rows and your target"]
    target = ", y" if is_classifier(model) or is_regressor(model) else ""
    return "\n".join([*lines, f"model = {model!r}", f"model.fit(X{target})", "print(model.certificate_)", ""])


def _written(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def _loading_call(name: str, X: Array) -> str:
    """Return the call that loads these very rows; nothing if the name does not stand for them."""
    if name not in set_names() or not FEWEST_ROWS <= len(X) <= MOST_ROWS:
        return ""
    found = load_set(name, rows=len(X))[0]
    if not np.array_equal(np.asarray(found), X):
        return ""
    return f"load_set({name!r}, rows={len(X)})" if name in MADE else f"load_set({name!r})"


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
    from pellucid.optimize.formula import Formula
    from pellucid.optimize.methods import find_method
    from pellucid.optimize.minimize import descend

    check_whole(2, most_frames=most_frames)
    read, rule = Formula(formula), find_method(method)
    if len(read.variables) != 2 or len(start) != 2:
        raise ValueError(f"formula must have two variables and start two numbers, got {formula!r} and {list(start)}.")
    problem = read.problem()
    with record():
        found = descend(problem, np.asarray(start, dtype=float), rule, stopping=stopping, random_state=0)
    path = np.array([state["x"] for state in found.trace.states])
    path[-1] = found.x
    labels = ["start", *(f"iteration {i}" for i in range(1, len(path) - 1)), ANSWER]
    stages = _thinned([Stage(labels[i], None, i, number=i) for i in range(len(path))], most_frames)
    workings = _workings(rule, formula, list(start))
    steps = _numbered_steps(workings)
    trace, rows = _told_trace(found.trace, [stage.row for stage in stages])
    axes = _descent_axes([str(variable) for variable in read.variables], path)
    kind = type(rule).__name__
    return Recording(
        title=f"{kind} on {formula}",
        method=kind,
        parameters=_settings(rule),
        python=_descent_python(formula, start, rule, stopping),
        data={"name": formula, "columns": [str(v) for v in read.variables], "rows": 0, "classes": None},
        axes=axes,
        layers=(_contours(problem, axes), PolylineLayer(path[:, 0], path[:, 1], width=1)),
        frames=tuple(
            Frame(s.label, _descent_layers(path, int(s.row or 0)), rows.get(s.row), steps.get(s.number)) for s in stages
        ),
        trace=trace,
        certificate=told_certificate(found.certificate),
        workings=workings,
    )


def _settings(rule: Any) -> dict[str, str]:
    return {field.name: repr(getattr(rule, field.name)) for field in fields(rule)} if is_dataclass(rule) else {}


def _descent_layers(path: Array, i: int) -> tuple[Layer, ...]:
    (x, y), step = path[i], path[max(i - 1, 0) : i + 1]
    last = PolylineLayer(step[:, 0], step[:, 1], 0, width=3)
    return (last, PointsLayer([x], [y], [0], marker="star", movable="x"))


def _descent_axes(names: Sequence[str], path: Array) -> dict[str, Any]:
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
    return heat(values, (x0, x1, y0, y1), log=_is_wide((values - np.nanmin(values)).ravel()))


def _descent_python(formula: str, start: Sequence[float], rule: Any, stopping: Any) -> str:
    call = f"Formula({formula!r}), np.array({list(map(float, start))}), {rule!r}"
    call += "" if stopping is None else f", stopping={stopping!r}"
    used = sorted({"minimize", *re.findall(r"\b([A-Z]\w+)\(", call)})
    return (
        f"import numpy as np\n\nfrom pellucid.optimize import {', '.join(used)}\n\n"
        f"solution = minimize({call}, random_state=0)\nprint(solution.certificate)\n"
    )
