"""Neighbors among rows in blocks: the answers of the fit in memory to the last bit, and nothing of the rows is kept."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.neighbors import KNeighborsClassifier, KNeighborsRegressor
from pellucid.neighbors.rows_in_blocks import StoredBlocks

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N, P = 600, 3
rng = np.random.default_rng(5)
X = np.round(rng.normal(size=(N, P)), 1)  # many distances are equal
QUERIES = np.round(rng.normal(size=(90, P)), 1)
LABELS = np.array(["few", "many", "none"])[np.digitize(X[:, 0] + rng.normal(size=N), [-0.5, 0.7])]
NUMBERS = X @ [1.0, 2.0, 3.0] + rng.normal(size=N)
SEVERAL = np.column_stack([NUMBERS, -2.0 * NUMBERS])

SETTINGS = [
    {},
    {"n_neighbors": 1},
    {"n_neighbors": 17, "weights": "distance"},
    {"weights": "exponential", "rate": 2.0},
    {"p": 1},
    {"p": 3},
    {"metric": "chebyshev"},
    {"metric": "sqeuclidean", "algorithm": "brute"},
]


def blocks(array, height=70):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_answers_are_those_in_memory_to_the_last_bit(settings):
    in_memory, model = KNeighborsClassifier(**settings).fit(X, LABELS), KNeighborsClassifier(**settings)
    model.fit(blocks(X), blocks(LABELS))
    for ours, theirs in zip(model.kneighbors(QUERIES), in_memory.kneighbors(QUERIES), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for name in ("predict", "predict_proba"):
        expected = getattr(in_memory, name)(QUERIES)
        np.testing.assert_array_equal(getattr(model, name)(QUERIES), expected)
        lazy = getattr(model, name)(blocks(QUERIES, height=40))
        assert isinstance(lazy, da.Array)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(lazy.compute(), expected)
    assert model.certificate_.holds
    assert isinstance(model._fit_X, StoredBlocks)
    assert model._y is None


@pytest.mark.parametrize("target", [NUMBERS, SEVERAL, (10 * NUMBERS).astype(int)], ids=["one", "several", "whole"])
def test_numbers_are_averaged_as_in_memory(target):
    settings = {"n_neighbors": 4, "weights": "distance"}
    in_memory, model = KNeighborsRegressor(**settings).fit(X, target), KNeighborsRegressor(**settings)
    model.fit(blocks(X), blocks(target))
    np.testing.assert_array_equal(model.predict(QUERIES), in_memory.predict(QUERIES))
    np.testing.assert_array_equal(model.predict(blocks(QUERIES, height=31)).compute(), in_memory.predict(QUERIES))
    np.testing.assert_allclose(model.score(blocks(X[:90]), blocks(target[:90])), in_memory.score(X[:90], target[:90]))
    assert pellucid.verify(model, blocks(X), blocks(target)).holds


def test_several_columns_of_labels_are_voted_on():
    labels = np.column_stack([LABELS == "few", LABELS == "none"]).astype(int)
    in_memory, model = KNeighborsClassifier().fit(X, labels), KNeighborsClassifier().fit(blocks(X), blocks(labels))
    np.testing.assert_array_equal(model.predict(blocks(QUERIES)).compute(), in_memory.predict(QUERIES))
    with pytest.raises(ValueError, match="y must have one column for a lazy predict_proba, got 2"):
        model.predict_proba(blocks(QUERIES))
    assert pellucid.verify(model, blocks(X), blocks(labels)).holds


def test_tables_words_and_scores():
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=LABELS)
    lazy = dd.from_pandas(frame, npartitions=4)
    model = KNeighborsClassifier().fit(lazy[list("abc")], lazy["label"])
    in_memory = KNeighborsClassifier().fit(frame[list("abc")], LABELS)
    np.testing.assert_array_equal(model.predict(lazy[list("abc")]).compute(), in_memory.predict(frame[list("abc")]))
    assert model.score(lazy[list("abc")], lazy["label"]) == in_memory.score(frame[list("abc")], LABELS)
    with pytest.raises(ValueError, match="must have the columns"):
        model.predict(lazy[list("cba")])
    assert pellucid.verify(model, lazy[list("abc")], lazy["label"]).holds


def test_blocks_are_cut_as_they_come_and_may_be_empty_or_shorter_than_k():
    rows = da.concatenate([blocks(X[:0]), blocks(X[:2]), blocks(X[2:])])
    model = KNeighborsClassifier(5).fit(rows, LABELS)
    in_memory = KNeighborsClassifier(5).fit(X, LABELS)
    np.testing.assert_array_equal(model.kneighbors(QUERIES)[1], in_memory.kneighbors(QUERIES)[1])
    assert pellucid.verify(model, blocks(X, height=99), blocks(LABELS)).holds
    assert pellucid.verify(model, X, LABELS).holds


def test_float32_rows_are_compared_as_in_memory():
    rows, queries = rng.normal(size=(300, 12)).astype(np.float32), rng.normal(size=(50, 12)).astype(np.float32)
    model = KNeighborsRegressor().fit(blocks(rows), blocks(NUMBERS[:300]))
    for ours, theirs in zip(
        model.kneighbors(queries), KNeighborsRegressor().fit(rows, NUMBERS[:300]).kneighbors(queries), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert pellucid.verify(model, blocks(rows), blocks(NUMBERS[:300])).holds


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_sizes_whose_squares_vanish_or_overflow_are_compared(scale):
    in_memory, model = (KNeighborsRegressor().fit(rows, NUMBERS) for rows in (scale * X, blocks(scale * X)))
    for ours, theirs in zip(model.kneighbors(scale * QUERIES), in_memory.kneighbors(scale * QUERIES), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert pellucid.verify(model, blocks(scale * X), NUMBERS).holds


def test_the_same_on_any_number_of_threads():
    model = KNeighborsClassifier().fit(blocks(X, height=37), blocks(LABELS, height=37))
    found = set()
    for setting in ({"num_workers": 1}, {"num_workers": 4}, {"scheduler": "synchronous"}):
        with dask.config.set(**{"scheduler": "threads", **setting}):
            found.add(model.kneighbors(QUERIES)[0].tobytes() + model.predict_proba(blocks(QUERIES)).compute().tobytes())
    assert len(found) == 1


def test_rows_that_are_not_held_are_not_saved(tmp_path):
    model = KNeighborsClassifier().fit(blocks(X), blocks(LABELS))
    with pytest.raises(TypeError, match="the model must hold its rows to be saved"):
        pickle.dumps(model)
    with pytest.raises(ValueError, match="the model must hold its rows to be saved"):
        pellucid.save(model, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())
    np.testing.assert_array_equal(copy.deepcopy(model).predict(QUERIES), model.predict(QUERIES))


def other_rows(model):
    moved = X.copy()
    moved[411, 1] += 0.1
    model._fit_X = KNeighborsClassifier().fit(blocks(moved), blocks(LABELS))._fit_X


def other_labels(model):
    labels = LABELS.copy()
    labels[[3, 500]] = labels[[500, 3]] if labels[3] != labels[500] else ["few", "none"]
    model._fit_X = KNeighborsClassifier().fit(blocks(X), blocks(labels))._fit_X


def swapped_rows(model):
    order = np.arange(N)
    order[[5, 6]] = 6, 5
    model._fit_X = KNeighborsClassifier().fit(blocks(X[order]), blocks(LABELS[order]))._fit_X


CHANGES = {
    "other rows": other_rows,
    "other labels": other_labels,
    "swapped rows": swapped_rows,
    "classes": lambda m: setattr(m, "classes_", m.classes_[::-1].copy()),
    "more classes": lambda m: setattr(m, "classes_", np.append(m.classes_, "zero")),
    "count": lambda m: setattr(m, "n_samples_fit_", N - 1),
    "metric": lambda m: setattr(m, "effective_metric_", "manhattan"),
    "starts": lambda m: setattr(
        m, "_fit_X", StoredBlocks(m._fit_X.blocks, (1, *m._fit_X.starts[1:]), m._fit_X.largest, m._fit_X.like)
    ),
    "tree": lambda m: setattr(m, "_fit_method", "kd_tree"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("in_memory", [False, True], ids=["blocks", "memory"])
def test_changed_models_are_noticed(change, in_memory):
    model = KNeighborsClassifier().fit(blocks(X), blocks(LABELS))
    CHANGES[change](model)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, *((X, LABELS) if in_memory else (blocks(X), blocks(LABELS)))).holds


def test_a_search_that_forgets_a_block_is_noticed(monkeypatch):
    from pellucid.neighbors import rows_in_blocks

    model, found = KNeighborsClassifier().fit(blocks(X), blocks(LABELS)), rows_in_blocks.nearest_in_block

    def forgetful(block, search, queries):
        near = found(block, search, queries)
        if block.number == 2:
            near.distances[...] = np.inf
        return near

    monkeypatch.setattr(rows_in_blocks, "nearest_in_block", forgetful)
    with pytest.warns(pellucid.UncertifiedWarning, match="neighbors is"):
        assert not pellucid.verify(model, blocks(X), blocks(LABELS), random_state=0).holds


@pytest.mark.parametrize(
    ("rows", "target", "settings", "sentence"),
    [
        (np.where(X[300, 1] == X, np.nan, X), LABELS, {}, "Input contains NaN or infinity, in row"),
        (X, NUMBERS, {}, "Unknown label type: continuous"),
        (X, LABELS, {"metric": "cosine"}, "For all rows take a Minkowski metric"),
        (X, LABELS, {"metric": "precomputed"}, "For all rows take a Minkowski metric"),
    ],
)
def test_what_is_wrong_is_said(rows, target, settings, sentence):
    model = KNeighborsClassifier(**settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(rows), blocks(target))
    assert not hasattr(model, "_fit_X")


def test_what_a_model_of_blocks_cannot_answer_is_said():
    model = KNeighborsClassifier().fit(blocks(X), blocks(LABELS))
    with pytest.raises(ValueError, match="X must be given to a model of rows in blocks"):
        model.predict(None)
    with pytest.raises(ValueError, match="n_neighbors must be at most 600"):
        model.kneighbors(QUERIES, n_neighbors=601)
