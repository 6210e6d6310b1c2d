"""AgglomerativeClustering: worked by hand, ties, against SciPy and scikit-learn, its proof broken, wrong input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import sklearn.cluster
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, is_valid_linkage, linkage
from scipy.spatial.distance import squareform
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.cluster import AgglomerativeClustering
from pellucid.cluster.agglomerative import constrained_kernels, constrained_merges
from pellucid.cluster.agglomerative.agglomerative_solvers import merge_tree, single_tree
from pellucid.cluster.agglomerative.chain_kernels import fill_tiles, matrix_chain, pushed, ward_chain
from pellucid.cluster.agglomerative.constrained_merges import constrained_tree
from pellucid.cluster.agglomerative.dendrogram import tree_of_chain
from pellucid.cluster.agglomerative.spanning_tree_kernels import (
    grow_tree,
    grow_tree_of_matrix,
    hand_down,
    join_nodes,
    keep_tree_edges,
    lift_heights,
)
from tests.plain_kernels import in_python
from tests.proving import quiet_proof

LINKAGES = ("single", "complete", "average", "ward")
every_linkage = pytest.mark.parametrize("kind", LINKAGES)
FOUR = np.array([[0, 2, 6, 10], [2, 0, 5, 9], [6, 5, 0, 4], [10, 9, 4, 0]], dtype=float)
SIX = np.array([(0, 0), (1, 2), (-1, -1), (2, 3), (-2, 1), (3, 1)], dtype=float)


def blobs(seed, n=120, p=3, k=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 4.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]


# by hand


@pytest.mark.by_hand
@pytest.mark.parametrize(
    ("kind", "heights"), [("single", [2, 4, 5]), ("complete", [2, 4, 10]), ("average", [2, 4, 7.5])]
)
def test_four_rows_of_a_distance_matrix(kind, heights):
    # 1 and 2 merge at 2, 3 and 4 at 4; the last distance is the least, the largest, the mean of 6, 10, 5, 9
    model = AgglomerativeClustering(2, linkage=kind, metric="precomputed").fit(FOUR)
    assert model.distances_.tolist() == heights
    assert model.children_.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert model.labels_.tolist() == [1, 1, 0, 0]


def test_ward_of_four_numbers():
    # 0 and 1 merge at 1, 3 and 5 at 2; means 1/2 and 4: d^2 = 2 * 2 * 2 / 4 * 3.5^2 = 24.5
    model = AgglomerativeClustering(2).fit([[0.0], [1.0], [3.0], [5.0]])
    assert model.distances_ == pytest.approx([1.0, 2.0, np.sqrt(24.5)], rel=1e-15)
    assert model.linkage_matrix_[:, 3].tolist() == [2, 2, 4]


@every_linkage
def test_of_equally_near_pairs_the_first_merges(kind):
    # all neighbors are at distance 1: rows 1 and 2 first, then what the names or rows say
    model = AgglomerativeClustering(1, linkage=kind).fit([[0.0], [1.0], [2.0], [3.0]])
    assert model.children_[0].tolist() == [0, 1]
    assert model.children_.tolist() == ([[0, 1], [2, 4], [3, 5]] if kind == "single" else [[0, 1], [2, 3], [4, 5]])


@every_linkage
def test_equal_rows_merge_at_zero(kind):
    model = AgglomerativeClustering(2, linkage=kind).fit(np.repeat([[0.0, 1.0], [5.0, 2.0]], 6, axis=0))
    assert not model.distances_[:-1].any()
    assert np.unique(model.labels_).tolist() == [0, 1]
    assert model.certificate_.holds


def test_two_rows_are_one_merge():
    model = AgglomerativeClustering(1).fit([[0.0, 0.0], [3.0, 4.0]])
    assert model.distances_.tolist() == [5.0]
    assert model.labels_.tolist() == [0, 0]


# workings


@every_linkage
def test_workings_show_every_matrix_and_agree(kind):
    metric = "euclidean" if kind == "ward" else "precomputed"
    data = SIX if kind == "ward" else FOUR
    work = pellucid.show_work(AgglomerativeClustering(2, linkage=kind, metric=metric), data)
    assert work.text().count("istances now") == len(data) - 2
    assert "more than rounding" not in work.text()


def test_workings_keep_fractions_and_the_rule_for_ties():
    work = pellucid.show_work(AgglomerativeClustering(2, linkage="average", metric="precomputed"), FOUR)
    assert "19/2" in work.text()
    assert list(map(str, work.answer["distances_"])) == ["2", "4", "15/2"]
    tied = pellucid.show_work(AgglomerativeClustering(2), SIX)
    assert "As near are 2 and 4" in tied.text()


@every_linkage
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6))
def test_workings_and_fit_settle_ties_alike(kind, rows):
    X = np.array(rows, dtype=float)
    metric = "manhattan" if kind == "average" else "euclidean"
    estimator = AgglomerativeClustering(1, linkage=kind, metric=metric)
    work, model = pellucid.show_work(estimator, X), estimator.fit(X)
    assert work.answer["children_"] == model.children_.tolist()
    np.testing.assert_allclose(np.array(work.answer["distances_"], dtype=float), model.distances_, rtol=1e-14)


def test_workings_refuse_what_no_person_would_do():
    with pytest.raises(ValueError, match="at most 7 rows"):
        pellucid.show_work(AgglomerativeClustering(), np.ones((8, 1)))
    with pytest.raises(ValueError, match="connectivity must be None to be worked by hand"):
        pellucid.show_work(AgglomerativeClustering(connectivity=np.ones((6, 6))), SIX)
    with pytest.raises(ValueError, match="metric must be 'euclidean', 'manhattan' or 'precomputed'"):
        pellucid.show_work(AgglomerativeClustering(linkage="single", metric="cosine"), SIX + 5.0)


# properties


@pytest.mark.property
@every_linkage
def test_heights_do_not_depend_on_the_order_of_rows(kind):
    X, order = blobs(0), np.random.default_rng(1).permutation(120)
    one, other = (AgglomerativeClustering(4, linkage=kind).fit(rows) for rows in (X, X[order]))
    np.testing.assert_allclose(one.distances_, other.distances_, rtol=1e-12)
    assert len({(a, b) for a, b in zip(one.labels_[order], other.labels_, strict=True)}) == 4


@every_linkage
@pytest.mark.parametrize("scale", [2.0**-400, 1e-100, 1e140])
def test_units_do_not_matter(kind, scale):
    X = blobs(1, n=60)
    one, other = (AgglomerativeClustering(3, linkage=kind).fit(rows) for rows in (X, X * scale))
    np.testing.assert_array_equal(one.children_, other.children_)
    np.testing.assert_allclose(other.distances_ / scale, one.distances_, rtol=1e-13)
    assert other.certificate_.holds


@every_linkage
def test_rows_far_from_zero_and_of_very_different_size(kind):
    X = np.concatenate([blobs(2, n=80) + 1e8, [[1e12, 0.0, 0.0], [1e12, 1.0, 0.0]]])
    model = AgglomerativeClustering(3, linkage=kind).fit(X)
    np.testing.assert_allclose(np.sort(model.distances_), np.sort(linkage(X - X[0], kind)[:, 2]), rtol=1e-6)
    assert pellucid.verify(model, X).holds


@every_linkage
@given(st.integers(2, 40), st.integers(0, 1000))
def test_small_whole_numbers_have_a_tree_without_rounding(kind, n, seed):
    X = np.random.default_rng(seed).integers(0, 4, (n, 2)).astype(float)
    model = AgglomerativeClustering(1, linkage=kind).fit(X)
    assert pellucid.verify(model, X).holds
    assert is_valid_linkage(model.linkage_matrix_)


def test_single_linkage_is_the_least_of_largest_steps():
    # the height at which two rows are first together is at most their distance, and no tree of merges is higher
    X = blobs(3, n=90)
    joined = cophenet(AgglomerativeClustering(linkage="single").fit(X).linkage_matrix_)
    assert np.all(joined <= np.sqrt(np.square(X[:, None] - X).sum(axis=2))[np.triu_indices(90, 1)] + 1e-12)
    np.testing.assert_allclose(joined, cophenet(linkage(X, "single")), rtol=1e-12)


def test_threads_change_nothing():
    X = blobs(4, n=1500, p=5)
    with threadpool_limits(1):
        one = single_tree(X)
    many = single_tree(X)
    np.testing.assert_array_equal(one.children, many.children)
    np.testing.assert_array_equal(one.heights, many.heights)


# peers


@pytest.mark.peer
@every_linkage
@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (70, 5), (513, 2), (1100, 9)])
def test_same_tree_as_scipy_and_same_labels_as_scikit_learn(kind, shape):
    X = np.random.default_rng(7).standard_normal(shape)
    k = min(5, shape[0])
    model = AgglomerativeClustering(k, linkage=kind).fit(X)
    np.testing.assert_allclose(model.linkage_matrix_, linkage(X, kind), rtol=1e-9)
    peer = sklearn.cluster.AgglomerativeClustering(k, linkage=kind).fit(X)
    np.testing.assert_array_equal(model.labels_, peer.labels_)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", "seuclidean", "l1", "correlation"])
@pytest.mark.parametrize("kind", ["single", "complete", "average"])
def test_other_metrics_are_those_of_scipy(kind, metric):
    X = blobs(5, n=50)
    model = AgglomerativeClustering(3, linkage=kind, metric=metric).fit(X)
    name = {"manhattan": "cityblock", "l1": "cityblock"}.get(metric, metric)
    np.testing.assert_allclose(model.linkage_matrix_, linkage(X, kind, metric=name), rtol=1e-7, atol=1e-12)
    assert pellucid.verify(model, X).holds


@every_linkage
@pytest.mark.parametrize("n_clusters", [3, 110])
def test_neighbors_merge_as_in_scikit_learn(kind, n_clusters):
    X, graph = np.random.default_rng(3).standard_normal((144, 4)), grid_to_graph(12, 12)
    settings = {"linkage": kind, "connectivity": graph, "compute_distances": True}
    model, peer = (
        library.AgglomerativeClustering(n_clusters, **settings).fit(X)
        for library in (pellucid.cluster, sklearn.cluster)
    )
    # scikit-learn lists single linkage's merges in full, but no heights of those that are not asked for
    np.testing.assert_allclose(model.distances_[: len(peer.distances_)], peer.distances_, rtol=1e-10)
    assert len({(a, b) for a, b in zip(model.labels_, peer.labels_, strict=True)}) == n_clusters
    assert pellucid.verify(model, X).holds


@every_linkage
def test_pieces_of_a_connectivity_are_joined_with_a_warning(kind):
    X = np.concatenate([blobs(6, n=30), blobs(7, n=30) + 50.0])
    graph = kneighbors_graph(X, 3, include_self=False)
    with pytest.warns(UserWarning, match="connectivity should have one connected component, got"):
        model = AgglomerativeClustering(2, linkage=kind, connectivity=graph).fit(X)
    assert model.n_connected_components_ >= 2
    assert model.labels_[:30].std() == model.labels_[30:].std() == 0.0
    assert pellucid.verify(model, X).holds


def test_a_tree_is_kept_for_other_cuts(tmp_path):
    X = blobs(8)
    models = [AgglomerativeClustering(k, memory=str(tmp_path)).fit(X) for k in (2, 3)]
    np.testing.assert_array_equal(models[0].children_, models[1].children_)
    assert any(tmp_path.rglob("*.pkl"))


# proof


@pytest.mark.parametrize("kind", ["complete", "average", "ward"])
def test_verify_objects_to_a_tree_of_another_linkage(kind):
    X = blobs(9, n=60)
    model, other = (AgglomerativeClustering(3, linkage=name).fit(X) for name in (kind, "single"))
    broken = copy.copy(model)
    for name in ("children_", "labels_"):
        setattr(broken, name, getattr(other, name))
    assert quiet_proof(broken, X)["nearest pairs"].value > 0.01
    broken.distances_ = other.distances_
    assert not quiet_proof(broken, X)["heights"].holds


def test_verify_objects_to_two_merges_in_the_wrong_order():
    X = blobs(10, n=30)
    model = AgglomerativeClustering(2, linkage="average").fit(X)
    free = next(k for k in range(28) if 30 + k not in model.children_[k + 1])
    swap = np.arange(29)
    swap[[free, free + 1]] = [free + 1, free]
    renamed = np.r_[np.arange(30), 30 + swap]
    broken = copy.copy(model)
    broken.children_, broken.distances_ = np.sort(renamed[model.children_[swap]], axis=1), model.distances_[swap]
    assert not quiet_proof(broken, X)["monotone"].holds
    broken.distances_ = np.maximum.accumulate(broken.distances_)
    assert not quiet_proof(broken, X).holds


@pytest.mark.parametrize("kind", ["complete", "average", "ward"])
def test_verify_objects_to_ties_settled_by_another_rule(kind):
    # rows in the opposite order have the same tree upside down: the last of equally near pairs merges first
    X = np.random.default_rng(5).integers(0, 3, (14, 2)).astype(float)
    settings = {"linkage": kind, "metric": "euclidean" if kind == "ward" else "manhattan"}
    model, mirrored = AgglomerativeClustering(2, **settings).fit(X), AgglomerativeClustering(2, **settings).fit(X[::-1])
    assert pellucid.verify(model, X)["ties"].holds
    renamed = np.r_[np.arange(14)[::-1], 14 + np.arange(13)]
    broken = copy.copy(model)
    broken.children_, broken.labels_ = np.sort(renamed[mirrored.children_], axis=1), mirrored.labels_[::-1].copy()
    broken.distances_ = mirrored.distances_
    assert [claim.name for claim in quiet_proof(broken, X).failed] == ["ties"]


def test_verify_objects_to_labels_of_another_cut_and_trees_that_are_none():
    X = blobs(11, n=40)
    model = AgglomerativeClustering(3).fit(X)
    for name, wrong, claim in (
        ("labels_", AgglomerativeClustering(4).fit(X).labels_, "labels"),
        ("n_clusters_", 4, "labels"),
        ("children_", model.children_[::-1].copy(), "tree"),
        ("children_", model.children_[:-1], "tree"),
        ("n_connected_components_", 2, "tree"),
        ("n_leaves_", 41, "tree"),
    ):
        broken = copy.copy(model)
        setattr(broken, name, wrong)
        assert not quiet_proof(broken, X)[claim].holds


def test_a_large_tree_is_checked_in_part_and_says_so():
    X = np.random.default_rng(0).standard_normal((3000, 3))
    model = AgglomerativeClustering(3, linkage="average").fit(X)
    assert "of 2,999 merges, some of the smaller (at most" in model.certificate_["heights"].statement
    assert model.certificate_.holds
    assert (
        "of 2,999 merges, the last 20 and some of the smaller (at most"
        in pellucid.verify(model, X)["heights"].statement
    )


@pytest.mark.parametrize("how", ["a height", "two rows"])
@pytest.mark.parametrize("linkage", ["average", "ward"])
def test_the_last_merges_of_a_large_tree_are_always_looked_at(how, linkage):
    X = np.random.default_rng(0).standard_normal((4000, 3))
    model = AgglomerativeClustering(2, linkage=linkage).fit(X)
    if how == "a height":
        model.distances_[-1] *= 1.01
    else:  # one of each of the last two clusters takes the other's place
        one, other = (np.flatnonzero(model.labels_ == label)[0] for label in (0, 1))
        renamed = np.arange(len(X) + len(model.children_))
        renamed[[one, other]] = other, one
        model.children_ = np.sort(renamed[model.children_], axis=1)
        model.labels_[[one, other]] = model.labels_[[other, one]]
    assert {claim.name for claim in quiet_proof(model, X).failed} & {"heights", "nearest pairs"}


def test_the_first_merges_of_many_neighbors_are_replayed_at_the_fit():
    X = np.random.default_rng(0).standard_normal((2500, 2))
    model = AgglomerativeClustering(3, connectivity=grid_to_graph(50, 50), linkage="average").fit(X)
    assert "of the first 100 of 2,499 merges" in model.certificate_["heights"].statement
    assert "of 2,499 merges" in pellucid.verify(model, X)["heights"].statement


# kernels


def test_kernels_do_what_their_python_does():
    ward, chain, tree, tree_of_matrix = map(in_python, (ward_chain, matrix_chain, grow_tree, grow_tree_of_matrix))
    X = blobs(12, n=9, p=5)
    for kernel in (ward_chain, ward):
        merges, heights = np.empty((8, 2), np.int64), np.empty(8)
        kernel(X, merges, heights)
        np.testing.assert_allclose(np.sqrt(2 * np.sort(heights)), linkage(X, "ward")[:, 2])
    D = squareform(np.sort(np.random.default_rng(0).uniform(size=36)))
    for kernel in (matrix_chain, chain):
        for code, name in enumerate(("complete", "average")):
            merges, heights = np.empty((8, 2), np.int64), np.empty(8)
            kernel(D.copy(), code, merges, heights)
            np.testing.assert_allclose(tree_of_chain(merges, heights).heights, linkage(squareform(D), name)[:, 2])
    everyone, nobody = np.arange(9), np.empty(0, np.int64)
    for kernel in (grow_tree, tree):
        edges, lengths = np.empty((8, 2), np.int64), np.empty(8)
        kernel(X, X - X.mean(axis=0), everyone, nobody, edges, lengths)
        np.testing.assert_allclose(np.sqrt(np.sort(lengths)), linkage(X, "single")[:, 2])
    for kernel in (grow_tree_of_matrix, tree_of_matrix):
        kernel(D, edges, lengths)
        np.testing.assert_allclose(np.sort(lengths), linkage(squareform(D), "single")[:, 2])


def test_a_chain_is_cut_where_rounding_made_a_middle_one_the_nearest():
    # 4 -> 2 -> 7 -> 5, and 5 is nearest to 2: the chain goes on from 4 -> 5 -> 2
    chain, place = np.array([4, 2, 7, 5, 0]), np.array([-1, -1, 1, -1, 0, 3, -1, 2])
    assert in_python(pushed)(chain, 4, place, 2) == 3
    assert chain[:3].tolist() == [4, 5, 2]
    assert place.tolist() == [-1, -1, 2, -1, 0, 1, -1, -1]
    assert in_python(pushed)(chain, 3, place, 5) == -3  # mutual neighbors merge
    assert in_python(pushed)(chain, 3, place, 6) == 4


@pytest.mark.parametrize("kind", ["single", "complete", "ward"])
@given(st.integers(3, 25), st.integers(0, 1000))
def test_a_connectivity_of_all_rows_settles_ties_as_none_does(kind, n, seed):
    X = np.random.default_rng(seed).integers(0, 4, (n, 2)).astype(float)
    free, bound = (
        AgglomerativeClustering(1, linkage=kind, connectivity=graph).fit(X) for graph in (None, np.ones((n, n)))
    )
    np.testing.assert_array_equal(free.children_, bound.children_)


def test_merges_of_neighbors_do_not_depend_on_room_or_compiler(monkeypatch):
    X, edges = blobs(14, n=60), np.array([(i, j) for i in range(60) for j in range(i + 1, 60) if (i * j) % 3 == 0])
    for kind in ("complete", "average", "ward"):
        whole = constrained_tree(X, edges, kind, "euclidean", 59)
        with monkeypatch.context() as patch:
            patch.setattr(constrained_merges, "ROOM_PER_EDGE", 1)
            narrow = constrained_tree(X, edges, kind, "euclidean", 59)
            patch.setattr(constrained_kernels, "merge_neighbors", in_python(constrained_kernels.merge_neighbors))
            plain = constrained_tree(X, edges, kind, "euclidean", 59)
        for other in (narrow, plain):
            np.testing.assert_array_equal(other.children, whole.children)
            np.testing.assert_array_equal(other.heights, whole.heights)


def test_small_kernels_do_what_their_python_does():
    tiles, D = np.zeros((1, 3, 64)), np.empty((4, 4))
    tiles[0, :, :4] = np.arange(12.0).reshape(3, 4)
    merges = np.array([[0, 1], [2, 3], [1, 3]])
    for run in (lambda kernel: kernel, in_python):
        run(fill_tiles)(tiles, 0, 1, False, np.empty((64, 64)), D)
        assert D[0].tolist() == [0, 3, 12, 27]
        prior, heights = np.empty((3, 2), np.int64), np.array([1.0, 2.0, 1.5])
        run(lift_heights)(merges, np.full(4, -1), heights, prior)
        assert heights.tolist() == [1, 2, 2]
        assert prior.tolist() == [[-1, -1], [-1, -1], [0, 1]]
        children = np.empty((3, 2), np.int64)
        run(join_nodes)(merges, np.arange(4), np.arange(4), children)
        assert children.tolist() == [[0, 1], [2, 3], [4, 5]]
        labels = np.array([-1, -1, -1, -1, 1, 0, -1])
        run(hand_down)(children, labels)
        assert labels[:4].tolist() == [1, 1, 0, 0]
        kept = np.zeros(3, bool)
        run(keep_tree_edges)(np.array([[0, 1], [1, 0], [1, 2]]), np.arange(3), np.arange(3), kept)
        assert kept.tolist() == [True, False, True]


def test_heights_that_rounding_made_equal_keep_their_order():
    # the merge of 5 and 6 is listed before that of (5, 6) and 0, whose names come first
    tree = tree_of_chain(np.array([[5, 6], [0, 6], [1, 2], [3, 4], [2, 4], [4, 6]]), np.ones(6))
    assert tree.children.tolist() == [[1, 2], [3, 4], [7, 8], [5, 6], [0, 10], [9, 11]]


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"n_clusters": 7}, SIX, "n_clusters must be at most the number of rows, got n_clusters=7 for 6 rows"),
        ({"n_clusters": 0}, SIX, "n_clusters must be at least 1, got 0"),
        ({}, SIX[:1], "minimum of 2 is required"),
        ({}, np.where(SIX == 3, np.nan, SIX), "NaN"),
        ({"linkage": "ward", "metric": "manhattan"}, SIX, "metric must be 'euclidean' or 'l2' for linkage 'ward'"),
        ({"linkage": "single", "metric": "precomputed"}, SIX, "Distance matrix should be square"),
        (
            {"linkage": "single", "metric": "precomputed"},
            np.triu(FOUR),
            "X must be symmetric as a distance matrix, got",
        ),
        (
            {"linkage": "single", "metric": "precomputed"},
            FOUR + 1,
            "X must have zeros on its diagonal as a distance matrix, got 1 at row 0",
        ),
        ({"linkage": "single", "metric": "precomputed"}, -FOUR, "X must have no negative numbers"),
        ({"linkage": "single", "metric": "cosine"}, SIX, "X must have no rows of zeros for metric 'cosine'"),
        ({"n_clusters": None}, SIX, "Exactly one of n_clusters and distance_threshold"),
        ({"connectivity": np.ones((3, 3))}, SIX, r"connectivity must have the shape \(6, 6\), got \(3, 3\)"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(settings, X, message):
    with pytest.raises(ValueError, match=message):
        AgglomerativeClustering(**settings).fit(X)


def test_the_tree_of_one_metric_function_is_that_of_its_matrix():
    rows = blobs(13, n=20)
    D = np.abs(rows[:, None] - rows).sum(axis=2)
    one = merge_tree(rows, "complete", lambda X: np.abs(X[:, None] - X).sum(axis=2), None, 19)
    np.testing.assert_array_equal(one.children, merge_tree(D, "complete", "precomputed", None, 19).children)


def test_workings_call_rows_by_their_names_and_write_each_new_distance():
    import pandas as pd

    names = list("abcde")
    gaps = [[0, 17, 21, 31, 23], [17, 0, 30, 34, 21], [21, 30, 0, 28, 39], [31, 34, 28, 0, 43], [23, 21, 39, 43, 0]]
    frame = pd.DataFrame(gaps, index=names, columns=names)
    for kind, line, heights in (
        ("single", "min(21, 30) = 21", [17, 21, 21, 28]),
        ("complete", "max(21, 30) = 30", [17, 23, 28, 43]),
        ("average", "51/2", [17, 22, 28, 33]),
    ):
        for table in (frame, frame.reset_index(drop=True)):
            work = pellucid.show_work(AgglomerativeClustering(2, linkage=kind, metric="precomputed"), table)
            assert "Merge a and b" in work.text()
            assert "They become A: rows a, b." in work.text()
            assert line in work.text()
            assert work.answer["distances_"] == heights


def test_workings_keep_roots():
    work = pellucid.show_work(AgglomerativeClustering(2, linkage="average"), [[0, 0], [1, 2], [3, 3]])
    assert list(map(str, work.answer["distances_"])) == ["sqrt(5)", "sqrt(5)/2 + 3*sqrt(2)/2"]
    assert "√5" in work.text()
    assert "more than rounding" not in work.text()
