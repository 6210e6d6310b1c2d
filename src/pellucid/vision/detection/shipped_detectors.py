"""Small detectors that ship with the package, trained on made scenes of MNIST's digits, with the figures they reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pellucid.vision.detection.detector import Detector
from pellucid.vision.shipped_models import ShippedModels

SHIPPED = ShippedModels(
    Path(__file__).parent / "weights",
    {
        "digits yolo": "digits_yolo",
        "digits ssd": "digits_ssd",
        "digits retinanet": "digits_retinanet",
        "digits r-cnn": "digits_rcnn",
        "digits fast r-cnn": "digits_fast_rcnn",
        "digits faster r-cnn": "digits_faster_rcnn",
        "digits mask r-cnn": "digits_mask_rcnn",
        "two digits": "two_digits",
    },
)


def shipped_detector(name: str) -> Detector:
    """Return a trained detector: gray images of about 320 x 320 with bright digits of 20 to 100 pixels on dark ground.

    Parameters
    ----------
    name : str
        "digits yolo", "digits ssd", "digits retinanet", "digits r-cnn", "digits fast r-cnn", "digits faster r-cnn",
        "digits mask r-cnn" or "two digits": a ``Localizer``, for images of 64 x 64 with two digits of about 28 pixels.

    Examples
    --------
    >>> from pellucid.vision.scenes import digit_scenes
    >>> scenes, truth = digit_scenes(1, fewest=3, most=3, random_state=1)
    >>> found = shipped_detector("digits ssd").predict(scenes)[0]
    >>> bool((found.scores > 0.5).sum() >= 2)
    True
    """
    found: Detector = SHIPPED.model(name)
    return found


def shipped_figures(name: str) -> dict[str, Any]:
    """Return what was measured when the weights were made: data, seed, minutes, average precision with interval.

    Examples
    --------
    >>> shipped_figures("digits ssd")["AP50"] > 0.97
    True
    """
    return SHIPPED.figures(name)
