"""The certificate of the neighbors estimators: what it says, and that it objects to what is broken."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import pellucid
from pellucid.neighbors import KNeighborsClassifier, KNeighborsRegressor
from pellucid.proofs.distances import named_metric
from pellucid.proofs.neighbors.k_neighbors import neighbor_claims, partition_claim, pruning_claim, stored_claim
from pellucid.solvers.kd_tree import KDTree

EUCLIDEAN = ("euclidean", {})


def fitted(**params):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.where(X[:, 0] > 0, "right", "left")
    return KNeighborsClassifier(leaf_size=5, **params).fit(X, y), X, y


def objects(model, X, y, claim):
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        certificate = pellucid.verify(model, X, y)
    return not certificate[claim].holds


# by hand


def test_counts_the_queries_with_another_answer():
    X, queries = np.array([[0.0], [1.0], [3.0]]), np.array([[0.2], [2.9]])
    right = neighbor_claims(X, queries, EUCLIDEAN, np.array([[0.2, 0.8], [0.1, 1.9]]), np.array([[0, 1], [2, 1]]))
    assert [claim.holds for claim in right] == [True, True]
    wrong = neighbor_claims(X, queries, EUCLIDEAN, np.array([[0.2, 2.8], [0.1, 1.9]]), np.array([[0, 2], [2, 1]]))
    assert [claim.value for claim in wrong] == [1.0, pytest.approx(0.0, abs=1e-15)]


def test_a_tie_settled_the_other_way_is_another_answer():
    X, query = np.array([[1.0], [-1.0]]), np.array([[0.0]])
    for index, wrong in ((0, 0.0), (1, 1.0)):
        assert neighbor_claims(X, query, EUCLIDEAN, np.array([[1.0]]), np.array([[index]]))[0].value == wrong


def test_a_repeated_or_impossible_index_is_another_answer():
    X, query = np.array([[1.0], [2.0], [3.0]]), np.array([[0.0]])
    for indices in ([0, 0], [0, 3], [-1, 0]):
        assert not neighbor_claims(X, query, EUCLIDEAN, np.array([[1.0, 2.0]]), np.array([indices]))[0].holds


def test_counts_rows_and_targets_that_differ():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    assert stored_claim(X, X, y, y).value == 0.0
    assert stored_claim(X + [[0.0], [1e-15], [0.0]], X, y, np.array([0, 1, 0])).value == 2.0
    assert stored_claim(X[:2], X, y[:2], y).value == np.inf
    assert stored_claim(sparse.csr_array(X), sparse.csr_array(2 * X), y, y).value == 2.0


# broken on purpose


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_objects_to_another_row_and_another_label(algorithm):
    model, X, y = fitted(algorithm=algorithm)
    assert pellucid.verify(model, X, y).holds
    broken = copy.deepcopy(model)
    broken._fit_X[4, 1] += 1e-3
    assert objects(broken, X, y, "stored data")
    relabeled = copy.deepcopy(model)
    relabeled._y[7] = 1 - relabeled._y[7]
    assert objects(relabeled, X, y, "stored data")
    renamed = copy.deepcopy(model)
    renamed.classes_ = renamed.classes_[::-1]
    assert objects(renamed, X, y, "stored data")


def test_objects_to_another_target_of_the_regressor():
    X, y = np.arange(8.0).reshape(-1, 1), np.arange(8.0)
    model = KNeighborsRegressor(2).fit(X, y.copy())
    model._y = model._y * 1.001
    assert objects(model, X, y, "stored data")


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_objects_to_another_metric(algorithm):
    model, X, y = fitted(algorithm=algorithm)
    model.effective_metric_ = "manhattan"
    assert objects(model, X, y, "distances")


def broken_tree(tree, name, change):
    array = getattr(tree, name).copy()
    change(array)
    return replace(tree, **{name: array})


BREAKS = {
    "a row twice": ("order", lambda order: order.__setitem__(0, order[1])),
    "two rows swapped": ("order", lambda order: order.__setitem__([0, -1], order[[-1, 0]])),
    "a box too small": ("upper", lambda upper: upper.__setitem__((2, 0), upper[2, 0] - 1e-9)),
    "a box too large": ("lower", lambda lower: lower.__setitem__((1, 1), lower[1, 1] - 1e-9)),
    "a number moved": ("columns", lambda columns: columns.__setitem__((0, 3), columns[0, 3] + 1e-9)),
    "a gap between children": ("ends", lambda ends: ends.__setitem__((1, 1), ends[1, 1] - 1)),
    "no root": ("ends", lambda ends: ends.__setitem__((0, 1), ends[0, 1] - 1)),
}


@pytest.mark.parametrize("way", BREAKS)
def test_objects_to_a_broken_tree(way):
    X = np.random.default_rng(1).standard_normal((50, 2))
    tree = KDTree.of(X, 4)
    assert partition_claim(tree, X, 1.0).holds
    assert not partition_claim(broken_tree(tree, *BREAKS[way]), X, 1.0).holds


def test_objects_to_a_box_that_would_hide_a_row():
    rng = np.random.default_rng(1)
    X, queries = rng.standard_normal((50, 2)), rng.standard_normal((30, 2))
    tree = KDTree.of(X, 4)
    for p in (1, 2, 3, np.inf):
        assert pruning_claim(tree, queries, named_metric("minkowski", p, None)).holds
    shrunk = broken_tree(tree, "lower", lambda lower: lower.__setitem__(5, lower[5] + 0.3))
    assert pruning_claim(shrunk, queries, EUCLIDEAN).value > 0


def test_verify_objects_to_a_shrunk_box_in_the_model():
    model, X, y = fitted()
    box = model._tree.lower.copy()
    box[3:] += 0.5
    model._tree = replace(model._tree, lower=box)
    assert objects(model, X, y, "pruning")


def test_objects_to_more_or_fewer_rows_than_were_fitted():
    model, X, y = fitted()
    assert objects(model, X[:30], y[:30], "stored data")
    assert objects(model, np.vstack([X, X]), np.concatenate([y, y]), "partition")


# properties


def test_holds_for_a_data_frame_with_names():
    _, X, y = fitted()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for algorithm in ("kd_tree", "brute"):
        assert pellucid.verify(KNeighborsClassifier(algorithm=algorithm).fit(frame, y), frame, y).holds


@pytest.mark.parametrize(
    "params", [{"p": 1}, {"p": 3.5}, {"p": np.inf}, {"metric": "cosine"}, {"metric": "sqeuclidean"}]
)
@pytest.mark.parametrize("scale", [1e-160, 1.0, 1e70])
def test_holds_for_every_metric_and_scale(params, scale):
    X = scale * np.random.default_rng(3).standard_normal((80, 4))
    y = np.arange(80.0)
    certificate = pellucid.verify(KNeighborsRegressor(**params).fit(X, y), X, y)
    assert certificate.holds
    assert certificate.grade == "exact"


def test_is_made_at_fit_and_made_again_in_full_by_verify():
    model, X, y = fitted()
    assert [claim.name for claim in model.certificate_.claims] == ["stored data", "partition"]
    names = [claim.name for claim in pellucid.verify(model, X, y).claims]
    assert names == ["stored data", "record", "neighbors", "distances", "partition", "pruning"]
