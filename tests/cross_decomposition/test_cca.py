"""CCA: by hand, properties, against scikit-learn, proofs, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn import cross_decomposition as peers

import pellucid
from pellucid.cross_decomposition import CCA, cca_solvers
from tests.proving import quiet_proof
from tests.tampering import changes, objects

FEW = settings(max_examples=15, deadline=None)
STORED = ("x_weights_", "y_weights_", "x_rotations_", "y_rotations_", "x_loadings_", "y_loadings_", "coef_")


def two_views(seed=0, n=120, p=5, q=3, shared=2):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, shared))
    X = Z @ rng.standard_normal((shared, p)) + rng.standard_normal((n, p)) + 3.0
    return X, Z @ rng.standard_normal((shared, q)) + rng.standard_normal((n, q)) - 1.0


@pytest.mark.by_hand
def test_one_column_on_each_side_is_their_correlation():
    # x = -1, 0, 1 and y = -1, 1, 0: sum of products 1, squares 2 and 2, so rho = 1/2
    model = CCA(1).fit([[-1.0], [0.0], [1.0]], [-1.0, 1.0, 0.0])
    assert model.correlations_ == pytest.approx([0.5])
    assert model.x_weights_ == pytest.approx(np.array([[1.0]]))
    assert model.predict([[2.0]]) == pytest.approx([2.0])  # a score of X is read as one of y


def test_scores_of_independent_columns_by_hand():
    # X has two uncorrelated columns of equal deviation, y is their sum and difference: all correlations are 1
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    model = CCA(2).fit(X, np.column_stack([X[:, 0] + X[:, 1], X[:, 0] - X[:, 1]]))
    assert model.correlations_ == pytest.approx([1.0, 1.0])
    # of equal correlations the first follows the first target
    assert model.x_weights_ == pytest.approx(np.array([[0.5**0.5, 0.5**0.5], [0.5**0.5, -(0.5**0.5)]]))


@pytest.mark.parametrize("seed", range(5))
def test_equal_correlations_do_not_hang_on_rounding(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))  # as many columns as degrees of freedom: all are 1
    scaled = [(Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1) for Z in (X, Y)]
    one, other = CCA(2).fit(X, Y), CCA(2, scale=False).fit(*scaled)
    np.testing.assert_allclose(one.x_rotations_, other.x_rotations_, atol=1e-6)
    first = one.transform(X, Y)[1][:, 0]
    assert abs(np.corrcoef(first, Y[:, 0])[0, 1]) == pytest.approx(1.0)  # the first pair follows the first target


def test_a_ridge_solves_the_penalized_eigenvalue_problem():
    X, Y = two_views()
    alpha, p = 0.4, X.shape[1]
    G = np.corrcoef(np.column_stack([X, Y]).T)
    cross = G[:p, p:]
    A = cross @ np.linalg.solve(G[p:, p:] + alpha * np.eye(len(G) - p), cross.T)
    values, vectors = eigh(A, G[:p, :p] + alpha * np.eye(p))
    model = CCA(2, alpha=alpha).fit(X, Y)
    np.testing.assert_allclose(model.correlations_**2, values[::-1][:2], rtol=1e-9)
    first = vectors[:, -1] / np.linalg.norm(vectors[:, -1])
    np.testing.assert_allclose(np.abs(model.x_rotations_[:, 0]), np.abs(first), atol=1e-9)


@FEW
@given(st.integers(0, 1000), st.booleans())
def test_scores_are_uncorrelated_and_as_correlated_as_said(seed, scale):
    X, Y = two_views(seed)
    model = CCA(3, scale=scale).fit(X, Y)
    both = np.corrcoef(np.hstack(model.transform(X, Y)).T)
    wanted = np.block([[np.eye(3), np.diag(model.correlations_)], [np.diag(model.correlations_), np.eye(3)]])
    np.testing.assert_allclose(both, wanted, atol=1e-8)


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions_and_units_do_not_matter(seed):
    X, Y = two_views(seed, n=40)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(X)).astype(float)
    times = weight.astype(int)
    weighted = CCA(2).fit(X, Y, sample_weight=weight)
    repeated = CCA(2).fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    for name in STORED:
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-7)
    assert pellucid.verify(weighted, X, Y, sample_weight=weight).holds
    unit = rng.uniform(0.01, 100.0, X.shape[1])
    scaled = CCA(2).fit(X * unit + 5.0, Y)
    np.testing.assert_allclose(scaled.x_rotations_, CCA(2).fit(X, Y).x_rotations_, atol=1e-7)


@pytest.mark.peer
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize(("p", "q", "k"), [(5, 3, 3), (3, 5, 2), (4, 1, 1)])
def test_same_answer_as_scikit_learn(p, q, k, scale):
    X, Y = two_views(p=p, q=q)
    ours = CCA(k, scale=scale).fit(X, Y)
    peer = peers.CCA(k, scale=scale, tol=1e-20, max_iter=100_000).fit(X, Y)
    for name in STORED:
        np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), atol=1e-6, err_msg=name)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-6)
    for mine, theirs in zip(ours.transform(X, Y), peer.transform(X, Y), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    back, theirs = (m.inverse_transform(m.transform(X)) for m in (ours, peer))
    np.testing.assert_allclose(back, theirs, atol=1e-6)


def test_both_ways_to_the_factor_give_the_same_answer(monkeypatch):
    X, Y = two_views()
    by_moments = CCA(3).fit(X, Y)
    monkeypatch.setattr(cca_solvers, "WELL_CONDITIONED", 0.0)
    by_rows = CCA(3).fit(X, Y)
    for name in (*STORED, "correlations_"):
        np.testing.assert_allclose(getattr(by_moments, name), getattr(by_rows, name), atol=1e-10)


def test_collinear_columns_are_as_in_scikit_learn():
    X, Y = two_views()
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2]])
    ours, peer = CCA(2).fit(X, Y), peers.CCA(2, tol=1e-20, max_iter=100_000).fit(X, Y)
    for name in STORED:
        np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), atol=1e-5, err_msg=name)
    assert pellucid.verify(ours, X, Y).holds


@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_verify_objects_to_every_change(alpha):
    X, Y = two_views()
    model = CCA(2, alpha=alpha).fit(X, Y)
    assert pellucid.verify(model, X, Y).holds
    for name in (
        *STORED,
        "correlations_",
        "intercept_",
        "x_mean_",
        "x_scale_",
        "y_scale_",
        "single_target_",
        "n_iter_",
    ):
        for word, wrong in changes(getattr(model, name)):
            broken = copy.copy(model)
            setattr(broken, name, wrong)
            assert objects(broken, X, Y), (name, word)


@pytest.mark.parametrize("apart", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("name", ["x_weights_", "x_rotations_", "x_loadings_", "y_loadings_", "coef_"])
def test_nearly_equal_columns_leave_no_room_for_a_change_of_one_percent(apart, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    X[:, 1] = X[:, 0] + apart * rng.standard_normal(200)
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + rng.standard_normal((200, 2))
    model = CCA(2).fit(X, Y)
    proof = pellucid.verify(model, X, Y)
    assert proof.holds
    assert max(claim.bound for claim in proof.claims if claim.name != "missed") <= 1e-3
    setattr(model, name, 1.01 * getattr(model, name))
    assert quiet_proof(model, X, Y).failed


def test_verify_objects_to_a_pair_that_is_not_the_best():
    X, Y = two_views()
    both = CCA(2).fit(X, Y)
    second = CCA(1).fit(X, Y)
    for name in ("x_rotations_", "y_rotations_"):
        setattr(second, name, getattr(both, name)[:, 1:].copy())
    second.correlations_ = both.correlations_[1:].copy()
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(second, X, Y)["missed"].holds


def test_a_ridge_says_less_about_noise():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 20)), rng.standard_normal((30, 15))
    plain, ridge = CCA(1).fit(X, Y), CCA(1, alpha=1.0).fit(X, Y)
    assert plain.correlations_[0] == pytest.approx(1.0)  # with so many columns some direction fits anything
    assert ridge.correlations_[0] < 0.8


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e140])
def test_huge_and_tiny_numbers(scale):
    X, Y = two_views()
    model = CCA(2).fit(X * scale, Y / min(scale, 1e100))
    np.testing.assert_allclose(model.correlations_, CCA(2).fit(X, Y).correlations_, rtol=1e-9)
    assert pellucid.verify(model, X * scale, Y / min(scale, 1e100)).holds


def test_constant_columns_fewer_rows_than_columns_and_components_that_are_not_there():
    X, Y = two_views()
    X[:, 2] = 4.0
    model = CCA(2).fit(X, Y)
    assert model.x_rotations_[2] == pytest.approx([0.0, 0.0])
    wide = CCA(2).fit(*two_views(n=4, p=6))
    assert wide.correlations_ == pytest.approx([1.0, 1.0])
    Y[:, 1] = Y[:, 2] = 2.0 * Y[:, 0] + 1.0
    with pytest.warns(UserWarning, match="y residual is constant at iteration 1"):
        short = CCA(2).fit(X, Y)
    assert not short.x_rotations_[:, 1].any()
    assert pellucid.verify(short, X, Y).holds


def test_float32_and_a_memory_map_give_the_same_answer(tmp_path):
    X, Y = two_views()
    X = X.astype(np.float32).astype(np.float64)
    wanted = CCA(2).fit(X, Y)
    np.save(tmp_path / "X.npy", X)
    for rows in (X.astype(np.float32), np.load(tmp_path / "X.npy", mmap_mode="r"), np.asfortranarray(X)):
        np.testing.assert_allclose(CCA(2).fit(rows, Y).coef_, wanted.coef_, atol=1e-10)


def test_saved_and_loaded_with_two_views(tmp_path):
    X, Y = two_views()
    model = CCA(2).fit(X, Y)
    pellucid.save(model, tmp_path / "cca.safetensors")
    again = pellucid.load(tmp_path / "cca.safetensors")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert pellucid.verify(again, X, Y).holds


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "change", "message"),
    [
        ({"n_components": 4}, lambda X, Y: (X, Y), "n_components must be at most 3"),
        ({"n_components": 0}, lambda X, Y: (X, Y), "n_components must be at least 1"),
        ({"alpha": -1.0}, lambda X, Y: (X, Y), "alpha must be at least 0"),
        ({}, lambda X, Y: (X * np.nan, Y), "NaN"),
        ({}, lambda X, Y: (X, Y * np.nan), "NaN"),
        ({}, lambda X, Y: (X[:5], Y), "inconsistent numbers of samples"),
        ({}, lambda X, Y: (X[:1], Y[:1]), "minimum of 2"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(parameters, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        CCA(**parameters).fit(*change(*two_views()))
