"""A small segmenter that ships with the package, trained on made scenes of MNIST's digits."""

from __future__ import annotations

from pathlib import Path

from pellucid.vision.segmentation.segmenter import Segmenter
from pellucid.vision.shipped_models import ShippedModels

SHIPPED = ShippedModels(Path(__file__).parent / "weights", {"digits u-net": "digits_unet"})


def shipped_segmenter(name: str = "digits u-net") -> Segmenter:
    """Return a trained segmenter: gray images with bright digits of 20 to 100 pixels on dark ground.

    Labels are 0 to 9, and 10 for the ground.

    Parameters
    ----------
    name : str, default="digits u-net"
        The only one there is: a small U-Net.

    Examples
    --------
    >>> from pellucid.vision.scenes import digit_scenes
    >>> scenes, truth = digit_scenes(1, fewest=3, most=3, random_state=1)
    >>> labels = shipped_segmenter().predict(scenes)[0]
    >>> labels.shape, bool((labels == 10).mean() > 0.8)
    ((320, 320), True)
    """
    found: Segmenter = SHIPPED.model(name)
    return found
