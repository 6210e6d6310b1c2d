"""Logistic regression over rows in blocks: as in memory, in few passes, and attacked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pellucid
from pellucid.core.scale import first_look
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks
from pellucid.linear_model import LogisticRegression
from pellucid.linear_model.logistic import logistic_passes
from pellucid.proofs.blocks import OneBlock
from pellucid.proofs.linear_model.logistic_passes import BlockTask, residuals_of_block

da = pytest.importorskip("dask.array", reason="the extra 'scale' is not installed")

N, P = 9000, 5
rng = np.random.default_rng(1)
X = rng.normal(size=(N, P)) @ rng.normal(size=(P, P)) + 1e3 * (np.arange(P) % 3 == 0)
Z = (X - X.mean(axis=0)) @ rng.normal(size=(P, 3)) + rng.gumbel(size=(N, 3))
THREE = np.array(["few", "many", "none"])[Z.argmax(axis=1)]
TWO = np.where(Z[:, 0] > Z[:, 1] + 0.7, 7, -7)
WEIGHT = rng.integers(0, 3, N).astype(float)
MOST_PASSES = 7


@pytest.fixture(autouse=True)
def few_rows_to_start_from(monkeypatch):
    monkeypatch.setattr(first_look, "MOST_ROWS", 300)


@pytest.fixture
def passes(monkeypatch):
    made, reduce = [], RowBlocks.reduce

    def counted(self, work, *given):
        made.append(work.__name__)
        return reduce(self, work, *given)

    monkeypatch.setattr(RowBlocks, "reduce", counted)
    return made


def blocks(array, height=1100):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


def weights(is_weighted, height=1100):
    return {"sample_weight": blocks(WEIGHT, height)} if is_weighted else {}


def test_odds_of_the_labels_by_hand():
    # no feature tells: the odds are 3 to 1, and the intercept is their logarithm
    model = LogisticRegression().fit(blocks(np.zeros((4, 1)), 1), blocks(np.array(["no", "yes", "yes", "yes"]), 1))
    np.testing.assert_allclose(model.intercept_, [np.log(3.0)], rtol=1e-12)
    assert model.coef_.tolist() == [[0.0]]


SETTINGS = [
    {},
    {"C": np.inf},
    {"C": 1e4},
    {"fit_intercept": False},
    {"class_weight": "balanced", "C": 0.01},
    {"class_weight": {"few": 3.0, -7: 0.5}},
    {"solver": "liblinear", "intercept_scaling": 3.0},
]


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_answer_is_that_in_memory_in_few_passes(settings, labels, is_weighted, passes):
    if "solver" in settings and labels is THREE:
        return
    if isinstance(settings.get("class_weight"), dict):
        settings = {"class_weight": {key: value for key, value in settings["class_weight"].items() if key in labels}}
    in_memory = LogisticRegression(**settings, tol=1e-10).fit(X, labels, WEIGHT if is_weighted else None)
    model = LogisticRegression(**settings).fit(blocks(X), blocks(labels), **weights(is_weighted))
    assert len(passes) <= MOST_PASSES
    assert ("residuals_of_block" in passes) == (settings == {"C": np.inf})  # else the last pass has the gap
    size = np.abs(in_memory.coef_).max()
    np.testing.assert_allclose(model.coef_, in_memory.coef_, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(model.predict_proba(blocks(X)).compute(), in_memory.predict_proba(X), rtol=0, atol=1e-6)
    assert model.certificate_.holds
    assert pellucid.verify(model, blocks(X, 997), blocks(labels, 997), **weights(is_weighted, 997)).holds
    assert pellucid.verify(model, X, labels, sample_weight=WEIGHT if is_weighted else None).holds
    assert pellucid.verify(in_memory, blocks(X), blocks(labels), **weights(is_weighted)).holds


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_where_many_rows_are_kept_one_hessian_of_all_rows_is_enough(labels, monkeypatch, passes):
    monkeypatch.setattr(first_look, "MOST_ROWS", 4000)
    monkeypatch.setattr(logistic_passes, "COSTLY", 0)
    asked, point_at = [], logistic_passes._point_at

    def noted(*given, with_hessian):
        asked.append(with_hessian)
        return point_at(*given, with_hessian=with_hessian)

    monkeypatch.setattr(logistic_passes, "_point_at", noted)
    model = LogisticRegression().fit(blocks(X), blocks(labels))
    assert asked in ([True, False, False], [True, False, False, False])
    assert passes == ["look_at_block", *len(asked) * ["logistic_block"]]
    assert model.certificate_.holds
    assert pellucid.verify(model, blocks(X), blocks(labels)).holds


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_a_step_over_the_rows_kept_leaves_less_than_newtons(labels):
    classes, l2 = np.unique(labels), np.array([1.0] * P + [0.0])
    task = logistic_passes.PassTask(classes, np.ones(len(classes)), X.mean(axis=0), 1.0, l2)
    kept, all_rows = RowBlock(0, X[::5], labels[::5], np.full(N // 5, 5.0)), RowBlock(0, X, labels)
    start = LogisticRegression(tol=1e-12).fit(X[::5], labels[::5], np.full(N // 5, 5.0))
    W = np.vstack([start.coef_.T, start.intercept_ + X.mean(axis=0) @ start.coef_.T])

    def at(W):
        sums = logistic_passes.logistic_block(all_rows, task, W)
        return sums, sums.gradients.sum(axis=0) + task.l2[:, None] * W

    sums, gradient = at(W)
    model = logistic_passes.CorrectedLoss(task, kept, 0.0, logistic_passes.logistic_block)
    model.learn(W, sums.hessian)
    own, newton = model.steps(logistic_passes.PassPoint(W, sums, 0.0, gradient, 0.0, 0.0))
    left, by_newton = (np.linalg.norm(at(W + step)[1]) for step in (own, newton))
    expected = -np.linalg.lstsq(
        logistic_passes.add_penalty(sums.hessian.copy(), task.l2, task.n_columns), gradient.T.ravel(), rcond=None
    )[0]
    np.testing.assert_allclose(newton.T.ravel(), expected, rtol=1e-6, atol=1e-9)
    assert left < 0.2 * by_newton < 0.1 * np.linalg.norm(gradient)


def test_a_weight_is_a_repetition():
    repeated = np.repeat(np.arange(N), WEIGHT.astype(int))
    model = LogisticRegression(tol=1e-9).fit(blocks(X), blocks(THREE), **weights(True))
    again = LogisticRegression(tol=1e-9).fit(blocks(X[repeated]), blocks(THREE[repeated]))
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-7, atol=1e-9)


def test_the_gap_bounds_what_is_left_when_steps_run_out():
    best = LogisticRegression(tol=1e-12).fit(X, THREE)
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap"):
        early = LogisticRegression(max_iter=0).fit(blocks(X), blocks(THREE))

    def objective(model):
        own = model.predict_log_proba(X)[np.arange(N), np.searchsorted(model.classes_, THREE)]
        return -own.sum() + 0.5 * np.sum(model.coef_**2)

    assert 0.0 < objective(early) - objective(best) <= early.dual_gap_


@pytest.mark.parametrize("b", [-2.0, 0.0, 0.5, np.log(3.0), 3.0])
def test_the_proof_bounds_the_minimum_from_below_whatever_the_intercept(b):
    # no feature tells: the minimum is the entropy of 1 to 3, and is met where the intercept is log 3
    block = OneBlock(np.zeros((4, 1)), np.array(["no", "yes", "yes", "yes"]))
    sums = residuals_of_block(block, np.array(["no", "yes"]), np.zeros((1, 1)), np.array([b]), True)
    least = 4 * np.log(4) - 3 * np.log(3)
    bound = BlockTask(np.ones(2), 1.0, True, 0.0).dual_value(sums)[0]
    assert bound <= least * (1 + 1e-12)
    assert (bound >= least * (1 - 1e-12)) == (b == np.log(3.0))


def test_a_rare_class_in_one_block_only_is_learned():
    labels = THREE.copy()
    labels[4000:4003] = "rare"
    in_memory = LogisticRegression(tol=1e-10).fit(X, labels)
    model = LogisticRegression().fit(blocks(X), blocks(labels))
    np.testing.assert_allclose(model.coef_, in_memory.coef_, rtol=0, atol=1e-6 * np.abs(in_memory.coef_).max())


def test_float32_models_of_a_fit_in_memory_are_proved_by_passes():
    rows = (X - X.mean(axis=0)).astype(np.float32)
    for labels in (TWO, THREE):
        assert pellucid.verify(LogisticRegression().fit(rows, labels), blocks(rows), blocks(labels)).holds
        assert LogisticRegression().fit(blocks(rows), blocks(labels)).certificate_.holds


@pytest.mark.parametrize("scale", [1e-6, 1e5])
def test_units_cry_no_wolf(scale):
    model = LogisticRegression(C=1e3).fit(blocks(X * scale), blocks(TWO))
    assert model.certificate_.holds


def test_a_warm_start_needs_fewer_passes(passes):
    model = LogisticRegression(warm_start=True).fit(blocks(X), blocks(TWO))
    cold = len(passes)
    model.fit(blocks(X), blocks(TWO))
    assert len(passes) - cold < cold
    assert passes[cold:].count("logistic_block") == 1  # the pass that finds nothing left to do
    assert model.n_iter_[0] == 1


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_separated_classes_are_told_without_a_penalty(labels):
    rows = 30.0 * np.eye(3)[np.unique(labels, return_inverse=True)[1]] + rng.uniform(size=(N, 3))
    with pytest.warns(pellucid.UncertifiedWarning, match="separated"):
        LogisticRegression(C=np.inf).fit(blocks(rows), blocks(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression().fit(blocks(rows), blocks(labels))


CHANGES = {
    "a little": lambda value: value * 1.001,
    "sign": lambda value: -value,
    "order": lambda value: value[::-1].copy(),
    "nan": lambda value: value * np.nan,
    "huge": lambda value: value + 1e200,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["coef_", "intercept_"])
@pytest.mark.parametrize("settings", [{}, {"C": np.inf}], ids=str)
def test_a_changed_model_is_noticed(name, change, settings):
    model = LogisticRegression(**settings).fit(blocks(X), blocks(THREE))
    setattr(model, name, CHANGES[change](getattr(model, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(X), blocks(THREE)).holds


def test_other_labels_rows_gaps_and_parameters_are_noticed():
    model = LogisticRegression().fit(blocks(X), blocks(THREE))
    other = np.where(np.arange(N) == 77, "few", THREE)
    assert (other != THREE).any()
    for rows, labels in ((X, other), (X[::-1].copy(), THREE)):
        with pytest.warns(pellucid.UncertifiedWarning, match="not the training data|duality gap"):
            assert not pellucid.verify(model, blocks(rows), blocks(labels)).holds
    with pytest.raises(ValueError, match="labels of the fit, got 1 too"):
        pellucid.verify(model, blocks(X), blocks(np.where(np.arange(N) == 77, "1", THREE)))
    model.classes_ = model.classes_[[1, 0, 2]]
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(X), blocks(THREE)).holds
    model.classes_, model.dual_gap_ = model.classes_[[1, 0, 2]], 1.0
    with pytest.warns(pellucid.UncertifiedWarning, match="reported gap"):
        assert not pellucid.verify(model, blocks(X), blocks(THREE)).holds
    model.C = 2.0
    with pytest.warns(pellucid.UncertifiedWarning, match="parameters"):
        assert not pellucid.verify(model, blocks(X), blocks(THREE)).holds


@pytest.mark.parametrize(
    ("settings", "rows", "labels", "sentence"),
    [
        ({"l1_ratio": 1.0, "solver": "saga"}, X, TWO, "in memory for LogisticRegression"),
        ({}, X, np.full(N, 3), "at least 2 classes"),
        ({}, np.where(X[4000] == X, np.inf, X), TWO, "infinity, in row 700 of block 3"),
        ({}, np.zeros((40, 400)), TWO[:40].astype(str) + (np.arange(40) % 3).astype(str), "SGDClassifier"),
        ({"solver": "liblinear"}, X, THREE, "must not be 'liblinear'"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_looks_fitted(settings, rows, labels, sentence):
    model = LogisticRegression(**settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(rows), blocks(labels))
    assert not hasattr(model, "coef_")
