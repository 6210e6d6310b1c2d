"""LocallyLinearEmbedding: by hand, properties, against scikit-learn, proofs, workings, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import LocallyLinearEmbedding as PeerEmbedding
from sklearn.neighbors import NearestNeighbors

import pellucid
from pellucid.manifold import LocallyLinearEmbedding, locally_linear_embedding
from pellucid.manifold.locally_linear import alignment
from pellucid.manifold.locally_linear.alignment import WAYS, barycenter_weights
from pellucid.proofs.manifold import locally_linear as proof
from pellucid.show import show_work

FEW = settings(max_examples=10, deadline=None)
METHODS = ["standard", "modified", "hessian", "ltsa"]


def roll(seed=0, n=150):
    return make_swiss_roll(n, random_state=seed)[0]


def model_of(X, method="standard", **how):
    return LocallyLinearEmbedding(n_neighbors=10, method=method, **how).fit(X)


@pytest.mark.by_hand
def test_weights_of_a_row_between_two_by_hand():
    # differences -1 and 2, products [[1, -2], [-2, 4]], trace 5; with 5 reg added the solution for ones is
    # proportional to (4 + 5 reg + 2, 1 + 5 reg + 2): two thirds and a third as reg goes to 0
    X, near = np.array([[1.0], [0.0], [3.0]]), np.array([[1, 2]])
    assert barycenter_weights(X[:1], X, near, 1e-12)[0] == pytest.approx([2 / 3, 1 / 3])
    assert barycenter_weights(X[:1], X, near, 0.2)[0] == pytest.approx([7 / 11, 4 / 11])


@pytest.mark.property
def test_weights_among_rows_that_are_the_same_are_equal():
    weights = barycenter_weights(np.ones((1, 2)), np.ones((4, 2)), np.array([[1, 2, 3]]), 1e-3)
    assert weights[0] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("method", METHODS)
def test_a_bent_line_becomes_a_line_and_flat_rows_are_in_the_null_space(method):
    t = np.linspace(0.0, 2.0, 30)
    bent = np.column_stack([np.cos(t), np.sin(t)])
    model = LocallyLinearEmbedding(n_neighbors=4, n_components=1, method=method).fit(bent)
    assert abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.99
    flat = np.random.default_rng(0).standard_normal((40, 2))
    M = WAYS[method](flat, LocallyLinearEmbedding(n_neighbors=8).fit(flat).neighbors_, model.set_params(n_components=2))
    assert np.abs(M @ np.ones(40)).max() < 1e-12
    if method in ("hessian", "ltsa"):  # weights are kept from being exact by reg
        assert np.abs(M @ flat).max() < 1e-10


@pytest.mark.filterwarnings("ignore:n_neighbors should link all rows")  # a lone row
@FEW
@given(st.integers(0, 1000), st.sampled_from(METHODS), st.sampled_from([1e-100, 1.0, 1e100]))
def test_other_units_another_order_and_a_shift_change_nothing_but_signs(seed, method, scale):
    X, order = roll(seed, 60), np.random.default_rng(seed).permutation(60)
    model, other = model_of(X, method), model_of(scale * (X[order] + 1.0), method)
    np.testing.assert_allclose(other.eigenvalues_, model.eigenvalues_, rtol=1e-5, atol=1e-13)
    assert pellucid.verify(other, scale * (X[order] + 1.0)).holds


@pytest.mark.peer
@pytest.mark.parametrize("large", [10, 1000])
@pytest.mark.parametrize("method", ["standard", "modified", "ltsa"])
def test_same_answer_as_scikit_learn(method, large, monkeypatch):
    monkeypatch.setattr(alignment, "LARGE", large)
    X = roll()
    ours = model_of(X, method)
    peer = PeerEmbedding(n_neighbors=10, method=method, eigen_solver="dense").fit(X)
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(peer.embedding_), atol=1e-6)
    assert ours.reconstruction_error_ == pytest.approx(peer.reconstruction_error_, rel=1e-5)
    assert pellucid.verify(ours, X).holds


def test_the_hessian_of_scikit_learn_is_its_tangent_alignment():
    X = roll()
    hessian, ltsa = (
        PeerEmbedding(n_neighbors=10, method=method, eigen_solver="dense").fit(X) for method in ("hessian", "ltsa")
    )
    np.testing.assert_allclose(np.abs(hessian.embedding_), np.abs(ltsa.embedding_), atol=1e-6)
    assert model_of(X, "hessian").reconstruction_error_ < 0.99 * hessian.reconstruction_error_  # a part of it only


def test_new_rows_are_placed_as_in_scikit_learn_and_known_rows_where_they_are():
    X = roll(n=300)
    ours, peer = model_of(X), PeerEmbedding(n_neighbors=10, eigen_solver="dense").fit(X)
    sign = np.sign(np.sum(ours.embedding_ * peer.embedding_, axis=0))
    np.testing.assert_allclose(ours.transform(X + 0.05), peer.transform(X + 0.05) * sign, atol=1e-6)
    np.testing.assert_array_equal(ours.transform(X[:7]), ours.embedding_[:7])
    assert model_of(roll(n=800)).quality().trustworthiness > 0.95
    assert ours.nbrs_.n_neighbors == 10


def test_the_function_takes_rows_or_a_search_for_neighbors():
    X = roll()
    places, error = locally_linear_embedding(NearestNeighbors().fit(X), n_neighbors=10, n_components=2, method="ltsa")
    np.testing.assert_array_equal(places, model_of(X, "ltsa").embedding_)
    assert error == model_of(X, "ltsa").reconstruction_error_


def test_neighbors_in_parts_are_told():
    X = np.vstack([roll(n=30), roll(n=30) + 1e3])
    with pytest.warns(UserWarning, match=r"is in 2 parts \(30 with row 0, 30 with row 30\)"):
        model = LocallyLinearEmbedding(n_neighbors=6, n_components=1).fit(X)
    assert pellucid.verify(model, X).holds
    assert (model.embedding_[0, 0] > 0) != (model.embedding_[-1, 0] > 0)


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("embedding_", lambda Z: Z[:, ::-1].copy(), "eigenvectors"),
        ("embedding_", lambda Z: -Z, "order"),
        ("eigenvalues_", lambda values: values + 1e-8, "eigenvectors"),
        ("reconstruction_error_", lambda error: error + 1e-9, "reconstruction error"),
        ("neighbors_", lambda near: near[:, ::-1].copy(), "neighbors"),
        ("weights_", lambda w: w * 1.0001, "weights"),
        ("X_fit_", lambda X: X[::-1].copy(), "training rows"),
    ],
)
def test_a_changed_model_is_noticed(name, change, claim):
    X = roll()
    broken = copy.deepcopy(model_of(X))
    setattr(broken, name, change(getattr(broken, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert claim in {failed.name for failed in pellucid.verify(broken, X).failed}


@pytest.mark.parametrize("dense", [False, True])
def test_a_vector_that_was_passed_over_is_noticed(dense, monkeypatch):
    if dense:
        monkeypatch.setattr(proof, "splu", lambda *_args, **_how: 1 / 0)
        monkeypatch.setattr(proof, "RuntimeError", ZeroDivisionError, raising=False)
    X = roll()
    full, model = model_of(X, "ltsa", n_components=3), model_of(X, "ltsa")
    M = WAYS["ltsa"](X, model.neighbors_, model)
    values, vectors = np.linalg.eigh(M.toarray())
    model.eigenvalues_, model.embedding_ = (
        values[[1, 3]],
        vectors[:, [1, 3]] * np.sign(vectors[np.abs(vectors[:, [1, 3]]).argmax(axis=0), [1, 3]]),
    )
    model.reconstruction_error_ = float(model.eigenvalues_.sum())
    assert full.certificate_.holds
    with pytest.warns(pellucid.UncertifiedWarning):
        assert {claim.name for claim in pellucid.verify(model, X).failed} == {"missed"}


def test_duplicates_grids_and_constant_columns_are_no_alarm():
    grid = np.array([[i, j] for i in range(8) for j in range(8)], dtype=float)
    for X in (grid, np.repeat(grid, 2, axis=0), np.column_stack([grid, np.ones(64)]), grid.astype(np.float32)):
        model = LocallyLinearEmbedding(n_neighbors=7).fit(X)
        assert pellucid.verify(model, X).holds
        assert np.isfinite(model.transform(X + 0.1)).all()


def test_the_work_by_hand_is_that_of_the_program():
    shown = str(show_work(LocallyLinearEmbedding(n_neighbors=2), [[1, 0], [0, 1], [3, 1], [4, 4]]))
    for words in ("Weights of the first row", "weights_", "neighbors_"):
        assert words in shown
    with pytest.raises(ValueError, match="method must be 'standard' to show the work"):
        show_work(LocallyLinearEmbedding(method="ltsa"), [[1, 0], [0, 1], [3, 1], [4, 4]])
    with pytest.raises(ValueError, match="n_neighbors must be at most 4"):
        show_work(LocallyLinearEmbedding(n_neighbors=4), [[1, 0], [0, 1], [3, 1], [4, 4]])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_components": 4}, "n_components must be at most the number of columns, got 4 for 3"),
        ({"n_neighbors": 150}, "n_neighbors must be below the number of rows, got 150 for n_samples = 150"),
        ({"method": "hessian"}, r"n_neighbors must be greater than \[n_components \* \(n_components \+ 3\) / 2\] = 5"),
        ({"method": "modified", "n_neighbors": 1}, "n_neighbors must be at least n_components for modified LLE"),
        ({"method": "global"}, "method must be one of"),
        ({"reg": -1}, "reg must be at least 0, got -1"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    with pytest.raises(ValueError, match=words):
        LocallyLinearEmbedding(**how).fit(roll())
