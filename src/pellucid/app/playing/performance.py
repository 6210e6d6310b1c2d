"""A performance: a recording, and the model behind it, which can be changed, proved and drawn again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.app.playing.layers import Layer
from pellucid.app.playing.recording import Recording
from pellucid.core.types import Data
from pellucid.proofs.certificate import Certificate


@dataclass(frozen=True)
class Performance:
    """What a play leaves. An idea without a model has a recording only."""

    recording: Recording
    """What the page shows."""
    model: Any = None
    """The fitted model; of a method that minimizes a formula, a ``ReachedPoint``."""
    X: Data = None
    """The rows that the model was fitted to; None for a formula or an image."""
    y: Data = None
    """Their target; None for a method that takes none."""
    prove: Callable[[Any], Certificate] | None = None
    """From a model, as fitted or changed by hand, to its certificate."""
    redraw: Callable[[Any], list[Layer]] | None = None
    """From a model to the layers of the last frame."""


@dataclass
class ReachedPoint:
    """A place that may be the minimum of a formula, as one row."""

    x: np.ndarray
