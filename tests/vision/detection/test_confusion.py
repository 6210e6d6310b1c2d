"""Which classes are taken for which: by hand, properties, errors."""

import numpy as np
import pytest

from pellucid.vision.detection import class_confusion


def test_each_object_is_taken_once_by_the_surest():
    # the second detection overlaps the object most, but comes second; the crowd takes the third, which counts nowhere
    found = [
        {"boxes": [[0, 0, 10, 9], [0, 0, 10, 10], [50, 50, 60, 60]], "scores": [0.9, 0.8, 0.7], "labels": [1, 1, 2]}
    ]
    there = [{"boxes": [[0, 0, 10, 10], [50, 50, 60, 60]], "labels": [1, 2], "crowd": [False, True]}]
    confusion = class_confusion(found, there)
    np.testing.assert_array_equal(confusion.counts, [[1, 0, 0], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal([confusion.missed, confusion.false], [[0], [1]])
    assert repr(confusion) == "ClassConfusion(1 right, 0 missed, 1 false)"


def test_scores_and_overlaps_below_their_limits_count_as_nothing():
    found = [{"boxes": [[0, 0, 10, 10], [20, 0, 30, 4]], "scores": [0.4, 0.9], "labels": ["a", "a"]}]
    there = [{"boxes": [[0, 0, 10, 10], [20, 0, 30, 10]], "labels": ["a", "b"]}]
    confusion = class_confusion(found, there)
    np.testing.assert_array_equal(confusion.counts, [[0, 0, 1], [0, 0, 1], [1, 0, 0]])
    loose = class_confusion(found, there, overlap=0.3, least_score=0.0)
    np.testing.assert_array_equal(loose.counts, [[1, 0, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(loose.wrong, [2])  # the b is missed, and an a is found that is none


def test_rows_count_objects_and_columns_detections():
    rng = np.random.default_rng(0)

    def some(n):
        corners = rng.integers(0, 20, (n, 2))
        return np.concatenate([corners, corners + rng.integers(2, 12, (n, 2))], axis=1)

    found = [{"boxes": some(6), "scores": rng.random(6), "labels": rng.integers(0, 3, 6)} for _ in range(20)]
    there = [{"boxes": some(4), "labels": rng.integers(0, 3, 4)} for _ in range(20)]
    counts = class_confusion(found, there, least_score=0.5).counts
    np.testing.assert_array_equal(
        counts[:-1].sum(axis=1), np.bincount(np.concatenate([one["labels"] for one in there]), minlength=3)
    )
    sure = np.concatenate([one["labels"][one["scores"] >= 0.5] for one in found])
    np.testing.assert_array_equal(counts[:, :-1].sum(axis=0), np.bincount(sure, minlength=3))
    assert counts[-1, -1] == 0


def test_nothing_found_and_nothing_there_is_nothing_wrong():
    empty = {"boxes": np.zeros((0, 4)), "labels": []}
    assert class_confusion([{**empty, "scores": []}], [empty]).counts.shape == (1, 1)


def test_one_of_each_is_needed_for_every_image():
    with pytest.raises(ValueError, match="one for each image, got 0 and 1"):
        class_confusion([], [{"boxes": [], "labels": []}])
