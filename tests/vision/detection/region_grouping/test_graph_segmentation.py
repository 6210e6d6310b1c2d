"""Graph segmentation: by hand, properties, the rule by plain code, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pellucid.proofs.vision.selective_search import _planes_of, _segmented
from pellucid.vision.detection import graph_segmentation
from pellucid.vision.detection.region_grouping import kernels
from pellucid.vision.detection.region_grouping.color_spaces import COLOR_SPACES, eight_bit
from pellucid.vision.detection.region_grouping.graph_segmentation import SortedEdges, smoothed
from tests.plain_kernels import in_python

small_images = arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 3])))


# by hand


def test_two_flat_halves_are_two_regions():
    image = np.zeros((4, 8), np.uint8)
    image[:, 4:] = 200
    # smoothed: 0, 0, 5, 50, 150, 195, 200, 200. Steps of 5 join; those of 45 and 100 do not, as 300 / 4 is 75 for a
    # column alone, but 300 / 12 + 5 only 30 for three. A column of 4 pixels is too small, and 45 is less than 100.
    found = graph_segmentation(image, min_size=5)
    np.testing.assert_array_equal(found, np.repeat([[0] * 4 + [1] * 4], 4, axis=0))


def test_a_flat_image_is_one_region_and_a_pixel_too():
    assert (graph_segmentation(np.full((5, 7, 3), 40, np.uint8)) == 0).all()
    np.testing.assert_array_equal(graph_segmentation(np.zeros((1, 1), np.uint8)), [[0]])


def test_small_regions_are_joined_to_a_neighbor():
    image = np.zeros((20, 20), np.uint8)
    image[8:12, 8:12] = 255
    assert graph_segmentation(image, 10.0, min_size=1).max() > 0
    assert graph_segmentation(image, 10.0, min_size=300).max() == 0


def test_smoothing_keeps_flat_images_and_sums_of_the_inner():
    assert (smoothed(np.full((4, 5, 2), 77, np.uint8)) == 8 * 77).all()
    dot = np.zeros((9, 9, 1), np.uint8)
    dot[4, 4] = 255
    np.testing.assert_array_equal(
        smoothed(dot)[4, 2:7, 0], [24, 231, 510, 231, 24]
    )  # 255 * 8 * 128 * (6, 58, 128) / 256^2


def test_colors_of_the_lecture():
    rgb = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0]]], np.uint8)
    np.testing.assert_array_equal(COLOR_SPACES["hsv"](rgb)[0, :, 0], [0, 85, 170, 0, 0])
    np.testing.assert_array_equal(COLOR_SPACES["hsv"](rgb)[0, :, 1], [255, 255, 255, 0, 0])
    np.testing.assert_array_equal(COLOR_SPACES["lab"](rgb)[0, 3:], [[255, 128, 128], [0, 128, 128]])
    np.testing.assert_array_equal(COLOR_SPACES["gray"](rgb)[0, :, 0], [76, 150, 29, 255, 0])
    np.testing.assert_array_equal(COLOR_SPACES["normalized rgb"](rgb)[0, 3], [85, 85, 255])


# properties


@settings(max_examples=60, deadline=None)
@given(small_images, st.sampled_from([1.0, 50.0, 400.0]), st.integers(1, 12))
def test_regions_are_those_of_the_rule_pair_by_pair(image, scale, min_size):
    found = graph_segmentation(image, scale, min_size=min_size)
    np.testing.assert_array_equal(found, _segmented(image, scale, min_size))


@settings(max_examples=40, deadline=None)
@given(arrays(np.uint8, (6, 7, 3)))
def test_colors_are_those_of_the_proof(image):
    for name, convert in COLOR_SPACES.items():
        np.testing.assert_array_equal(convert(image), _planes_of(image, name))


@settings(max_examples=30, deadline=None)
@given(small_images, st.integers(1, 30))
def test_regions_are_numbered_in_order_and_large_enough(image, min_size):
    labels = graph_segmentation(image, 20.0, min_size=min_size)
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    assert (np.diff(first) > 0).all()
    assert len(sizes) == 1 or sizes.min() >= min_size


def test_pairs_are_sorted_and_equal_ones_stay_as_they_came():
    rng = np.random.default_rng(0)
    edges = SortedEdges.of(rng.integers(0, 2040, (13, 17, 3)).astype(np.int32))
    assert (np.diff(edges.weights) >= 0).all()
    assert len(edges.codes) == 4 * 13 * 17 - 13 - 17 - 2 * (13 + 17 - 1)  # right, down, and two diagonals
    same = SortedEdges.of(np.zeros((5, 6, 1), np.int32))
    assert (np.diff(same.codes) > 0).all()


def test_compiled_loops_do_as_plain_ones():
    image = np.random.default_rng(1).integers(0, 2040, (5, 6, 2)).astype(np.int32)
    results = []
    for run in (lambda kernel: kernel, in_python):
        codes, weights, labels = np.empty(120, np.int32), np.empty(120, np.int32), np.empty(30, np.int32)
        n = run(kernels.edge_weights)(image, codes, weights)
        room = np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(4097, np.int64)
        run(kernels.sort_edges)(codes[:n], weights[:n], *room)
        room = np.empty(30, np.int32), np.empty(30, np.int32), np.empty(30)
        count = run(kernels.join_edges)(codes[:n], weights[:n], 6, 0.125, 90.0, 3, *room, labels)
        results.append((n, count, codes[:n].tolist(), labels.tolist()))
    assert results[0] == results[1]


# peer


def test_colors_are_within_a_level_of_opencv():
    cv2 = pytest.importorskip("cv2")
    image = np.random.default_rng(2).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    for name, code in (("lab", cv2.COLOR_RGB2LAB), ("hsv", cv2.COLOR_RGB2HSV_FULL), ("gray", cv2.COLOR_RGB2GRAY)):
        peer = cv2.cvtColor(image, code).reshape(40, 50, -1).astype(int)
        away = np.abs(COLOR_SPACES[name](image) - peer)
        if name == "hsv":
            away[:, :, 0] = np.minimum(away[:, :, 0], 255 - away[:, :, 0])  # a circle
        assert away.max() <= 2
        assert (away > 1).mean() < 0.01


# errors


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        (np.zeros((3, 3, 4), np.uint8), ValueError, "1 or 3 channels, got 4. Leave out the opacity"),
        (np.zeros((3,), np.uint8), ValueError, "of shape"),
        (np.zeros((0, 3), np.uint8), ValueError, "of shape"),
        (np.zeros((3, 3), np.int16), TypeError, "8-bit numbers or floats from 0 to 1, got int16"),
        (np.full((3, 3), 2.0), ValueError, "floats from 0 to 1"),
        (np.full((3, 3), np.nan), ValueError, "floats from 0 to 1"),
    ],
)
def test_what_is_no_image_gets_a_sentence(image, error, message):
    with pytest.raises(error, match=message):
        eight_bit(image)


def test_scale_and_size_have_their_ranges():
    image = np.zeros((3, 3), np.uint8)
    with pytest.raises(ValueError, match="scale must be"):
        graph_segmentation(image, 0.0)
    with pytest.raises(ValueError, match="min_size must be"):
        graph_segmentation(image, min_size=0)
