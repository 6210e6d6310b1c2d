"""KNeighborsRegressor: means of the nearest targets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor as Peer

import pellucid
from pellucid.neighbors import KNeighborsRegressor

seeds = pytest.mark.parametrize("seed", range(3))


def problem(seed, n=100, p=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2, rng.standard_normal((20, p))


# by hand


@pytest.mark.by_hand
def test_the_mean_of_two_neighbors():
    model = KNeighborsRegressor(2).fit([[0.0], [1.0], [5.0]], [1, 2, 9])
    assert model.predict([[0.4], [4.0]]).tolist() == [1.5, 5.5]


def test_weighted_by_inverse_distance():
    model = KNeighborsRegressor(2, weights="distance").fit([[0.0], [3.0]], [0.0, 9.0])
    assert model.predict([[1.0]]) == pytest.approx([3.0])  # (0 * 1 + 9 * 1/2) / (3/2)
    assert model.predict([[3.0]]) == pytest.approx([9.0])


def test_weighted_by_the_exponential_of_the_distance():
    model = KNeighborsRegressor(2, weights="exponential", rate=np.log(3)).fit([[0.0], [3.0]], [0.0, 8.0])
    assert model.predict([[1.0]]) == pytest.approx([2.0])  # weights 1/3 and 1/9


# properties


@seeds
def test_one_neighbor_remembers_the_training_targets(seed):
    X, y, _ = problem(seed)
    np.testing.assert_array_equal(KNeighborsRegressor(1).fit(X, y).predict(X), y)


@seeds
def test_a_high_rate_is_one_neighbor_and_a_low_one_is_all_alike(seed):
    X, y, queries = problem(seed)
    sharp, flat = (KNeighborsRegressor(8, weights="exponential", rate=rate).fit(X, y) for rate in (1e6, 1e-9))
    np.testing.assert_allclose(sharp.predict(queries), KNeighborsRegressor(1).fit(X, y).predict(queries))
    np.testing.assert_allclose(flat.predict(queries), KNeighborsRegressor(8).fit(X, y).predict(queries), atol=1e-6)


@pytest.mark.property
@seeds
def test_predictions_are_linear_in_the_targets(seed):
    X, y, queries = problem(seed)
    once, moved = (KNeighborsRegressor(weights="distance").fit(X, t).predict(queries) for t in (y, 3 * y - 1))
    np.testing.assert_allclose(moved, 3 * once - 1)


# peer


@pytest.mark.peer
@seeds
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
@pytest.mark.parametrize("n_outputs", [None, 1, 3])
def test_same_predictions_as_scikit_learn(seed, weights, algorithm, n_outputs):
    X, y, queries = problem(seed)
    y = y if n_outputs is None else np.column_stack([y + j * X[:, 0] for j in range(n_outputs)])
    ours, peer = (kind(4, weights=weights, algorithm=algorithm).fit(X, y) for kind in (KNeighborsRegressor, Peer))
    assert ours.predict(queries).shape == peer.predict(queries).shape
    np.testing.assert_allclose(ours.predict(queries), peer.predict(queries), rtol=1e-10)
    np.testing.assert_allclose(ours.predict(None), peer.predict(None), rtol=1e-10)
    assert ours.score(queries, ours.predict(queries)) == 1.0
    assert pellucid.verify(ours, X, y).holds


def test_more_features_than_a_tree_is_good_for_go_to_brute_force():
    X, y, _ = problem(0, p=16)
    for p, most in ((2, 8), (1, 15), (np.inf, 15)):
        assert KNeighborsRegressor(p=p).fit(X[:, : most + 1], y)._fit_method == "brute"
        assert KNeighborsRegressor(p=p).fit(X[:, :most], y)._fit_method == "kd_tree"
    assert KNeighborsRegressor(50).fit(X[:, :2], y)._fit_method == "brute"  # half of the rows are neighbors


# errors


@pytest.mark.bad_input
def test_refuses_targets_that_are_no_numbers():
    with pytest.raises(ValueError, match="could not convert string to float"):
        KNeighborsRegressor(1).fit([[0.0], [1.0]], np.array(["a", "b"], dtype=object))


def test_refuses_values_whose_squares_overflow():
    with pytest.raises(ValueError, match="X must have values whose squares are finite.*Change its units"):
        KNeighborsRegressor(1).fit([[0.0], [1e200]], [0.0, 1.0])
