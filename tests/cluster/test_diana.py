"""Diana: worked by hand, ties, against a plain version, its proof broken, and against wrong input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage

import pellucid
from pellucid.cluster import Diana
from pellucid.cluster.diana.diana import splinter
from tests.proving import quiet_proof

FOUR = np.array([[0, 2, 6, 10], [2, 0, 5, 9], [6, 5, 0, 4], [10, 9, 4, 0]], dtype=float)


def blobs(seed, n=60, p=3, k=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 4.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]


# by hand


@pytest.mark.by_hand
def test_four_rows_of_a_distance_matrix():
    # row 4 is farthest from the rest (23/3) and leaves; row 3 is nearer to it (4) than to 1 and 2 (11/2) and follows
    model = Diana(2, metric="precomputed").fit(FOUR)
    assert model.labels_.tolist() == [1, 1, 0, 0]
    assert model.distances_.tolist() == [2, 4, 10]
    assert model.children_.tolist() == [[0, 1], [2, 3], [4, 5]]
    # 1 - 2/10 for two rows, 1 - 4/10 for the others
    assert model.divisive_coefficient_ == pytest.approx(0.7, rel=1e-15)


def test_of_equal_rows_the_first_leaves():
    # 0 and 3 are equally far from the rest; 1 is nearer to 0 than to 2 and 3 together, but not 2
    assert splinter(np.abs(np.subtract.outer([0.0, 1, 2, 3], [0, 1, 2, 3]))).tolist() == [True, True, False, False]


def test_of_rows_that_gain_as_much_the_first_follows():
    # rows 1 and 5 are farthest (14): row 1 leaves. Rows 2 and 5 then gain 8/3 - 2 = 11/3 - 3: row 2 follows. After that
    # row 5 is at 5/2 from the rest and at 9/2 from those that left: it stays, and would have left had it been first
    D = np.array([[0, 2, 6, 3, 3], [2, 0, 1, 1, 6], [6, 1, 0, 2, 3], [3, 1, 2, 0, 2], [3, 6, 3, 2, 0]], dtype=float)
    assert splinter(D).tolist() == [True, True, False, False, False]
    work, model = pellucid.show_work(Diana(2, metric="precomputed"), D), Diana(2, metric="precomputed").fit(D)
    assert work.answer["children_"] == model.children_.tolist()


def test_equal_rows_leave_one_by_one():
    model = Diana(1).fit(np.ones((4, 2)))
    assert model.distances_.tolist() == [0, 0, 0]
    assert model.divisive_coefficient_ == 0.0
    assert model.certificate_.holds


def test_workings_show_who_leaves_and_agree():
    work = pellucid.show_work(Diana(2, metric="precomputed"), FOUR)
    for words in ("Row 4 leaves.", "Row 3 follows.", "23/3", "−11/2", "the others stay"):
        assert words in work.text()
    assert "more than rounding" not in work.text()
    with pytest.raises(ValueError, match="n_clusters must be between 1 and 4, the number of rows, got 5"):
        pellucid.show_work(Diana(5, metric="precomputed"), FOUR)


@pytest.mark.peer
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6))
def test_workings_and_fit_settle_ties_alike(rows):
    X = np.array(rows, dtype=float)
    estimator = Diana(1, metric="manhattan")
    work, model = pellucid.show_work(estimator, X), estimator.fit(X)
    assert work.answer["children_"] == model.children_.tolist()
    assert [int(width) for width in work.answer["distances_"]] == model.distances_.tolist()


# properties


@pytest.mark.parametrize("seed", range(4))
def test_clusters_far_apart_are_found(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=50)
    X = rng.uniform(size=(50, 2)) + 10.0 * np.array([[0, 0], [1, 0], [0, 1]])[codes]
    labels = Diana(3).fit(X).labels_
    assert len(set(zip(labels.tolist(), codes.tolist(), strict=True))) == 3


@given(st.integers(2, 30), st.integers(0, 1000))
def test_small_whole_numbers_are_certified(n, seed):
    X = np.random.default_rng(seed).integers(0, 4, (n, 2)).astype(float)
    model = Diana(1).fit(X)
    assert pellucid.verify(model, X).holds
    assert is_valid_linkage(model.linkage_matrix_)


@pytest.mark.property
@pytest.mark.parametrize("scale", [2.0**-300, 1e-100, 1e140])
def test_units_do_not_matter(scale):
    X = blobs(1)
    one, other = Diana(3).fit(X), Diana(3).fit(X * scale)
    np.testing.assert_array_equal(one.children_, other.children_)
    assert other.certificate_.holds


def test_a_width_is_the_largest_distance_of_the_rows_split():
    X = blobs(2, n=25)
    model = Diana(1).fit(X)
    members = {i: [i] for i in range(25)}
    for k, (pair, width) in enumerate(zip(model.children_, model.distances_, strict=True)):
        members[25 + k] = members[pair[0]] + members[pair[1]]
        rows = X[members[25 + k]]
        assert width == pytest.approx(np.sqrt(np.square(rows[:, None] - rows).sum(axis=2)).max(), rel=1e-14)


# proof


def test_verify_objects_to_a_row_that_left_with_the_others():
    X = blobs(3, n=30)
    model = Diana(2).fit(X)
    broken = copy.copy(model)
    # exchange two rows in the tree, one of each side of the first split
    sides = [np.flatnonzero(model.labels_ == label)[0] for label in (0, 1)]
    renamed = np.arange(59)
    renamed[sides] = sides[::-1]
    broken.children_ = np.sort(renamed[model.children_], axis=1)
    assert not quiet_proof(broken, X)["splits"].holds


def test_a_large_tree_is_checked_in_part_and_says_so():
    X = np.random.default_rng(0).standard_normal((800, 3))
    model = Diana(3).fit(X)
    assert "of 799 splits, some of the smaller (at most" in model.certificate_["splits"].statement
    assert "of 799 splits, those" in pellucid.verify(model, X)["splits"].statement


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"n_clusters": 5, "metric": "precomputed"}, FOUR, "n_clusters must be at most the number of rows, got"),
        ({"n_clusters": 0}, FOUR, "n_clusters must be at least 1, got 0"),
        ({}, FOUR[:1], "minimum of 2 is required"),
        ({"metric": "precomputed"}, FOUR + 1, "X must have zeros on its diagonal"),
        ({"metric": "precomputed"}, np.triu(FOUR), "X must be symmetric as a distance matrix"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(settings, X, message):
    with pytest.raises(ValueError, match=message):
        Diana(**settings).fit(X)
