"""LinearSVC with the squared hinge over rows in blocks: as in memory, in few passes, and attacked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.core.scale import first_look
from pellucid.core.scale.row_blocks import RowBlocks
from pellucid.svm import LinearSVC
from pellucid.svm.linear_svc import linear_svc_passes

da = pytest.importorskip("dask.array", reason="the extra 'scale' is not installed")

N, P = 6000, 5
rng = np.random.default_rng(4)
X = rng.normal(size=(N, P)) @ rng.normal(size=(P, P)) + 1e2 * (np.arange(P) % 3 == 0)
Z = (X - X.mean(axis=0)) @ rng.normal(size=(P, 3)) + rng.gumbel(size=(N, 3))
THREE = np.array(["few", "many", "none"])[Z.argmax(axis=1)]
TWO = np.where(Z[:, 0] > Z[:, 1] + 0.7, 7, -7)
WEIGHT = rng.integers(0, 3, N).astype(float)
MOST_PASSES = 12


@pytest.fixture(autouse=True)
def few_rows_to_start_from(monkeypatch):
    monkeypatch.setattr(first_look, "MOST_ROWS", 300)


def blocks(array, height=800):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


def test_two_points_by_hand():
    # (1 - w)^2 of both: w^2 / 2 + 2 C (1 - w)^2 is least at w = 4 C / (1 + 4 C), for C = 1 at 0.8
    rows, labels = np.array([[-1.0], [1.0]]), np.array(["a", "b"])
    model = LinearSVC(fit_intercept=False).fit(blocks(rows, 1), blocks(labels, 1))
    np.testing.assert_allclose(model.coef_, [[0.8]], rtol=1e-14)
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"fit_intercept": False}, {"class_weight": "balanced", "C": 0.01}, {"intercept_scaling": 3.0, "C": 1e3}],
    ids=str,
)
def test_the_answer_is_that_in_memory_in_few_passes(settings, labels, is_weighted, monkeypatch):
    made, reduce = [], RowBlocks.reduce
    monkeypatch.setattr(RowBlocks, "reduce", lambda self, *given: made.append(given[0]) or reduce(self, *given))
    weight, lazy = (WEIGHT, blocks(WEIGHT)) if is_weighted else (None, None)
    in_memory = LinearSVC(**settings).fit(X, labels, sample_weight=weight)
    model = LinearSVC(**settings).fit(blocks(X), blocks(labels), sample_weight=lazy)
    assert len(made) <= MOST_PASSES  # the certificate's included
    np.testing.assert_allclose(model.coef_, in_memory.coef_, rtol=1e-9, atol=1e-11)
    assert model.certificate_.holds
    assert pellucid.verify(model, blocks(X, 997), blocks(labels, 997), sample_weight=lazy).holds
    assert pellucid.verify(model, X, labels, sample_weight=weight).holds
    assert pellucid.verify(in_memory, blocks(X), blocks(labels), sample_weight=lazy).holds


def test_steps_that_run_out_are_said():
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap"):
        LinearSVC(max_iter=0).fit(blocks(X), blocks(THREE))


CHANGES = {
    "a little": lambda value: value * 1.001,
    "sign": lambda value: -value,
    "order": lambda value: value[::-1].copy(),
    "nan": lambda value: value * np.nan,
    "huge": lambda value: value + 1e200,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["coef_", "intercept_"])
def test_a_changed_model_is_noticed(name, change):
    model = LinearSVC().fit(blocks(X), blocks(THREE))
    setattr(model, name, CHANGES[change](getattr(model, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(X), blocks(THREE)).holds


def test_other_labels_and_classes_in_another_order_are_noticed():
    model = LinearSVC().fit(blocks(X), blocks(THREE))
    other = np.where(np.arange(N) < 20, "few", THREE)
    with pytest.warns(pellucid.UncertifiedWarning, match="not the training data"):
        assert not pellucid.verify(model, blocks(X), blocks(other)).holds
    model.classes_ = model.classes_[[1, 0, 2]]
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(X), blocks(THREE)).holds


@pytest.mark.parametrize(
    ("settings", "rows", "labels", "sentence"),
    [
        ({"loss": "hinge"}, X, TWO, "in memory for LinearSVC.*For all rows take the squared hinge"),
        ({"multi_class": "crammer_singer"}, X, TWO, "in memory for LinearSVC"),
        ({}, X, np.full(N, 3), "at least 2 classes"),
        ({}, np.where(X[4000] == X, np.inf, X), TWO, "infinity, in row 0 of block 5"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_looks_fitted(settings, rows, labels, sentence):
    model = LinearSVC(**settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(rows), blocks(labels))
    assert not hasattr(model, "coef_")


def test_a_step_that_goes_too_far_is_shortened(monkeypatch):
    # At u = -1.5 the one positive row alone is short; Newton's step is to nearly 1, where a hundred others are.
    rows, labels = np.ones((101, 1)), np.array([1] + [0] * 100)
    found = linear_svc_passes.fit_machines

    def far_off(*given):
        fit = found(*given)
        return replace(fit, attributes={**fit.attributes, "coef_": np.array([[-1.5]])})

    monkeypatch.setattr(linear_svc_passes, "fit_machines", far_off)
    model = LinearSVC(fit_intercept=False).fit(blocks(rows), blocks(labels))
    assert (np.diff(model.trace_.frame()["objective"]) <= 0.0).all()
    # u/2 squared + (1 - u)^2 + 100 (1 + u)^2: u (1 + 2 + 200) = 2 - 200
    np.testing.assert_allclose(model.coef_, [[-198.0 / 203.0]], rtol=1e-9)
