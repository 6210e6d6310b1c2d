"""Boxes by hand: exact on a few, and the same as the program."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, log

from pellucid.vision.detection import (
    BoxCoding,
    average_precision,
    box_iou,
    generalized_iou,
    match_anchors,
    show_anchor_match,
    show_average_precision,
    show_box_regression,
    show_focal_loss,
    show_iou,
    show_roi_align,
    show_suppression,
    suppress,
)

edges = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 9), st.integers(1, 9))
boxes = edges.map(lambda e: [e[0], e[1], e[0] + e[2], e[1] + e[3]])


# by hand


def test_two_squares_share_a_seventh():
    answer = show_iou([0, 0, 2, 2], [1, 1, 3, 3]).answer
    assert answer == {"intersection": 1, "union": 7, "iou": Rational(1, 7), "giou": Rational(-5, 63)}
    apart = show_iou([0, 0, 1, 1], [3, 0, 4, 1])
    assert apart.answer["giou"] == Rational(-1, 2)
    assert "do not meet" in apart.text()
    assert show_iou([1, 1, 1, 1], [1, 1, 1, 1]).answer["giou"] == 0


def test_right_wrong_right_of_two():
    answer = show_average_precision([1, 0, 1], 2).answer
    assert (answer["voc"], answer["voc07"]) == (Rational(5, 6), Rational(28, 33))
    assert show_average_precision([0, 1, 1], 2, scores=[0.5, 0.9, 0.2]).answer["voc"] == Rational(5, 6)
    assert show_average_precision([0, 0], 3).answer["coco"] == 0


def test_a_sure_right_answer_loses_next_to_nothing():
    answer = show_focal_loss(0.9).answer
    assert answer["factor"] == Rational(1, 400)
    assert answer["loss"] == pytest.approx(-math.log(0.9) / 400)
    assert show_focal_loss(0.9, 0, gamma=0, alpha=0.5).answer["loss"] == pytest.approx(-math.log(0.1) / 2)


def test_a_cell_between_four_pixels():
    # one sample in the middle of a 2 x 2 map
    work = show_roi_align([[0, 1], [2, 3]], [0, 0, 1, 1], size=1, samples=1)
    assert work.answer["value"] == Rational(3, 2)
    assert show_roi_align([[4]], [0, 0, 1, 1]).answer["value"] == 4


# the same as the program


@settings(max_examples=40, deadline=None)
@given(boxes, boxes)
def test_overlaps_and_offsets_agree(a, b):
    answer = show_iou(a, b).answer
    assert float(answer["iou"]) == pytest.approx(box_iou([a], [b])[0, 0])
    assert float(answer["giou"]) == pytest.approx(generalized_iou([a], [b])[0, 0])
    offsets = [float(one) for one in show_box_regression(a, b).answer["offsets"]]
    np.testing.assert_allclose(offsets, BoxCoding().encode([a], [b])[0], atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(boxes, st.integers(0, 5)), min_size=1, max_size=6), st.sampled_from([0.25, 0.5, 0.75]))
def test_suppression_agrees(scored, threshold):
    each, scores = zip(*scored, strict=True)
    answer = show_suppression(each, scores, threshold).answer
    found = suppress(np.array(each, float), np.array(scores, float), threshold)
    assert answer == {"kept": found.kept.tolist(), "suppressed_by": found.suppressed_by.tolist()}


@settings(max_examples=40, deadline=None)
@given(st.lists(boxes, min_size=1, max_size=6), st.lists(boxes, min_size=1, max_size=3))
def test_matches_agree(anchors, objects):
    answer = show_anchor_match(anchors, objects, 0.75, 0.25).answer
    assert answer["box"] == match_anchors(anchors, objects, 0.75, 0.25).box.tolist()
    assert answer["with_best"] == match_anchors(anchors, objects, 0.75, 0.25, True).box.tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=8))
def test_average_precision_agrees(hits):
    # eight objects: their shares are exact in floating point, and so are comparisons with hundredths
    there = [[0, 20 * k, 10, 20 * k + 10] for k in range(8)]
    taken = np.cumsum(hits) - 1
    found = [there[taken[k]] if hit else [500, 20 * k, 510, 20 * k + 10] for k, hit in enumerate(hits)]
    detections = [{"boxes": found, "scores": -np.arange(len(hits)), "labels": [1] * len(hits)}]
    annotations = [{"boxes": there, "labels": [1] * 8}]
    answer = show_average_precision(hits, 8).answer
    for rule in ("voc", "voc07", "coco"):
        assert float(answer[rule]) == pytest.approx(average_precision(detections, annotations, rule=rule).ap, abs=1e-12)


@pytest.mark.parametrize("aligned", [False, True])
def test_cells_agree_with_torchvision(aligned):
    ops, torch = pytest.importorskip("torchvision.ops"), pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    features = rng.integers(0, 9, (5, 6))
    for box in ([0.5, 1.25, 4.5, 3.75], [-1, -2, 3, 8], [2, 2, 2.5, 2.25], [4, 3, 5.5, 5]):
        rois = torch.tensor([[0.0, *box]], dtype=torch.float64)
        image = torch.tensor(features, dtype=torch.float64)[None, None]
        peer = ops.roi_align(image, rois, (2, 2), sampling_ratio=2, aligned=aligned)[0, 0]
        for cell in ((0, 0), (0, 1), (1, 1)):
            work = show_roi_align(features.tolist(), box, cell=cell, aligned=aligned)
            assert float(work.answer["value"]) == pytest.approx(float(peer[cell]), abs=1e-12)


def test_the_focal_loss_agrees_with_torchvision():
    ops, torch = pytest.importorskip("torchvision.ops"), pytest.importorskip("torch")
    for p, target in ((0.9, 1), (0.2, 1), (0.7, 0)):
        logit = torch.tensor([math.log(p / (1 - p))], dtype=torch.float64)
        peer = ops.sigmoid_focal_loss(logit, torch.tensor([float(target)], dtype=torch.float64))
        assert show_focal_loss(p, target).answer["loss"] == pytest.approx(float(peer[0]))


def test_losses_and_cells_agree_with_ours():
    torch = pytest.importorskip("torch")
    from pellucid.vision.detection import focal_loss, roi_align

    for p, target in ((0.9, 1), (0.2, 1), (0.7, 0)):
        logit = torch.tensor([math.log(p / (1 - p))], dtype=torch.float64)
        ours = focal_loss(logit, torch.tensor([float(target)], dtype=torch.float64))
        assert show_focal_loss(p, target).answer["loss"] == pytest.approx(float(ours[0]))
    features = np.random.default_rng(1).integers(0, 9, (5, 6))
    maps = torch.tensor(features, dtype=torch.float64)[None, None]
    box = [0.5, 1.25, 4.5, 3.75]
    cells = roi_align(maps, torch.tensor([[0.0, *box]], dtype=torch.float64), size=2)[0, 0]
    for cell in ((0, 0), (1, 0)):
        work = show_roi_align(features.tolist(), box, cell=cell)
        assert float(work.answer["value"]) == pytest.approx(float(cells[cell]))


def test_growth_is_a_logarithm_that_stays_exact():
    offsets = show_box_regression([0, 0, 6, 3], [0, 0, 2, 3]).answer["offsets"]
    assert offsets == [1, 0, log(3), 0]


# errors


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(ValueError, match=r"box must have x1 <= x2 and y1 <= y2"):
        show_iou([2, 0, 1, 1], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="boxes must be at most 8 boxes"):
        show_suppression([[0, 0, 1, 1]] * 9, [1] * 9)
    with pytest.raises(ValueError, match="scores must be one for each of 1 boxes, got 2"):
        show_suppression([[0, 0, 1, 1]], [1, 2])
    with pytest.raises(ValueError, match="low and high must be"):
        show_anchor_match([[0, 0, 1, 1]], [[0, 0, 1, 1]], 0.3, 0.7)
    with pytest.raises(ValueError, match="hits must be at most 12 numbers 0 or 1"):
        show_average_precision([2], 2)
    with pytest.raises(ValueError, match="objects must be a whole number"):
        show_average_precision([1, 1], 1)
    with pytest.raises(ValueError, match="scores must be one for each of 2 detections"):
        show_average_precision([1, 1], 2, scores=[1])
    with pytest.raises(ValueError, match="must have sides above 0"):
        show_box_regression([0, 0, 0, 1], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="probability must be above 0 and below 1"):
        show_focal_loss(1)
    with pytest.raises(ValueError, match="target must be 0 or 1"):
        show_focal_loss(0.5, 2)
    with pytest.raises(ValueError, match="cell inside of 2 x 2"):
        show_roi_align([[1]], [0, 0, 1, 1], cell=(2, 0))
