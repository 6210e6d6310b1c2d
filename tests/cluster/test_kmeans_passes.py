"""k-means over rows in blocks: by hand, as in memory, and attacked."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import pellucid
from pellucid.cluster import KMeans
from pellucid.cluster.kmeans.kmeans_passes import KeptRows
from pellucid.core.scale import first_look
from pellucid.core.scale.row_blocks import RowBlocks
from pellucid.proofs.training_data import TrainingData

da = pytest.importorskip("dask.array", reason="the extra 'scale' is not installed")

rng = np.random.default_rng(3)
MIDDLES = 6.0 * rng.normal(size=(8, 4))
X = MIDDLES[rng.integers(8, size=3000)] + rng.normal(size=(3000, 4))


def blocks(array, height=400):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


def test_two_pairs_by_hand():
    rows = np.array([[0.0], [1.0], [8.0], [9.0]])
    model = KMeans(2, init=[[0.0], [1.0]]).fit(blocks(rows, height=1))
    np.testing.assert_array_equal(model.cluster_centers_.ravel(), [0.5, 8.5])
    assert model.inertia_ == 1.0
    assert not hasattr(model, "labels_")
    assert model.predict(blocks(rows)).compute().tolist() == [0, 0, 1, 1]
    assert KMeans(2, init=[[0.0], [1.0]]).fit_predict(blocks(rows)).compute().tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("n_init", [1, 3])
def test_drawn_starts_end_in_proved_fixed_points_as_good_as_in_memory(init, n_init):
    in_memory = KMeans(8, random_state=0, n_init=10).fit(X)
    model = KMeans(8, init=init, n_init=n_init, random_state=0).fit(blocks(X))
    assert model.certificate_.holds
    assert pellucid.verify(model, blocks(X)).holds
    if init == "k-means++":
        np.testing.assert_allclose(model.inertia_, in_memory.inertia_, rtol=1e-6)


@pytest.fixture
def passes(monkeypatch):
    made, reduce = [], RowBlocks.reduce

    def counted(self, work, *given):
        made.append(work.__name__)
        return reduce(self, work, *given)

    monkeypatch.setattr(RowBlocks, "reduce", counted)
    return made


def test_rounds_over_the_rows_kept_save_passes(passes, monkeypatch):
    own = np.random.default_rng(5)
    near = 0.2 * MIDDLES[own.integers(8, size=6000)] + own.normal(size=(6000, 4))
    monkeypatch.setattr(first_look, "MOST_ROWS", 3000)
    model = KMeans(8, random_state=0).fit(blocks(near))
    assert passes[0] == "look_at_block"
    assert set(passes[1:]) == {"cluster_block"}  # the last of them is the certificate's
    monkeypatch.setattr(KeptRows, "settled", lambda _, _centers, means, _goal: means)
    step_by_step = KMeans(8, random_state=0).fit(blocks(near))
    assert 2 * model.n_iter_ <= step_by_step.n_iter_
    assert model.certificate_.holds
    assert pellucid.verify(model, blocks(near)).holds
    assert model.inertia_ < 1.001 * step_by_step.inertia_
    assert np.all(np.diff(model.trace_["objective"]) <= 0.0)


def test_rounds_that_run_out_are_told_without_a_pass_of_the_proof(passes):
    with pytest.warns(pellucid.UncertifiedWarning, match="Raise max_iter"):
        model = KMeans(8, init=X[:8], max_iter=2, tol=1e-9).fit(blocks(X))
    assert not model.certificate_.holds
    assert passes == ["look_at_block", *3 * ["cluster_block"]]
    with pytest.warns(pellucid.UncertifiedWarning):
        moved = pellucid.verify(model, blocks(X)).claims[0].value
    assert model.certificate_.claims[0].value == pytest.approx(moved, rel=1e-9)


def test_the_rows_kept_lead_to_the_fixed_point_of_all_rows():
    kept = KeptRows(TrainingData(X[::3], weight=np.full(1000, 3.0)))
    best = KMeans(8, init=MIDDLES, tol=0.0).fit(X).cluster_centers_
    start = KMeans(8, init=MIDDLES, tol=0.0).fit(X[::3]).cluster_centers_
    means = np.stack([X[((X[:, None] - start) ** 2).sum(axis=2).argmin(axis=1) == k].mean(axis=0) for k in range(8)])
    settled = kept.settled(start, means, 1e-9)
    assert np.abs(settled - best).max() < 0.1 * np.abs(start - best).max()
    np.testing.assert_allclose(KeptRows(TrainingData(X)).settled(start, means, 1e-12), best, atol=1e-9)


def test_steps_that_lead_too_far_are_taken_back(monkeypatch, passes):
    monkeypatch.setattr(KeptRows, "settled", lambda _, centers, means, _goal: 2.0 * means - centers + 1.0)
    monkeypatch.setattr(first_look, "MOST_ROWS", 500)
    model = KMeans(8, random_state=0).fit(blocks(X))
    assert np.all(np.diff(model.trace_["objective"]) <= 0.0)
    assert pellucid.verify(model, blocks(X)).holds
    few = KMeans(8, random_state=0, max_iter=1, tol=0.0).fit(blocks(X))
    assert few.inertia_ == pytest.approx(-few.score(X), rel=1e-12)


def test_far_rows_that_were_not_kept_are_found_by_more_passes(monkeypatch, passes):
    monkeypatch.setattr(first_look, "MOST_ROWS", 100)
    rows = np.concatenate(
        [rng.normal(size=(3001, 2)), [[1e4, 0.0]], rng.normal(size=(3001, 2)), [[0.0, 1e4]], X[:2, :2]]
    )
    model = KMeans(3, random_state=0).fit(blocks(rows, height=6006))
    assert "draw_block" in passes
    assert {tuple(center) for center in model.cluster_centers_.round(9).tolist()} > {(1e4, 0.0), (0.0, 1e4)}


def test_a_seed_draws_the_same_start_again():
    one, two, other = (KMeans(8, random_state=seed, max_iter=1, tol=1e9).fit(blocks(X)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert (one.cluster_centers_ != other.cluster_centers_).any()


def test_a_few_far_rows_become_candidates():
    rows = np.concatenate([rng.normal(size=(5000, 2)), [[1e4, 0.0]], [[0.0, 1e4]]])
    model = KMeans(3, random_state=0).fit(blocks(rows))
    assert {tuple(center) for center in model.cluster_centers_.round(9).tolist()} > {(1e4, 0.0), (0.0, 1e4)}


def test_a_cluster_that_loses_its_rows_gets_the_farthest_as_in_memory():
    start = np.concatenate([X[:3], [[500.0] * 4, [-500.0] * 4]])
    in_memory, in_blocks = (KMeans(5, init=start).fit(rows) for rows in (X, blocks(X)))
    np.testing.assert_allclose(in_blocks.cluster_centers_, in_memory.cluster_centers_, rtol=1e-12, atol=1e-12)
    assert in_blocks.n_iter_ == in_memory.n_iter_


def test_the_farthest_row_stays_where_it_is_alone():
    # 100 is farthest from its center, 90, but alone there: 0.25 goes to the empty cluster
    model = KMeans(3, init=[[0.0], [90.0], [-500.0]]).fit(blocks(np.array([[0.0], [0.25], [100.0]]), height=2))
    np.testing.assert_array_equal(model.cluster_centers_.ravel(), [0.0, 100.0, 0.25])


@pytest.mark.parametrize("init", ["k-means++", "random", [[0.0], [1.0], [7.0]]], ids=str)
def test_fewer_different_rows_than_clusters_are_warned_of(init):
    rows = np.array([[0.0], [1.0]] * 6)
    with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters"):
        model = KMeans(3, init=init, random_state=0).fit(blocks(rows, height=5))
    assert model.inertia_ == 0.0
    assert model.certificate_.holds
    model.cluster_centers_ = np.where(model.cluster_centers_ < 0.5, 0.0, model.cluster_centers_ + 0.25)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(rows)).holds


def test_rows_on_a_grid_lie_as_near_to_two_centers_and_no_proof_minds():
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(9.0)), axis=-1).reshape(-1, 2) * 0.1
    for seed in range(6):
        model = KMeans(5, random_state=seed, tol=0.0).fit(blocks(grid, height=17))
        assert model.certificate_.holds
        assert pellucid.verify(KMeans(5, random_state=seed, tol=0.0).fit(grid), blocks(grid, height=17)).holds


@pytest.mark.parametrize("scale", [1e-120, 1e-3, 1e100])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_units_and_offsets_cry_no_wolf(scale, shift):
    rows = (X + shift) * scale
    model = KMeans(8, random_state=1).fit(blocks(rows))
    assert model.certificate_.holds
    in_memory = KMeans(8, init=X[:8] * scale + shift * scale).fit(rows.astype(np.float64))
    assert pellucid.verify(in_memory, blocks(rows)).holds


def test_float32_rows_need_no_copies_in_float64():
    model = KMeans(8, random_state=1).fit(blocks(X.astype(np.float32)))
    assert model.cluster_centers_.dtype == np.float64
    assert model.certificate_.holds
    assert pellucid.verify(KMeans(8, random_state=1).fit(X.astype(np.float32)), blocks(X.astype(np.float32))).holds


CHANGES = {
    "a little": lambda value: value * 1.001,
    "sign": lambda value: -value,
    "nan": lambda value: value * np.nan,
    "huge": lambda value: value + 1e200,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["cluster_centers_", "inertia_"])
def test_a_changed_model_is_noticed(name, change):
    model = KMeans(8, random_state=0).fit(blocks(X))
    setattr(model, name, CHANGES[change](getattr(model, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(X)).holds


def test_one_center_moved_or_repeated_and_one_row_of_another_table_are_noticed():
    model = KMeans(8, random_state=0).fit(blocks(X))
    right = model.cluster_centers_
    for place, value in (((3, 1), right[3, 1] + 0.05), (3, right[4])):
        model.cluster_centers_ = right.copy()
        model.cluster_centers_[place] = value
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(model, blocks(X)).holds
    model.cluster_centers_ = right
    other = X.copy()
    other[17, 2] += 30.0
    with pytest.warns(pellucid.UncertifiedWarning, match="not the training data"):
        assert not pellucid.verify(model, blocks(other)).holds


def test_labels_of_a_fit_in_memory_are_checked_block_by_block():
    model = KMeans(8, random_state=0).fit(X)
    assert pellucid.verify(model, blocks(X, height=999)).holds
    model.labels_ = np.where(np.arange(3000) == 2345, (model.labels_ + 1) % 8, model.labels_).astype(np.int32)
    with pytest.warns(pellucid.UncertifiedWarning, match="assignment is 1"):
        assert not pellucid.verify(model, blocks(X, height=999)).holds


def test_a_model_of_blocks_is_saved_and_read(tmp_path):
    model = KMeans(8, random_state=0).fit(blocks(X))
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert pellucid.verify(again, blocks(X)).holds
    assert pellucid.verify(again, X).holds


@pytest.mark.parametrize(
    ("settings", "rows", "sentence"),
    [
        ({"init": "k-log-k"}, X, "'random' or given centers for rows in blocks, got 'k-log-k'"),
        ({"init": X[:3]}, X, "init must be finite numbers of shape"),
        ({}, X[:5], "n_samples must be at least n_clusters, got n_samples=5"),
        ({}, np.where(X[1500] == X, np.nan, X), "NaN or infinity, in row 300 of block 3"),
        ({"tol": -1.0}, X, "tol must be"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_and_nothing_looks_fitted(settings, rows, sentence):
    model = KMeans(8, **settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(rows))
    assert not hasattr(model, "cluster_centers_")
