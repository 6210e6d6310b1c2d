"""NearestCentroid: by hand, properties, peer, proof, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import NearestCentroid as Peer
from sympy import Rational, sqrt

import pellucid
from pellucid.neighbors import NearestCentroid
from pellucid.neighbors.nearest_centroid_solvers import nearest_centers

seeds = pytest.mark.parametrize("seed", range(3))
settings = pytest.mark.parametrize(
    "given_settings",
    [
        {},
        {"metric": "manhattan"},
        {"shrink_threshold": 0.3},
        {"priors": "empirical"},
        {"shrink_threshold": 0.2, "metric": "manhattan", "priors": [0.2, 0.3, 0.5]},
    ],
    ids=str,
)
FITTED = ("centroids_", "within_class_std_dev_", "deviations_", "class_prior_")


def problem(seed, n=60, p=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, p)).round(1) + y[:, None] * [1.0, 0.5, 0.0, -1.0][:p]
    return np.where(np.abs(X) < 0.5, 0.0, X), y


@pytest.mark.by_hand
def test_centroids_are_means_and_the_nearest_decides():  # by hand
    # means 1 and 8; s^2 = (1 + 1 + 4 + 4) / (4 - 2) = 5; the middle between them is 4.5
    model = NearestCentroid().fit([[0.0], [2.0], [6.0], [10.0]], [0, 0, 1, 1])
    assert model.centroids_.ravel() == pytest.approx([1, 8])
    assert model.within_class_std_dev_ == pytest.approx([np.sqrt(5)])
    assert list(model.predict([[4.4], [4.6], [4.5]])) == [0, 1, 0]  # the first of equally near ones
    # deviation: (1 - 4.5) / (sqrt(1/2 - 1/4) (s + s)) = -3.5 / sqrt(5)
    assert model.deviations_.ravel() == pytest.approx([-3.5 / np.sqrt(5), 3.5 / np.sqrt(5)])
    # scores at 2: -1/5 and -36/5
    assert model.decision_function([[2.0]]) == pytest.approx([-7.0])
    assert model.predict_proba([[2.0]])[0, 1] == pytest.approx(1 / (1 + np.exp(7)))


@pytest.mark.property
def test_shrinking_moves_a_centroid_by_the_threshold_in_units_of_chance():  # by hand
    # the unit is sqrt(1/2 - 1/4) 2 sqrt(5) = sqrt(5), so 0.5 of it moves 1 to 1 + sqrt(5)/2
    model = NearestCentroid(shrink_threshold=0.5).fit([[0.0], [2.0], [6.0], [10.0]], [0, 0, 1, 1])
    assert model.centroids_.ravel() == pytest.approx([1 + np.sqrt(5) / 2, 8 - np.sqrt(5) / 2])
    far = NearestCentroid(shrink_threshold=9.0).fit([[0.0], [2.0], [6.0], [10.0]], [0, 0, 1, 1])
    assert far.centroids_.ravel() == pytest.approx([4.5, 4.5])
    assert not far.deviations_.any()


def test_with_the_manhattan_metric_centroids_are_medians():  # by hand
    model = NearestCentroid("manhattan").fit([[0.0, 0.0], [1.0, 9.0], [5.0, 0.0], [9.0, 9.0]], [0, 0, 0, 1])
    np.testing.assert_array_equal(model.centroids_, [[1.0, 0.0], [9.0, 9.0]])
    assert not hasattr(model, "decision_function")


def test_workings_are_exact():  # by hand
    work = pellucid.show_work(NearestCentroid(shrink_threshold=0.5), [[0], [2], [6], [10]], [0, 0, 1, 1])
    assert work.answer["within_class_std_dev_"] == [sqrt(5)]
    assert work.answer["centroids_"][0][0].equals(1 + sqrt(5) / 2)
    assert "more than rounding" not in work.text()
    plain = pellucid.show_work(NearestCentroid("manhattan", priors=[0.25, 0.75]), [[0], [3], [6], [7]], [0, 0, 1, 1])
    assert plain.answer["centroids_"] == [[Rational(3, 2)], [Rational(13, 2)]]
    assert plain.answer["class_prior_"] == [Rational(1, 4), Rational(3, 4)]


@pytest.mark.peer
@settings
@seeds
def test_same_answer_as_scikit_learn(seed, given_settings):  # peer
    X, y = problem(seed)
    ours, theirs = NearestCentroid(**given_settings).fit(X, y), Peer(**given_settings).fit(X, y)
    for name in FITTED:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(theirs, "decision_function"):
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
        np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-9)


@settings
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_give_the_answer_of_dense_ones(form, given_settings):
    X, y = problem(0)
    sparse_X = sparse.csr_array(X).asformat(form)
    dense, thin = (NearestCentroid(**given_settings).fit(rows, y) for rows in (X, sparse_X))
    for name in FITTED:
        np.testing.assert_allclose(getattr(thin, name), getattr(dense, name), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(thin.predict(sparse_X), dense.predict(X))
    assert pellucid.verify(thin, sparse_X, y).holds


@given(st.integers(0, 10**6), st.sampled_from([1e-150, 1e-3, 1.0, 1e140]), st.sampled_from([0.0, 1e8]))
def test_shift_and_scale_move_the_centroids_and_leave_the_decisions(seed, scale, shift):  # property
    X, y = problem(seed % 1000, n=30)
    X, y = np.round(8 * X) + shift, np.r_[0, 1, 2, y[3:]]
    model, moved = NearestCentroid().fit(X, y), NearestCentroid().fit(X * scale, y)
    rounding = 1e-14 * np.abs(X * scale).max()  # of the scaled rows, whose mean may be 0
    np.testing.assert_allclose(moved.centroids_, scale * model.centroids_, rtol=1e-13, atol=rounding)
    np.testing.assert_allclose(moved.within_class_std_dev_, scale * model.within_class_std_dev_, rtol=1e-6)
    assert pellucid.verify(moved, X * scale, y).holds


@seeds
def test_rows_nearly_as_near_are_decided_from_differences(seed):  # property
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((5, 7)) + 1e6
    middle = (centers[[0, 1, 2]] + centers[[3, 4, 0]]) / 2
    rows = np.repeat(middle, 20, axis=0) * (1 + 1e-15 * rng.standard_normal((60, 1)))
    exact = ((rows[:, None] - centers[None]) ** 2).sum(axis=2)
    found = nearest_centers(rows, centers, "euclidean")
    np.testing.assert_array_equal(found, exact.argmin(axis=1))


def test_rows_that_do_not_differ_within_classes_leave_centroids_where_they_are():
    X, y = [[1.0, 0.0], [1.0, 0.0], [3.0, 2.0], [3.0, 2.0]], [0, 0, 1, 1]
    for threshold in (None, 0.5):
        model = NearestCentroid(shrink_threshold=threshold).fit(X, y)
        np.testing.assert_array_equal(model.centroids_, [[1, 0], [3, 2]])
        np.testing.assert_array_equal(model.deviations_, [[-np.inf, -np.inf], [np.inf, np.inf]])
        assert list(model.predict(X)) == y
        assert pellucid.verify(model, X, y).holds


def test_a_row_for_each_class_is_enough():
    model = NearestCentroid().fit([[0.0], [1.0], [5.0]], ["a", "b", "c"])
    assert list(model.predict([[0.4], [2.9], [3.1]])) == ["a", "b", "c"]
    assert model.within_class_std_dev_ == [0.0]


def test_a_large_fit_claims_what_it_looked_at_and_verify_all_of_it():
    X, y = problem(0, n=30_000)
    model = NearestCentroid().fit(X, y)
    assert model.certificate_.grade == "bounded"
    assert "wrong, at" in model.certificate_["centroids"].statement
    checked = pellucid.verify(model, X, y)
    assert (checked.grade, checked.holds) == ("exact", True)
    assert {claim.name for claim in checked.claims} > {claim.name for claim in model.certificate_.claims}


@settings
@pytest.mark.parametrize("name", FITTED)
@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")
def test_verify_objects_to_any_changed_number(name, given_settings):  # attack
    X, y = problem(1)
    model = NearestCentroid(**given_settings).fit(X, y)
    right = getattr(model, name)
    for place in range(right.size):
        wrong = right.copy()
        wrong.flat[place] = wrong.flat[place] * (1 + 1e-9) + 1e-11
        setattr(model, name, wrong)
        assert not pellucid.verify(model, X, y).holds
    setattr(model, name, right)
    assert pellucid.verify(model, X, y).holds


@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")
def test_verify_objects_to_another_threshold_and_to_infinite_deviations():  # attack
    X, y = problem(2)
    model = NearestCentroid(shrink_threshold=0.3).fit(X, y)
    model.shrink_threshold = 0.4
    assert not pellucid.verify(model, X, y).holds
    model.shrink_threshold = 0.3
    model.deviations_ = np.where(model.deviations_ > 0, np.inf, model.deviations_)
    assert not pellucid.verify(model, X, y).holds


def test_priors_that_do_not_add_up_are_divided_by_their_sum():
    X, y = problem(0)
    with pytest.warns(UserWarning, match="The priors do not sum to 1. Normalizing.*They sum to 2"):
        model = NearestCentroid(priors=[1.0, 0.5, 0.5]).fit(X, y)
    assert model.class_prior_ == pytest.approx([0.5, 0.25, 0.25])
    assert pellucid.verify(model, X, y).holds


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"metric": "cosine"}, "metric must be one of"),
        ({"shrink_threshold": 0.0}, "shrink_threshold must be"),
        ({"priors": [0.5, 0.5]}, r"priors must have one entry per class \(3\), got shape \(2,\)"),
        ({"priors": [-1.0, 1.0, 1.0]}, "priors must be non-negative, and one above 0"),
    ],
)
def test_refuses_settings_without_a_meaning(wrong, message):  # error
    X, y = problem(0)
    with pytest.raises(ValueError, match=message):
        NearestCentroid(**wrong).fit(X, y)


def test_refuses_one_class_and_rows_that_are_all_the_same():  # error
    with pytest.raises(ValueError, match="number of classes has to be greater than one; got 1"):
        NearestCentroid().fit([[1.0], [2.0]], [0, 0])
    with pytest.raises(ValueError, match="All features have zero variance"):
        NearestCentroid().fit([[1.0], [1.0]], [0, 1])
