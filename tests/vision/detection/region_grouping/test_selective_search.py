"""Selective search: by hand, properties, the peer, errors, and a proof that is attacked."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.vision.detection import box_iou, selective_search
from pellucid.vision.detection.region_grouping import kernels
from pellucid.vision.detection.region_grouping.region_features import Regions, color_bins, texture_bins
from pellucid.vision.detection.region_grouping.selective_search import MODES, SIMILARITIES, _grouped


def scene(seed=0, shape=(60, 80)):
    """Return an image of boxes of one color each on a ground with texture, and their corners."""
    rng = np.random.default_rng(seed)
    image = rng.integers(90, 120, (*shape, 3)).astype(np.uint8)
    boxes = [(8, 6, 30, 28), (40, 10, 72, 30), (15, 36, 55, 54)]
    for (x1, y1, x2, y2), color in zip(boxes, ([220, 30, 30], [20, 60, 220], [240, 230, 40]), strict=True):
        image[y1:y2, x1:x2] = np.array(color) + rng.integers(-9, 9, (y2 - y1, x2 - x1, 1))
    return image, np.array(boxes)


# by hand


def test_one_box_on_a_flat_ground_is_found_with_the_image_itself():
    image = np.zeros((40, 60, 3), np.uint8)
    image[10:30, 20:45] = [200, 30, 60]
    found = selective_search(image, min_size=200)  # more than the border that smoothing makes
    assert [20, 10, 45, 30] in found.boxes.tolist()
    assert found.boxes[0].tolist() == [0, 0, 60, 40]
    assert found.certificate.holds


def test_the_most_similar_of_three_stripes_are_joined_first():
    # stripes of gray 10, 20 and 200, as large as each other: the first two share their colors' bin, 10 * 25 // 256 = 0
    labels = np.repeat([[0, 1, 2]], 6, axis=0).repeat(4, axis=1).astype(np.int32)
    planes = np.array([5, 9, 200], np.uint8)[labels][:, :, None]
    regions = Regions.of(labels, color_bins(planes), texture_bins(planes))
    np.testing.assert_array_equal(regions.pairs, [[0, 1], [1, 2]])
    np.testing.assert_array_equal(regions.sizes, [24, 24, 24])
    np.testing.assert_array_equal(regions.boxes, [[0, 0, 4, 6], [4, 0, 8, 6], [8, 0, 12, 6]])
    merges, values, boxes = _grouped(regions, ("color", "size", "fill"), 72)
    np.testing.assert_array_equal(merges, [[0, 1], [2, 3]])
    assert values == pytest.approx([(1.0 + (1 - 48 / 72) + 1.0) / 3, (0.0 + 0.0 + 1.0) / 3])
    np.testing.assert_array_equal(boxes[3:], [[0, 0, 8, 6], [0, 0, 12, 6]])


def test_equally_similar_pairs_are_joined_by_their_numbers():
    labels = np.arange(4, dtype=np.int32).repeat(3).reshape(1, 12)
    planes = np.zeros((1, 12, 1), np.uint8)
    regions = Regions.of(labels, color_bins(planes), texture_bins(planes))
    merges, _, _ = _grouped(regions, SIMILARITIES, 12)
    np.testing.assert_array_equal(merges, [[0, 1], [2, 3], [4, 5]])


def test_slopes_of_a_ramp_are_all_in_the_last_bin_of_one_direction():
    ramp = np.tile(np.arange(0, 200, 20, dtype=np.uint8), (5, 1))[:, :, None]
    bins = texture_bins(ramp).reshape(5, 10, 8)
    assert (bins[:, 1:-1, 0] == 9).all()  # to the right: the largest slope of all
    assert (bins[:, :, 1] == 0).all()  # to the left: none
    assert (bins[:, :, 2:4] == 0).all()  # down and up: none


def test_boxes_that_repeat_an_earlier_one_are_marked():
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 10, 8], [0, 0, 10, 7], [20, 0, 30, 10]])
    for run in (kernels.mark_repeats, kernels.mark_repeats.py_func):
        is_repeat = np.empty(5, np.bool_)
        run(boxes, 4, 5, np.empty(5, np.int64), is_repeat)
        np.testing.assert_array_equal(is_repeat, [False, True, False, True, False])  # 8/10 is not above 4/5; 7/8 is


# properties


@settings(max_examples=20, deadline=None)
@given(arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 12), st.sampled_from([1, 3]))), st.integers(1, 20))
def test_every_image_has_proposals_that_are_proved(image, min_size):
    found = selective_search(image, min_size=min_size)
    assert found.certificate.holds
    assert pellucid.verify(found, image).holds
    height, width = image.shape[:2]
    np.testing.assert_array_equal(found.boxes[0], [0, 0, width, height])
    assert len(np.unique(found.boxes, axis=0)) == len(found.boxes)
    assert (found.boxes[:, 2:] > found.boxes[:, :2]).all()


@pytest.mark.parametrize("mode", list(MODES))
def test_objects_are_found_and_verified(mode):
    image, objects = scene()
    found = selective_search(image, mode, min_size=20)
    assert (box_iou(objects.astype(float), found.boxes.astype(float)).max(axis=1) > 0.8).all()
    assert pellucid.verify(found, image, random_state=0).holds
    assert len(found.hierarchies) == {"fast": 12, "quality": 24}[mode]
    assert "hierarchies; holds" in repr(found)


def test_gray_images_and_floats_are_taken():
    image, _ = scene()
    gray = image.mean(axis=2).astype(np.uint8)
    as_bytes, as_floats = selective_search(gray, min_size=20), selective_search(gray / 255.0, min_size=20)
    np.testing.assert_array_equal(as_bytes.boxes, as_floats.boxes)
    assert len(as_bytes.hierarchies) == 4


def test_the_same_image_gives_the_same_bits(monkeypatch):
    image, _ = scene(1)
    several = selective_search(image, min_size=20)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    one = selective_search(image, min_size=20)
    np.testing.assert_array_equal(several.boxes, one.boxes)
    for a, b in zip(several.hierarchies, one.hierarchies, strict=True):
        np.testing.assert_array_equal(a.merges, b.merges)
        np.testing.assert_array_equal(a.values, b.values)


def test_a_mirrored_image_has_mirrored_boxes_where_nothing_ties():
    image = np.zeros((50, 70, 3), np.uint8)
    image[10:30, 20:45] = [200, 30, 60]
    image[35:45, 5:60] = [20, 130, 60]
    boxes, mirrored = (set(map(tuple, selective_search(one, min_size=20).boxes)) for one in (image, image[:, ::-1]))
    assert {(70 - x2, y1, 70 - x1, y2) for x1, y1, x2, y2 in boxes} == mirrored


# errors


def test_an_unknown_mode_is_named():
    with pytest.raises(ValueError, match="mode must be one of .*fast.*quality.*got 'best'"):
        selective_search(np.zeros((5, 5), np.uint8), "best")


# the proof is attacked


def with_hierarchy(found, number=0, **changed):
    hierarchies = list(found.hierarchies)
    hierarchies[number] = replace(hierarchies[number], **changed)
    return replace(found, hierarchies=tuple(hierarchies))


def changed_array(array, place, value):
    array = array.copy()
    array[place] = value
    return array


def forgeries():
    image, _ = scene()
    found = selective_search(image, min_size=20)
    h = found.hierarchies[0]
    swapped = h.merges.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    moved = changed_array(h.labels, (0, 0), h.labels[20, 50])
    yield "box moved", replace(found, boxes=found.boxes + [[0, 0, 1, 0]])
    yield "box dropped", replace(found, boxes=found.boxes[1:], levels=found.levels[1:])
    yield "boxes swapped", replace(found, boxes=found.boxes[::-1])
    yield "box twice", replace(found, boxes=np.r_[found.boxes, found.boxes[:1]], levels=np.r_[found.levels, 1])
    yield "floats", replace(found, boxes=found.boxes.astype(float))
    yield "level", replace(found, levels=found.levels + 1)
    yield "steps swapped", with_hierarchy(found, merges=swapped)
    yield "step of itself", with_hierarchy(found, merges=changed_array(h.merges, (0, 0), h.merges[0, 1]))
    yield "step dropped", with_hierarchy(found, merges=h.merges[:-1], values=h.values[:-1])
    yield "step out of range", with_hierarchy(found, merges=changed_array(h.merges, (0, 0), 10**6))
    for value in (np.nan, np.inf, 1e200):
        yield f"similarity {value}", with_hierarchy(found, values=changed_array(h.values, 0, value))
    yield "similarity a little higher", with_hierarchy(found, values=h.values + 1e-6)
    yield "pixel moved", with_hierarchy(with_hierarchy(found, labels=moved), 1, labels=moved)
    yield "labels of another scale", with_hierarchy(found, labels=found.hierarchies[2].labels)
    yield "labels cut", with_hierarchy(found, labels=h.labels[:-1])
    yield "other space", with_hierarchy(found, space="lab")
    yield "other scale", with_hierarchy(found, scale=1e9)
    yield "other similarities", with_hierarchy(found, similarities=("fill",))
    yield "hierarchy dropped", replace(found, hierarchies=found.hierarchies[1:])
    yield "other mode", replace(found, mode="quality")
    yield "unknown mode", replace(found, mode="none")
    yield "other least size", replace(found, min_size=1)


@pytest.fixture(scope="module")
def forged():
    return dict(forgeries())


NAMES = [
    "box moved",
    "box dropped",
    "boxes swapped",
    "box twice",
    "floats",
    "level",
    "steps swapped",
    "step of itself",
    "step dropped",
    "step out of range",
    "similarity nan",
    "similarity inf",
    "similarity 1e+200",
    "similarity a little higher",
    "pixel moved",
    "labels of another scale",
    "labels cut",
    "other space",
    "other scale",
    "other similarities",
    "hierarchy dropped",
    "other mode",
    "unknown mode",
    "other least size",
]


def test_all_forgeries_are_tried(forged):
    assert list(forged) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_is_changed_is_found(name, forged):
    image, _ = scene()
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(forged[name], image).holds


def test_another_image_is_found():
    image, _ = scene()
    found = selective_search(image, min_size=20)
    for other in (scene(5)[0], image[:, ::-1], image[:-1], image[:, :, :1]):
        with pytest.warns(UncertifiedWarning):
            assert not pellucid.verify(found, other).holds
