"""Non-maximum suppression and the matching of anchors."""

import numpy as np
import pytest

from pellucid.vision.detection import box_iou, match_anchors, suppress
from pellucid.vision.detection.boxes import suppression, suppression_kernels
from tests.plain_kernels import in_python
from tests.vision.detection.boxes.scenes import clustered, scattered

THRESHOLDS = (0.0, 0.05, 0.3, 0.5, 0.7, 0.95, 1.0)


def by_definition(boxes, scores, threshold, groups=None):
    """Return the kept boxes and the first suppressor of each other one, in plain loops."""
    groups = np.zeros(len(boxes)) if groups is None else groups
    iou, kept, by = box_iou(boxes, boxes), [], np.full(len(boxes), -1)
    for i in sorted(range(len(boxes)), key=lambda i: (-scores[i], i)):
        over = [j for j in kept if groups[i] == groups[j] and iou[i, j] > threshold]
        if over:
            by[i] = over[0]
        else:
            kept.append(i)
    return np.array(kept, dtype=int), by


def agrees(found, kept, by):
    np.testing.assert_array_equal(found.kept, kept)
    np.testing.assert_array_equal(found.suppressed_by, by)


def test_the_best_box_of_a_heap_is_kept_and_named_by_the_others():
    boxes = [[0, 0, 10, 10], [1, 0, 11, 10], [0, 0, 10, 9], [30, 30, 40, 40]]
    found = suppress(boxes, [0.6, 0.9, 0.8, 0.1], 0.5)  # 1 and 2 share 9 x 9 of 109, 0.743; 0 and 1 share 90 of 110
    agrees(found, [1, 3], [1, -1, 1, -1])
    assert repr(found) == "Suppression(2 of 4 boxes kept, IoU above 0.5)"


def test_equal_scores_are_taken_in_their_order_and_equal_overlap_is_not_too_much():
    agrees(suppress([[0, 0, 2, 2]] * 3, [0.5, 0.5, 0.5], 0.9), [0], [-1, 0, 0])
    agrees(suppress([[0, 0, 2, 2], [0, 0, 2, 1]], [1.0, 0.5], 0.5), [0, 1], [-1, -1])


def test_boxes_of_other_groups_do_not_suppress():
    boxes, scores = [[0, 0, 2, 2]] * 4, [0.1, 0.2, 0.3, 0.4]
    agrees(suppress(boxes, scores, 0.5, groups=[7, -1, 7, 7]), [3, 1], [3, -1, 3, -1])


def test_no_boxes_one_box_and_empty_boxes():
    agrees(suppress(np.zeros((0, 4)), np.zeros(0), 0.5), [], [])
    agrees(suppress([[1, 1, 2, 2]], [0.0], 0.0), [0], [-1])
    agrees(suppress([[1, 1, 1, 1]] * 50, np.zeros(50), 0.0), np.arange(50), [-1] * 50)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("make", [clustered, scattered])
def test_same_as_the_definition(make, threshold):
    rng = np.random.default_rng(0)
    for k, n in enumerate((20, 40, 90, 200)):
        boxes, scores = make(rng, n, side=[30, 300, 3000][k % 3])
        scores = np.round(scores, 1) if k % 2 else scores  # many ties
        agrees(suppress(boxes, scores, threshold), *by_definition(boxes, scores, threshold))
        groups = rng.integers(3, size=n)
        agrees(suppress(boxes, scores, threshold, groups), *by_definition(boxes, scores, threshold, groups))
        wide = boxes.astype(np.float64)
        agrees(suppress(wide, scores, threshold), *by_definition(wide, scores, threshold))


@pytest.mark.parametrize("stretch", [(1.0, 1e-3), (1e6, 1.0), (1e-30, 1e-30), (1e15, 1e15)])
def test_thin_wide_tiny_and_huge_boxes_far_away_are_no_exception(stretch):
    boxes, scores = clustered(np.random.default_rng(1), 150)
    boxes = boxes.astype(np.float64) * (*stretch, *stretch) + 100 * max(stretch)
    agrees(suppress(boxes, scores, 0.3), *by_definition(boxes, scores, 0.3))


@pytest.mark.parametrize("scale", [1e-300, 1e150, 1e200, 1e305])
def test_areas_beyond_all_numbers_do_no_harm(scale):
    boxes, scores = clustered(np.random.default_rng(8), 150)
    boxes = (boxes.astype(np.float64) - 150) * scale
    with np.errstate(all="ignore"):
        agrees(suppress(boxes, scores, 0.3), *by_definition(boxes, scores, 0.3))


def test_one_huge_box_among_many_small_ones():
    boxes, scores = scattered(np.random.default_rng(2), 200, side=50)
    boxes[17] = [-1e6, -1e6, 1e6, 1e6]
    agrees(suppress(boxes, scores, 0.2), *by_definition(boxes, scores, 0.2))


def test_the_compiled_loop_is_what_is_written():
    boxes, scores = clustered(np.random.default_rng(3), 60)
    order, starts = suppression_kernels.falling_order(scores.view(np.uint32)), np.array([0, 20, 60])
    np.testing.assert_array_equal(in_python(suppression_kernels.falling_order)(scores.view(np.uint32)), order)
    compiled, plain = np.zeros((2, 60), np.int64), np.zeros((2, 60), np.int64)
    count = suppression_kernels.suppress_in_order(boxes, order, order, starts, 0.4, *compiled)
    assert in_python(suppression_kernels.suppress_in_order)(boxes, order, order, starts, 0.4, *plain) == count
    np.testing.assert_array_equal(compiled, plain)


@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_scores_are_sorted_as_numbers_are(n):
    rng = np.random.default_rng(9)
    scores = rng.choice([-1e30, -2.5, -1e-40, -0.0, 0.0, 1e-45, 0.1, 7.0, 3e38], n).astype(np.float32)
    order = suppression_kernels.falling_order(scores.view(np.uint32))
    np.testing.assert_array_equal(order, np.argsort(-scores, kind="stable"))


@pytest.mark.parametrize("pairs", [1, 2000, 1 << 24])
def test_the_way_of_graphics_cards_keeps_the_same_boxes(pairs, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(suppression, "MOST_PAIRS", pairs)
    rng = np.random.default_rng(4)
    for threshold in (0.0, 0.3, 0.7):
        boxes, scores = clustered(rng, 80)
        scores, lonely = np.round(scores, 1), np.arange(80) * (np.arange(80) > 60)  # one large group, many of one box
        tensors = torch.from_numpy(boxes), torch.from_numpy(scores)
        for group in (None, rng.integers(2, size=80), 3 * rng.integers(7, size=80), lonely, np.zeros(80, int)):
            kept, by = suppression._suppress_on_card(
                *tensors, threshold, None if group is None else torch.tensor(group)
            )
            agrees(suppress(boxes, scores, threshold, group), kept.numpy(), by.numpy())
            found = suppress(*tensors, threshold, None if group is None else torch.tensor(group))
            assert isinstance(found.kept, torch.Tensor)
            agrees(found, kept.numpy(), by.numpy())


def test_thresholds_of_single_precision_decide_as_those_of_double():
    torch = pytest.importorskip("torch")
    for threshold in (0.1, 0.3, 0.5, 0.7, 0.0, 1.0):
        limit = suppression._rounded_down(threshold, torch.float32)
        near = np.nextafter(np.float32(threshold), np.array([0, 2, threshold], dtype=np.float32))
        assert ((near > np.float32(limit)) == (near.astype(float) > threshold)).all()


def test_same_boxes_as_torchvision_on_a_thousand_scenes():
    ops, torch = pytest.importorskip("torchvision.ops"), pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    for k in range(1000):
        boxes, scores = (clustered, scattered)[k % 2](rng, int(rng.integers(1, 120)), side=float(rng.choice([30, 300])))
        threshold = float(rng.choice(THRESHOLDS))
        tensors = torch.from_numpy(boxes), torch.from_numpy(scores)
        np.testing.assert_array_equal(suppress(boxes, scores, threshold).kept, ops.nms(*tensors, threshold).numpy())


def test_what_cannot_be_compared_is_refused_in_a_sentence():
    boxes, scores = clustered(np.random.default_rng(6), 5)
    for wrong in (np.nan, np.inf):
        broken = boxes.copy()
        broken[2, 1] = wrong
        with pytest.raises(ValueError, match="boxes and scores must be finite numbers"):
            suppress(broken, scores, 0.5)
        with pytest.raises(ValueError, match="boxes and scores must be finite numbers"):
            suppress(boxes, np.where(np.arange(5) == 3, wrong, scores), 0.5)
    with pytest.raises(ValueError, match=r"x1 <= x2 and y1 <= y2.*to_corners"):
        suppress(boxes[:, [2, 3, 0, 1]], scores, 0.5)
    with pytest.raises(ValueError, match="scores must be one for each of 5 boxes"):
        suppress(boxes, scores[:3], 0.5)
    with pytest.raises(ValueError, match="groups must be one for each of 5 boxes"):
        suppress(boxes, scores, 0.5, [1])
    with pytest.raises(ValueError, match="threshold must be between 0.0 and 1.0, got 1.5"):
        suppress(boxes, scores, 1.5)
    with pytest.raises(ValueError, match="Do one image at a time"):
        suppress(boxes[None], scores, 0.5)


# matching


ANCHORS = [[0, 0, 4, 4], [0, 0, 4, 5], [2, 0, 6, 4], [20, 20, 24, 24], [9, 9, 10, 10]]
BOXES = [[0, 0, 4, 4], [20, 20, 25, 30]]


def test_anchors_are_matched_ignored_or_background():
    # IoU with the first box: 1, 16/20, 8/24, 0, 0; the fourth anchor has 16 of 50 of the second box
    found = match_anchors(ANCHORS, BOXES, high=0.7, low=0.33)
    np.testing.assert_array_equal(found.box, [0, 0, -2, -1, -1])
    np.testing.assert_allclose(found.overlap, [1, 0.8, 1 / 3, 0.32, 0])
    assert repr(found) == "Matching(2 anchors matched, 2 background, 1 ignored)"


def test_no_object_goes_without_if_the_best_anchors_are_kept():
    np.testing.assert_array_equal(match_anchors(ANCHORS, BOXES, 0.7, 0.33, keep_best=True).box, [0, 0, -2, 1, -1])
    np.testing.assert_array_equal(match_anchors(ANCHORS, BOXES, 0.9, 0.9, keep_best="one").box, [0, -1, -1, 1, -1])


def test_an_object_that_no_anchor_meets_takes_none():
    far = [[90, 90, 95, 95]]
    for keep_best in (False, True, "one"):
        assert match_anchors(ANCHORS, far, 0.5, 0.4, keep_best).box.tolist() == [-1] * 5
    assert match_anchors(ANCHORS, [], 0.5, 0.4, True).box.tolist() == [-1] * 5
    assert match_anchors([], BOXES, 0.5, 0.4, True).box.shape == (0,)


def test_an_anchor_that_two_objects_want_is_given_to_the_last():
    found = match_anchors([[0, 0, 4, 4]], [[0, 0, 4, 4], [0, 0, 4, 3]], 0.5, 0.5, keep_best="one")
    assert (found.box.tolist(), found.overlap.tolist()) == ([1], [0.75])


@pytest.mark.parametrize("keep_best", [False, True, "one"])
def test_same_matches_as_torchvision(keep_best):
    torch = pytest.importorskip("torch")
    utils = pytest.importorskip("torchvision.models.detection._utils")
    rng = np.random.default_rng(7)
    for _ in range(50):
        anchors, boxes = (torch.from_numpy(clustered(rng, n)[0]) for n in (80, int(rng.integers(1, 9))))
        iou = box_iou(boxes, anchors)
        if not bool((iou.amax(dim=1) > 0).all()):
            continue  # there torchvision matches anchors that meet nothing
        if keep_best == "one":
            ours, peer = match_anchors(anchors, boxes, 0.5, 0.5, "one"), utils.SSDMatcher(0.5)(iou)
        else:
            ours, peer = match_anchors(anchors, boxes, 0.5, 0.3, keep_best), utils.Matcher(0.5, 0.3, keep_best)(iou)
        assert torch.equal(ours.box, peer)
        arrays = match_anchors(anchors.numpy(), boxes.numpy(), ours.high, ours.low, keep_best)
        np.testing.assert_array_equal(arrays.box, ours.box.numpy())


def test_thresholds_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match=r"low must be at most high, 0.3, got 0.7"):
        match_anchors(ANCHORS, BOXES, 0.3, 0.7)
    with pytest.raises(ValueError, match=r"thresholds must be between 0.0 and 1.0, got -0.1"):
        match_anchors(ANCHORS, BOXES, 0.3, -0.1)
    with pytest.raises(ValueError, match="keep_best must be one of"):
        match_anchors(ANCHORS, BOXES, 0.7, 0.3, "all")
