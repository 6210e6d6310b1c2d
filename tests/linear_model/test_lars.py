"""Lars, LassoLars and lars_path: a path by hand, equal correlations, ties, drops, scikit-learn, bad input."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lars as PeerLars
from sklearn.linear_model import LassoLars as PeerLassoLars
from sklearn.linear_model import lars_path as peer_lars_path

import pellucid
from pellucid import UncertifiedWarning
from pellucid.core.cards import card_of
from pellucid.linear_model.least_angle.lars import Lars, LassoLars, lars_path
from pellucid.linear_model.sparse_regression.elastic_net import Lasso
from pellucid.proofs.training_data import TrainingData
from tests.proving import quiet_proof

seeds = settings(max_examples=20, deadline=None)
seed = st.integers(0, 10_000)


def problem(seed, n=60, p=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal(p)
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 4.0 + rng.standard_normal(n)


def correlations(X, y, coefs):
    A, b = X - X.mean(axis=0), y - y.mean()
    return A.T @ (b[:, None] - A @ coefs) / len(y)


@pytest.mark.by_hand
def test_orthogonal_features_join_in_order_of_correlation():
    # X'X/n = I and X'y/n = (3, -1): at alpha = 1 the first is at 2 and the second joins
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    alphas, active, coefs = lars_path(X, X @ [3.0, -1.0])
    np.testing.assert_allclose(alphas, [3.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(coefs, [[0.0, 2.0, 3.0], [0.0, 0.0, -1.0]], atol=1e-14)
    assert active == [0, 1]


@pytest.mark.by_hand("LassoLars")
def test_lasso_stops_at_its_penalty():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    model = LassoLars(alpha=0.5).fit(X, X @ [3.0, -1.0])
    np.testing.assert_allclose(model.coef_, [2.5, -0.5])
    np.testing.assert_allclose(model.alphas_, [3.0, 1.0, 0.5])


def test_equal_features_join_in_order_of_position():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    alphas, active, coefs = lars_path(X, X @ [2.0, 2.0])
    assert active == [0, 1]
    np.testing.assert_allclose(coefs[:, -1], [2.0, 2.0])
    assert alphas[-1] == 0.0


def test_of_tied_columns_only_those_join_whose_coefficients_get_the_sign_of_their_correlation():
    # centered: a = (0, -1, 1), b = (1, 1, -2) / 3, y = (1, 0, -1): a'y = -1 and b'y = 1 are tied at the start.
    # Together they would move along (1, 3) though a's correlation is negative: b goes alone, to y'b / b'b = 3 / 2.
    X, y = np.array([[1.0, 2.0, 2.0], [0.0, 2.0, 2.0], [2.0, 1.0, 2.0]]), np.array([2.0, 1.0, 0.0])
    for precompute in (True, False):
        model = LassoLars(alpha=0.1, precompute=precompute).fit(X, y)
        np.testing.assert_allclose(model.coef_, [0.0, 1.5 - 0.1 * 3 * 1.5, 0.0], atol=1e-14)
        assert pellucid.verify(model, X, y).holds


def violation(X, y, coefs, alphas, positive=False):
    """Return by how much the conditions of the lasso are violated at the worst breakpoint."""
    c = correlations(X, y, coefs)
    outside = (c if positive else np.abs(c)) - alphas
    return max(outside.max(), np.where(coefs != 0.0, np.abs(c - alphas * np.sign(coefs)), 0.0).max())


@settings(max_examples=150, deadline=None)
@given(seed, st.booleans(), st.booleans(), st.sampled_from([0.0, 0.01, 0.1]))
def test_small_whole_numbers_with_their_ties_have_lasso_solutions_at_every_breakpoint(
    seed, precompute, positive, alpha
):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (int(rng.integers(2, 6)), int(rng.integers(1, 6)))).astype(float)
    y = rng.integers(0, 3, len(X)).astype(float)
    model = LassoLars(alpha=alpha, precompute=precompute, positive=positive).fit(X, y)
    assert violation(X, y, model.coef_path_, model.alphas_, positive) < 1e-10
    assert model.alphas_[-1] == pytest.approx(alpha) or not model.coef_.any()
    path = Lars(precompute=precompute).fit(X, y)
    assert np.abs(correlations(X, y, path.coef_[:, None])).max() < 1e-10
    assert pellucid.verify(model, X, y).holds
    assert pellucid.verify(path, X, y).holds


@seeds
@given(seed, st.sampled_from([(60, 20), (30, 50), (20, 20)]))
def test_active_features_are_equally_correlated_at_every_breakpoint(seed, shape):
    X, y = problem(seed, *shape)
    model = Lars().fit(X, y)
    c = np.abs(correlations(X, y, model.coef_path_))
    np.testing.assert_allclose(c.max(axis=0), model.alphas_, atol=1e-11)
    for k, alpha in enumerate(model.alphas_):
        on = model.coef_path_[:, k] != 0
        np.testing.assert_allclose(c[on, k], alpha, atol=1e-11)
    assert np.all(np.diff(model.alphas_) <= 1e-15)
    assert pellucid.verify(model, X, y).holds


@seeds
@given(seed, st.sampled_from([(60, 20), (30, 50)]), st.booleans())
def test_lasso_breakpoints_are_lasso_solutions(seed, shape, positive):
    X, y = problem(seed, *shape)
    model = LassoLars(alpha=1e-3, positive=positive).fit(X, y)
    assert pellucid.verify(model, X, y).holds
    for k in {*range(0, len(model.alphas_), 5), len(model.alphas_) - 1}:
        lasso = Lasso(alpha=model.alphas_[k], positive=positive, tol=1e-12).fit(X, y)
        np.testing.assert_allclose(model.coef_path_[:, k], lasso.coef_, atol=1e-6)


@pytest.mark.property
@seeds
@given(seed, st.floats(0.01, 100.0))
def test_scaling_the_target_scales_the_path(seed, scale):
    X, y = problem(seed)
    once, scaled = Lars().fit(X, y), Lars().fit(X, scale * y)
    np.testing.assert_allclose(scaled.coef_path_, scale * once.coef_path_, atol=1e-9 * scale)


@seeds
@given(seed)
def test_residual_never_grows_along_the_trace(seed):
    X, y = problem(seed)
    trace = Lars().fit(X, y).trace_
    assert np.all(np.diff(trace["objective"]) <= 1e-12)
    end = Lars().fit(X, y)
    assert trace["objective"][-1] == pytest.approx(0.5 * np.mean((y - end.predict(X)) ** 2), abs=1e-9)


@seeds
@given(seed, st.sampled_from(["coef_", "intercept_", "coef_path_", "alphas_"]), st.sampled_from([Lars, LassoLars]))
def test_verify_objects_to_a_nudged_model(seed, attribute, kind):
    X, y = problem(seed)
    model = kind() if kind is Lars else kind(alpha=0.05)
    model.fit(X, y)
    setattr(model, attribute, getattr(model, attribute) * 1.001)
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds


@pytest.mark.parametrize("model", [Lars(n_nonzero_coefs=2), LassoLars(alpha=0.1)])
def test_verify_objects_to_correlations_below_their_level(model):
    X, y = problem(11)
    model.fit(X, y)
    w = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]  # no correlation is left, none exceeds the level
    model.coef_path_[:, -1], model.coef_, model.intercept_ = w, w, y.mean() - X.mean(axis=0) @ w
    assert not quiet_proof(model, X, y)["equal correlations"].holds


def cut(model, path, alphas, X, y, active):
    """Return a copy of a model whose path is another one, with everything that follows from it."""
    other = copy(model)
    coef = path[:, -1]
    other.coef_path_, other.alphas_, other.coef_, other.active_ = path, alphas, coef, active
    other.n_iter_, other.intercept_ = path.shape[1] - 1, float(y.mean() - X.mean(axis=0) @ coef)
    return other


@pytest.mark.parametrize("most", [3, 500])
def test_verify_objects_to_a_path_that_ends_early_or_between_two_breakpoints(most):
    X, y = problem(0)
    model = Lars(n_nonzero_coefs=most).fit(X, y)
    path, alphas, active = model.coef_path_, model.alphas_, model.active_
    assert quiet_proof(cut(model, path, alphas, X, y, active), X, y).holds
    early = cut(model, path[:, :-1], alphas[:-1], X, y, active[:-1])
    middle, level = (path[:, [1]] + path[:, [2]]) / 2.0, (alphas[1:2] + alphas[2:3]) / 2.0
    ends_between = cut(model, np.hstack([path[:, :2], middle]), np.append(alphas[:2], level), X, y, active[:2])
    longer = np.insert(path, [2], middle, axis=1), np.insert(alphas, 2, level)
    for forged in (early, ends_between, cut(model, *longer, X, y, active)):
        assert [claim.name for claim in quiet_proof(forged, X, y).failed] == ["steps"]


def test_a_last_point_alone_must_have_as_many_steps_as_asked():
    X, y = problem(1)
    model = Lars(n_nonzero_coefs=4, fit_path=False).fit(X, y)
    path = Lars(n_nonzero_coefs=4).fit(X, y)
    assert model.certificate_.holds
    model.coef_, model.alphas_ = path.coef_path_[:, 3], path.alphas_[3:4]
    model.intercept_ = float(y.mean() - X.mean(axis=0) @ model.coef_)
    assert [claim.name for claim in quiet_proof(model, X, y).failed] == ["steps"]


def test_path_goes_through_many_drops():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60)) @ (np.eye(60) + 0.8 * np.ones((60, 60)) / 8)
    y = X @ rng.standard_normal(60) + rng.standard_normal(40)
    model = LassoLars(alpha=1e-4, max_iter=2000).fit(X, y)
    assert model.n_iter_ > len(model.active_)
    assert pellucid.verify(model, X, y).holds


def test_duplicate_and_constant_columns_stay_out():
    X, y = problem(1, p=5)
    model = Lars().fit(np.column_stack([X, X[:, 0], np.ones(60)]), y)
    assert len(model.active_) == 5
    np.testing.assert_allclose(model.predict(np.column_stack([X, X[:, 0], np.ones(60)])), Lars().fit(X, y).predict(X))


def test_several_targets_are_fitted_one_by_one():
    X, y = problem(2)
    both = np.column_stack([y, -y])
    model = Lars(n_nonzero_coefs=3).fit(X, both)
    assert len(model.coef_path_) == len(model.active_) == 2
    np.testing.assert_allclose(model.coef_[1], -model.coef_[0])
    assert pellucid.verify(model, X, both).holds


def test_last_point_alone_is_kept_on_request():
    X, y = problem(3)
    whole, end = LassoLars(alpha=0.1).fit(X, y), LassoLars(alpha=0.1, fit_path=False).fit(X, y)
    assert not hasattr(end, "coef_path_")
    np.testing.assert_array_equal(end.coef_, whole.coef_)
    assert pellucid.verify(end, X, y).holds


def test_gram_matrix_gives_the_same_path():
    X, y = problem(4)
    X = X - X.mean(axis=0)
    plain = lars_path(X, y, method="lasso")[2]
    for gram in ("auto", True, X.T @ X):
        np.testing.assert_allclose(lars_path(X, y, Gram=gram, method="lasso")[2], plain, atol=1e-12)


def test_jitter_is_reproducible_and_certified():
    X, y = problem(5)
    first, second = (Lars(jitter=1e-3, random_state=0).fit(X, y) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_)
    assert pellucid.verify(first, X, y).holds


def test_float32_in_gives_float32_out():
    X, y = problem(6)
    model = LassoLars(alpha=0.1).fit(X.astype(np.float32), y.astype(np.float32))
    assert model.coef_path_.dtype == model.alphas_.dtype == np.float32
    assert pellucid.verify(model, X.astype(np.float32), y.astype(np.float32)).holds


@pytest.mark.parametrize(
    ("X", "y"), [([[1.0, 2.0]], [3.0]), ([[1.0], [1.0]], [1.0, 2.0]), ([[1.0], [2.0]], [0.0, 0.0])]
)
def test_data_without_signal_give_zero(X, y):
    for model in (Lars(), LassoLars(alpha=0.1)):
        assert not model.fit(X, y).coef_.any()
        assert model.intercept_ == pytest.approx(np.mean(y))


@pytest.mark.peer("Lars", "LassoLars")
@seeds
@given(seed, st.sampled_from([(60, 20), (30, 50)]))
def test_same_lasso_path_as_scikit_learn(seed, shape):
    X, y = problem(seed, *shape)
    X, y = X - X.mean(axis=0), y - y.mean()
    ours = lars_path(X, y, method="lasso", alpha_min=0.01)
    peer = peer_lars_path(X, y, method="lasso", alpha_min=0.01)
    # Paths are linear between breakpoints; the peer joins breakpoints closer than 1e-7.
    at_theirs = [np.interp(-peer[0], -ours[0], coef) for coef in ours[2]]
    np.testing.assert_allclose(at_theirs, peer[2], atol=1e-5)
    assert abs(len(ours[0]) - len(peer[0])) <= 1


@pytest.mark.parametrize("n_nonzero_coefs", [1, 3])
def test_first_steps_as_scikit_learn(n_nonzero_coefs):
    X, y = problem(7)
    ours, peer = (kind(n_nonzero_coefs=n_nonzero_coefs).fit(X, y) for kind in (Lars, PeerLars))
    np.testing.assert_allclose(ours.coef_path_, peer.coef_path_, atol=1e-10)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_)
    assert ours.active_ == [int(j) for j in peer.active_]
    assert ours.n_iter_ == peer.n_iter_


@pytest.mark.parametrize(("ours", "peer"), [(Lars, PeerLars), (LassoLars, PeerLassoLars)])
def test_same_parameters_as_scikit_learn(ours, peer):
    assert ours().get_params() == peer().get_params()


def test_a_path_cut_short_of_its_penalty_warns():
    X, y = problem(8)
    with pytest.warns(UncertifiedWarning, match=r"penalty reached is .* Raise max_iter"):
        LassoLars(alpha=1e-3, max_iter=2).fit(X, y)


@pytest.mark.bad_input
def test_refuses_signs_for_plain_least_angle():
    X, y = problem(9)
    with pytest.raises(ValueError, match="positive must be False for method='lar', got True"):
        lars_path(X, y, positive=True)


@pytest.mark.bad_input("LassoLars")
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Lars(n_nonzero_coefs=0), "n_nonzero_coefs must be at least 1, got 0"),
        (LassoLars(alpha=-1.0), r"alpha must be at least 0, got -1\.0"),
        (Lars(jitter=-1.0), r"jitter must be at least 0, got -1\.0"),
    ],
)
def test_refuses_bad_parameters(model, message):
    X, y = problem(10)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("model", [Lars(), LassoLars(alpha=0.1)], ids=repr)
@pytest.mark.parametrize("factor", [0.9, 1.1, 2.0])
def test_a_path_that_is_said_to_begin_elsewhere_is_noticed(model, factor):
    random = np.random.default_rng(3)
    X = random.normal(size=(40, 4))
    y = X @ [3.0, -1.0, 0.5, 0.0] + random.normal(size=40)
    model.fit(X, y)
    model.alphas_ = np.concatenate([factor * model.alphas_[:1], model.alphas_[1:]])
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds


@pytest.mark.property("LassoLars")
@pytest.mark.parametrize("kind", [Lars, LassoLars])
def test_the_proof_counts_weights_as_repetitions(kind):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(40, 3)) + 5.0, rng.normal(size=40), rng.integers(1, 4, 40)
    model = kind(**({"alpha": 0.01} if kind is LassoLars else {})).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    prove = card_of(kind).proof_of
    assert prove(model, TrainingData(X, y, weight.astype(float))).holds
    assert not prove(model, TrainingData(X, y, weight[::-1].astype(float))).holds
