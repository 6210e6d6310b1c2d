"""Isomap: by hand, properties, against scikit-learn, graphs in parts, proofs, workings, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap as PeerIsomap
from sklearn.neighbors import KDTree, kneighbors_graph

import pellucid
from pellucid.manifold import Isomap
from pellucid.show import show_work
from tests.proving import quiet_proof

FEW = settings(max_examples=10, deadline=None)
ZIGZAG = [[0, 0], [3, 4], [6, 0], [9, 4], [12, 0]]
IN_PARTS = np.array([0, 1, 2, 5, 6, 7.0])[:, None]


def roll(seed=0, n=150):
    return make_swiss_roll(n, random_state=seed)[0]


@pytest.mark.by_hand
def test_a_path_around_a_corner_by_hand():
    # along the sides: 0, 1, 2; the map is a line with -1, 0, 1, eigenvalue 1 + 1
    model = Isomap(n_neighbors=None, radius=1, n_components=1).fit([[0, 0], [0, 1], [1, 1]])
    assert model.dist_matrix_.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert model.eigenvalues_ == pytest.approx([2.0])
    assert model.embedding_[:, 0] == pytest.approx([1.0, 0.0, -1.0])
    assert model.transform([[0, 0.5]])[0] == pytest.approx([0.5])  # 0.5 from the first two, 1.5 from the last


def test_zigzag_by_hand():
    model = Isomap(n_neighbors=2).fit(ZIGZAG)
    assert model.dist_matrix_[0].tolist() == [0, 5, 6, 11, 12]
    assert model.eigenvalues_[1] == pytest.approx(12.0)


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_with_all_neighbors_it_is_classical_scaling(seed):
    X = np.random.default_rng(seed).standard_normal((20, 3))
    model = Isomap(n_neighbors=19, n_components=3).fit(X)
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-9)


@FEW
@given(st.integers(0, 1000), st.sampled_from([1e-100, 1e-3, 1e100]))
def test_other_units_and_another_order_change_nothing_else(seed, scale):
    X, order = roll(seed, 60), np.random.default_rng(seed).permutation(60)
    model, other = Isomap(n_neighbors=8).fit(X), Isomap(n_neighbors=8).fit(scale * X[order])
    np.testing.assert_allclose(other.dist_matrix_ / scale, model.dist_matrix_[order][:, order], rtol=1e-10)
    assert pellucid.verify(other, scale * X[order]).holds


@pytest.mark.peer
@pytest.mark.parametrize(
    "how",
    [
        {"n_neighbors": 7},
        {"n_neighbors": None, "radius": 12.0},
        {"n_neighbors": 7, "metric": "manhattan", "n_components": 3},
        {"n_neighbors": 7, "p": 3, "eigen_solver": "dense"},
        {"n_neighbors": 7, "metric": "cosine", "neighbors_algorithm": "brute"},
    ],
)
@pytest.mark.parametrize("form", [np.asarray, np.float32], ids=["float64", "float32"])
def test_same_answer_as_scikit_learn(how, form):
    X = form(roll())
    ours, peer = Isomap(**how).fit(X), PeerIsomap(**how).fit(X)
    exact = 1e-9 if X.dtype == np.float64 else 2e-3
    size = np.abs(peer.embedding_).max()
    lost = 0.0 if X.dtype == np.float64 else 1e-6  # scikit-learn takes cosines from 1 in float32
    np.testing.assert_allclose(ours.dist_matrix_, peer.dist_matrix_, rtol=exact, atol=lost)
    np.testing.assert_allclose(ours.embedding_, peer.embedding_, atol=exact * size)
    np.testing.assert_allclose(ours.transform(X + form(0.01)), peer.transform(X + form(0.01)), atol=exact * size)
    assert ours.reconstruction_error() == pytest.approx(peer.reconstruction_error(), rel=max(exact, 1e-6))
    assert ours.embedding_.dtype == ours.transform(X).dtype == X.dtype
    assert pellucid.verify(ours, X).holds


def test_sparse_rows_given_distances_graphs_and_trees_give_the_same_answer():
    X = roll()
    wanted = Isomap(n_neighbors=7).fit(X)
    for how, rows in (
        ({}, sparse.csr_array(X)),
        ({}, KDTree(X)),
        ({"metric": "precomputed"}, cdist(X, X)),
        ({"metric": "precomputed"}, kneighbors_graph(X, 10, mode="distance")),
    ):
        model = Isomap(n_neighbors=7, **how).fit(rows)
        np.testing.assert_allclose(model.embedding_, wanted.embedding_, atol=1e-8)
        assert pellucid.verify(model, model.X_fit_).holds
    given_distances = Isomap(n_neighbors=7, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_allclose(given_distances.transform(cdist(X[:5] + 0.1, X)), wanted.transform(X[:5] + 0.1))


def test_parts_are_joined_by_their_closest_rows_and_named():
    words = r"number of connected components .* is 2 > 1 \(rows: 3 with row 0, 3 with row 3\): .* \(2 and 3\)"
    with pytest.warns(UserWarning, match=words):
        model = Isomap(n_neighbors=2, n_components=1).fit(IN_PARTS)
    assert model.dist_matrix_[0].tolist() == [0, 1, 2, 5, 6, 7]
    assert pellucid.verify(model, IN_PARTS).holds


def test_a_join_in_the_wrong_place_is_noticed():
    with pytest.warns(UserWarning, match="components"):
        model = Isomap(n_neighbors=2, n_components=1).fit(IN_PARTS)
    graph = model.neighbor_graph_.toarray()
    graph[2, 3] = graph[3, 2] = 0.0
    graph[1, 3] = graph[3, 1] = 4.0
    model.neighbor_graph_ = sparse.csr_array(graph)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert "joins" in {claim.name for claim in pellucid.verify(model, IN_PARTS).failed}


@pytest.mark.bad_input
def test_a_given_graph_in_parts_is_refused():
    graph = kneighbors_graph(IN_PARTS, 2, mode="distance")
    with pytest.raises(RuntimeError, match="number of connected components .* Raise n_neighbors"):
        Isomap(n_neighbors=1, metric="precomputed").fit(graph)


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("dist_matrix_", lambda D: np.maximum(D - 1e-6, 0.0), "paths"),
        ("embedding_", lambda Z: Z[:, ::-1].copy(), "eigenvectors"),
        ("eigenvalues_", lambda values: values * (1 + 1e-9), "eigenvectors"),
        ("squared_means_", lambda m: m * (1 + 1e-9), "means"),
        ("neighbor_graph_", lambda G: 1.001 * G, "links"),
        ("neighbor_graph_", lambda G: sparse.csr_array(np.where(np.arange(150) < 149, G.toarray(), 0.0)), "links"),
        ("X_fit_", lambda X: X + 1e-9, "training rows"),
    ],
)
def test_a_changed_model_is_noticed(name, change, claim):
    X = roll()
    broken = copy.deepcopy(Isomap(n_neighbors=8).fit(X))
    setattr(broken, name, change(getattr(broken, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert claim in {failed.name for failed in pellucid.verify(broken, X).failed}


def test_every_path_is_looked_at():
    X = np.random.default_rng(0).standard_normal((450, 3))
    model = Isomap(n_neighbors=8).fit(X)
    assert pellucid.verify(model, X).grade == "exact"
    for seed in range(5):
        broken = copy.copy(model)
        broken.dist_matrix_ = model.dist_matrix_.copy()
        i, j = np.random.default_rng(seed).choice(450, 2, replace=False)
        broken.dist_matrix_[[i, j], [j, i]] *= 1.001
        assert not quiet_proof(broken, X)["last links"].holds


def test_equally_near_rows_and_duplicates_are_no_alarm():
    grid = np.array([[i, j] for i in range(6) for j in range(6)], dtype=float)
    for X in (grid, np.repeat(grid, 2, axis=0), grid + 1e7):
        model = Isomap(n_neighbors=5).fit(X)
        assert pellucid.verify(model, X).holds


def test_an_unrolled_roll_keeps_the_paths():
    X = roll(n=800)
    model = Isomap(n_neighbors=7).fit(X)
    assert model.quality(distances=model.dist_matrix_).distance_correlation > 0.98
    assert model.quality().trustworthiness > 0.95
    assert model.nbrs_.n_neighbors == 7
    np.testing.assert_allclose(model.kernel_pca_.eigenvalues_, model.eigenvalues_, rtol=1e-9)


def test_the_work_by_hand_is_that_of_the_program():
    shown = str(show_work(Isomap(n_neighbors=2), ZIGZAG))
    for words in ("Paths by way of row 3", "6 + 6 = 12", "dist_matrix_", "embedding_"):
        assert words in shown
    with pytest.raises(ValueError, match="n_neighbors must link all rows to show the work"):
        show_work(Isomap(n_neighbors=1), IN_PARTS[1:])
    with pytest.raises(ValueError, match="metric must be Euclidean, 'manhattan' or 'precomputed'"):
        show_work(Isomap(metric="cosine", n_neighbors=2), ZIGZAG)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_neighbors": 3, "radius": 1.0}, "Both n_neighbors and radius are provided"),
        ({"n_neighbors": None}, "n_neighbors must be a whole number without a radius"),
        ({"n_neighbors": 150}, "n_neighbors must be below the number of rows, got 150 for n_samples=150"),
        ({"n_components": 151}, "n_components must be at most the number of rows"),
        ({"metric": "miles"}, "metric must be one of"),
        ({"metric": "precomputed"}, "X must be square with metric='precomputed'"),
        ({"eigen_solver": "svd"}, "eigen_solver must be one of"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    with pytest.raises(ValueError, match=words):
        Isomap(**how).fit(roll())


def test_refuses_new_rows_out_of_reach():
    model = Isomap(n_neighbors=None, radius=12.0).fit(roll())
    with pytest.raises(ValueError, match="X must have rows within the radius of a training row, got none near row 1"):
        model.transform(np.vstack([roll()[:1], [[1e3, 0, 0]]]))
