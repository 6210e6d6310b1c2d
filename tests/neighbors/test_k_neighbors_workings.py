"""The neighbors by hand agree with the program, node by node."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier as Peer
from sympy import Matrix, Rational

import pellucid
from pellucid.neighbors import KNeighborsClassifier, KNeighborsRegressor
from pellucid.neighbors.k_neighbors_workings import k_neighbors_workings
from pellucid.neighbors.kd_tree_workings import build_tree
from pellucid.solvers.kd_tree import KDTree

POINTS = [[2, 3], [5, 4], [9, 6], [4, 7], [8, 1], [7, 2]]
LABELS = ["a", "b", "a", "b", "a", "b"]


def small(seed, n=10, p=2):
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, 12, size=(n, p)),
        np.array(["x", "y", "z"])[rng.integers(0, 3, size=n)],
        rng.integers(0, 12, p),
    )


# by hand


def test_a_known_tree_and_search():
    # x_1 is the wider side: rows 1, 4, 2 (2, 4, 5) go left, rows 6, 5, 3 (7, 8, 9) right
    work = k_neighbors_workings(KNeighborsClassifier(1), POINTS, LABELS, [9, 2])
    text = work.text()
    assert "1 (2), 4 (4), 2 (5)" in text
    assert "6 (7), 5 (8), 3 (9)" in text
    assert "passed over: too far away" in text
    assert work.answer["neighbors"] == [4]  # (8, 1), at squared distance 1 + 1
    assert work.answer["predicted"] == "a"


def test_a_tied_vote_is_settled_in_words():
    work = k_neighbors_workings(KNeighborsClassifier(2), [[0], [1]], ["b", "a"], [0.5])
    assert work.answer["predicted"] == "a"
    assert "votes for a and b are equal" in " ".join(work.text().split())


def test_a_tied_distance_is_settled_in_words():
    work = k_neighbors_workings(KNeighborsClassifier(1), [[1], [-1]], ["p", "m"], [0])
    assert work.answer["neighbors"] == [0]
    assert "Row 2 is as near as row 1" in " ".join(work.text().split())


def test_a_mean_in_fractions():
    work = k_neighbors_workings(KNeighborsRegressor(2, p=1, weights="distance"), [[0], [3], [9]], [0, 6, 9], [1])
    assert work.answer["predicted"] == Rational(2)  # weights 1 and 1/2
    middle = pellucid.show_work(KNeighborsRegressor(3), [[0], [3], [9]], [0, 6, 9])
    assert middle.answer["predicted"] == 5


def test_the_query_of_show_work_is_the_mean():
    work = pellucid.show_work(KNeighborsClassifier(1), [[0], [1], [5]], ["l", "l", "r"])
    assert "the mean of the rows" in work.text()
    assert work.answer["neighbors"] == [1]  # the mean is 2


# properties


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_same_neighbors_nodes_and_answer_as_the_program(seed, p):
    X, y, query = small(seed)
    model = KNeighborsClassifier(3, p=p, algorithm="kd_tree", leaf_size=2).fit(X, y)
    answer = k_neighbors_workings(model, X, y, query).answer
    assert answer["neighbors"] == model.kneighbors([query])[1][0].tolist()
    assert answer["predicted"] == model.predict([query])[0]
    assert answer["visited"] == model.nodes_visited([query])[0]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_same_tree_as_the_program(seed, n):
    X, _, _ = small(seed, n, 3)
    tree = KDTree.of(X.astype(float), 2)
    by_hand = build_tree(Matrix(X.tolist()), 2).all_nodes()
    assert len(by_hand) == len(tree.ends)
    for node, (start, stop) in zip(by_hand, tree.ends, strict=True):
        assert set(node.rows) == set(tree.order[start:stop].tolist())
        assert tree.axes[node.number - 1] == (-1 if node.axis is None else node.axis)


@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html"])
def test_prints_in_every_format(kind):
    assert "Search the tree" in pellucid.show_work(Peer(2), POINTS, LABELS, format=kind)


# errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"p": 3}, "metric must be the Minkowski metric with p = 1, 2 or infinity.*p=3"),
        ({"metric": "cosine"}, "metric must be the Minkowski metric.*got metric='cosine'"),
        ({"weights": "distance"}, "weights must be 'uniform'.*got 'distance'"),
        ({"weights": "exponential", "p": 1}, "weights must be 'uniform'.*got 'exponential'"),
        ({"n_neighbors": 7}, "n_neighbors must be at most 6, the number of rows, got 7"),
    ],
)
def test_refuses_what_is_no_fraction(params, message):
    with pytest.raises(ValueError, match=message):
        k_neighbors_workings(KNeighborsClassifier(**params), POINTS, LABELS)


def test_refuses_wrong_shapes():
    with pytest.raises(ValueError, match="query must have 2 features, got 3"):
        k_neighbors_workings(KNeighborsClassifier(1), POINTS, LABELS, [1, 2, 3])
    with pytest.raises(ValueError, match="y must have one target for each of the 6 rows"):
        k_neighbors_workings(KNeighborsClassifier(1), POINTS, LABELS[:4])
    with pytest.raises(ValueError, match="y must be given, got None"):
        k_neighbors_workings(KNeighborsClassifier(1), POINTS, None)
