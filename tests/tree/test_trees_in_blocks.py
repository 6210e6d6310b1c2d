"""Trees and forests on rows in Dask blocks: those of the fit in memory where values are few, and a proof by passes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.core.scale import mapped_rows, table_in_blocks
from pellucid.core.scale.table_in_blocks import TableInBlocks
from pellucid.ensemble import RandomForestClassifier, RandomForestRegressor
from pellucid.proofs.tree import decision_tree, tree_bins
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree.decision_tree import rows_in_bins

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N, P, HEIGHT = 3000, 5, 700
rng = np.random.default_rng(0)
MANY = rng.normal(size=(N, P))
MANY[:, 4] = rng.integers(0, 7, N)
MANY[rng.random(MANY.shape) < 0.03] = np.nan
FEW = MANY.round(1)
Y = np.nan_to_num(FEW[:, 2]) ** 2 + 2.0 * np.nan_to_num(FEW[:, 3]) + (FEW[:, 4] == 3) + rng.normal(size=N)
LABELS = np.array(["few", "many", "none"])[np.digitize(Y, [0.0, 2.0])]
WEIGHT = rng.integers(0, 3, N).astype(float)

FITS = [
    (DecisionTreeRegressor(), Y, None),
    (DecisionTreeRegressor(max_features=2, random_state=0, min_samples_leaf=5), Y, WEIGHT),
    (DecisionTreeRegressor(criterion="poisson", ccp_alpha=0.01), np.exp(Y / 4.0), None),
    (DecisionTreeRegressor(max_depth=6, monotonic_cst=[0, 0, 0, 1, 0]), Y, None),
    (DecisionTreeRegressor(max_depth=6), np.column_stack([Y, -2.0 * Y]), WEIGHT),
    (DecisionTreeClassifier(max_leaf_nodes=20), LABELS, None),
    (DecisionTreeClassifier(criterion="gain_ratio", max_depth=5), LABELS, WEIGHT),
    (DecisionTreeClassifier(criterion="entropy", class_weight="balanced"), LABELS, WEIGHT),
    (DecisionTreeClassifier(class_weight={"few": 0.0}, max_depth=4), LABELS, None),
    (RandomForestClassifier(8, random_state=0), LABELS, None),
    (RandomForestClassifier(4, random_state=0, class_weight="balanced_subsample", max_depth=4), LABELS, WEIGHT),
    (RandomForestRegressor(4, random_state=0, min_samples_leaf=3), Y, WEIGHT),
    (RandomForestRegressor(4, random_state=0, bootstrap=False, max_features=2), Y, None),
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
    for name in ("seeds_", "sample_order_", "draw_weight_", "classes_", "n_outputs_"):
        np.testing.assert_array_equal(getattr(one, name, 0), getattr(other, name, 0), name)


# by hand


def test_thresholds_lie_between_the_values_of_two_bins(monkeypatch):
    for module in (rows_in_bins, tree_bins, decision_tree):
        monkeypatch.setattr(module, "MOST_BINS", 2)
    x, y = np.array([0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0]), np.array([0.0, 0.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0])
    model = DecisionTreeRegressor().fit(blocks(x[:, None], 3), blocks(y, 3))
    # half of the rows stand in each bin: 0..3 with the mean 2, and 5..8; in memory the first split is at 1.5
    assert model.trees_.threshold.tolist() == [4.0, -2.0, -2.0]
    assert model.trees_.value.ravel().tolist() == [3.0, 2.0, 4.0]
    assert pellucid.verify(model, blocks(x[:, None]), blocks(y)).holds


def test_bins_of_a_few_rows_and_their_ends():
    rows = np.array([[1.0], [2.0], [2.5], [9.0], [np.nan], [-3.0]])
    bins, (lowest, highest) = rows_in_bins.bins_of_rows(rows, [np.array([1.0, 2.0, 4.0])])
    assert bins.tolist() == [[0, 1, 2, 3, 255, 0]]
    assert lowest[0, :5].tolist() == [-3.0, 2.0, 2.5, 9.0, np.inf]
    assert (-highest[0, :5]).tolist() == [1.0, 2.0, 2.5, 9.0, -np.inf]


# what holds for all


@pytest.mark.parametrize(("model", "target", "weight"), FITS)
def test_few_values_give_the_trees_of_memory_to_the_last_bit_and_a_proof_by_passes(model, target, weight):
    own = {} if weight is None else {"sample_weight": weight}
    in_memory = again(model).fit(FEW, target, **own)
    in_blocks = again(model).fit(blocks(FEW, width=2), blocks(target), **weights(weight))
    assert_same_bits(in_memory, in_blocks)
    assert in_blocks.certificate_.holds
    proved = pellucid.verify(in_blocks, blocks(FEW, 999), blocks(target, 999), random_state=0, **weights(weight, 999))
    assert proved.holds
    np.testing.assert_array_equal(in_blocks.predict(blocks(FEW)).compute(), in_memory.predict(FEW))
    assert pellucid.verify(in_blocks, FEW, target, **own).claims[-1].holds  # in memory, by the other way to read it


@pytest.mark.parametrize("change", [(1.0, 0.0), (1e-150, 0.0), (1e140, 0.0), (1.0, 1e8)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weight", [None, WEIGHT, WEIGHT / 3.0 + 0.1], ids=["equal", "whole", "parts"])
def test_many_values_are_proved_whatever_their_unit(change, dtype, weight):
    with np.errstate(over="ignore"):
        rows = (change[0] * MANY + change[1]).astype(dtype)
    rows[np.isinf(rows)] = 0.0
    for model, target in ((DecisionTreeRegressor(max_depth=7), Y), (DecisionTreeClassifier(max_depth=7), LABELS)):
        found = model.fit(blocks(rows), blocks(target), **weights(weight))
        certificate = pellucid.verify(found, blocks(rows, 999), blocks(target, 999), **weights(weight, 999))
        assert certificate.holds, certificate
        assert "at most 255 bins a column" in certificate.claims[-1].statement
        lazy = found.predict(blocks(rows)).compute()
        np.testing.assert_array_equal(found.predict(rows), lazy)
        leaf = found.apply(rows)  # the rows go where their bins went
        counted = np.bincount(leaf, minlength=found.trees_.n_nodes)[found.trees_.is_leaf]
        if weight is None:
            np.testing.assert_array_equal(counted, found.trees_.n_node_samples[found.trees_.is_leaf])


@pytest.mark.parametrize("weight", [None, WEIGHT, WEIGHT / 3.0 + 0.1], ids=["equal", "whole", "parts"])
def test_edges_of_many_rows_come_from_some_of_them(weight, monkeypatch):
    whole = DecisionTreeRegressor().fit(blocks(MANY), blocks(Y), **weights(weight))
    for module in ("pellucid.tree.bins", "pellucid.proofs.tree.tree_bins"):
        monkeypatch.setattr(f"{module}.MOST_SAMPLED", 500)
    model = DecisionTreeRegressor().fit(blocks(MANY), blocks(Y), **weights(weight))
    assert not np.array_equal(model.trees_.threshold[:9], whole.trees_.threshold[:9])
    assert pellucid.verify(model, blocks(MANY), blocks(Y), **weights(weight)).holds


def test_a_value_that_the_sample_misses_has_its_bin_where_values_are_few(monkeypatch):
    for module in ("pellucid.tree.bins", "pellucid.proofs.tree.tree_bins"):
        monkeypatch.setattr(f"{module}.MOST_SAMPLED", 40)
    assert_same_bits(DecisionTreeRegressor().fit(FEW, Y), DecisionTreeRegressor().fit(blocks(FEW), blocks(Y)))


def test_many_values_lose_little_beside_the_fit_in_memory():
    ours = DecisionTreeRegressor(max_depth=6).fit(blocks(MANY), blocks(Y)).score(MANY, Y)
    assert ours > DecisionTreeRegressor(max_depth=6).fit(MANY, Y).score(MANY, Y) - 0.01


@pytest.mark.parametrize("model", [DecisionTreeRegressor(), RandomForestRegressor(3, random_state=0)])
def test_bits_are_the_same_on_any_number_of_threads(model):
    found = []
    for threads in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=threads):
            found.append(again(model).fit(blocks(MANY), blocks(Y)))
    for other in found[1:]:
        assert_same_bits(found[0], other)


def test_large_nodes_are_grown_in_parts_with_the_same_bits(monkeypatch):
    monkeypatch.setattr("pellucid.tree.decision_tree.decision_tree_solvers.WORTH_PARTING", 1)
    monkeypatch.setattr("pellucid.tree.decision_tree.decision_tree_solvers.FEWEST", 64)
    parted = DecisionTreeRegressor().fit(blocks(FEW), blocks(Y))
    monkeypatch.undo()
    assert_same_bits(DecisionTreeRegressor().fit(blocks(FEW), blocks(Y)), parted)


def test_data_frames_and_whole_numbers_are_taken():
    names = list("abcde")
    frame = pd.DataFrame(np.abs(np.nan_to_num(10.0 * FEW)).astype(np.uint8), columns=names).assign(y=LABELS)
    lazy = dd.from_pandas(frame, npartitions=4)
    model = DecisionTreeClassifier().fit(lazy[names], lazy["y"])
    assert_same_bits(DecisionTreeClassifier().fit(frame[names], frame["y"]), model)
    assert pellucid.verify(model, lazy[names], lazy["y"]).holds
    assert model.score(lazy[names], lazy["y"]) == model.score(frame[names], frame["y"])


def test_a_memmap_too_large_for_memory_is_read_in_blocks(tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", FEW)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    monkeypatch.setattr(mapped_rows, "memory_left", lambda: 3.0 * FEW.nbytes)
    monkeypatch.setattr(mapped_rows, "BLOCK_BYTES", 10_000)
    read = []
    monkeypatch.setattr(mapped_rows, "in_blocks", lambda rows: read.append(1) or blocks(np.asarray(rows)))
    model = RandomForestClassifier(3, random_state=0).fit(mapped, LABELS)
    assert read
    assert_same_bits(RandomForestClassifier(3, random_state=0).fit(FEW, LABELS), model)


def test_a_proof_reads_no_more_floats_than_the_sampled_rows(monkeypatch):
    model = RandomForestRegressor(3, random_state=0).fit(blocks(MANY), blocks(Y))
    for module in ("pellucid.tree.bins", "pellucid.proofs.tree.tree_bins"):
        monkeypatch.setattr(f"{module}.MOST_SAMPLED", 100)
    model, brought = RandomForestRegressor(3, random_state=0).fit(blocks(MANY), blocks(Y)), []
    each = TableInBlocks.each

    def watched(table, work, *given, **options):
        for rows, part in each(table, work, *given, **options):
            brought.append(sum(one.nbytes for one in (part if isinstance(part, (tuple, list)) else (part,))))
            yield rows, part

    monkeypatch.setattr(TableInBlocks, "each", watched)
    assert pellucid.verify(model, blocks(MANY), blocks(Y)).holds
    ends = 5 * 2 * P * 255 * 8 + 5 * P * 256 * 8
    assert sum(brought) <= N * P * 2 + N * 8 + 100 * P * 8 + ends


# what is changed is noticed


def with_trees(model, **parts):
    model.trees_ = replace(
        model.trees_, **{name: change(getattr(model.trees_, name)) for name, change in parts.items()}
    )


def at_node(node, change):
    def changed(values):
        values = values.copy()
        values[node] = change(values[node])
        return values

    return changed


def swapped_children(model):
    left, right = model.trees_.children_left, model.trees_.children_right
    with_trees(
        model,
        children_left=at_node(0, lambda _: right[0]),
        children_right=at_node(0, lambda _: left[0]),
    )


CHANGES = {
    "a threshold": lambda model: with_trees(model, threshold=at_node(0, lambda t: t + 1e-9)),
    "a threshold within a bin": lambda model: with_trees(model, threshold=at_node(0, lambda t: t - 0.006)),
    "a threshold beyond": lambda model: with_trees(model, threshold=at_node(0, lambda _: 1e6)),
    "another edge": lambda model: with_trees(model, threshold=at_node(0, lambda t: t + 0.5)),
    "the value of a leaf": lambda model: with_trees(model, value=at_node(-1, lambda v: v * (1.0 + 1e-9))),
    "a column": lambda model: with_trees(model, feature=at_node(0, lambda j: (j + 1) % P)),
    "children": swapped_children,
    "counts": lambda model: with_trees(model, n_node_samples=lambda n: n + 1),
    "sides of missing values": lambda model: with_trees(model, missing_go_to_left=at_node(0, lambda m: 1 - m)),
    "an impurity": lambda model: with_trees(model, impurity=at_node(1, lambda v: v * 1.001)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("model", [DecisionTreeRegressor(max_depth=5), RandomForestRegressor(1, random_state=0)])
def test_a_changed_tree_is_noticed(model, change):
    model = again(model).fit(blocks(MANY), blocks(Y))
    CHANGES[change](model)
    with pytest.warns(pellucid.UncertifiedWarning):
        certificate = pellucid.verify(model, blocks(MANY), blocks(Y))
    assert not certificate.holds
    assert "not the training data" not in certificate.reason


def test_a_split_that_is_not_the_best_of_all_bins_is_noticed():
    model = DecisionTreeRegressor(max_depth=1).fit(blocks(MANY), blocks(Y))
    worse = DecisionTreeRegressor(max_depth=1).fit(blocks(MANY[:, :3]), blocks(Y))
    model.trees_ = worse.trees_  # right in all it says, but for column 3
    with pytest.warns(pellucid.UncertifiedWarning, match="there is a better split"):
        assert not pellucid.verify(model, blocks(MANY), blocks(Y)).holds


def test_another_order_of_rows_of_a_forest_is_noticed():
    model = RandomForestRegressor(2, random_state=0).fit(blocks(MANY), blocks(Y))
    model.sample_order_ = model.sample_order_[::-1].copy()
    with pytest.warns(pellucid.UncertifiedWarning):
        assert "seeds" in [claim.name for claim in pellucid.verify(model, blocks(MANY), blocks(Y)).failed]


@pytest.mark.parametrize("what", ["a value", "a target", "a weight"])
def test_other_data_are_noticed(what):
    model = DecisionTreeRegressor().fit(blocks(MANY), blocks(Y), **weights(WEIGHT + 1.0))
    rows, target, weight = MANY.copy(), Y.copy(), WEIGHT + 1.0
    {"a value": rows[:, 2], "a target": target, "a weight": weight}[what][17:40] += 3.0
    with pytest.warns(pellucid.UncertifiedWarning, match="not the training data"):
        assert not pellucid.verify(model, blocks(rows), blocks(target), **weights(weight)).holds


# what is wrong is named


@pytest.mark.parametrize(
    ("model", "given", "sentence"),
    [
        (DecisionTreeRegressor(), {"y": None}, "y must be given"),
        (DecisionTreeRegressor(), {"y": blocks(np.where(Y > 3, np.nan, Y))}, "NaN"),
        (DecisionTreeRegressor(), {"y": blocks(Y[:99])}, "y must have an entry for each row"),
        (DecisionTreeRegressor(), {"sample_weight": blocks(-WEIGHT)}, "sample_weight must be at least 0"),
        (DecisionTreeRegressor(), {"X": blocks(MANY[:0]), "y": blocks(Y[:0])}, "must have rows"),
        (DecisionTreeRegressor(), {"X": blocks(np.where(MANY > 3.4, np.inf, MANY))}, "got infinity in block"),
        (DecisionTreeRegressor(), {"X": blocks(MANY * np.nan)}, "contains only NaN"),
        (DecisionTreeRegressor(criterion="poisson"), {}, "y must be at least 0"),
        (DecisionTreeRegressor(criterion="absolute_error"), {}, "take another criterion than 'absolute_error'"),
        (DecisionTreeRegressor(splitter="random"), {}, "leave splitter at 'best'"),
        (DecisionTreeClassifier(categorical_features=[4]), {}, "categorical_features at None"),
        (RandomForestRegressor(criterion="absolute_error"), {}, "take another criterion than 'absolute_error'"),
        (RandomForestClassifier(oob_score=True), {}, "leave oob_score and warm_start at False"),
        (RandomForestClassifier(warm_start=True), {}, "leave oob_score and warm_start at False"),
        (DecisionTreeClassifier(), {}, "Unknown label type"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_looks_fitted(model, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(**{"X": blocks(MANY), "y": blocks(Y), **given})
    assert not [name for name in vars(model) if name.endswith("_")]


def test_bins_that_do_not_fit_are_refused_with_their_size(monkeypatch):
    monkeypatch.setattr(table_in_blocks, "memory_left", lambda: 1e5)
    with pytest.raises(ValueError, match=r"must fit into the memory here, got 0.00039 GB of them and room for 0.0001"):
        DecisionTreeRegressor().fit(blocks(MANY), blocks(Y))


LIMITED = """
    import resource, warnings
    import dask, dask.array as da, numpy as np
    import pellucid
    from pellucid.tree import DecisionTreeRegressor

    def rows(n):
        def part(start):
            return np.random.default_rng(start).integers(0, 200, (5_000, 150)).astype(float)
        X = da.concatenate([da.from_delayed(dask.delayed(part)(k), (5_000, 150), float) for k in range(n // 5_000)])
        return X, (X[:, 7] > 100.0) + 1e-3 * X[:, 50]

    def fitted(n):
        X, y = rows(n)
        model = DecisionTreeRegressor(max_depth=1).fit(X, y)
        assert pellucid.verify(model, X, y).holds
        return model

    with dask.config.set(scheduler="threads", num_workers=2):
        fitted(20_000)
        used = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (used + 220_000_000, used + 220_000_000))
        print("split by", fitted(200_000).trees_.feature[0])
    try:
        rows(200_000)[0].compute()
    except MemoryError:
        print("too large to hold")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
def test_a_tree_is_grown_and_proved_on_rows_that_do_not_fit_into_memory(tmp_path):
    (tmp_path / "limited.py").write_text(textwrap.dedent(LIMITED))
    done = subprocess.run(
        [sys.executable, "limited.py"], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert "split by 7" in done.stdout, done.stderr[-2000:]
    assert "too large to hold" in done.stdout


@pytest.mark.parametrize(
    "edges",
    [
        np.empty(0),
        np.array([1.5]),
        np.array([-np.finfo(float).max, 0.0, np.finfo(float).max]),
        np.arange(200) * 5e-324,
        1e300 + 1e285 * np.arange(100),
        np.linspace(-1.0, 1.0, 254),
        np.sort(np.random.default_rng(0).normal(size=254)),
        np.sort(np.random.default_rng(0).standard_cauchy(254)),
        np.sort(np.concatenate([np.linspace(0.0, 1e-9, 250), [1e9]])),
    ],
    ids=["none", "one", "largest", "least", "far", "even", "normal", "heavy", "crowded"],
)
def test_values_are_looked_up_where_searching_would_find_them(edges):
    with np.errstate(over="ignore"):
        beside = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)])
    values = np.concatenate([beside, np.random.default_rng(1).normal(size=500), [np.inf, -np.inf, 0.0, -0.0, np.nan]])
    found = tree_bins.edges_below(edges, values)
    np.testing.assert_array_equal(found[:-1], np.searchsorted(edges, values[:-1]))
