"""The segmenter that ships: small, and good on digits that it has not seen."""

import pytest

pytest.importorskip("torch")

from pellucid.vision.scenes import digit_scenes, label_map
from pellucid.vision.segmentation.shipped_segmenters import SHIPPED, shipped_segmenter


def test_it_is_small_and_reads_digits_of_another_hand():
    assert SHIPPED.path("digits u-net").stat().st_size <= 5_000_000
    assert SHIPPED.figures("digits u-net")["mean IoU"] > 0.8
    scenes, truth = digit_scenes(4, fewest=4, most=8, sides=(36, 60), random_state=5)
    score = shipped_segmenter().evaluate(scenes, [label_map(one) for one in truth])
    assert score.pixel_accuracy > 0.96
    assert score.mean_iou > 0.4


def test_a_name_that_is_not_there_gets_a_sentence():
    with pytest.raises(ValueError, match="name must be one of"):
        shipped_segmenter("roads")
