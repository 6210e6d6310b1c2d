"""enet_path and lasso_path: one feature by hand, each point against a single fit, scikit-learn, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import enet_path as peer_enet_path
from sklearn.linear_model import lasso_path as peer_lasso_path

from pellucid.linear_model.sparse_regression.elastic_net import ElasticNet
from pellucid.linear_model.sparse_regression.enet_path import enet_path, lasso_path

seeds = settings(max_examples=15, deadline=None)
seed = st.integers(0, 10_000)


def problem(seed, n=50, p=80):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 0.1 * rng.standard_normal(n)


def test_one_feature_moves_along_a_line():
    # X'X/n = 1, X'y/n = 2, so w = 2 - alpha
    alphas, coefs, gaps = lasso_path([[1.0], [-1.0]], [2.0, -2.0], alphas=[0.5, 2.0, 1.0])
    np.testing.assert_array_equal(alphas, [2.0, 1.0, 0.5])
    np.testing.assert_allclose(coefs, [[0.0, 1.0, 1.5]])
    np.testing.assert_allclose(gaps, 0.0, atol=1e-15)


def test_automatic_grid_starts_where_all_coefficients_are_zero():
    X, y = problem(0)
    alphas, coefs, _ = lasso_path(X, y, alphas=10, eps=0.01)
    assert alphas[0] == pytest.approx(np.abs(X.T @ y).max() / 50)
    assert alphas[-1] == pytest.approx(0.01 * alphas[0])
    assert not coefs[:, 0].any()
    assert coefs[:, 1].any()


@seeds
@given(seed, st.sampled_from([1.0, 0.5, 0.1]), st.booleans())
def test_each_point_is_the_answer_of_a_single_fit(seed, l1_ratio, positive):
    X, y = problem(seed)
    alphas, coefs, gaps = enet_path(X, y, l1_ratio=l1_ratio, alphas=8, positive=positive, tol=1e-8)
    assert gaps.max() <= 1e-8 * np.mean(y**2) * (1 + 1e-6)
    for alpha, coef in zip(alphas, coefs.T, strict=True):
        model = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, positive=positive, fit_intercept=False, tol=1e-10)
        np.testing.assert_allclose(coef, model.fit(X, y).coef_, atol=1e-3)


@seeds
@given(seed, st.sampled_from([1.0, 0.5]))
def test_same_path_as_scikit_learn(seed, l1_ratio):
    X, y = problem(seed)
    ours = enet_path(X, y, l1_ratio=l1_ratio, alphas=10, tol=1e-8, return_n_iter=True)
    peer = peer_enet_path(X, y, l1_ratio=l1_ratio, alphas=10, tol=1e-8, max_iter=100_000, return_n_iter=True)
    np.testing.assert_allclose(ours[0], peer[0])
    np.testing.assert_allclose(ours[1], peer[1], atol=1e-3)
    assert len(ours[3]) == len(peer[3])


def test_sparse_features_give_the_same_path():
    X, y = problem(1)
    X[np.abs(X) < 1] = 0.0
    dense, thin = lasso_path(X, y, alphas=12)[1], lasso_path(sparse.csr_array(X), y, alphas=12)[1]
    np.testing.assert_allclose(thin, dense, atol=1e-8)


def test_starting_point_does_not_change_the_answer():
    X, y = problem(2)
    start = np.random.default_rng(0).standard_normal(80)
    cold, warm = (lasso_path(X, y, alphas=[0.1], tol=1e-10, coef_init=init)[1] for init in (None, start))
    np.testing.assert_allclose(warm, cold, atol=1e-4)


def test_given_gram_matrix_gives_the_same_path():
    X, y = problem(3, 100, 20)
    np.testing.assert_allclose(lasso_path(X, y, precompute=X.T @ X)[1], lasso_path(X, y)[1], atol=1e-10)


def test_float32_in_gives_float32_out():
    X, y = problem(4)
    assert lasso_path(X.astype(np.float32), y.astype(np.float32), alphas=3)[1].dtype == np.float32


def test_target_that_nothing_explains_has_a_flat_path():
    alphas, coefs, _ = lasso_path([[1.0], [-1.0]], [0.0, 0.0], alphas=3)
    np.testing.assert_array_equal(alphas, peer_lasso_path(np.array([[1.0], [-1.0]]), np.zeros(2), alphas=3)[0])
    assert not coefs.any()


def test_refuses_a_grid_without_an_l1_part():
    with pytest.raises(ValueError, match=r"l1_ratio must be above 0, got 0.*Pass the values of alphas"):
        enet_path([[1.0], [2.0]], [1.0, 2.0], l1_ratio=0)


def test_refuses_several_targets():
    with pytest.raises(
        ValueError, match=r"y must be of shape \(n_samples,\), got \(2, 2\). Compute one path per target"
    ):
        lasso_path([[1.0], [2.0]], [[1.0, 2.0], [2.0, 1.0]])


def test_refuses_a_negative_penalty():
    with pytest.raises(ValueError, match=r"alphas\[1\] must be at least 0, got -1.0"):
        lasso_path([[1.0], [2.0]], [1.0, 2.0], alphas=[1.0, -1.0])
