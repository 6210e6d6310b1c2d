"""Training for a time: how many epochs there is room for."""

from __future__ import annotations

import time
from typing import Any

from pellucid.vision.scene_estimator import SceneEstimator

BATCHES_TIMED = 24


def epochs_within(model: SceneEstimator, images: Any, truth: Any, until: float) -> int:
    """Return how many epochs end before a time, by the speed of the second of two short ones: the first is slow.

    ``until`` is a value of ``time.perf_counter``. The model is fitted on the way.
    """
    some = slice(None, None, -(-len(images) // (BATCHES_TIMED * model.batch_size)))  # all classes are there
    model.set_params(epochs=2).fit(images[some], truth[some])
    seconds = float(model.trace_["seconds"][-1]) * len(images) / len(images[some])
    return max(2, int((until - time.perf_counter()) / seconds))
