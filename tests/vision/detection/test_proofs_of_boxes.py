"""Suppressed boxes, matched anchors and average precisions are proved, and no change of them is."""

from dataclasses import fields, replace

import numpy as np
import pytest

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.vision.detection import average_precision, match_anchors, suppress
from tests.vision.detection.boxes.scenes import clustered, detected, scattered


def refused(found, *data, **options):
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(found, *data, **options).holds


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("make", [clustered, scattered])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_was_suppressed_is_proved(make, threshold, dtype):
    rng = np.random.default_rng(0)
    for n in (0, 1, 50, 120):
        boxes, scores = make(rng, n)
        boxes, scores, groups = boxes.astype(dtype), np.round(scores, 1), rng.integers(3, size=n)
        assert pellucid.verify(suppress(boxes, scores, threshold), boxes, scores).holds
        assert pellucid.verify(suppress(boxes, scores, threshold, groups), boxes, scores, groups=groups).holds


def test_a_tensor_is_proved_as_an_array_is():
    torch = pytest.importorskip("torch")
    boxes, scores = (torch.from_numpy(one) for one in clustered(np.random.default_rng(1), 40))
    certificate = pellucid.verify(suppress(boxes, scores, 0.5), boxes, scores)
    assert certificate.holds
    assert certificate.grade == "replayed"
    assert pellucid.verify(match_anchors(boxes, boxes[:3], 0.5, 0.4, True), boxes, boxes[:3]).holds


def test_every_change_of_a_suppression_is_noticed():
    boxes, scores = clustered(np.random.default_rng(2), 40)
    found = suppress(boxes, scores, 0.4)
    kept, by = found.kept, found.suppressed_by
    for i in range(40):  # another suppressor, or none
        for other in {-1, int(kept[0]), int(kept[-1]), i} - {int(by[i])}:
            changed = by.copy()
            changed[i] = other
            refused(replace(found, suppressed_by=changed), boxes, scores)
    loser = int(np.flatnonzero(by >= 0)[0])
    freed = by.copy()
    freed[loser] = -1
    order = np.argsort(-scores, kind="stable")
    refused(replace(found, suppressed_by=freed, kept=order[freed[order] == -1]), boxes, scores)
    dropped = by.copy()
    dropped[kept[-1]] = kept[0]
    refused(replace(found, suppressed_by=dropped, kept=kept[:-1]), boxes, scores)
    for changed in (kept[::-1], kept[:-1], np.r_[kept, loser], np.r_[kept, kept[0]], kept + 1000, kept.astype(float)):
        refused(replace(found, kept=changed), boxes, scores)
    for threshold in (0.9, np.nan, 1e200, -1.0):
        refused(replace(found, threshold=threshold), boxes, scores)
    for changed in (by[:-1], by + 1000, by.astype(float), by - 1):
        refused(replace(found, suppressed_by=changed), boxes, scores)


def test_a_suppression_of_other_boxes_scores_or_groups_is_not_proved():
    boxes, scores = clustered(np.random.default_rng(3), 40)
    found = suppress(boxes, scores, 0.4)
    refused(found, boxes, -scores)
    refused(found, boxes[::-1].copy(), scores)
    refused(found, boxes[:-1], scores[:-1])
    refused(found, np.where(np.arange(40)[:, None] == 3, np.nan, boxes), scores)
    refused(found, boxes, scores, groups=np.arange(40))


def test_the_first_suppressor_has_to_be_named_and_ties_go_to_the_lower_number():
    boxes, scores = np.array([[0, 0, 10, 10], [4, 0, 14, 10], [2, 0, 12, 10.0]]), np.array([0.9, 0.8, 0.7])
    found = suppress(boxes, scores, 0.5)  # 0 and 1 overlap by 6/14; 2 overlaps both by 8/12
    assert found.suppressed_by.tolist() == [-1, -1, 0]
    refused(replace(found, suppressed_by=np.array([-1, -1, 1])), boxes, scores)
    same, equal = np.repeat(boxes[:1], 2, axis=0), np.array([0.5, 0.5])
    refused(replace(suppress(same, equal, 0.5), kept=np.array([1]), suppressed_by=np.array([1, -1])), same, equal)


@pytest.mark.parametrize("keep_best", [False, True, "one"])
def test_matches_are_proved_and_every_change_of_one_is_noticed(keep_best):
    rng = np.random.default_rng(4)
    for n, m in ((30, 4), (10, 0), (0, 3)):
        anchors, boxes = clustered(rng, n, side=100)[0], scattered(rng, m, side=100)[0]
        found = match_anchors(anchors, boxes, 0.5, 0.2, keep_best)
        assert pellucid.verify(found, anchors, boxes).holds
        for i in range(n):
            for other in {-2, -1, 0, 1, 99} - {int(found.box[i])}:
                box = found.box.copy()
                box[i] = other
                refused(replace(found, box=box), anchors, boxes)
            for wrong in (found.overlap[i] + 0.01, np.nan, 1e200):
                overlap = found.overlap.astype(np.float64)
                overlap[i] = wrong
                refused(replace(found, overlap=overlap), anchors, boxes)
    anchors = clustered(rng, 30, side=100)[0]
    boxes = anchors[::8] + 2
    found = match_anchors(anchors, boxes, 0.5, 0.2, keep_best)
    for change in ({"high": np.nan}, {"low": 0.9}, {"high": 0.2, "low": 0.1}, {"keep_best": "two"}, {"keep_best": 1}):
        refused(replace(found, **change), anchors, boxes)
    refused(replace(found, box=found.box[:-1]), anchors, boxes)
    refused(found, anchors[::-1].copy(), boxes)
    refused(found, anchors, boxes + 5)


@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("rule", ["coco", "voc", "voc07"])
def test_average_precisions_are_proved(rule, masks):
    rng = np.random.default_rng(5)
    for _ in range(6):
        found, there = detected(rng, masks)
        certificate = pellucid.verify(average_precision(found, there, rule=rule, masks=masks), found, there)
        assert certificate.holds
        assert certificate.grade == "exact"
    nothing = [{"boxes": [], "scores": [], "labels": []}], [{"boxes": [], "labels": []}]
    assert pellucid.verify(average_precision(*nothing, rule=rule), *nothing).holds


def changes(values):
    """Yield an array with one number changed, in several ways, and arrays of other shapes."""
    flat = np.flatnonzero(~np.isnan(values.ravel()) if values.dtype.kind == "f" else np.ones(values.size, bool))
    for k in flat[:: max(1, len(flat) // 5)]:
        by = (lambda v: not v,) if values.dtype == bool else (lambda v: v + 1,)
        if values.dtype.kind == "f":
            by = (lambda v: v + 1e-6, lambda v: np.nan, lambda v: 1e200)
        for change in by:
            changed = values.copy()
            changed.ravel()[k] = change(changed.ravel()[k])
            yield changed
    yield values[..., :-1]
    yield values[None]


@pytest.mark.parametrize("rule", ["coco", "voc07", "voc"])
def test_every_change_of_an_average_precision_is_noticed(rule):
    found, there = detected(np.random.default_rng(0), images=4)
    done = average_precision(found, there, rule=rule, thresholds=[0.3, 0.8])
    assert pellucid.verify(done, found, there).holds
    for name in ("precision", "recall", "areas"):
        for changed in changes(getattr(done, name)):
            refused(replace(done, **{name: changed}), found, there)
    for one in fields(done.matches):
        for changed in changes(getattr(done.matches, one.name)):
            refused(replace(done, matches=replace(done.matches, **{one.name: changed})), found, there)
    for change in (
        {"rule": "voc" if rule == "coco" else "coco"},
        {"rule": "other"},
        {"masks": True},
        {"classes": done.classes[::-1]},
        {"classes": done.classes[:-1]},
        {"thresholds": done.thresholds[::-1]},
        {"thresholds": np.array([np.nan, 0.5])},
        {"thresholds": np.array([0.5])},
    ):
        refused(replace(done, **change), found, there)


def test_an_average_precision_of_other_detections_or_objects_is_not_proved():
    found, there = detected(np.random.default_rng(7), images=3)
    done = average_precision(found, there)
    refused(done, found[::-1], there)
    refused(done, found, there[::-1])
    refused(done, found[:2], there[:2])
    moved = [{**one, "boxes": np.asarray(one["boxes"]) + 30} for one in found]
    refused(done, moved, there)
    refused(done, [{**one, "scores": -np.asarray(one["scores"])} for one in found], there)


def test_boxes_are_not_taken_for_masks():
    found, there = detected(np.random.default_rng(0), masks=True, images=6)
    done = average_precision(found, there, masks=True)
    assert pellucid.verify(done, found, there).holds
    refused(replace(done, masks=False), found, there)
    holes = [{**one, "masks": ~one["masks"]} for one in found]
    refused(done, holes, there)


def test_what_is_missing_is_asked_for():
    boxes, scores = clustered(np.random.default_rng(8), 5)
    with pytest.raises(TypeError, match="Suppression must be verified with boxes, scores, got only the first"):
        pellucid.verify(suppress(boxes, scores, 0.5), boxes)
