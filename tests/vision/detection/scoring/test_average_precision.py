"""Average precision by the rules of COCO and VOC."""

import contextlib
import io

import numpy as np
import pytest

from pellucid.vision.detection import Annotations, Detections, average_precision
from pellucid.vision.detection.scoring import average_precision_kernels
from tests.plain_kernels import in_python
from tests.vision.detection.boxes.scenes import detected

SQUARE = [0, 0, 10, 10]
FAR = [[100 + 20 * k, 0, 110 + 20 * k, 10] for k in range(4)]


def scene(hits, scores=None, objects=2):
    """Return one image in which detections, by falling score, find a new object where there is a 1."""
    there = [[0, 100 + 20 * k, 10, 110 + 20 * k] for k in range(objects)]
    boxes, found = [], 0
    for k, hit in enumerate(hits):
        boxes.append(there[found] if hit else FAR[k])
        found += hit
    scores = np.linspace(0.9, 0.1, len(hits)) if scores is None else scores
    return [{"boxes": boxes, "scores": scores, "labels": [1] * len(hits)}], [{"boxes": there, "labels": [1] * objects}]


# by hand


def test_right_wrong_right_encloses_five_sixths():
    # precision 1 up to a recall of 1/2, then 2/3 up to 1
    found = average_precision(*scene([1, 0, 1]), rule="voc")
    assert found.ap == pytest.approx(1 / 2 + 1 / 2 * 2 / 3)
    assert average_precision(*scene([1, 0, 1]), rule="voc07").ap == pytest.approx((6 + 5 * 2 / 3) / 11)
    assert average_precision(*scene([1, 0, 1])).ap == pytest.approx((51 + 50 * 2 / 3) / 101)
    recall, precision = found.curve(1)
    np.testing.assert_allclose(recall, [0.5, 0.5, 1.0])
    np.testing.assert_allclose(precision, [1, 0.5, 2 / 3])


def test_a_second_detection_of_an_object_is_wrong():
    found = [{"boxes": [SQUARE, SQUARE], "scores": [0.5, 0.9], "labels": ["a", "a"]}]
    for rule in ("coco", "voc", "voc07"):
        done = average_precision(found, [{"boxes": [SQUARE, FAR[0]], "labels": ["a", "a"]}], rule=rule)
        assert done.matches.detection.tolist() == [1, 0]
        assert done.matches.taken[0, 0].tolist() == [0, -1]
        assert done.by_class == {"a": pytest.approx({"coco": 51 / 101, "voc": 0.5, "voc07": 6 / 11}[rule])}


def test_finding_a_crowd_or_a_difficult_object_is_neither_right_nor_wrong():
    found = [{"boxes": [SQUARE, SQUARE, FAR[0]], "scores": [0.9, 0.8, 0.7], "labels": [1, 1, 1]}]
    there = [{"boxes": [SQUARE, FAR[0]], "labels": [1, 1], "iscrowd": [1, 0]}]
    for rule in ("coco", "voc", "voc07"):
        done = average_precision(found, there, rule=rule)
        assert done.ap == pytest.approx(1.0)
        assert done.matches.counts[0, 0].tolist() == [False, False, True]


def test_sizes_classes_and_limits_are_reported_apart():
    small, large = [0, 0, 10, 10], [100, 100, 250, 250]
    found = [{"boxes": [small, small, FAR[0]], "scores": [0.9, 0.2, 0.1], "labels": [1, 2, 2]}]
    there = [{"boxes": [small, large, FAR[0]], "labels": [1, 2, 2]}]
    done = average_precision(found, there)
    # class 2: wrong, then right, one of two objects: precision 1/2 up to a recall of 1/2
    assert done.by_class == {1: pytest.approx(1.0), 2: pytest.approx(51 / 101 / 2)}
    assert done.by_size["large"] == 0.0
    assert np.isnan(done.by_size["medium"])
    assert done.average_recall == {1: 0.5, 10: 0.75, 100: 0.75}
    assert list(done.summary) == [
        "AP",
        "AP50",
        "AP75",
        "AP small",
        "AP medium",
        "AP large",
        "AR1",
        "AR10",
        "AR100",
        "AR small",
        "AR medium",
        "AR large",
    ]
    assert "AP 0.626" in repr(done)


def test_images_without_objects_or_without_detections():
    empty = {"boxes": [], "labels": [], "scores": []}
    none = average_precision([empty], [{"boxes": [], "labels": []}])
    assert np.isnan(none.ap)
    assert np.isnan(none.interval()).all()
    assert "nothing to find" in repr(none)
    assert average_precision([empty], [{"boxes": [SQUARE], "labels": [1]}]).ap == 0.0
    wrong = {"boxes": [SQUARE], "labels": [1], "scores": [0.95]}
    found, there = scene([1, 1])
    done = average_precision([*found, wrong], [*there, {"boxes": [], "labels": []}], rule="voc")
    assert done.ap == pytest.approx(2 / 3)


# properties


@pytest.mark.parametrize("rule", ["coco", "voc", "voc07"])
def test_repeated_images_weigh_as_often(rule):
    # no ties: equal scores are settled by the order of images, which repetition changes
    rng = np.random.default_rng(0)
    found, there = detected(rng, images=4)
    for one in found:
        one["scores"] = rng.random(len(one["scores"]))
    once = average_precision(found, there, rule=rule)
    thrice = average_precision(found * 3, there * 3, rule=rule)
    np.testing.assert_allclose(thrice.areas, once.areas, atol=1e-9)
    m, weights, means = once.matches, np.array([[2.0, 0.0, 1.0, 3.0]]), np.empty(1)
    rules = {"coco": (101, True), "voc": (101, False), "voc07": (11, True)}
    points, by_points = rules[rule]
    average_precision_kernels.resampled_means(
        m.taken[0],
        m.counts[0],
        m.image,
        m.class_starts,
        m.objects[0],
        weights,
        np.linspace(0, 1, points),
        by_points,
        means,
    )
    drawn = [0, 0, 2, 3, 3, 3]
    again = average_precision([found[k] for k in drawn], [there[k] for k in drawn], rule=rule)
    assert means[0] == pytest.approx(again.ap, abs=1e-9)


def test_the_interval_is_about_the_number_grows_with_the_level_and_shrinks_with_images():
    found, there = detected(np.random.default_rng(1), images=30)
    done = average_precision(found, there)
    low, high = done.interval(resamples=200)
    assert 0 <= low <= done.ap <= high <= 1
    narrow = done.interval(level=0.5, resamples=200)
    assert low <= narrow[0] <= narrow[1] <= high
    assert done.interval(resamples=200) == (low, high)
    at_half = done.interval(threshold=0.5, resamples=200)
    assert at_half[0] <= done.ap50 <= at_half[1]


@pytest.mark.parametrize("rule", ["coco", "voc"])
def test_the_compiled_loops_are_what_is_written(rule, monkeypatch):
    found, there = detected(np.random.default_rng(2), images=2)
    compiled = average_precision(found, there, rule=rule, thresholds=[0.5])
    from pellucid.vision.detection.scoring import average_precision as whole
    from pellucid.vision.detection.scoring import matches

    for module, names in ((matches, ("box_overlaps", "take_by_coco", "take_by_voc")), (whole, ("curves",))):
        for name in names:
            monkeypatch.setattr(module, name, in_python(getattr(module, name)))
    plain = average_precision(found, there, rule=rule, thresholds=[0.5])
    np.testing.assert_array_equal(plain.matches.taken, compiled.matches.taken)
    np.testing.assert_allclose(plain.precision, compiled.precision, atol=1e-15)
    np.testing.assert_allclose(plain.recall, compiled.recall, atol=1e-15)


# peer


def by_pycocotools(found, there, masks):
    """Return what COCOeval finds: its twelve numbers, precision and recall, NaN where it says -1."""
    coco, evaluation = pytest.importorskip("pycocotools.coco"), pytest.importorskip("pycocotools.cocoeval")
    encode = pytest.importorskip("pycocotools.mask").encode
    images = [{"id": k + 1, "height": 64, "width": 64} for k in range(len(there))]
    rows = []
    for side in (found, there):
        rows.append([])
        for k, one in enumerate(side):
            for j, (x1, y1, x2, y2) in enumerate(np.asarray(one["boxes"], dtype=float).tolist()):
                row = {"image_id": k + 1, "category_id": int(one["labels"][j]), "id": len(rows[-1]) + 1}
                if side is there or not masks:
                    row["bbox"] = [x1, y1, x2 - x1, y2 - y1]
                if masks:
                    row["segmentation"] = encode(np.asfortranarray(one["masks"][j].astype(np.uint8)))
                if side is there:
                    row |= {"iscrowd": int(one["crowd"][j]), "area": float(one["area"][j])}
                else:
                    row["score"] = float(one["scores"][j])
                rows[-1].append(row)
    labels = sorted({row["category_id"] for side in rows for row in side})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco.COCO()
        truth.dataset = {"images": images, "annotations": rows[1], "categories": [{"id": label} for label in labels]}
        truth.createIndex()
        answer = truth.loadRes(rows[0])
        done = evaluation.COCOeval(truth, answer, "segm" if masks else "bbox")
        done.evaluate()
        done.accumulate()
        done.summarize()
    known = (np.where(one == -1, np.nan, one) for one in (done.stats, done.eval["precision"], done.eval["recall"]))
    stats, precision, recall = known
    return stats, precision[..., -1].transpose(3, 0, 2, 1), recall.transpose(3, 2, 0, 1)


@pytest.mark.parametrize("masks", [False, True])
def test_same_numbers_as_pycocotools(masks):
    # 1,000 scenes, and COCO128: python -m benchmarks boxes --only parity
    rng = np.random.default_rng(3)
    for _ in range(40 if masks else 160):
        found, there = detected(rng, masks)
        if not sum(len(one["scores"]) for one in found):
            continue  # pycocotools cannot load nothing
        ours = average_precision(found, there, masks=masks)
        stats, precision, recall = by_pycocotools(found, there, masks)
        np.testing.assert_allclose(list(ours.summary.values()), stats, rtol=0, atol=1e-12)
        np.testing.assert_allclose(ours.precision, precision, rtol=0, atol=1e-12)
        np.testing.assert_allclose(ours.recall, recall, rtol=0, atol=1e-12)


# errors


def test_bad_records_are_refused_in_a_sentence():
    cases = {
        r"boxes must have x1 <= x2 and y1 <= y2, got \[5.0.*as number 1.*to_corners": {"boxes": [SQUARE, [5, 0, 2, 2]]},
        "boxes must be finite": {"boxes": [SQUARE, [0, 0, np.nan, 2]]},
        r"boxes must be numbers of shape \(n, 4\)": {"boxes": [[1, 2, 3]] * 2},
        r"labels must be one for each of 2 boxes, got the shape \(1,\)": {"labels": [1]},
        "crowd must be one for each of 2 boxes": {"crowd": [1]},
        "area must be finite numbers of at least 0": {"area": [1.0, -1.0]},
        r"masks must be of shape \(2, height, width\) and hold 0 and 1": {"masks": np.full((2, 3, 3), 0.5)},
        "must have some of boxes, labels, crowd, area, masks, got 'lables'. Did you mean 'labels'": {"lables": [1, 2]},
    }
    for match, change in cases.items():
        with pytest.raises(ValueError, match=match):
            Annotations.of({"boxes": [SQUARE, SQUARE], "labels": [1, 2], **change})
    with pytest.raises(TypeError, match="labels must be whole numbers or texts, got float64"):
        Annotations([SQUARE], [0.5])
    with pytest.raises(ValueError, match="Detections must have scores, got boxes, labels"):
        Detections.of({"boxes": [SQUARE], "labels": [1]})
    with pytest.raises(ValueError, match="scores must be finite"):
        Detections([SQUARE], [np.nan], [1])
    with pytest.raises(TypeError, match="Detections must be of a mapping"):
        Detections.of([SQUARE])


def test_records_take_tensors_and_know_areas():
    torch = pytest.importorskip("torch")
    one = Annotations.of({"boxes": torch.tensor([SQUARE]), "labels": torch.tensor([3]), "image_id": 7})
    assert (one.area.tolist(), one.crowd.tolist(), len(one)) == ([100.0], [False], 1)
    assert Annotations.of(one) is one
    masked = Annotations([SQUARE], [3], masks=torch.ones(1, 4, 5, dtype=torch.bool))
    assert masked.area.tolist() == [20.0]


def test_settings_that_make_no_sense_are_refused():
    found, there = scene([1])
    with pytest.raises(ValueError, match=r"rule must be one of \('coco', 'voc', 'voc07'\)"):
        average_precision(found, there, rule="pascal")
    with pytest.raises(ValueError, match="one each for every image, at least one, got 1 and 2"):
        average_precision(found, there * 2)
    with pytest.raises(ValueError, match="detections must have masks to compare masks, got none in image 0"):
        average_precision(found, there, masks=True)
    with pytest.raises(ValueError, match=r"thresholds must be between 0.0 and 1.0, got 50.0"):
        average_precision(found, there, thresholds=[50])
    with pytest.raises(TypeError, match="labels must be texts, or whole numbers"):
        average_precision(found, [{**there[0], "labels": ["cat", "cat"]}])
    done = average_precision(found, there, rule="voc")
    with pytest.raises(ValueError, match=r"threshold must be one of \[0.5\], got 0.9"):
        done.interval(threshold=0.9)
    with pytest.raises(ValueError, match="label and threshold must be among"):
        done.curve(7)
