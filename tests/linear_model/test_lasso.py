"""Lasso: soft thresholding by hand, properties of the answer and its certificate, scikit-learn, bad input."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Lasso as PeerLasso

import pellucid
from pellucid import UncertifiedWarning
from pellucid.linear_model.sparse_regression.elastic_net import Lasso
from tests.proving import quiet_proof

seeds = settings(max_examples=20, deadline=None)
seed = st.integers(0, 10_000)


def problem(seed, n=60, p=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal(p)
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 4.0 + 0.1 * rng.standard_normal(n)


def objective(coef, intercept, X, y, alpha, weight=None):
    residual = y - X @ coef - intercept
    return 0.5 * np.average(residual**2, weights=weight) + alpha * np.abs(coef).sum()


@pytest.mark.by_hand
def test_one_feature_is_soft_thresholding():
    # centered: X'X/n = X'y/n = 2/3, so w = (2/3 - 1/2) / (2/3) = 1/4 and b = 1 - 1/4
    model = Lasso(alpha=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    assert model.coef_ == pytest.approx([0.25])
    assert model.intercept_ == pytest.approx(0.75)


def test_orthogonal_features_are_thresholded_one_by_one():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    model = Lasso(alpha=1.0).fit(X, X @ [3.0, -0.5])
    np.testing.assert_allclose(model.coef_, [2.0, 0.0], atol=1e-14)


def test_positive_lasso_sets_a_negative_effect_to_zero():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    model = Lasso(alpha=1.0, positive=True).fit(X, X @ [3.0, -5.0])
    np.testing.assert_allclose(model.coef_, [2.0, 0.0], atol=1e-14)


def test_penalty_at_its_largest_useful_value_gives_zero():
    X, y = problem(0)
    largest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    assert not Lasso(alpha=largest * (1 + 1e-12)).fit(X, y).coef_.any()
    assert Lasso(alpha=largest * 0.999).fit(X, y).coef_.any()


def test_certificate_of_a_point_worked_by_hand():
    # At w = 0: residual (-1, 0, 1), correlation 2/3 against alpha 1/2, so the dual point is 3/4 of the residual and
    # gap = (1 - 3/4)^2 / 2 * 2/3 = 1/48.
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 2.0])
    model = Lasso(alpha=0.5).fit(X, y)
    model.coef_, model.intercept_ = np.zeros(1), 1.0
    assert quiet_proof(model, X, y)["duality gap"].value == pytest.approx(1 / 48)


@seeds
@given(seed)
def test_gap_is_never_below_the_true_suboptimality(seed):
    X, y = problem(seed)
    best = Lasso(alpha=0.1, tol=1e-12).fit(X, y)
    model = Lasso(alpha=0.1).fit(X, y)
    rng = np.random.default_rng(seed)
    model.coef_ = model.coef_ + rng.standard_normal(20) * 10.0 ** rng.integers(-6, 1)
    model.intercept_ = model.intercept_ + rng.standard_normal() * 10.0 ** rng.integers(-6, 1)
    excess = objective(model.coef_, model.intercept_, X, y, 0.1) - objective(best.coef_, best.intercept_, X, y, 0.1)
    assert quiet_proof(model, X, y)["duality gap"].value >= excess * (1 - 1e-9) - 1e-15


@pytest.mark.property
@seeds
@given(seed)
def test_weights_are_repetitions(seed):
    X, y = problem(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weight[0] = 1
    weighted = Lasso(alpha=0.05).fit(X, y, sample_weight=weight)
    repeated = Lasso(alpha=0.05).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, abs=1e-10)
    assert pellucid.verify(weighted, X, y, sample_weight=weight).holds


@seeds
@given(seed)
def test_order_of_samples_and_features_does_not_matter(seed):
    X, y = problem(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(60), rng.permutation(20)
    once, again = Lasso(alpha=0.1).fit(X, y), Lasso(alpha=0.1).fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(again.coef_, once.coef_[columns], atol=1e-10)


@seeds
@given(seed, st.sampled_from([1e-149, 1e-6, 3.0, 1e6, 1e149]))
def test_scaling_target_and_penalty_scales_the_answer(seed, scale):
    X, y = problem(seed)
    once, scaled = Lasso(alpha=0.1).fit(X, y), Lasso(alpha=0.1 * scale).fit(X, scale * y)
    np.testing.assert_allclose(scaled.coef_ / scale, once.coef_, atol=1e-9)


@seeds
@given(seed, st.sampled_from([1e-149, 1e-6, 1e6, 1e149]))
def test_scaling_features_and_penalty_scales_the_answer_back(seed, scale):
    X, y = problem(seed)
    once, scaled = Lasso(alpha=0.1).fit(X, y), Lasso(alpha=0.1 * scale).fit(scale * X, y)
    np.testing.assert_allclose(scaled.coef_ * scale, once.coef_, atol=1e-9)


@seeds
@given(seed, st.booleans(), st.sampled_from([(60, 20), (30, 80), (400, 12)]))
def test_objective_never_rises_along_the_trace(seed, positive, shape):
    X, y = problem(seed, *shape)
    trace = Lasso(alpha=0.01, positive=positive).fit(X, y).trace_
    assert np.all(np.diff(trace["objective"]) <= 1e-9 * trace["objective"][0])


@seeds
@given(seed, st.sampled_from([1e-4, 1e-2, 0.3]), st.booleans())
def test_sparse_and_dense_features_give_the_same_answer(seed, alpha, positive):
    X, y = problem(seed, 40, 60)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.3, X, 0.0)
    dense = Lasso(alpha=alpha, tol=1e-9, positive=positive).fit(X, y)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        model = Lasso(alpha=alpha, tol=1e-9, positive=positive).fit(kind(X), y)
        assert objective(model.coef_, model.intercept_, X, y, alpha) == pytest.approx(
            objective(dense.coef_, dense.intercept_, X, y, alpha), abs=1e-7
        )
        assert pellucid.verify(model, kind(X), y).holds
        np.testing.assert_allclose(model.predict(kind(X)), model.predict(X))


@seeds
@given(seed, st.sampled_from([np.float64, np.float32]), st.sampled_from(["coef_", "intercept_", "dual_gap_"]))
def test_verify_objects_to_a_nudged_model(seed, dtype, attribute):
    X, y = problem(seed)
    model = Lasso(alpha=0.1).fit(X.astype(dtype), y.astype(dtype))
    assert pellucid.verify(model, X.astype(dtype), y.astype(dtype)).holds
    value = getattr(model, attribute)
    setattr(model, attribute, value * dtype(1.001) if attribute != "dual_gap_" else value + 0.01 * y.var())
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(model, X.astype(dtype), y.astype(dtype)).holds


def test_same_seed_gives_the_same_bits():
    X, y = problem(1, 30, 80)
    first, second = (Lasso(alpha=1e-3, selection="random", random_state=7).fit(X, y) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_)


def test_warm_start_begins_at_the_last_answer():
    X, y = problem(2, 100, 200)
    model = Lasso(alpha=0.01, warm_start=True).fit(X, y)
    passes = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ <= passes
    assert len(model.trace_) <= 2


def test_record_keeps_the_coefficients_of_each_step():
    X, y = problem(3)
    with pellucid.record():
        model = Lasso(alpha=0.1).fit(X, y)
    np.testing.assert_allclose(model.trace_.states[-1]["coef"], model.coef_)


def test_float32_in_gives_float32_out():
    X, y = problem(4)
    model = Lasso(alpha=0.1).fit(X.astype(np.float32), y.astype(np.float32))
    assert model.coef_.dtype == np.float32
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_, Lasso(alpha=0.1).fit(X, y).coef_, atol=1e-5)


def test_several_targets_are_fitted_one_by_one():
    X, y = problem(5)
    both = np.column_stack([y, -2 * y])
    model = Lasso(alpha=0.1).fit(X, both)
    assert model.coef_.shape == (2, 20)
    assert model.intercept_.shape == model.dual_gap_.shape == (2,)
    np.testing.assert_allclose(model.coef_[0], Lasso(alpha=0.1).fit(X, y).coef_, atol=1e-12)
    assert pellucid.verify(model, X, both).holds


def test_given_gram_matrix_gives_the_same_answer():
    X, y = problem(6)
    X = X - X.mean(axis=0)
    with_gram, without = Lasso(alpha=0.1, precompute=X.T @ X).fit(X, y), Lasso(alpha=0.1).fit(X, y)
    np.testing.assert_allclose(with_gram.coef_, without.coef_, atol=1e-12)


def test_read_only_memory_is_left_alone(tmp_path):
    X, y = problem(7)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(Lasso(alpha=0.1, copy_X=False).fit(mapped, y).coef_, Lasso(alpha=0.1).fit(X, y).coef_)


@pytest.mark.parametrize("make", [lambda X: np.column_stack([X, X[:, 0]]), lambda X: np.column_stack([X, np.ones(60)])])
def test_duplicate_and_constant_columns_are_certified(make):
    X, y = problem(8)
    X = make(X)
    model = Lasso(alpha=0.1).fit(X, y)
    assert pellucid.verify(model, X, y).holds


def test_large_means_cost_no_digits():
    X, y = problem(9)
    near, far = Lasso(alpha=0.1).fit(X, y), Lasso(alpha=0.1).fit(X + 1e8, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    assert pellucid.verify(far, X + 1e8, y).holds


@pytest.mark.parametrize(
    ("X", "y"),
    [([[1.0, 2.0]], [3.0]), ([[1.0], [1.0]], [1.0, 2.0]), ([[1.0], [2.0]], [0.0, 0.0]), ([[1], [2]], [0.1, 0.1])],
)
def test_data_without_signal_give_zero(X, y):
    model = Lasso(alpha=0.1).fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(np.mean(y))
    assert pellucid.verify(model, X, y).holds


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
def test_without_penalty_it_is_least_squares_and_says_so(shape):
    X, y = problem(10, *shape)
    with pytest.warns(UserWarning, match="use LinearRegression"):
        model = Lasso(alpha=0).fit(X, y)
    residual = y - y.mean() - (X - X.mean(axis=0)) @ model.coef_
    np.testing.assert_allclose((X - X.mean(axis=0)).T @ residual, 0.0, atol=1e-9)
    assert pellucid.verify(model, X, y).holds


@pytest.mark.peer
@seeds
@given(seed, st.sampled_from([(60, 20), (25, 60), (300, 8)]), st.sampled_from([0.3, 1e-2, 1e-3]), st.booleans())
def test_objective_is_no_worse_than_scikit_learns(seed, shape, alpha, positive):
    X, y = problem(seed, *shape)
    ours = Lasso(alpha=alpha, positive=positive, tol=1e-8).fit(X, y)
    peer = PeerLasso(alpha=alpha, positive=positive, tol=1e-8, max_iter=100_000).fit(X, y)
    best = objective(peer.coef_, peer.intercept_, X, y, alpha)
    assert objective(ours.coef_, ours.intercept_, X, y, alpha) <= best + 1e-8 * y.var()


def test_same_parameters_as_scikit_learn():
    assert Lasso().get_params() == PeerLasso().get_params()


def test_too_few_passes_warn_with_the_gap_and_the_remedy():
    X, y = problem(11, 30, 80)
    with pytest.warns(UncertifiedWarning, match="duality gap is .* above its bound .* Raise max_iter"):
        Lasso(alpha=1e-4, max_iter=1).fit(X, y)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha must be at least 0, got -1.0"),
        ({"tol": -1.0}, "tol must be at least 0, got -1.0"),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0"),
        ({"selection": "best"}, "selection must be one of .* got 'best'"),
        ({"precompute": np.eye(3)}, r"precompute must be of shape \(20, 20\), got \(3, 3\)"),
        ({"precompute": "yes"}, "precompute must be "),
    ],
)
def test_refuses_bad_parameters(parameters, message):
    X, y = problem(12)
    with pytest.raises(ValueError, match=message):
        Lasso(**parameters).fit(X, y)


def test_refuses_a_gram_matrix_of_other_data():
    X, y = problem(13)
    X = X - X.mean(axis=0)
    with pytest.raises(ValueError, match="precompute must be the Gram matrix of X"):
        Lasso(precompute=2 * X.T @ X).fit(X, y)


def test_warns_when_the_gram_matrix_is_not_centered():
    X, y = problem(14)
    with pytest.warns(UserWarning, match="not centered"):
        Lasso(precompute=X.T @ X).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"), [([-1.0] + [1.0] * 59, "at least 0, got"), ([0.0] * 60, "(?i)weights? must")]
)
def test_refuses_weights_without_meaning(weight, message):
    X, y = problem(15)
    with pytest.raises(ValueError, match=message):
        Lasso().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refuses_nan_and_infinity(bad):
    X, y = problem(16)
    X[3, 4] = bad
    with pytest.raises(ValueError, match="Input X contains"):
        Lasso().fit(X, y)
    model = Lasso()
    with pytest.raises(ValueError, match="Input X contains"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_a_warm_start_that_is_good_enough_is_kept():
    X, y = problem(0)
    model = Lasso(alpha=0.1, warm_start=True).fit(X, y)
    before = model.coef_.copy()
    assert model.n_iter_ >= 1
    assert model.fit(X, y).n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, before)


def test_the_certificate_of_float32_is_about_the_coefficients_that_are_stored():
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((200, 3)) + [1e6, 1e4, 0.0]).astype(np.float32)
    y = X[:, 1] - 1e4 + rng.standard_normal(200).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Lasso(alpha=0.01).fit(X, y)
        assert model.certificate_.holds == pellucid.verify(model, X, y).holds
