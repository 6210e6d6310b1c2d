"""KMedoids: worked by hand, as repetitions, against all choices and its peer, its proof broken, wrong input."""

from __future__ import annotations

import copy
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid.cluster import KMedoids
from pellucid.cluster.kmedoids.kmedoids_kernels import build_gains, replace_medoid, swap_gains
from pellucid.cluster.kmedoids.kmedoids_solvers import Swaps
from tests.proving import quiet_proof

FIVE = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
seeds = pytest.mark.parametrize("seed", range(5))


def blobs(seed, n=80, p=3, k=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 4.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]


def manhattan(X):
    return np.abs(X[:, None] - X).sum(axis=2)


# by hand


@pytest.mark.by_hand
def test_five_numbers():
    # BUILD: the sum of distances is least from 2 (0+1+2+6+7 = 16); then 8 or 9 save 6+6 = 12: 8 comes first
    # with medoids 2 and 8: E = 2 + 1 + 0 + 0 + 1 = 4; row 2 in the place of row 3: 1 + 0 + 1 + 0 + 1 = 3
    model = KMedoids(2).fit(FIVE)
    assert model.medoid_indices_.tolist() == [1, 3]
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]
    assert model.inertia_ == 3.0
    assert model.trace_["swaps"].tolist() == [1, 0]
    assert model.predict([[4.4], [4.5], [4.6]]).tolist() == [0, 0, 1]
    assert model.transform([[3.0]]).tolist() == [[2.0, 5.0]]


def test_one_medoid_is_the_median_row():
    assert KMedoids(1).fit(FIVE).medoid_indices_.tolist() == [2]


def test_as_many_medoids_as_rows_cost_nothing():
    model = KMedoids(5).fit(FIVE)
    assert model.inertia_ == 0.0
    assert model.labels_.tolist() == [0, 1, 2, 3, 4]


def test_workings_show_the_table_of_swaps_and_agree():
    work = pellucid.show_work(KMedoids(2, metric="manhattan"), FIVE)
    assert "Row 2 in the place of row 3 lowers the objective by 1, to 3." in " ".join(work.text().split())
    assert "No swap lowers the objective" in work.text()
    assert str(work.answer["inertia_"]) == "3"
    assert "more than rounding" not in work.text()
    given_rows = pellucid.show_work(KMedoids(2, metric="manhattan", init=[0, 1]), FIVE)
    assert given_rows.answer["medoid_indices_"] == [1, 3]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=6), st.integers(1, 3))
def test_workings_and_fit_settle_ties_alike(rows, k):
    X = np.array(rows, dtype=float)
    estimator = KMedoids(k, metric="manhattan")
    work, model = pellucid.show_work(estimator, X), estimator.fit(X)
    assert work.answer["medoid_indices_"] == model.medoid_indices_.tolist()
    assert work.answer["labels_"] == model.labels_.tolist()


def test_workings_refuse_what_no_person_would_do():
    with pytest.raises(ValueError, match="n_clusters must be at most 4 to be worked by hand, got 5"):
        pellucid.show_work(KMedoids(5), FIVE)
    with pytest.raises(ValueError, match="init must be 'build' or rows to be worked by hand, got 'random'"):
        pellucid.show_work(KMedoids(2, init="random"), FIVE)


# properties


@seeds
@pytest.mark.parametrize("init", ["build", "random"])
def test_no_swap_of_a_medoid_and_a_row_is_better(seed, init):
    X = blobs(seed, n=30)
    D, model = manhattan(X), KMedoids(3, metric="manhattan", init=init, random_state=seed).fit(X)
    for k, x in ((k, x) for k in range(3) for x in range(30)):
        medoids = model.medoid_indices_.copy()
        medoids[k] = x
        assert D[medoids].min(axis=0).sum() >= model.inertia_ * (1 - 1e-12)
    assert np.all(np.diff(model.trace_["objective"]) <= 0.0)


@seeds
def test_small_sets_mostly_have_the_best_medoids_of_all(seed):
    X = blobs(seed, n=18, k=3)
    D = manhattan(X)
    best = min(D[list(rows)].min(axis=0).sum() for rows in combinations(range(18), 3))
    assert KMedoids(3, metric="manhattan").fit(X).inertia_ <= 1.05 * best


@pytest.mark.property
@seeds
def test_a_weight_is_a_number_of_repetitions(seed):
    X = blobs(seed, n=40)
    weight = np.random.default_rng(seed).integers(0, 4, 40)
    weighted, repeated = KMedoids(4).fit(X, sample_weight=weight), KMedoids(4).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(weighted.cluster_centers_, repeated.cluster_centers_)
    np.testing.assert_allclose(weighted.inertia_, repeated.inertia_, rtol=1e-12)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weight), repeated.labels_)
    assert np.all(weighted.labels_[weight == 0] == -1)
    assert pellucid.verify(weighted, X, sample_weight=weight).holds


def test_a_distance_matrix_gives_the_same_as_its_rows():
    X, weight = np.sort(blobs(1), axis=0), np.r_[0.0, 2.0, np.ones(78)]  # rows in the order of their values
    rows = KMedoids(3, metric="manhattan").fit(X, sample_weight=weight)
    matrix = KMedoids(3, metric="precomputed").fit(manhattan(X), sample_weight=weight)
    np.testing.assert_array_equal(rows.labels_, matrix.labels_)
    np.testing.assert_array_equal(rows.predict(X), matrix.predict(manhattan(X)))
    assert not hasattr(matrix, "cluster_centers_")
    assert pellucid.verify(matrix, manhattan(X), sample_weight=weight).holds


@pytest.mark.parametrize("scale", [1e-150, 1e140])
def test_units_do_not_matter(scale):
    X = blobs(2)
    one, other = KMedoids(4).fit(X), KMedoids(4).fit(X * scale)
    np.testing.assert_array_equal(one.medoid_indices_, other.medoid_indices_)
    assert other.certificate_.holds


def test_any_function_of_two_rows_is_a_metric():
    X = blobs(3, n=30)
    named, own = KMedoids(3, metric="manhattan").fit(X), KMedoids(3, metric=lambda a, b: abs(a - b).sum()).fit(X)
    np.testing.assert_array_equal(named.medoid_indices_, own.medoid_indices_)


# peer


@pytest.mark.peer
@seeds
def test_as_good_as_kmedoids_from_the_same_start(seed):
    peer = pytest.importorskip("kmedoids")
    X = blobs(seed, n=300, p=4, k=6)
    D, start = manhattan(X), np.arange(6)
    theirs = peer.fasterpam(D, start.astype(np.uint64))
    ours = KMedoids(6, metric="precomputed", init=start).fit(D)
    assert ours.inertia_ <= 1.02 * theirs.loss


# proof


def test_verify_objects_to_medoids_that_a_swap_would_better():
    X = blobs(4)
    model = KMedoids(4).fit(X)
    broken = copy.copy(model)
    rows = np.sort(np.r_[model.medoid_indices_[:3], np.setdiff1d(np.arange(80), model.medoid_indices_)[0]])
    gaps = np.sqrt(np.square(X[rows][:, None] - X).sum(axis=2))
    broken.medoid_indices_, broken.cluster_centers_ = rows, X[rows]
    broken.labels_, broken.inertia_ = gaps.argmin(axis=0), float(gaps.min(axis=0).sum())
    proof = quiet_proof(broken, X)
    assert [claim.name for claim in proof.failed] == ["swaps"]


def test_one_sweep_is_not_always_enough_and_says_so():
    X = blobs(22, n=300, p=2, k=8)
    with pytest.warns(pellucid.UncertifiedWarning, match="swaps is .*Raise max_iter"):
        KMedoids(8, init=np.arange(8), max_iter=1).fit(X)


def test_many_rows_are_tried_in_part_at_the_fit():
    X = blobs(6, n=1500)
    model = KMedoids(4).fit(X)
    assert "swaps with 200 of 1,496 rows" in model.certificate_["swaps"].statement
    assert "swaps with 1,496 rows" in pellucid.verify(model, X)["swaps"].statement


# kernels


def test_kernels_do_what_their_python_does():
    D, weight, n = manhattan(blobs(7, n=12)), np.arange(1.0, 13.0), 12
    gains = np.empty((2, n))
    for kernel, out in zip((build_gains, build_gains.py_func), gains, strict=True):
        kernel(D, weight, np.full(n, 5.0), 0, n, out)
    np.testing.assert_allclose(*gains, rtol=1e-14)
    swaps = Swaps(D, weight, np.array([3, 5, 7]))
    state = (D, weight, swaps.near, swaps.second, swaps.owner, swaps.removal)
    found = [(np.empty(n), np.empty(n, np.int64)) for _ in range(2)]
    for kernel, (changes, slots) in zip((swap_gains, swap_gains.py_func), found, strict=True):
        kernel(*state, 0, n, np.empty(3), changes, slots)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    for x in set(range(n)) - {3, 5, 7}:
        direct = [weight @ D[[x if m == old else m for m in (3, 5, 7)]].min(axis=0) for old in (3, 5, 7)]
        assert found[0][0][x] == pytest.approx(min(direct) - swaps.objective)
    plain = [part.copy() for part in (swaps.medoids, *state[2:5], swaps.runner, swaps.removal)]
    medoids, near, second, owner, runner, removal = plain
    replace_medoid.py_func(D, weight, medoids, 1, 9, swaps.far, near, second, owner, runner, removal)
    swaps.replace(1, 9)
    np.testing.assert_array_equal(near, swaps.near)
    np.testing.assert_array_equal(np.sort(D[[3, 9, 7]], axis=0)[:2], [swaps.near, swaps.second])


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"n_clusters": 6}, FIVE, "n_clusters must be at most the number of rows, got n_clusters=6 for 5 rows"),
        ({"n_clusters": 0}, FIVE, "n_clusters must be at least 1, got 0"),
        ({"n_clusters": 1}, FIVE * np.nan, "NaN"),
        ({"n_clusters": 2, "init": [0, 0]}, FIVE, "init must be the numbers of 2 different rows that have a weight"),
        ({"n_clusters": 2, "init": [0, 5]}, FIVE, "init must be the numbers of 2 different rows that have a weight"),
        ({"n_clusters": 1, "metric": "precomputed"}, FIVE, "Distance matrix should be square"),
        ({"n_clusters": 1, "metric": "precomputed"}, np.triu(manhattan(FIVE)), "X must be symmetric"),
        ({"n_clusters": 1, "metric": "precomputed"}, manhattan(FIVE) + 1, "X must have zeros on its diagonal"),
        ({"n_clusters": 2, "metric": "seuclidean"}, FIVE, "metric must be"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(settings, X, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(**settings).fit(X)


def test_one_row_is_its_own_medoid():
    model = KMedoids(1).fit([[3.0, 4.0]])
    assert model.medoid_indices_.tolist() == [0]
    assert model.inertia_ == 0.0
