"""Spectral clustering: by hand, properties, against scikit-learn, bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import laplacian
from sklearn.cluster import SpectralClustering as PeerSpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import kneighbors_graph

import pellucid
from pellucid.cluster import SpectralClustering, spectral_clustering
from pellucid.cluster.spectral.spectral_clustering_solvers import cluster_qr, discretize, outstanding_rows
from pellucid.kernels import RBF
from pellucid.solvers import laplacian_eigenvectors
from pellucid.solvers.laplacian import is_connected, normalized

WAYS = ("kmeans", "discretize", "cluster_qr")
TWO_PAIRS = np.array([[0.0, 1, 0, 0], [1, 0, 0.5, 0], [0, 0.5, 0, 1], [0, 0, 1, 0]])


def blobs(seed=0, n=120, k=3):
    return make_blobs(n, centers=4.0 * np.eye(k, 4), cluster_std=0.4, random_state=seed)


# by hand


@pytest.mark.by_hand
def test_a_path_of_two_pairs():
    # degrees 1, 3/2, 3/2, 1. By symmetry v = (a, b, -b, -a): L v has a - b r and b - a r + b/3 with r^2 = 2/3, so
    # lambda^2 - 7/3 lambda + 2/3 = 0, smaller root 1/3; of (a, b, b, a) it is lambda^2 - 5/3 lambda = 0, roots 0, 5/3
    model = SpectralClustering(2, affinity="precomputed", random_state=0).fit(TWO_PAIRS)
    np.testing.assert_allclose(model.eigenvalues_, [0.0, 1.0 / 3.0], atol=1e-12)
    assert adjusted_rand_score(model.labels_, [0, 0, 1, 1]) == 1.0
    np.testing.assert_allclose(np.ptp(model.embedding_[:, 0]), 0.0, atol=1e-12)


def test_as_many_zeros_as_pieces_and_a_warning():
    X = [[0.0], [0.1], [0.2], [50.0], [50.1], [50.2], [100.0], [100.1], [100.2]]
    with pytest.warns(UserWarning, match="not fully connected"):
        model = SpectralClustering(3, random_state=0).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, 0.0, atol=1e-12)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1, 2], 3)) == 1.0


def test_outstanding_rows_are_the_longest_of_what_is_left():
    assert outstanding_rows(np.array([[1.0, 0.0], [3.0, 0.1], [0.0, 2.0], [2.9, 0.0]])).tolist() == [1, 2]


def test_the_first_of_equally_long_rows_counts():
    assert outstanding_rows(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])).tolist() == [0, 1]


# properties


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_finds_shapes_that_are_not_convex(make, way):
    X, y = make(300, noise=0.04, random_state=0, **({"factor": 0.4} if make is make_circles else {}))
    model = SpectralClustering(2, gamma=30.0, assign_labels=way, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.certificate_.holds
    assert pellucid.verify(model, X).holds


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors"])
def test_large_data_are_solved_as_small_data_are(affinity, monkeypatch):
    X = np.random.default_rng(0).uniform(size=(400, 3))
    at_once = SpectralClustering(4, affinity=affinity, random_state=0).fit(X)
    monkeypatch.setattr(laplacian_eigenvectors, "LARGE", 10)
    for solver in (None, "lobpcg"):
        step_by_step = SpectralClustering(4, affinity=affinity, eigen_solver=solver, random_state=0).fit(X)
        np.testing.assert_allclose(step_by_step.eigenvalues_, at_once.eigenvalues_, atol=1e-11)
        np.testing.assert_allclose(np.abs(step_by_step.embedding_), np.abs(at_once.embedding_), atol=1e-7)
        assert pellucid.verify(step_by_step, X).holds


def test_dense_links_are_factored_where_patience_ends(monkeypatch):
    monkeypatch.setattr(laplacian_eigenvectors, "PATIENCE", 8)
    X = np.random.default_rng(0).uniform(size=(600, 2))
    model = SpectralClustering(3, gamma=200.0, random_state=0).fit(X)
    assert pellucid.verify(model, X).holds
    expected = eigh(laplacian(RBF(200.0)(X), normed=True), subset_by_index=(0, 2), eigvals_only=True)
    np.testing.assert_allclose(model.eigenvalues_, expected, atol=1e-11)


@pytest.mark.property
@pytest.mark.parametrize("way", WAYS)
def test_the_order_of_rows_does_not_matter(way):
    X, _ = blobs()
    order = np.random.default_rng(1).permutation(len(X))
    one, other = (SpectralClustering(3, gamma=0.5, assign_labels=way, random_state=0).fit(Z) for Z in (X, X[order]))
    assert adjusted_rand_score(one.labels_[order], other.labels_) == 1.0


def test_a_missed_eigenvector_is_found_out():
    X, _ = blobs()
    right, third = (SpectralClustering(2, n_components=k, gamma=0.3, random_state=0).fit(X) for k in (2, 3))
    right.eigenvalues_ = third.eigenvalues_[[0, 2]]
    right.embedding_ = np.ascontiguousarray(third.embedding_[:, [0, 2]])
    with pytest.warns(pellucid.UncertifiedWarning):
        proof = pellucid.verify(right, X)
    assert proof["eigenvectors"].holds
    assert not proof["missed"].holds


@pytest.mark.parametrize("settings", [{"affinity": "nearest_neighbors"}, {"gamma": 0.3}])
def test_another_link_is_found_out(settings):
    X, _ = blobs(n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SpectralClustering(3, random_state=0, **settings).fit(X)
    is_sparse = sparse.issparse(model.affinity_matrix_)
    links = model.affinity_matrix_.toarray() if is_sparse else model.affinity_matrix_.copy()
    links[0, 1] = links[1, 0] = 0.25
    model.affinity_matrix_ = sparse.csr_array(links) if is_sparse else links
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X)["affinity"].holds


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_a_link_too_many_or_too_few_is_found_out(value):
    X, _ = blobs(n=60)
    with pytest.warns(UserWarning, match="not fully connected"):
        model = SpectralClustering(3, affinity="nearest_neighbors", random_state=0).fit(X)
    links = model.affinity_matrix_.toarray()
    j = int(np.flatnonzero(links[0] == (0.0 if value else 1.0))[-1])
    links[0, j] = links[j, 0] = value
    model.affinity_matrix_ = sparse.csr_array(links)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert pellucid.verify(model, X)["affinity"].value == 2.0


@pytest.mark.parametrize("way", WAYS[1:])
def test_one_wrong_label_is_found_out(way):
    X, _ = blobs()
    model = SpectralClustering(3, gamma=0.3, assign_labels=way, random_state=0).fit(X)
    model.labels_[0] = (model.labels_[0] + 1) % 3
    with pytest.warns(pellucid.UncertifiedWarning, match="assignment"):
        assert not pellucid.verify(model, X).holds


def test_a_way_over_links_is_found_or_not():
    for links in (TWO_PAIRS, sparse.csr_array(TWO_PAIRS)):
        assert is_connected(links)
    apart = np.kron(np.eye(2), np.ones((2, 2)))
    for links in (apart, sparse.csr_array(apart)):
        assert not is_connected(links)


def test_sparse_links_are_normalized_as_dense_ones():
    dense, roots = normalized(TWO_PAIRS)
    found, same = normalized(sparse.csr_array(TWO_PAIRS))
    np.testing.assert_allclose(found.toarray(), dense)
    np.testing.assert_array_equal(roots, same)
    np.testing.assert_allclose(2.0 * np.eye(4) - dense, laplacian(TWO_PAIRS, normed=True))


# against scikit-learn


@pytest.mark.peer
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "laplacian", "poly", "cosine"])
def test_the_same_clusters_and_links_as_scikit_learn(affinity, way):
    X, _ = blobs(n=90)
    X = np.abs(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        settings = {"affinity": affinity, "assign_labels": way, "gamma": 0.3, "random_state": 0}
        ours, theirs = (kind(3, **settings).fit(X) for kind in (SpectralClustering, PeerSpectralClustering))
    stored = [model.affinity_matrix_ for model in (ours, theirs)]
    np.testing.assert_allclose(*[m.toarray() if sparse.issparse(m) else m for m in stored], rtol=1e-9, atol=1e-11)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.95


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_given_distances_are_those_of_the_rows(form):
    X, _ = blobs(n=60)
    given = pairwise_distances(X) if form == "dense" else kneighbors_graph(X, 20, mode="distance", include_self=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = SpectralClustering(3, affinity="precomputed_nearest_neighbors", random_state=0).fit(given)
        expected = SpectralClustering(3, affinity="nearest_neighbors", random_state=0).fit(X)
    assert (model.affinity_matrix_ != expected.affinity_matrix_).nnz == 0
    assert pellucid.verify(model, given).holds


def test_functions_and_kernel_objects():
    X, y = blobs(n=40)
    function = SpectralClustering(
        3, affinity=lambda a, b, c: np.exp(-c * np.sum((a - b) ** 2)), kernel_params={"c": 0.3}
    )
    for model in (function, SpectralClustering(3, affinity=RBF(0.3))):
        assert adjusted_rand_score(model.set_params(random_state=0).fit(X).labels_, y) == 1.0
        assert pellucid.verify(model, X).holds


def test_the_function_does_the_same_as_the_estimator():
    labels = spectral_clustering(TWO_PAIRS, n_clusters=2, random_state=0)
    assert adjusted_rand_score(labels, [0, 0, 1, 1]) == 1.0


def test_rows_of_noisy_indicators_are_discretized():
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=200)
    noisy = np.eye(5)[y] + 0.1 * rng.standard_normal((200, 5))
    for labels in (discretize(noisy, random_state=0), cluster_qr(noisy)):
        assert adjusted_rand_score(y, labels) > 0.95


# errors


@pytest.mark.parametrize("way", ["kmeans", "cluster_qr", "discretize"])
def test_rows_with_hardly_a_link_are_no_alarm(way):
    X = np.random.default_rng(0).standard_normal((60, 3)) * 8.0  # affinities down to 1e-300
    X[0] = 20.0
    model = SpectralClustering(3, assign_labels=way, random_state=0).fit(X)
    assert np.abs(model.embedding_).max() <= 1e100
    assert pellucid.verify(model, X).holds


@pytest.mark.bad_input
def test_refuses_more_clusters_than_rows():
    with pytest.raises(ValueError, match="n_samples must be at least n_clusters, got n_samples=3 and n_clusters=8"):
        SpectralClustering().fit([[0.0], [1.0], [2.0]])


def test_refuses_negative_sums_of_affinities():
    with pytest.raises(ValueError, match="affinity must link every row by a sum of at least 0, got -"):
        SpectralClustering(2, affinity="linear").fit([[1.0], [1.0], [-1.0]])


def test_refuses_too_many_neighbors():
    with pytest.raises(ValueError, match="n_neighbors must be at most the number of rows, got 10 for 3 rows"):
        SpectralClustering(2, affinity="nearest_neighbors").fit([[1.0], [2.0], [3.0]])
    with pytest.raises(
        ValueError, match="n_neighbors must be at most the number of stored distances of each row, got 10"
    ):
        SpectralClustering(2, affinity="precomputed_nearest_neighbors").fit(sparse.csr_array(np.ones((3, 3))))


def test_refuses_affinities_that_are_not_square():
    with pytest.raises(ValueError, match="X must be square"):
        SpectralClustering(2, affinity="precomputed").fit(np.ones((3, 2)))


def test_warns_of_given_affinities_that_are_not_symmetric():
    links = TWO_PAIRS.copy()
    links[0, 1] = 2.0
    with pytest.warns(UserWarning, match="X should be symmetric"):
        model = SpectralClustering(2, affinity="precomputed", random_state=0).fit(links)
    assert model.affinity_matrix_[0, 1] == 1.5


def test_warns_of_rows_that_may_be_affinities():
    with pytest.warns(UserWarning, match="affinity='precomputed'"):
        SpectralClustering(2, random_state=0).fit(TWO_PAIRS)
