"""SpectralEmbedding: by hand, properties, against scikit-learn, graphs in parts, proofs, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import SpectralEmbedding as PeerSpectralEmbedding
from sklearn.manifold import spectral_embedding as peer_spectral_embedding

import pellucid
from pellucid.manifold import SpectralEmbedding, spectral_embedding
from pellucid.solvers import laplacian_eigenvectors, smallest_eigenvectors

FEW = settings(max_examples=10, deadline=None)
CHAIN = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0.0]]


def roll(seed=0, n=150):
    return make_swiss_roll(n, random_state=seed)[0]


@pytest.mark.by_hand
def test_a_chain_of_four_by_hand():
    # P = D^-1 A has eigenvalues cos(pi j / 3): 1, 1/2, -1/2, -1; so the Laplacian's are 0, 1/2, 3/2, 2, and the place
    # along the second is (1, 1/2, -1/2, -1) over its length in degrees, 1 + 2/4 + 2/4 + 1 = 3
    model = SpectralEmbedding(1, affinity="precomputed").fit(CHAIN)
    assert model.eigenvalues_ == pytest.approx([0.5])
    assert model.embedding_[:, 0] == pytest.approx(np.array([1, 0.5, -0.5, -1]) / np.sqrt(3))
    # a new row linked with both ends of a link stands at twice their mean
    assert model.transform([[1, 1, 0, 0]])[0] == pytest.approx([2 * 0.75 / np.sqrt(3)])


@pytest.mark.property
@FEW
@given(st.integers(0, 1000), st.sampled_from(["nearest_neighbors", "rbf"]))
def test_another_order_of_the_rows_changes_nothing_but_signs(seed, affinity):
    X, order = roll(seed, 60), np.random.default_rng(seed).permutation(60)
    how = {"affinity": affinity, "n_neighbors": 12, "gamma": 0.02}
    model, other = SpectralEmbedding(**how).fit(X), SpectralEmbedding(**how).fit(X[order])
    np.testing.assert_allclose(np.abs(other.embedding_), np.abs(model.embedding_[order]), atol=1e-7)
    assert pellucid.verify(other, X[order]).holds


@pytest.mark.peer
@pytest.mark.parametrize("how", [{}, {"n_neighbors": 8}, {"affinity": "rbf", "gamma": 0.02, "n_components": 3}])
@pytest.mark.parametrize("solver", ["arpack", "lobpcg"])
@pytest.mark.parametrize("large", [10, 500])
def test_same_answer_as_scikit_learn(how, solver, large, monkeypatch):
    monkeypatch.setattr(laplacian_eigenvectors, "LARGE", large)
    X = roll()
    ours = SpectralEmbedding(eigen_solver=solver, **how).fit(X)
    peer = PeerSpectralEmbedding(random_state=0, **how).fit(X)
    size = np.abs(peer.embedding_).max()
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(peer.embedding_), atol=1e-7 * size)
    assert pellucid.verify(ours, X).holds


@pytest.mark.parametrize("normed", [True, False])
@pytest.mark.parametrize("drop", [True, False])
def test_the_function_is_scikit_learns(normed, drop):
    A = np.exp(-cdist(roll(), roll()) / 5.0)
    ours = spectral_embedding(A, n_components=3, norm_laplacian=normed, drop_first=drop)
    peer = peer_spectral_embedding(A, n_components=3, norm_laplacian=normed, drop_first=drop, random_state=0)
    np.testing.assert_allclose(np.abs(ours), np.abs(peer), atol=1e-8 * np.abs(peer).max())


def test_given_links_functions_and_sparse_rows_give_the_same_answer():
    X = roll()
    wanted = SpectralEmbedding(affinity="rbf", gamma=0.02).fit(X)
    A = np.exp(-0.02 * cdist(X, X, "sqeuclidean"))
    new = X[:5] + 0.1
    for how, rows, queries in (
        ({"affinity": "precomputed"}, A, np.exp(-0.02 * cdist(new, X, "sqeuclidean"))),
        ({"affinity": lambda Z: np.exp(-0.02 * cdist(Z, Z, "sqeuclidean"))}, X, new),
        ({"affinity": "rbf", "gamma": 0.02}, sparse.csr_array(X), sparse.csr_array(new)),
    ):
        model = SpectralEmbedding(**how).fit(rows)
        np.testing.assert_allclose(model.embedding_, wanted.embedding_, atol=1e-8)
        np.testing.assert_allclose(model.transform(queries), wanted.transform(new), atol=1e-8)
        assert pellucid.verify(model, rows).holds
    near = SpectralEmbedding(n_neighbors=8).fit(X)
    for form, how in ((cdist(X, X), {"affinity": "precomputed_nearest_neighbors"}), (sparse.csr_array(X), {})):
        other = SpectralEmbedding(n_neighbors=8, **how).fit(form)
        np.testing.assert_allclose(other.embedding_, near.embedding_, atol=1e-8)


def test_new_rows_land_near_their_neighbors_and_known_rows_on_their_places():
    X = roll(n=400)
    for how in ({"n_neighbors": 10}, {"affinity": "rbf", "gamma": 0.05}):
        model = SpectralEmbedding(**how).fit(X)
        np.testing.assert_array_equal(model.transform(X[:9]), model.embedding_[:9])
        moved = model.transform(X + 1e-3)
        assert np.abs(moved - model.embedding_).max() < 0.2 * np.abs(model.embedding_).max()
    assert SpectralEmbedding(n_neighbors=10).fit(X).quality().trustworthiness > 0.85


def test_links_in_parts_are_told_and_kept_apart():
    X = np.vstack([roll(n=30), roll(n=30) + 1e3])
    with pytest.warns(UserWarning, match=r"in 2 parts \(30 with row 0, 30 with row 30\)"):
        model = SpectralEmbedding(1, n_neighbors=6).fit(X)
    assert model.eigenvalues_ == pytest.approx([0.0], abs=1e-12)
    assert len(np.unique((model.embedding_[:, 0] > 0)[:30])) == 1
    assert (model.embedding_[0, 0] > 0) != (model.embedding_[-1, 0] > 0)
    assert pellucid.verify(model, X).holds


def test_rows_without_any_link_have_no_places():
    with pytest.warns(UserWarning, match="in 40 parts"):
        model = SpectralEmbedding(affinity="rbf", gamma=1e9).fit(roll(n=40))
    assert not model.embedding_.any()
    assert pellucid.verify(model, roll(n=40)).holds


def test_equal_eigenvalues_of_a_ring_are_all_found(monkeypatch):
    monkeypatch.setattr(laplacian_eigenvectors, "LARGE", 10)
    n = 60
    ring = sparse.csr_array(np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1))
    model = SpectralEmbedding(4, affinity="precomputed").fit(ring)
    wanted = 1 - np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / n)
    assert model.eigenvalues_ == pytest.approx(wanted, rel=1e-9)
    assert pellucid.verify(model, ring).holds


def test_blocks_find_what_one_vector_left_out(monkeypatch):
    n = 60
    ring = sparse.csr_array(2 * np.eye(n) - np.roll(np.eye(n), 1, axis=1) - np.roll(np.eye(n), -1, axis=1))
    wanted = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n))[:5]
    values, vectors = np.linalg.eigh(ring.toarray())
    left_out = [0, 1, 3, 4, 5]
    monkeypatch.setattr(
        smallest_eigenvectors, "eigsh", lambda *_args, **_how: (1 / (values[left_out] + 1e-5), vectors[:, left_out])
    )
    found = smallest_eigenvectors.smallest_eigenpairs(ring, 5, shift=1e-5, goal=1e-12)
    np.testing.assert_allclose(found.values, wanted, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("embedding_", lambda Z: Z[:, ::-1].copy(), "eigenvectors"),
        ("embedding_", lambda Z: -Z, "order"),
        ("eigenvalues_", lambda values: values + 1e-7, "eigenvectors"),
        ("affinity_matrix_", lambda A: 1.001 * A, "affinity"),
        ("n_neighbors_", lambda k: k + 1, "meaning"),
        ("X_fit_", lambda X: X[::-1].copy(), "training rows"),
    ],
)
def test_a_changed_model_is_noticed(name, change, claim):
    X = roll()
    broken = copy.deepcopy(SpectralEmbedding(n_neighbors=8).fit(X))
    setattr(broken, name, change(getattr(broken, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert claim in {failed.name for failed in pellucid.verify(broken, X).failed}


def test_a_vector_that_was_passed_over_is_noticed():
    X = roll()
    full, model = SpectralEmbedding(3, n_neighbors=8).fit(X), SpectralEmbedding(2, n_neighbors=8).fit(X)
    model.eigenvalues_, model.embedding_ = full.eigenvalues_[[0, 2]], full.embedding_[:, [0, 2]].copy()
    with pytest.warns(pellucid.UncertifiedWarning):
        assert {claim.name for claim in pellucid.verify(model, X).failed} == {"missed"}


@pytest.mark.parametrize("prepare", [lambda X: X + 1e6, np.float32, lambda X: 1e-100 * X, lambda X: 1e100 * X])
def test_no_false_alarm_in_other_units(prepare):
    X = prepare(roll())
    model = SpectralEmbedding(n_neighbors=10).fit(X)
    assert pellucid.verify(model, X).holds
    assert model.embedding_.dtype == model.transform(X).dtype == X.dtype


def test_quality_of_given_affinities_and_graphs():
    A = np.exp(-cdist(roll(), roll()) / 5.0)
    assert 0.5 < SpectralEmbedding(affinity="precomputed").fit(A).quality().trustworthiness <= 1.0
    graph = sparse.csr_array(cdist(roll(), roll()))
    with pytest.raises(ValueError, match="distances must be given for the quality of a map of a sparse graph"):
        SpectralEmbedding(affinity="precomputed_nearest_neighbors", n_neighbors=8).fit(graph).quality()


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"n_components": 150}, "n_components must be below the number of rows, got 150 for n_samples=150"),
        ({"affinity": "links"}, "affinity must be"),
        ({"affinity": "precomputed"}, "X must be square"),
        (
            {"affinity": lambda X: X},
            r"affinity must return a finite matrix .* got shape \(150, 3\)",
        ),
        ({"n_neighbors": 151}, "n_neighbors must be at most the number of rows, got 151"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    with pytest.raises(ValueError, match=words):
        SpectralEmbedding(**how).fit(roll())


def test_says_when_given_affinities_are_not_symmetric():
    with pytest.warns(UserWarning, match="X should be symmetric"):
        SpectralEmbedding(1, affinity="precomputed").fit([[0, 1, 0], [2, 0, 1], [0, 1, 0.0]])
    with pytest.raises(ValueError, match="adjacency must be square"):
        spectral_embedding(np.ones((3, 2)))
