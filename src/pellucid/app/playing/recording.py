"""A recording: what a fit did, frame by frame, with its trace, certificate and workings, as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pellucid.app.playing.layers import Layer, plain, read_layer

VERSION = 1
LARGEST = 1_000_000
"""Bytes of a recording: it travels inside a page."""


@dataclass(frozen=True)
class Frame:
    """One picture: its layers, where it stands in the trace and in the workings, and when the fit was there."""

    label: str
    """What it shows, such as ``iteration 3``."""
    layers: tuple[Layer, ...]
    """What is drawn in it, over the layers of the recording."""
    row: int | None = None
    """Its row of the trace, from 0; None if it has none."""
    step: int | None = None
    """Its step of the workings, from 0; None if no step shows it."""
    seconds: float | None = field(default=None, compare=False)
    """Of the fit until this stage, for races on one clock; no two fits take the same."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", plain(self.seconds))


@dataclass(frozen=True)
class Recording:
    """Everything that the page shows; the fields are those of the JSON document, which the README of the room lists."""

    title: str
    """The method and the data, as the heading of the page."""
    method: str
    """The name of the class, or of the idea."""
    parameters: Mapping[str, str]
    """By name, as code: ``{'n_clusters': '3'}``."""
    python: str
    """A program that makes the same fit."""
    data: Mapping[str, Any]
    """``name``, ``columns``, ``rows`` (how many) and ``classes`` (None without)."""
    axes: Mapping[str, Any]
    """``x`` and ``y``, each with ``label`` and ``range``, and ``equal``: whether a unit is as long on both."""
    layers: tuple[Layer, ...]
    """What every frame shows."""
    frames: tuple[Frame, ...]
    """The pictures, from the start to the answer."""
    trace: Mapping[str, Any]
    """``columns`` of numbers by their names, and ``log``, the names of those on a log scale."""
    certificate: Mapping[str, Any]
    """``grade``, ``holds`` and ``claims``."""
    workings: Mapping[str, Any] | None = None
    """``title``, ``opening``, ``steps`` and ``latex``; None where there are none, or the rows are too many."""
    fitted: tuple[Mapping[str, Any], ...] = ()
    """Fitted numbers that may be moved by hand: name, shape, flat values, and labels or None."""

    def __post_init__(self) -> None:
        for name in ("parameters", "data", "axes", "trace", "certificate", "workings", "fitted"):
            object.__setattr__(self, name, plain(getattr(self, name)))

    def to_json(self) -> dict[str, Any]:
        """Return the document; a layer that an earlier frame has is told by its place there, with its own classes."""
        told = {name: getattr(self, name) for name in ("title", "method", "parameters", "python", "data", "axes")}
        rest: dict[str, Any] = {"trace": self.trace, "certificate": self.certificate, "workings": self.workings}
        rest["fitted"] = self.fitted
        layers = [layer.to_json() for layer in self.layers]
        return {"version": VERSION, **told, "layers": layers, "frames": list(self._told_frames()), **rest}

    def _told_frames(self) -> Iterator[dict[str, Any]]:
        first: dict[str, dict[str, Any]] = {}
        for number, frame in enumerate(self.frames):
            layers = []
            for k, layer in enumerate(frame.layers):
                content = layer.to_json()
                key, place_of_points = json.dumps(content), _without_classes(content)
                layers.append(first.get(key) or _in_other_classes(first.get(place_of_points), content))
                for known in (key, place_of_points):
                    first.setdefault(known, {"same_as": number, "layer": k})
            told = {name: getattr(frame, name) for name in ("row", "step", "seconds")}
            yield {"label": frame.label, "layers": layers, **told}

    def text(self) -> str:
        """Return the document as text, without spaces."""
        return json.dumps(self.to_json(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)

    @property
    def size(self) -> int:
        """Bytes of the text."""
        return len(self.text().encode())

    def with_frames(self, frames: tuple[Frame, ...]) -> Recording:
        """Return the recording with other frames."""
        return replace(self, frames=frames)


def _without_classes(content: Mapping[str, Any]) -> str:
    """Return what tells points that change their classes only; of other layers, what tells nothing else."""
    rest = {name: value for name, value in content.items() if name != "class"}
    return json.dumps(["other classes", rest] if "class" in content else content)


def _in_other_classes(earlier: Mapping[str, Any] | None, content: dict[str, Any]) -> dict[str, Any]:
    """Return a layer by its place in an earlier frame and its own classes, or as it is."""
    return content if earlier is None else {**earlier, "class": content["class"]}


def read_recording(text: str) -> Recording:
    """Return the recording that a text holds.

    Parameters
    ----------
    text : str
        A JSON document, as ``Recording.text`` returns it.

    Examples
    --------
    >>> read_recording('{"version": 2}')
    Traceback (most recent call last):
    ValueError: recording must be of version 1, got 2. Record it again.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"recording must be a JSON document, got text that is none: {error}.") from None
    if not isinstance(found, dict) or found.get("version") != VERSION:
        got = found.get("version") if isinstance(found, dict) else type(found).__name__
        raise ValueError(f"recording must be of version {VERSION}, got {got!r}. Record it again.")
    wanted = set(Recording.__dataclass_fields__)
    if found.keys() - {"version"} != wanted:
        raise ValueError(f"recording must have the fields {sorted(wanted)}, got {sorted(found.keys() - {'version'})}.")
    fields = {name: found[name] for name in wanted - {"layers", "frames"}}
    layers = tuple(read_layer(node) for node in found["layers"])
    return Recording(**fields, layers=layers, frames=_read_frames(found["frames"]))


def _read_frames(nodes: list[Any]) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    for node in nodes:
        layers: list[Layer] = []
        for told in node["layers"]:
            layers.append(_earlier(frames, layers, told) if "same_as" in told else read_layer(told))
        frames.append(Frame(node["label"], tuple(layers), node["row"], node["step"], node["seconds"]))
    return tuple(frames)


def _earlier(frames: list[Frame], own: list[Layer], told: Mapping[str, Any]) -> Layer:
    """Return the layer that stands in an earlier frame, or earlier in the same one."""
    place, k = told["same_as"], told["layer"]
    layers = frames[place].layers if 0 <= place < len(frames) else tuple(own) if place == len(frames) else ()
    if not 0 <= k < len(layers):
        raise ValueError(f"same_as must name a layer of an earlier frame, got layer {k} of frame {place}.")
    changes = {name: value for name, value in told.items() if name not in ("same_as", "layer")}
    return read_layer({**layers[k].to_json(), **changes}) if changes else layers[k]
