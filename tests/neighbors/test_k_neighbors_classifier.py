"""KNeighborsClassifier: votes of the nearest rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import DistanceMetric
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import BallTree, NearestNeighbors
from sklearn.neighbors import KDTree as SklearnTree
from sklearn.neighbors import KNeighborsClassifier as Peer

import pellucid
from pellucid.neighbors import KNeighborsClassifier, Similarity

seeds = pytest.mark.parametrize("seed", range(3))
algorithms = pytest.mark.parametrize("algorithm", ["auto", "ball_tree", "kd_tree", "brute"])

LINE = np.array([[0.0], [1.0], [2.0], [3.0]])


def problem(seed, n=120, p=4, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, np.array(["ant", "bee", "cat"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])], rng.standard_normal((25, p))


def both(seed, n_neighbors=5, **params):
    X, y, queries = problem(seed)
    return KNeighborsClassifier(n_neighbors, **params).fit(X, y), Peer(n_neighbors, **params).fit(X, y), queries


def assert_same_answers(ours, peer, queries):
    (d, i), (peer_d, peer_i) = ours.kneighbors(queries), peer.kneighbors(queries)
    np.testing.assert_array_equal(i, peer_i)
    np.testing.assert_allclose(d, peer_d, rtol=1e-10, atol=1e-12)
    assert d.dtype == peer_d.dtype
    np.testing.assert_array_equal(ours.predict(queries), peer.predict(queries))
    np.testing.assert_allclose(ours.predict_proba(queries), peer.predict_proba(queries), atol=1e-10)


# by hand


@pytest.mark.by_hand
def test_three_neighbors_vote():
    model = KNeighborsClassifier(3).fit(LINE, ["no", "no", "yes", "yes"])
    assert model.predict([[1.1]]).tolist() == ["no"]  # rows 1, 2 and 0
    np.testing.assert_allclose(model.predict_proba([[1.1]]), [[2 / 3, 1 / 3]])


@pytest.mark.property
@algorithms
def test_equal_distances_go_to_the_lower_row(algorithm):
    model = KNeighborsClassifier(1, algorithm=algorithm).fit([[2.0], [0.0], [2.0]], ["x", "y", "z"])
    distances, indices = model.kneighbors([[1.0], [2.0]])
    assert indices.tolist() == [[0], [0]]
    assert distances.tolist() == [[1.0], [0.0]]


def test_equal_votes_go_to_the_first_class():
    assert KNeighborsClassifier(2).fit([[0.0], [1.0]], ["b", "a"]).predict([[0.1]]).tolist() == ["a"]


def test_weights_by_distance_and_by_its_exponential():
    X, y = [[0.0], [3.0]], ["a", "b"]
    inverse = KNeighborsClassifier(2, weights="distance").fit(X, y)
    np.testing.assert_allclose(inverse.predict_proba([[1.0], [0.0]]), [[2 / 3, 1 / 3], [1.0, 0.0]])
    exponential = KNeighborsClassifier(2, weights="exponential", rate=np.log(2)).fit(X, y)
    np.testing.assert_allclose(exponential.predict_proba([[1.0]]), [[2 / 3, 1 / 3]])  # 2^-1 : 2^-2


def test_exponential_weights_do_not_underflow():
    model = KNeighborsClassifier(2, weights="exponential", rate=50.0).fit([[0.0], [100.0]], [0, 1])
    np.testing.assert_allclose(model.predict_proba([[1e4]]), [[0.0, 1.0]])


def test_the_most_similar_rows_are_the_nearest():
    model = KNeighborsClassifier(2, metric=Similarity(np.dot)).fit([[1.0, 0.0], [5.0, 5.0], [0.0, 2.0]], [0, 1, 2])
    distances, indices = model.kneighbors([[0.0, 1.0]])
    assert indices.tolist() == [[1, 2]]
    assert distances.tolist() == [[-5.0, -2.0]]
    softmax = model.set_params(weights="exponential").predict_proba([[0.0, 1.0]])
    np.testing.assert_allclose(softmax, [[0.0, 1 / (1 + np.exp(-3)), 1 / (1 + np.exp(3))]])


def test_nodes_visited_are_few_and_counted():
    X = np.arange(64.0).reshape(-1, 1)
    model = KNeighborsClassifier(2, leaf_size=4).fit(X, np.arange(64) % 2)
    assert model.nodes_visited([[1.2]]).tolist() == [5]  # the root and one node on each of the four levels below


def test_trace_has_a_row_per_level():
    model = KNeighborsClassifier(1, leaf_size=1).fit(LINE, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.trace_["nodes"], [1, 2, 4])
    np.testing.assert_array_equal(model.trace_["widest"], [3.0, 1.0, 0.0])  # widest side of a box


# properties


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([1, 2, np.inf]))
def test_every_algorithm_gives_the_same_bits(seed, k, p):
    rng = np.random.default_rng(seed)
    X, queries = rng.integers(0, 4, (30, 3)).astype(float), rng.integers(0, 4, (8, 3)) + rng.choice([0.0, 0.5], (8, 3))
    y = rng.integers(0, 3, 30)
    answers = [
        KNeighborsClassifier(k, p=p, algorithm=algorithm, leaf_size=3).fit(X, y).kneighbors(queries)
        for algorithm in ("kd_tree", "brute")
    ]
    np.testing.assert_array_equal(answers[0][0], answers[1][0])
    np.testing.assert_array_equal(answers[0][1], answers[1][1])
    if p == 2:
        dense, thin = answers[1], KNeighborsClassifier(k).fit(sparse.csr_array(X), y).kneighbors(queries)
        np.testing.assert_array_equal(dense[1], thin[1])


@seeds
@algorithms
def test_moving_and_scaling_by_powers_of_two_changes_nothing(seed, algorithm):
    X, y, queries = problem(seed)
    base = KNeighborsClassifier(algorithm=algorithm).fit(X, y).kneighbors(queries)
    for unit in (2.0**-560, 2.0**-30, 2.0**400):
        distances, indices = KNeighborsClassifier(algorithm=algorithm).fit(X * unit, y).kneighbors(queries * unit)
        np.testing.assert_array_equal(indices, base[1])
        np.testing.assert_allclose(distances / unit, base[0], rtol=1e-14)


def test_without_queries_no_row_is_its_own_neighbor_even_among_duplicates():
    X = np.repeat([[0.0], [5.0]], 4, axis=0)
    for algorithm in ("kd_tree", "brute"):
        indices = KNeighborsClassifier(3, algorithm=algorithm).fit(X, [0] * 4 + [1] * 4).kneighbors(None)[1]
        assert indices[:4].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def test_score_without_queries_is_leave_one_out():
    X, y, _ = problem(0)
    model = KNeighborsClassifier().fit(X, y)
    assert model.score(None, y) == pytest.approx(cross_val_score(KNeighborsClassifier(), X, y, cv=LeaveOneOut()).mean())


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_data_give_the_answers_of_dense_data(form):
    X, y, queries = problem(1)
    X, queries = np.where(np.abs(X) < 0.6, 0.0, X), np.where(np.abs(queries) < 0.6, 0.0, queries)
    dense = KNeighborsClassifier().fit(X, y)
    thin = KNeighborsClassifier().fit(form(X), y)
    for asked in (queries, form(queries)):
        for model in (dense, thin):
            np.testing.assert_array_equal(model.kneighbors(asked)[1], dense.kneighbors(queries)[1])
    assert pellucid.verify(thin, form(X), y).holds


# peer


@pytest.mark.peer
@seeds
@algorithms
@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
@pytest.mark.parametrize("weights", ["uniform", "distance", None])
def test_same_answers_as_scikit_learn(seed, algorithm, p, weights):
    ours, peer, queries = both(seed, algorithm=algorithm, p=p, weights=weights)
    assert_same_answers(ours, peer, queries)
    assert ours.effective_metric_ == peer.effective_metric_
    assert ours.effective_metric_params_ == peer.effective_metric_params_
    np.testing.assert_array_equal(ours.predict(None), peer.predict(None))


@pytest.mark.parametrize(
    "params",
    [
        {"metric": name}
        for name in ("cosine", "canberra", "braycurtis", "correlation", "sqeuclidean", "l1", "chebyshev", "hamming")
    ]
    + [
        {"metric": "minkowski", "metric_params": {"w": np.array([1.0, 2.0, 0.5, 3.0])}, "p": 3},
        {"metric": "seuclidean", "metric_params": {"V": np.array([1.0, 2.0, 0.5, 3.0])}, "algorithm": "brute"},
        {"metric": "mahalanobis", "metric_params": {"VI": np.diag([1.0, 2.0, 0.5, 3.0])}, "algorithm": "brute"},
        {"metric": lambda a, b: float(np.abs(a - b).max())},
        {"metric": "euclidean", "weights": lambda d: 1 / (1 + d**2)},
    ],
    ids=lambda params: str(params["metric"])[:12],
)
def test_same_answers_for_other_metrics(params):
    ours, peer, queries = both(0, 1 if params["metric"] == "hamming" else 5, **params)
    if params["metric"] == "hamming":  # all distances are 1: our rule answers, scikit-learn has none
        assert (ours.kneighbors(queries)[1] == 0).all()
    else:
        assert_same_answers(ours, peer, queries)


def test_takes_the_distance_objects_of_scikit_learn():
    X, y, queries = problem(0)
    metric = DistanceMetric.get_metric("canberra")
    by_object, by_name = (KNeighborsClassifier(metric=m).fit(X, y) for m in (metric, "canberra"))
    np.testing.assert_array_equal(by_object.kneighbors(queries)[1], by_name.kneighbors(queries)[1])


def test_missing_values_with_the_metric_that_allows_them():
    X, y, queries = problem(0)
    X[::7, 1] = queries[::5, 2] = np.nan
    ours, peer = (kind(metric="nan_euclidean").fit(X, y) for kind in (KNeighborsClassifier, Peer))
    assert_same_answers(ours, peer, queries)
    assert pellucid.verify(ours, X, y).holds


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_precomputed_distances(form):
    X, y, queries = problem(0)
    plain = KNeighborsClassifier().fit(X, y)
    among, to_rows = (np.linalg.norm(a[:, None] - X[None], axis=2) for a in (X, queries))
    model = KNeighborsClassifier(metric="precomputed").fit(form(among + 1e-9), y)
    np.testing.assert_array_equal(model.kneighbors(form(to_rows))[1], plain.kneighbors(queries)[1])
    np.testing.assert_array_equal(model.predict(None), plain.predict(None))
    assert pellucid.verify(model, form(among + 1e-9), y).holds


@seeds
def test_several_outputs_as_in_scikit_learn(seed):
    X, y, queries = problem(seed)
    several = np.column_stack([y, np.where(X[:, 2] > 0, "up", "down")])
    ours, peer = KNeighborsClassifier(weights="distance").fit(X, several), Peer(weights="distance").fit(X, several)
    np.testing.assert_array_equal(ours.predict(queries), peer.predict(queries))
    for mine, theirs in zip(ours.predict_proba(queries), peer.predict_proba(queries), strict=True):
        np.testing.assert_allclose(mine, theirs)
    assert ours.outputs_2d_
    assert pellucid.verify(ours, X, several).holds


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_same_graph_as_scikit_learn(mode):
    ours, peer, queries = both(0)
    for asked in (queries, None):
        mine, theirs = ours.kneighbors_graph(asked, mode=mode), peer.kneighbors_graph(asked, mode=mode)
        assert type(mine) is type(theirs)
        np.testing.assert_allclose(mine.toarray(), theirs.toarray())


def test_single_precision_is_exact_for_the_numbers_it_holds():
    X, y, queries = problem(0)
    X, queries = X.astype(np.float32), queries.astype(np.float32)
    narrow, wide = KNeighborsClassifier().fit(X, y), KNeighborsClassifier().fit(X.astype(float), y)
    np.testing.assert_array_equal(narrow.kneighbors(queries)[0], wide.kneighbors(queries.astype(float))[0])


def test_read_only_data_by_brute_force():
    X, y, queries = problem(0)
    X.setflags(write=False)
    queries.setflags(write=False)
    model = KNeighborsClassifier(algorithm="brute").fit(X, y)
    np.testing.assert_array_equal(model.predict(queries), Peer().fit(X, y).predict(queries))


@pytest.mark.parametrize("source", [lambda X: NearestNeighbors().fit(X), BallTree, SklearnTree])
def test_trees_and_fitted_estimators_hand_over_their_rows(source):
    X, y, queries = problem(0)
    model, plain = KNeighborsClassifier().fit(source(X), y), KNeighborsClassifier().fit(X, y)
    np.testing.assert_array_equal(model.kneighbors(queries), plain.kneighbors(queries))
    assert pellucid.verify(model, X, y).holds


def test_one_row_and_one_class():
    model = KNeighborsClassifier(1).fit([[3.0]], ["only"])
    assert model.predict([[1.0]]).tolist() == ["only"]
    assert model.predict_proba([[1.0]]).tolist() == [[1.0]]
    assert pellucid.verify(model, [[3.0]], ["only"]).holds


def test_a_saved_model_of_every_shape_comes_back(tmp_path):
    X, y, queries = problem(0)
    several = np.column_stack([np.digitize(X[:, 0], [0.0]), np.digitize(X[:, 1], [-1.0, 1.0])])
    for model in (
        KNeighborsClassifier(algorithm="brute", p=np.inf).fit(X, y),
        KNeighborsClassifier(metric="cosine", weights="exponential", rate=2.0).fit(sparse.csr_array(X), y),
        KNeighborsClassifier(3, p=1.5, leaf_size=7).fit(X.astype(np.float32), several),
    ):
        pellucid.save(model, tmp_path / "model.safetensors")
        loaded = pellucid.load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(loaded.predict(queries), model.predict(queries))
        assert loaded._tree == model._tree


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be at least 1, got 0"),
        ({"leaf_size": 0}, "leaf_size must be at least 1, got 0"),
        ({"weights": "near"}, "weights must be .*one of .*got 'near'"),
        ({"algorithm": "magic"}, "algorithm must be one of .*got 'magic'"),
        ({"p": 0}, "p must be above 0, got 0"),
        ({"rate": -1.0}, "rate must be above 0, got -1.0"),
        (
            {"metric": "haversine", "algorithm": "kd_tree"},
            "metric must be one of .*got 'haversine'. Use algorithm='brute'",
        ),
        ({"metric": "nonsense"}, "metric must be one of .*got 'nonsense'"),
        ({"metric": np.dot, "algorithm": "kd_tree"}, "metric must be a norm.*Use algorithm='brute'"),
        ({"p": 0.5, "algorithm": "kd_tree"}, "p must be at least 1 with algorithm='kd_tree', got 0.5"),
        ({"metric": Similarity(np.dot), "weights": "distance"}, "weights must not be 'distance' with a Similarity"),
    ],
)
def test_refuses_parameters_with_a_sentence(params, message):
    with pytest.raises(ValueError, match=message):
        KNeighborsClassifier(**params).fit(LINE, [0, 0, 1, 1])


def test_refuses_more_neighbors_than_rows():
    model = KNeighborsClassifier(4).fit(LINE, [0, 0, 1, 1])
    assert model.kneighbors([[1.0]])[1].shape == (1, 4)
    with pytest.raises(ValueError, match="n_neighbors must be at most 4, got 5.*n_samples = 4"):
        model.kneighbors([[1.0]], n_neighbors=5)
    with pytest.raises(ValueError, match="n_neighbors must be at most 3, got 4"):
        model.kneighbors()


def test_refuses_what_has_no_meaning():
    model = KNeighborsClassifier(2, algorithm="brute").fit(LINE, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="mode must be one of"):
        model.kneighbors_graph(mode="loud")
    with pytest.raises(ValueError, match="algorithm must be 'kd_tree' to visit nodes, got 'brute'"):
        model.nodes_visited([[1.0]])
    with pytest.raises(ValueError, match="weights must be above 0 for at least one neighbor of every query"):
        KNeighborsClassifier(2, weights=np.zeros_like).fit(LINE, [0, 0, 1, 1]).predict(LINE)
    with pytest.raises(ValueError, match="weights must return an array of shape"):
        KNeighborsClassifier(2, weights=np.sum).fit(LINE, [0, 0, 1, 1]).predict(LINE)


def test_refuses_bad_precomputed_distances():
    with pytest.raises(ValueError, match="X must be square with metric='precomputed', got shape"):
        KNeighborsClassifier(1, metric="precomputed").fit(np.ones((3, 2)), [0, 1, 1])
    with pytest.raises(ValueError, match="Negative values"):
        KNeighborsClassifier(1, metric="precomputed").fit(-np.ones((2, 2)), [0, 1])
    with pytest.raises(TypeError, match="X must be dense, or sparse in format csr.*got dok"):
        KNeighborsClassifier(1, metric="precomputed").fit(sparse.dok_array(np.eye(3)), [0, 1, 1])
    graph = sparse.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    with pytest.raises(ValueError, match="n_neighbors must be at most the number of stored distances"):
        KNeighborsClassifier(2, metric="precomputed").fit(graph, [0, 1, 1]).kneighbors()


def test_refuses_a_metric_without_a_sparse_formula():
    with pytest.raises(ValueError, match="metric must be one of .* for sparse X, got 'canberra'"):
        KNeighborsClassifier(metric="canberra").fit(sparse.csr_array(LINE), [0, 0, 1, 1])


def test_warns_where_scikit_learn_warns():
    with pytest.warns(UserWarning, match="p is 0.5, below 1"):
        KNeighborsClassifier(2, p=0.5).fit(LINE, [0, 0, 1, 1])
    with pytest.warns(SyntaxWarning, match="p is given twice"):
        KNeighborsClassifier(2, metric_params={"p": 3}).fit(LINE, [0, 0, 1, 1])
    with pytest.warns(DataConversionWarning):
        KNeighborsClassifier(2).fit(LINE, [[0], [0], [1], [1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KNeighborsClassifier(2, p=None, metric_params={"p": 3}).fit(LINE, [0, 0, 1, 1])


def test_refuses_to_save_what_could_run_code(tmp_path):
    model = KNeighborsClassifier(1, metric=Similarity(np.dot)).fit(LINE, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="metric of KNeighborsClassifier must be a text to be saved"):
        pellucid.save(model, tmp_path / "model.safetensors")
