"""From an estimator and data to a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pellucid.app.playing.given.given_data import GivenData, read_data
from pellucid.app.playing.given.sets import FEWEST_ROWS, MADE, MOST_ROWS, load_set, set_names
from pellucid.app.playing.layers import Layer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.recording import LARGEST, Frame, Recording
from pellucid.app.playing.stages import FitStage, Report, fit_in_stages, shown_not_warned
from pellucid.app.playing.telling import (
    fitted_numbers,
    numbered_steps,
    thinned,
    told_certificate,
    told_columns,
    told_trace,
    told_workings,
    written,
)
from pellucid.app.playing.views.chosen_view import view_of
from pellucid.app.playing.views.scene import FitScene, FitView
from pellucid.core.cards import card_of
from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.core.verification import verify
from pellucid.proofs.certificate import Certificate

MOST_WORKED_ROWS = 20
"""More rows are not worked by hand on a page."""
ROOM = 0.8 * LARGEST
"""Bytes for what moves; the rest is for trace, certificate and workings."""


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
    data = GivenData(name, X, y, tuple(_names_of(X, names)))
    return perform_fit(estimator, data, most_frames=most_frames).recording


def perform_fit(
    estimator: Any, data: GivenData, *, most_frames: int = 200, report: Report | None = None
) -> Performance:
    """Return the recording of :func:`record_play`, and the fitted model, which can be changed, proved and drawn."""
    takes_target = is_classifier(estimator) or is_regressor(estimator)
    _, stages = fit_in_stages(estimator, data.X, data.y if takes_target else None, report)
    return perform_stages(stages, data, most_frames=most_frames, report=report)


def perform_stages(
    stages: Sequence[FitStage],
    data: GivenData,
    *,
    most_frames: int = 200,
    title: str = "",
    python: str = "",
    extra: Callable[[FitStage], Sequence[Layer]] | None = None,
    report: Report | None = None,
) -> Performance:
    """Return stages of a model on its rows as a recording, and the last model, which is the fitted one.

    An idea has a title and code of its own, and may draw ``extra`` layers at each stage.
    """
    check_whole(2, most_frames=most_frames)
    more = extra or (lambda _stage: ())
    model, X = stages[-1].model, data.X
    target = None if data.y is None else np.asarray(data.y)
    told = data.y if is_classifier(model) or is_regressor(model) else None
    workings = told_workings(model, X, told) if len(X) <= MOST_WORKED_ROWS else None
    while True:
        kept = thinned(list(stages), most_frames)
        view = view_of(FitScene(X, target, list(data.names), kept, ROOM / len(kept), data.target))
        found = _recorded(view, data, workings, more, report)
        if found.size <= LARGEST or most_frames == 2:
            break
        most_frames = max(2, len(kept) // 2)
    if title:
        found = replace(found, title=f"{title} on {data.name}" if data.name else title, python=python)
    return Performance(
        found,
        model,
        X,
        told,
        prove=lambda changed: _proved(changed, X, told),
        redraw=lambda changed: [*view.layers(replace(kept[-1], model=changed)), *more(kept[-1])],
    )


def _proved(model: Any, X: Data, y: Data) -> Certificate:
    with shown_not_warned():
        return verify(model, X, y, random_state=0)


def _recorded(
    view: FitView,
    given: GivenData,
    workings: Mapping[str, Any] | None,
    extra: Callable[[FitStage], Sequence[Layer]],
    report: Report | None = None,
) -> Recording:
    scene, model = view.scene, view.scene.model
    steps = numbered_steps(workings)
    trace, rows = _trace_of(scene.stages)
    frames: list[Frame] = []
    for stage, row in zip(scene.stages, rows, strict=True):
        layers = (*view.layers(stage), *extra(stage))
        frames.append(Frame(stage.label, layers, row, steps.get(stage.number), stage.seconds))
        if report is not None:
            report(len(frames), f"drawing frame {len(frames)} of {len(scene.stages)}", stage.seconds or 0.0)
    name = given.name
    classes = scene.classes if view.colors_rows_by_class else None
    data = {"name": name, "columns": scene.names, "rows": len(scene.numbers), "classes": classes}
    return Recording(
        title=f"{type(model).__name__} on {name}" if name else type(model).__name__,
        method=type(model).__name__,
        parameters={key: written(value) for key, value in model.get_params(deep=False).items()},
        python=_python(model, scene.numbers, given),
        data=data,
        axes=view.axes,
        layers=tuple(view.base()),
        frames=tuple(frames),
        trace=trace,
        certificate=told_certificate(model.certificate_),
        workings=workings,
        fitted=fitted_numbers(model, card_of(type(model)), scene.names),
    )


def _trace_of(stages: Sequence[FitStage]) -> tuple[dict[str, Any], list[int | None]]:
    """Return the trace, and the row of each stage in it: the fit's own, or what was measured at the stages."""
    if all("measured" in stage.known for stage in stages):
        columns = stages[-1].known["measured"]
        measured = {name: [stage.known["measured"][name] for stage in stages] for name in columns}
        return told_columns({"iteration": np.arange(1, len(stages) + 1), **measured}), list(range(len(stages)))
    trace, places = told_trace(stages[-1].model.trace_, [stage.row for stage in stages])
    return trace, [places.get(stage.row) for stage in stages]


def _names_of(X: Data, names: Sequence[str] | None) -> list[str]:
    if names is None:
        names = getattr(X, "columns", None)
    n = np.shape(X)[1]
    if names is None:
        return [f"x{j}" for j in range(n)]
    if len(names) != n:
        raise ValueError(f"names must be as many as columns ({n}), got {len(names)}.")
    return [str(one) for one in names]


def _python(model: Any, X: Array, data: GivenData) -> str:
    """Return the code that makes the same fit."""
    package = ".".join(type(model).__module__.split(".")[:2])
    lines, (rows, target) = [f"from {package} import {type(model).__name__}"], ("X", "y")
    call = _loading_call(data.name, X)
    if call:
        lines = ["from pellucid.app.playing import load_set", *lines, "", f"X, y, names = {call}"]
    elif _loads(data, X):
        lines = ["from pellucid.app.playing import read_data", *lines, "", data.loading]
        rows, target = "data.X", "data.y"
    else:
        lines += ["", "# X and y are your rows and your target"]
    given = f"{rows}, {target}" if is_classifier(model) or is_regressor(model) else rows
    return "\n".join([*lines, f"model = {model!r}", f"model.fit({given})", "print(model.certificate_)", ""])


def _loads(data: GivenData, X: Array) -> bool:
    """Return whether the object that named the data names these very rows."""
    if data.told is None or "table" in data.told:
        return False
    return np.array_equal(np.asarray(read_data(data.told).X), X)


def _loading_call(name: str, X: Array) -> str:
    """Return the call that loads these very rows; nothing if the name does not stand for them."""
    if name not in set_names() or not FEWEST_ROWS <= len(X) <= MOST_ROWS:
        return ""
    found = load_set(name, rows=len(X))[0]
    if not np.array_equal(np.asarray(found), X):
        return ""
    return f"load_set({name!r}, rows={len(X)})" if name in MADE else f"load_set({name!r})"
