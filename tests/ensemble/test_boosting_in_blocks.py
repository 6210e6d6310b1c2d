"""Boosting on rows in Dask blocks: the trees of the fit in memory to the last bit, and a proof by its own pass."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.core.cards import card_of
from pellucid.core.scale import table_in_blocks
from pellucid.core.scale.table_in_blocks import TableInBlocks
from pellucid.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from pellucid.ensemble.hist_gradient_boosting import table_rules

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N, P, HEIGHT = 3000, 5, 700
rng = np.random.default_rng(0)
X = rng.normal(size=(N, P))
X[:, 4] = rng.integers(0, 7, N)
X[rng.random(X.shape) < 0.03] = np.nan
X[5, 0], X[900, 1] = np.inf, -np.inf
Y = np.nan_to_num(X[:, 2]) ** 2 + 2.0 * np.nan_to_num(X[:, 3]) + (X[:, 4] == 3) + rng.normal(size=N)
LABELS = np.array(["few", "many", "none"])[np.digitize(Y, [0.0, 2.0])]
WEIGHT = rng.integers(0, 3, N).astype(float)
SMALL = {"max_iter": 6, "random_state": 3}

FITS = [
    (HistGradientBoostingRegressor(**SMALL), Y, None),
    (HistGradientBoostingRegressor(**SMALL, categorical_features=[4], max_bins=30, max_features=0.5), Y, WEIGHT),
    (HistGradientBoostingRegressor(**SMALL, early_stopping=True, loss="absolute_error"), Y, None),
    (HistGradientBoostingRegressor(**SMALL, early_stopping=True, scoring="r2"), Y, WEIGHT),
    (HistGradientBoostingClassifier(**SMALL), LABELS, WEIGHT),
    (HistGradientBoostingClassifier(**SMALL, early_stopping=True, class_weight="balanced"), LABELS, None),
]


def blocks(array, height=HEIGHT, width=None):
    return da.from_array(array, chunks=(height, width or -1) if array.ndim == 2 else height)


def weights(weight, height=HEIGHT):
    return {} if weight is None else {"sample_weight": blocks(weight, height)}


def again(model):
    return type(model)(**model.get_params())


def assert_same_bits(one, other):
    for part in fields(one.trees_):
        np.testing.assert_array_equal(getattr(one.trees_, part.name), getattr(other.trees_, part.name), part.name)
    for name in ("baseline_", "train_score_", "validation_score_", "random_seeds_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for edges, twins in zip(one.bin_thresholds_, other.bin_thresholds_, strict=True):
        np.testing.assert_array_equal(edges, twins)
    assert (one.n_iter_, one.held_out_) == (other.n_iter_, other.held_out_)


@pytest.mark.parametrize(("model", "target", "weight"), FITS)
def test_the_fit_is_that_in_memory_to_the_last_bit_and_is_proved_by_a_pass(model, target, weight):
    own = {} if weight is None else {"sample_weight": weight}
    in_memory = again(model).fit(X, target, **own)
    in_blocks = again(model).fit(blocks(X, width=2), blocks(target), **weights(weight))
    assert_same_bits(in_memory, in_blocks)
    assert in_blocks.certificate_.holds
    at_fit = [[claim.value for claim in one.certificate_.claims] for one in (in_blocks, in_memory)]
    assert at_fit[0] == at_fit[1]
    proved = pellucid.verify(in_blocks, blocks(X, 999), blocks(target, 999), random_state=0, **weights(weight, 999))
    in_memory_too = pellucid.verify(in_memory, X, target, random_state=0, **own)
    assert proved.holds
    assert [claim.value for claim in proved.claims] == [claim.value for claim in in_memory_too.claims]
    np.testing.assert_array_equal(in_blocks.predict(blocks(X)).compute(), in_memory.predict(X))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
def test_edges_of_many_rows_come_from_the_same_sample(weight, monkeypatch):
    own, model = {} if weight is None else {"sample_weight": weight}, HistGradientBoostingRegressor(**SMALL)
    whole = again(model).fit(X, Y, **own)
    for module in ("pellucid.tree.bins", "pellucid.proofs.ensemble.boosting"):
        monkeypatch.setattr(f"{module}.MOST_SAMPLED", 500)
    in_memory = again(model).fit(X, Y, **own)
    in_blocks = again(model).fit(blocks(X), blocks(Y), **weights(weight))
    assert not np.array_equal(in_memory.bin_thresholds_[0], whole.bin_thresholds_[0])
    assert_same_bits(in_memory, in_blocks)
    assert pellucid.verify(in_blocks, blocks(X), blocks(Y), **weights(weight)).holds


def test_bits_are_the_same_on_any_number_of_threads():
    found = []
    for threads in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=threads):
            found.append(HistGradientBoostingRegressor(**SMALL).fit(blocks(X), blocks(Y)))
    for other in found[1:]:
        assert_same_bits(found[0], other)


def test_float32_and_whole_numbers_are_binned_as_in_memory():
    for dtype in (np.float32, np.int64):
        rows = np.nan_to_num(X, posinf=9.0, neginf=-9.0).astype(dtype)
        in_memory = HistGradientBoostingRegressor(**SMALL).fit(rows, Y)
        assert_same_bits(in_memory, HistGradientBoostingRegressor(**SMALL).fit(blocks(rows), blocks(Y)))


WORDS = pd.DataFrame(X[:, :3], columns=list("abc")).assign(
    word=pd.Categorical(np.array(["red", "green", "blue", None], dtype=object)[rng.integers(0, 4, N)]),
    number=pd.Categorical(rng.integers(3, 9, N)),
)


def test_words_of_data_frames_are_categories_as_in_memory():
    names = list(WORDS.columns)
    target = Y + 2.0 * (WORDS["word"] == "green").to_numpy() - (WORDS["number"] == 5).to_numpy()
    lazy = dd.from_pandas(WORDS.assign(y=target), npartitions=4)
    in_memory = HistGradientBoostingRegressor(**SMALL).fit(WORDS, target)
    in_blocks = HistGradientBoostingRegressor(**SMALL).fit(lazy[names], lazy["y"])
    assert_same_bits(in_memory, in_blocks)
    assert [None if one is None else one.tolist() for one in in_blocks.categories_] == [
        None, None, None, ["blue", "green", "red"], [3, 4, 5, 6, 7, 8],
    ]  # fmt: skip
    assert (in_blocks.trees_.category_row >= 0).any()
    assert pellucid.verify(in_blocks, lazy[names], lazy["y"]).holds
    np.testing.assert_array_equal(in_blocks.predict(lazy[names]).compute(), in_memory.predict(WORDS))


# what is changed is noticed


def with_trees(model, **parts):
    model.trees_ = replace(
        model.trees_, **{name: change(getattr(model.trees_, name)) for name, change in parts.items()}
    )


def nudged(values):
    return values * 1.001


CHANGES = {
    "values of leaves": lambda model: with_trees(model, value=nudged),
    "one value": lambda model: with_trees(
        model, value=lambda v: np.where(np.arange(len(v))[:, None, None] == 9, 7.0, v)
    ),
    "thresholds": lambda model: with_trees(model, threshold=lambda t: np.where(np.abs(t) < 1e300, t + 1e-3, t)),
    "thresholds of a million": lambda model: with_trees(model, threshold=lambda t: np.where(t == -2.0, t, 1e6)),
    "features": lambda model: with_trees(model, feature=lambda f: np.where(f >= 0, (f + 1) % P, f).astype(np.int32)),
    "counts": lambda model: with_trees(model, n_node_samples=lambda n: n + 1),
    "sides of missing values": lambda model: with_trees(model, missing_go_to_left=lambda m: (1 - m).astype(np.uint8)),
    "baseline": lambda model: setattr(model, "baseline_", model.baseline_ + 1e-3),
    "baseline of 1e200": lambda model: setattr(model, "baseline_", model.baseline_ + 1e200),
    "baseline of NaN": lambda model: setattr(model, "baseline_", model.baseline_ * np.nan),
    "an edge": lambda model: model.bin_thresholds_.__setitem__(1, nudged(model.bin_thresholds_[1])),
    "no edges": lambda model: model.bin_thresholds_.__setitem__(1, np.empty(0)),
    "edges backwards": lambda model: model.bin_thresholds_.__setitem__(1, model.bin_thresholds_[1][::-1].copy()),
    "scores": lambda model: setattr(model, "validation_score_", nudged(model.validation_score_)),
    "rounds": lambda model: setattr(model, "n_iter_", model.n_iter_ - 1),
    "other rows held out": lambda model: setattr(model, "random_seeds_", model.random_seeds_ + 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_model_is_noticed(change):
    model = HistGradientBoostingRegressor(**SMALL, early_stopping=True).fit(blocks(X), blocks(Y))
    CHANGES[change](model)
    with pytest.warns(pellucid.UncertifiedWarning):
        certificate = pellucid.verify(model, blocks(X), blocks(Y))
    assert not certificate.holds
    assert "not the training data" not in certificate.reason


@pytest.mark.parametrize("change", ["values of leaves", "thresholds", "features", "counts", "sides of missing values"])
@pytest.mark.parametrize("of_missing", [False, True], ids=["all there", "some missing"])
def test_the_proof_at_the_fit_notices_a_changed_tree(change, of_missing):
    rows = blocks(X if of_missing else np.nan_to_num(X, posinf=9.0, neginf=-9.0))
    model = HistGradientBoostingRegressor(**SMALL).fit(rows, blocks(Y))
    card = card_of(type(model))
    data = card.rules_for(model).check(model, rows, blocks(Y), reset=False)
    assert card.proof_of(model, data).holds  # as at the fit: not inside of verify
    CHANGES[change](model)
    assert not card.proof_of(model, data).holds


def test_the_proof_at_the_fit_searches_the_split_of_a_node_again():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(400, 3))
    target = np.where(rows[:, 0] > 0.0, 1.0, -1.0) + 0.01 * rng.normal(size=400)
    model = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2).fit(blocks(rows, 90), blocks(target, 90))
    other = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2).fit(rows[:, [1, 2]], target)
    card, trees = card_of(type(model)), other.trees_  # the best of the other columns is a right tree, but no best one
    model.trees_ = replace(trees, feature=np.where(trees.feature >= 0, trees.feature + 1, trees.feature))
    data = card.rules_for(model).check(model, blocks(rows, 90), blocks(target, 90), reset=False)
    assert [claim.name for claim in card.proof_of(model, data).failed] == ["splits"]


@pytest.mark.parametrize("what", ["a value", "a target", "a weight"])
def test_other_data_are_noticed(what):
    model = HistGradientBoostingRegressor(**SMALL).fit(blocks(X), blocks(Y), sample_weight=blocks(WEIGHT + 1.0))
    rows, target, weight = X.copy(), Y.copy(), WEIGHT + 1.0
    {"a value": rows[:, 2], "a target": target, "a weight": weight}[what][17:40] += 3.0
    with pytest.warns(pellucid.UncertifiedWarning, match="not the training data"):
        assert not pellucid.verify(model, blocks(rows), blocks(target), sample_weight=blocks(weight)).holds


# rows picked by number


def test_rows_picked_twice_and_in_any_order_are_read():
    table = TableInBlocks(table_rules.row_blocks(blocks(X), None), (700, 700, 700, 700, 200))
    places = np.array([2999, 3, 701, 3, 699, 1400])
    np.testing.assert_array_equal(table[places].read(), X[places])
    np.testing.assert_array_equal(table[places][np.array([5, 0])].read(), X[[1400, 2999]])
    np.testing.assert_array_equal(table.read(), X)


# what is wrong is named


@pytest.mark.parametrize(
    ("model", "given", "sentence"),
    [
        (HistGradientBoostingRegressor(), {"y": None}, "y must be given"),
        (HistGradientBoostingRegressor(), {"y": blocks(np.where(Y > 3, np.nan, Y))}, "NaN"),
        (HistGradientBoostingRegressor(), {"y": blocks(Y[:99])}, "y must have an entry for each row"),
        (HistGradientBoostingRegressor(), {"sample_weight": blocks(-WEIGHT)}, "sample_weight must be at least 0"),
        (HistGradientBoostingRegressor(), {"X": blocks(X[:0]), "y": blocks(Y[:0])}, "must have rows"),
        (HistGradientBoostingRegressor(scoring=lambda *_: 0.0), {}, "scoring must be a name"),
        (HistGradientBoostingRegressor(), {"X_val": blocks(X), "y_val": Y}, "X_val must be in memory"),
        (HistGradientBoostingRegressor(categorical_features=[0]), {}, "cardinality <= 255"),
        (HistGradientBoostingClassifier(), {}, "Unknown label type"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_looks_fitted(model, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(**{"X": blocks(X), "y": blocks(Y), **given})
    assert not [name for name in vars(model) if name.endswith("_")]


def test_words_in_a_column_that_is_no_category_are_refused():
    lazy = dd.from_pandas(WORDS.astype({"word": object}).assign(y=Y), npartitions=2)
    with pytest.raises(ValueError, match="word"):
        HistGradientBoostingRegressor().fit(lazy[["a", "word"]], lazy["y"])


def test_further_rounds_of_a_fit_are_refused():
    model = HistGradientBoostingRegressor(**SMALL, warm_start=True).fit(blocks(X), blocks(Y))
    with pytest.raises(ValueError, match="warm_start must be False for rows in blocks"):
        model.fit(blocks(X), blocks(Y))


def test_bins_that_do_not_fit_are_refused_with_their_size(monkeypatch):
    monkeypatch.setattr(table_in_blocks, "memory_left", lambda: 1e5)
    with pytest.raises(ValueError, match=r"must fit into the memory here, got 0.00019 GB of them and room for 0.0001"):
        HistGradientBoostingRegressor().fit(blocks(X), blocks(Y))
