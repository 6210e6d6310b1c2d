"""Break it: a fitted number is changed by hand, and the proof says which claim objects, and by how much."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.app.playing.layers import plain
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.telling import told_certificate
from pellucid.core.checks import find_name, is_number

MOST_CHANGES = 200
CHANGE = '{"attribute": "coef_", "index": [0], "value": 1.5}'


def broken(performance: Performance, changes: Any) -> dict[str, Any]:
    """Return the certificate of the changed model, and the layers of the last frame drawn with it.

    Where the proof refuses such a model, or it cannot be drawn, there is None, and ``problem`` says why.

    Examples
    --------
    >>> from pellucid.app.playing import GivenData
    >>> from pellucid.app.playing.recorded_fit import perform_fit
    >>> from pellucid.linear_model import LinearRegression
    >>> data = GivenData("three rows", [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], ("x",))
    >>> performance = perform_fit(LinearRegression(), data)
    >>> found = broken(performance, [{"attribute": "coef_", "index": [0], "value": 2.0}])
    >>> [claim["name"] for claim in found["certificate"]["claims"] if not claim["holds"]][:2]
    ['normal equations', 'intercept']
    """
    if performance.prove is None or performance.redraw is None:
        raise ValueError("changes must be to a fitted model, got a play that has none. Run a method.")
    model = changed(performance, changes)
    problems: list[str] = []
    certificate: dict[str, Any] | None
    layers: list[dict[str, Any]] | None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            certificate = told_certificate(performance.prove(model))
        except Exception as error:  # a proof may refuse what no fit could have left
            certificate = None
            problems.append(f"The proof refuses this model: {_sentence(error)}")
        try:
            layers = [layer.to_json() for layer in performance.redraw(model)]
        except Exception as error:
            layers = None
            problems.append(f"This model cannot be drawn: {_sentence(error)}")
    told = {"certificate": plain(certificate), "layers": layers}
    return told | ({"problem": " ".join(problems)} if problems else {})


def changed(performance: Performance, changes: Any) -> Any:
    """Return a copy of the model of a performance with other numbers; the model itself stays as it is."""
    if not isinstance(changes, Sequence) or not 1 <= len(changes) <= MOST_CHANGES:
        raise ValueError(f"changes must be a list of 1 to {MOST_CHANGES} objects like {CHANGE}.")
    movable = [one["name"] for one in performance.recording.fitted]
    if not movable:
        raise ValueError(f"changes must be to fitted numbers, got {performance.recording.method}, which has none.")
    model = copy.copy(performance.model)
    own: dict[str, np.ndarray] = {}
    for change in changes:
        name, place, value = _checked(change, movable)
        if name not in own:
            own[name] = np.array(getattr(performance.model, name))
        _put(own[name], name, place, value)
    for name, array in own.items():
        was = getattr(performance.model, name)
        setattr(model, name, array if isinstance(was, np.ndarray) else type(was)(array[()]))
    return model


def _checked(change: Any, movable: Sequence[str]) -> tuple[str, tuple[int, ...], float]:
    if not isinstance(change, Mapping) or change.keys() != {"attribute", "index", "value"}:
        raise ValueError(f"change must be an object like {CHANGE}, got {change!r}.")
    name = find_name(str(change["attribute"]), movable, what="attribute")
    place, value = change["index"], change["value"]
    if not isinstance(place, Sequence) or not all(type(part) is int for part in place):
        raise ValueError(f"index must be a list of whole numbers, got {place!r}.")
    if not is_number(value) or not math.isfinite(value):
        raise ValueError(f"value must be a finite number, got {value!r}.")
    return name, tuple(place), float(value)


def _put(array: np.ndarray, name: str, place: tuple[int, ...], value: float) -> None:
    is_inside = len(place) == array.ndim and all(0 <= i < n for i, n in zip(place, array.shape, strict=True))
    if not is_inside:
        raise ValueError(f"index must be a place in {name}, which has shape {array.shape}, got {list(place)}.")
    array[place] = value


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()) or f"{type(error).__name__}."
