"""The detectors that ship: small, readable, and good on digits that they have not seen."""

import numpy as np
import pytest

pytest.importorskip("torch")

from pellucid.vision.detection.networks.small_detectors import SMALL_DETECTORS
from pellucid.vision.detection.scoring.average_precision import average_precision
from pellucid.vision.detection.shipped_detectors import SHIPPED, shipped_detector, shipped_figures
from pellucid.vision.detection.train_digits import LOCALIZERS, accuracy_and_overlap
from pellucid.vision.scenes import digit_scenes


@pytest.mark.parametrize("name", SHIPPED.files)
def test_files_are_small_and_hold_the_network_of_their_name(name):
    assert SHIPPED.path(name).stat().st_size <= 5_000_000
    model = shipped_detector(name)
    kind = name.removeprefix("digits ")
    assert model.architecture_ == (SMALL_DETECTORS | LOCALIZERS)[kind].for_data((1, 320, 320), 10)
    assert model.classes_.tolist() == list(range(10))
    assert shipped_figures(name)["network"] == kind


LEAST = {
    "digits yolo": 0.5,
    "digits ssd": 0.5,
    "digits retinanet": 0.5,
    "digits faster r-cnn": 0.5,
    "digits mask r-cnn": 0.5,
}


@pytest.mark.parametrize("name", LEAST)
def test_digits_of_another_hand_are_found(name):
    """These digits are of 8 x 8 and were enlarged: other writers, another pen."""
    scenes, truth = digit_scenes(6, fewest=4, most=8, sides=(36, 60), masks=False, random_state=5)
    found = shipped_detector(name).predict(scenes)
    assert average_precision(found, truth).ap50 > LEAST[name]
    boxes = [one for one in found if len(one)]
    assert all(np.all(np.diff(one.scores) <= 0) for one in boxes)


def test_two_digits_are_read():
    scenes, truth = digit_scenes(20, size=64, fewest=2, most=2, sides=(26, 30), masks=False, random_state=5)
    whole = [place for place, one in enumerate(truth) if len(one) == 2]
    found = shipped_detector("two digits").predict(scenes[whole])
    figures = accuracy_and_overlap(found, [truth[place] for place in whole])
    assert figures["accuracy"] > 0.35  # by chance 0.1
    assert figures["mean overlap"] > 0.6


def test_a_name_that_is_not_there_gets_a_sentence():
    with pytest.raises(ValueError, match="name must be one of"):
        shipped_detector("digits detr")
