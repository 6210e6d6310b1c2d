"""The detectors that ship: small, readable, and good on digits that they have not seen."""

import numpy as np
import pytest

pytest.importorskip("torch")

from pellucid.vision.detection.networks.small_detectors import SMALL_DETECTORS
from pellucid.vision.detection.scoring.average_precision import average_precision
from pellucid.vision.detection.shipped_detectors import SHIPPED, WEIGHTS, shipped_detector, shipped_figures
from pellucid.vision.scenes import digit_scenes


@pytest.mark.parametrize("name", SHIPPED)
def test_files_are_small_and_hold_the_network_of_their_name(name):
    assert (WEIGHTS / f"{SHIPPED[name]}.safetensors").stat().st_size <= 5_000_000
    model = shipped_detector(name)
    kind = name.removeprefix("digits ")
    assert model.architecture_ == SMALL_DETECTORS[kind].for_data((1, 320, 320), 10)
    assert model.classes_.tolist() == list(range(10))
    assert shipped_figures(name)["network"] == kind


@pytest.mark.parametrize("name", sorted(set(SHIPPED) - {"digits fast r-cnn"}))
def test_digits_of_another_hand_are_found(name):
    """These digits are of 8 x 8 and were enlarged: other writers, another pen."""
    scenes, truth = digit_scenes(6, fewest=4, most=8, sides=(36, 60), masks=False, random_state=5)
    found = shipped_detector(name).predict(scenes)
    assert average_precision(found, truth).ap50 > LEAST[name]
    boxes = [one for one in found if len(one)]
    assert all(np.all(np.diff(one.scores) <= 0) for one in boxes)


LEAST = {"digits yolo": 0.5, "digits ssd": 0.5, "digits retinanet": 0.5, "digits faster r-cnn": 0.5}


def test_a_name_that_is_not_there_gets_a_sentence():
    with pytest.raises(ValueError, match="name must be one of"):
        shipped_detector("digits detr")
