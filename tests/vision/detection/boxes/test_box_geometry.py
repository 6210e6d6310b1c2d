"""Areas and overlaps of boxes, and boxes relative to anchors."""

import math

import numpy as np
import pytest

from pellucid.vision.detection import (
    AnchorGrid,
    BoxCoding,
    box_area,
    box_iou,
    clip_boxes,
    default_boxes,
    from_corners,
    generalized_iou,
    paired_giou,
    to_corners,
)
from tests.vision.detection.boxes.scenes import clustered, scattered


def test_two_squares_share_one_of_seven():
    # 2 x 2 squares shifted by (1, 1): they share 1, and cover 4 + 4 - 1; the hull is 3 x 3
    a, b = [[0, 0, 2, 2]], [[1, 1, 3, 3]]
    assert box_area(a) == [4.0]
    assert box_iou(a, b) == pytest.approx(1 / 7)
    assert generalized_iou(a, b) == pytest.approx(1 / 7 - 2 / 9)


def test_empty_boxes_overlap_nothing_and_divide_by_nothing():
    empty, full = [[1, 1, 1, 1], [0, 0, 0, 5]], [[0, 0, 2, 2]]
    assert not box_iou(empty, full).any()
    assert not box_iou(empty, empty).any()
    assert np.isfinite(generalized_iou(empty, [*full, *empty])).all()
    assert box_iou(np.zeros((0, 4)), full).shape == (0, 1)
    assert box_iou([], []).shape == (0, 0)


@pytest.mark.parametrize("make", [clustered, scattered])
def test_overlaps_are_symmetric_keep_when_moved_and_enlarged_and_bound_each_other(make):
    boxes = make(np.random.default_rng(0), 40)[0].astype(np.float64)
    iou, giou = box_iou(boxes, boxes), generalized_iou(boxes, boxes)
    np.testing.assert_array_equal(iou, iou.T)
    np.testing.assert_allclose(np.diag(iou), 1.0)
    np.testing.assert_allclose(box_iou(3 * boxes + 7, 3 * boxes + 7), iou, atol=1e-12)
    assert (giou <= iou + 1e-12).all()
    assert (giou > -1).all()
    np.testing.assert_array_equal(paired_giou(boxes, boxes[::-1]), np.diag(generalized_iou(boxes, boxes[::-1])))


@pytest.mark.parametrize("form", ["xywh", "cxcywh"])
def test_forms_go_there_and_back(form):
    boxes = scattered(np.random.default_rng(1), 20)[0].astype(np.float64)
    np.testing.assert_allclose(to_corners(from_corners(boxes, form), form), boxes, atol=1e-12)


def test_clipped_boxes_stay_inside_and_those_outside_are_empty():
    clipped = clip_boxes([[-5, -5, 2, 3], [20, 1, 30, 2]], height=4, width=10)
    np.testing.assert_array_equal(clipped, [[0, 0, 2, 3], [10, 1, 10, 2]])
    assert box_area(clipped).tolist() == [6, 0]


def test_offsets_by_hand():
    # the anchor (0, 0, 4, 2) has its center at (2, 1); the box (3, 0, 5, 4) at (4, 2), half as wide, twice as high
    offsets = BoxCoding(weights=(10, 10, 5, 5)).encode([[3, 0, 5, 4]], [[0, 0, 4, 2]])
    np.testing.assert_allclose(offsets, [[5.0, 5.0, -5 * math.log(2), 5 * math.log(2)]])


def test_decoding_undoes_encoding_and_bounds_growth():
    rng = np.random.default_rng(2)
    boxes, anchors = scattered(rng, 30)[0].astype(np.float64), clustered(rng, 30)[0].astype(np.float64)
    coding = BoxCoding(weights=(10, 10, 5, 5), most_growth=20.0)
    np.testing.assert_allclose(coding.decode(coding.encode(boxes, anchors), anchors), boxes, atol=1e-9)
    grown = BoxCoding().decode([[0, 0, 99, 99]], [[0, 0, 16, 16]])
    np.testing.assert_allclose(grown, [[8 - 500, 8 - 500, 8 + 500, 8 + 500]])


def test_offsets_of_several_classes_are_decoded_side_by_side():
    rng = np.random.default_rng(3)
    anchors, offsets = scattered(rng, 6)[0], 0.1 * rng.standard_normal((6, 12)).astype(np.float32)
    whole = BoxCoding().decode(offsets, anchors)
    for k in range(3):
        np.testing.assert_array_equal(
            whole[:, 4 * k : 4 * k + 4], BoxCoding().decode(offsets[:, 4 * k :][:, :4], anchors)
        )


def test_anchors_stand_row_by_row():
    (anchors,) = AnchorGrid(sizes=((2, 4),), ratios=(1.0,)).at([(2, 2)], (20, 10))
    centers = (anchors[:, :2] + anchors[:, 2:]) / 2
    np.testing.assert_array_equal(centers[::2], [[0, 0], [5, 0], [0, 10], [5, 10]])
    np.testing.assert_array_equal(box_area(anchors), [4, 16] * 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors_give_what_arrays_give(dtype):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    a, b = clustered(rng, 30)[0].astype(dtype), clustered(rng, 30)[0].astype(dtype)
    tensors = torch.from_numpy(a), torch.from_numpy(b)
    for function in (box_iou, generalized_iou, paired_giou, BoxCoding().encode):
        found = function(*tensors)
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(), function(a, b), rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-7)
    np.testing.assert_array_equal(clip_boxes(tensors[0], 50, 60).numpy(), clip_boxes(a, 50, 60))
    assert box_iou(tensors[0].half(), tensors[1].half()).dtype == torch.float32


def test_generalized_iou_has_a_slope_everywhere():
    torch = pytest.importorskip("torch")
    boxes = torch.tensor([[0.0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 1, 1]], requires_grad=True)
    paired_giou(boxes, torch.tensor([[3.0, 0, 4, 1], [0, 0, 0, 0], [0, 0, 1, 1]])).sum().backward()
    assert torch.isfinite(boxes.grad).all()
    assert boxes.grad[0].any()


def test_same_numbers_as_torchvision():
    ops, torch = pytest.importorskip("torchvision.ops"), pytest.importorskip("torch")
    utils = pytest.importorskip("torchvision.models.detection._utils")
    rng = np.random.default_rng(5)
    a, b = (torch.from_numpy(clustered(rng, 60)[0]) for _ in range(2))
    torch.testing.assert_close(box_iou(a, b), ops.box_iou(a, b), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(generalized_iou(a, b), ops.generalized_box_iou(a, b), rtol=1e-5, atol=1e-6)
    ours, peer = BoxCoding((10.0, 10.0, 5.0, 5.0)), utils.BoxCoder((10.0, 10.0, 5.0, 5.0))
    torch.testing.assert_close(ours.encode(a, b), peer.encode_single(a, b), rtol=1e-5, atol=1e-5)
    offsets = torch.from_numpy(3 * rng.standard_normal((60, 8)).astype(np.float32))
    torch.testing.assert_close(ours.decode(offsets, a), peer.decode_single(offsets, a), rtol=1e-5, atol=1e-4)


def test_anchors_are_those_of_torchvision():
    torch = pytest.importorskip("torch")
    utils = pytest.importorskip("torchvision.models.detection.anchor_utils")
    images = pytest.importorskip("torchvision.models.detection.image_list").ImageList(
        torch.zeros(1, 3, 203, 304), [(203, 304)]
    )
    shapes = [(25, 38), (13, 19)]
    maps = [torch.zeros(1, 1, *shape) for shape in shapes]
    sizes, ratios = ((32, 40, 50), (64,)), ((0.5, 1.0, 2.0), (1.0, 3.0))
    (peer,) = utils.AnchorGenerator(sizes, ratios)(images, maps)
    np.testing.assert_array_equal(np.concatenate(AnchorGrid(sizes, ratios).at(shapes, (203, 304))), peer.numpy())
    for options in ({}, {"steps": [8, 16]}, {"scales": [0.07, 0.5, 1.2], "clip": False}):
        (peer,) = utils.DefaultBoxGenerator([[2], [2, 3]], **options)(images, maps)
        ours = default_boxes([[2], [2, 3]], shapes, (203, 304), **options)
        np.testing.assert_allclose(np.concatenate(ours), peer.numpy(), rtol=1e-6, atol=1e-4)


def test_bad_boxes_and_settings_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"boxes must hold four numbers each.*got the shape \(3,\)"):
        box_area([1, 2, 3])
    with pytest.raises(ValueError, match=r"others must be of the shape of boxes, \(1, 4\), got \(2, 4\)"):
        paired_giou([[0, 0, 1, 1]], [[0, 0, 1, 1]] * 2)
    with pytest.raises(ValueError, match="form must be one of"):
        to_corners([[0, 0, 1, 1]], "xyxy")
    with pytest.raises(ValueError, match="weights must be four numbers"):
        BoxCoding(weights=(1, 2))
    with pytest.raises(ValueError, match="ratios must be given for each of 2 levels"):
        AnchorGrid(((1,), (2,)), ((1.0,),))
    with pytest.raises(ValueError, match="map_shapes must be one for each of 1 levels, got 2"):
        AnchorGrid(((1,),), (1.0,)).at([(1, 1), (2, 2)], (4, 4))
    with pytest.raises(ValueError, match="scales must be 2 for 1 maps of ratios, got 1"):
        default_boxes([[2]], [(1, 1)], (9, 9), scales=[0.5])
    with pytest.raises(ValueError, match="steps must be 1, one for each map"):
        default_boxes([[2]], [(1, 1)], (9, 9), steps=[8, 16])


def test_no_anchors_are_decoded_into_no_boxes():
    torch = pytest.importorskip("torch")
    for empty, two in ((np.zeros((0, 4)), np.zeros((0, 8))), (torch.zeros(0, 4), torch.zeros(0, 8))):
        assert tuple(BoxCoding().decode(empty, empty).shape) == (0, 4)
        assert tuple(BoxCoding().decode(two, empty).shape) == (0, 8)
