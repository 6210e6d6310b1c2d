"""FactorAnalysis: by hand, properties, against scikit-learn, proofs, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import FactorAnalysis as PeerFactorAnalysis
from sklearn.exceptions import ConvergenceWarning

import pellucid
from pellucid.decomposition import FactorAnalysis
from pellucid.decomposition.factor_analysis.factor_model import asymmetry, rotated
from pellucid.solvers.presented_rows import row_scatter

FEW = settings(max_examples=15, deadline=None)


def factor_data(seed=0, n=300, k=2, p=8, spread=1.0):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((k, p))
    noise = np.sqrt(rng.uniform(0.2, 2.0, p))
    return spread * (rng.standard_normal((n, k)) @ W + rng.standard_normal((n, p)) * noise) + 3.0


@pytest.mark.by_hand
def test_one_factor_of_three_columns_by_hand():
    # correlations r12 = r13 = r23 = 1/2 have one factor that explains them: w_i w_j = 1/2, so w^2 = 1/2 and psi = 1/2
    X = with_correlations([[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]])
    model = FactorAnalysis(1, tol=1e-12, max_iter=10_000).fit(X)
    np.testing.assert_allclose(np.abs(model.components_[0]), np.sqrt(0.5), atol=1e-6)
    np.testing.assert_allclose(model.noise_variance_, 0.5, atol=1e-6)
    # log likelihood: n/2 (3 log 2 pi + log det R + 3), det R = 1/2
    assert model.loglike_[-1] == pytest.approx(-0.5 * len(X) * (3 * np.log(2 * np.pi) + np.log(0.5) + 3.0))


def with_correlations(R):
    """Return rows with mean 0 and exactly these second moments."""
    p = len(R)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((4 * p, p + 1)) + np.eye(4 * p)[:, : p + 1])[0]
    Q = np.linalg.qr(np.column_stack([np.ones(4 * p), Q]))[0][:, 1 : p + 1]  # at right angles to the ones
    return Q @ np.linalg.cholesky(np.asarray(R)).T * np.sqrt(4 * p)


def test_no_factors_leave_the_variances():
    X = factor_data()
    model = FactorAnalysis(0).fit(X)
    np.testing.assert_allclose(model.noise_variance_, X.var(axis=0), rtol=1e-12)
    assert model.components_.shape == (0, X.shape[1])
    assert model.transform(X).shape == (len(X), 0)


def test_a_planar_rotation_by_hand():
    # loadings (1, 0), (0, 1) are as simple as can be; turned by 30 degrees, quartimax turns them back
    turn = np.array([[np.sqrt(3) / 2, 0.5], [-0.5, np.sqrt(3) / 2]])
    for rotation in ("varimax", "quartimax"):
        back = rotated(np.eye(2) @ turn, rotation)
        np.testing.assert_allclose(np.sort(np.abs(back), axis=1), [[0.0, 1.0], [0.0, 1.0]], atol=1e-8)
        assert asymmetry(back, rotation) < 1e-9


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    X = factor_data(seed, n=40)
    weight = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    weighted = FactorAnalysis(2).fit(X, sample_weight=weight)
    repeated = FactorAnalysis(2).fit(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-8)
    np.testing.assert_allclose(weighted.loglike_, repeated.loglike_, rtol=1e-10)
    assert pellucid.verify(weighted, X, sample_weight=weight).holds


@FEW
@given(st.integers(0, 1000), st.sampled_from([None, "varimax", "quartimax"]))
def test_the_likelihood_never_falls_and_rotations_do_not_change_it(seed, rotation):
    X = factor_data(seed, k=3)
    plain, turned = FactorAnalysis(3).fit(X), FactorAnalysis(3, rotation=rotation).fit(X)
    assert np.min(np.diff(plain.loglike_), initial=0.0) >= -1e-8
    assert turned.loglike_ == plain.loglike_
    np.testing.assert_allclose(turned.get_covariance(), plain.get_covariance(), atol=1e-9)
    assert turned.score_samples(X).sum() == pytest.approx(plain.loglike_[-1])
    assert turned.get_precision() @ turned.get_covariance() == pytest.approx(np.eye(X.shape[1]), abs=1e-9)


@settings(max_examples=5)  # each takes thousands of iterations
@given(st.integers(0, 1000))
def test_other_units_and_another_order_of_rows_give_the_same_factors(seed):
    X = factor_data(seed)
    unit = np.random.default_rng(seed).uniform(0.01, 100.0, X.shape[1])
    tight = {"tol": 1e-9, "max_iter": 20_000}
    plain, scaled = FactorAnalysis(2, **tight).fit(X), FactorAnalysis(2, **tight).fit((X * unit)[::-1])
    np.testing.assert_allclose(np.abs(scaled.components_), np.abs(plain.components_) * unit, atol=1e-3 * unit.max())


@pytest.mark.peer
@pytest.mark.parametrize("rotation", [None, "varimax", "quartimax"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_same_answer_as_scikit_learn(k, rotation):
    X = factor_data(k=k)
    ours = FactorAnalysis(k, rotation=rotation).fit(X)
    peer = PeerFactorAnalysis(k, rotation=rotation, svd_method="lapack").fit(X)
    assert ours.n_iter_ == peer.n_iter_
    np.testing.assert_allclose(ours.loglike_, peer.loglike_, rtol=1e-9)
    np.testing.assert_allclose(ours.noise_variance_, peer.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(ours.get_covariance(), peer.get_covariance(), atol=1e-6)
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), atol=1e-6)
    if rotation is None:
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(peer.transform(X)), atol=1e-6)


@pytest.mark.parametrize("rotation", ["varimax", "quartimax"])
def test_rotated_loadings_are_those_of_scikit_learn_in_another_order(rotation):
    X = factor_data(k=3)
    ours = FactorAnalysis(3, rotation=rotation).fit(X)
    peer = PeerFactorAnalysis(3, rotation=rotation, svd_method="lapack").fit(X)
    for factor in ours.components_:
        apart = np.abs(np.abs(peer.components_) - np.abs(factor)).max(axis=1)
        assert apart.min() < 0.02  # scikit-learn stops when its criterion rises by less than a millionth


def test_same_signs_as_scikit_learn():
    X = factor_data(k=3)
    ours, peer = FactorAnalysis(3).fit(X), PeerFactorAnalysis(3, iterated_power=20).fit(X)
    np.testing.assert_allclose(ours.components_, peer.components_, atol=1e-4)


def test_its_own_likelihood_where_scikit_learn_reports_another():
    X = factor_data()
    ours, peer = FactorAnalysis().fit(X), PeerFactorAnalysis(svd_method="lapack").fit(X)
    assert ours.loglike_[-1] == pytest.approx(ours.score_samples(X).sum())
    assert peer.loglike_[-1] > peer.score_samples(X).sum() + 1.0  # factors that its formula counts below their noise
    assert ours.score(X) > peer.score(X)


@pytest.mark.parametrize("change", ["mean_", "components_", "noise_variance_"])
@pytest.mark.parametrize("rotation", [None, "varimax"])
def test_verify_objects_to_one_changed_number(change, rotation):
    X = factor_data()
    model = FactorAnalysis(2, rotation=rotation).fit(X)
    broken = copy.copy(model)
    wrong = getattr(model, change).copy()
    wrong.flat[-1] *= 1.0001
    setattr(broken, change, wrong)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(broken, X).holds


def test_verify_objects_to_a_factor_that_was_left_out_and_to_a_turned_one():
    X = factor_data()
    model = FactorAnalysis(2).fit(X)
    without, turned = copy.copy(model), copy.copy(model)
    without.components_ = model.components_ * np.array([[1.0], [0.0]])
    turned.components_ = np.array([[0.8, 0.6], [-0.6, 0.8]]) @ model.components_
    for broken, name in ((without, "missed"), (turned, "rotation")):
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(broken, X)[name].holds


def test_says_when_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match="gain"):
        FactorAnalysis(2, max_iter=1).fit(factor_data())


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e140])
def test_huge_and_tiny_numbers(scale):
    X = factor_data() * scale
    model = FactorAnalysis(2).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert pellucid.verify(model, X).holds


def test_constant_and_duplicate_columns_and_fewer_rows_than_columns():
    X = factor_data()
    X[:, 3] = 7.0
    X[:, 4] = X[:, 5]
    model = FactorAnalysis(2).fit(X)
    assert pellucid.verify(model, X).holds
    assert np.abs(model.components_[:, 3]).max() < 1e-12
    wide = factor_data(n=6)
    assert pellucid.verify(FactorAnalysis(2).fit(wide), wide).holds
    assert np.isfinite(FactorAnalysis(2).fit(np.ones((5, 3))).transform(np.ones((5, 3)))).all()


def test_float32_a_memory_map_and_column_order_give_the_same_answer(tmp_path):
    X = factor_data().astype(np.float32).astype(np.float64)
    wanted = FactorAnalysis(2).fit(X)
    np.save(tmp_path / "X.npy", X)
    for rows in (X.astype(np.float32), np.load(tmp_path / "X.npy", mmap_mode="r"), np.asfortranarray(X)):
        np.testing.assert_allclose(FactorAnalysis(2).fit(rows).components_, wanted.components_, atol=1e-10)


def test_moments_of_many_rows_in_blocks():
    X, weight = factor_data(n=9000, p=20) + 1e6, np.random.default_rng(1).uniform(0.0, 2.0, 9000)
    mean, scatter = row_scatter(X[:, :12], X[:, 12:], weight)
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weight), rtol=1e-13)
    centered = X - np.average(X, axis=0, weights=weight)
    np.testing.assert_allclose(scatter, (centered * weight[:, None]).T @ centered, rtol=1e-8, atol=1e-3)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({"n_components": -1}, factor_data(), "n_components must be"),
        ({"rotation": "promax"}, factor_data(), "rotation must be one of"),
        ({"tol": -1.0}, factor_data(), "tol must be at least 0"),
        ({"noise_variance_init": np.ones(3)}, factor_data(), "noise_variance_init must be 8 numbers above 0"),
        ({"noise_variance_init": np.zeros(8)}, factor_data(), "noise_variance_init must be 8 numbers above 0"),
        ({}, np.full((4, 3), np.nan), "NaN"),
        ({}, np.empty((0, 3)), "0 sample"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(parameters, X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        FactorAnalysis(**parameters).fit(X)
