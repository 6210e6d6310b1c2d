"""RidgeCV on rows in blocks: every row is left out at every penalty, and the choice is that in memory."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.linear_model import RidgeCV

da = pytest.importorskip("dask.array", reason="the extra 'scale' is not installed")

N, P = 900, 4
rng = np.random.default_rng(1)
X = rng.normal(size=(N, P)) * [1.0, 30.0, 1.0, 0.1] + [1e4, 0.0, -3.0, 0.0]
Y = X @ rng.normal(size=(P, 2)) + 3.0 * rng.normal(size=(N, 2))
WEIGHT = rng.integers(0, 3, N).astype(float)
ALPHAS = np.logspace(-2, 5, 8)


def blocks(array, height=130):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


def scores(model):
    return model.trace_.frame()["objective"].to_numpy()


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fit_intercept": False},
        {"alpha_per_target": True},
        {"cv": 7},
        {"cv": 3, "scoring": "neg_mean_squared_error"},
    ],
    ids=str,
)
def test_all_scores_are_those_in_memory(settings, weight):
    given = {} if weight is None else {"sample_weight": weight}
    lazy = {name: blocks(value) for name, value in given.items()}
    in_memory = RidgeCV(ALPHAS, **settings).fit(X, Y, **given)
    in_blocks = RidgeCV(ALPHAS, **settings).fit(blocks(X), blocks(Y), **lazy)
    np.testing.assert_allclose(scores(in_blocks), scores(in_memory), rtol=1e-9)
    np.testing.assert_array_equal(in_blocks.alpha_, in_memory.alpha_)
    np.testing.assert_allclose(in_blocks.coef_, in_memory.coef_, rtol=1e-9)
    assert pellucid.verify(in_blocks, blocks(X, 77), blocks(Y), **lazy).holds
    assert pellucid.verify(in_memory, blocks(X, 77), blocks(Y), **lazy).holds


@pytest.mark.parametrize("weight", [None, WEIGHT + 1.0], ids=["equal", "weighted"])
def test_rows_that_have_the_fit_to_themselves_are_left_out_indeed(weight):
    lone = np.zeros((N, 3))
    lone[137, 0], lone[500, 1], lone[501, 2] = 1e6, 2e6, -1e6
    table, alphas = np.hstack([X, lone]), [1e-3, 1.0, 100.0]
    given = {} if weight is None else {"sample_weight": weight}
    lazy = {name: blocks(value) for name, value in given.items()}
    in_memory = RidgeCV(alphas).fit(table, Y[:, 0], **given)
    in_blocks = RidgeCV(alphas).fit(blocks(table), blocks(Y[:, 0]), **lazy)
    np.testing.assert_allclose(scores(in_blocks), scores(in_memory), rtol=1e-7)
    assert in_blocks.certificate_.holds
    assert pellucid.verify(in_blocks, blocks(table), blocks(Y[:, 0]), **lazy).holds


def test_a_row_far_out_is_left_out_by_a_fit_without_it():
    # the one row with the column: without it the column is 0 everywhere, so 5 is predicted as the mean of the others
    table, target = np.zeros((40, 1)), np.tile([-1.0, 1.0], 20)
    table[6], target[6] = 1e8, 5.0
    model = RidgeCV([1e-9]).fit(blocks(table, 7), blocks(target, 7))
    others = np.delete(target, 6)
    # any other row: the mean of the 38 others like it
    likes = [(y - (others.sum() - y) / 38) ** 2 for y in others]
    assert model.best_score_ == pytest.approx(-(np.sum(likes) + (5.0 - others.mean()) ** 2) / 40, rel=1e-6)


CHANGES = {
    "coef_": lambda v: v * 1.001,
    "intercept_": lambda v: v + 1.0,
    "alpha_": lambda v: 10.0 * v,
    "best_score_": lambda v: v * 1.001,
}


@pytest.mark.parametrize("settings", [{}, {"cv": 4}], ids=str)
@pytest.mark.parametrize("change", [*CHANGES, "NaN", "1e200"])
def test_changed_attributes_are_noticed(change, settings):
    for name in CHANGES if change in ("NaN", "1e200") else (change,):
        model = RidgeCV(ALPHAS, **settings).fit(blocks(X), blocks(Y[:, 0]))
        value = getattr(model, name)
        changed = {"NaN": value * np.nan, "1e200": value * 0.0 + 1e200}.get(change)
        setattr(model, name, CHANGES[name](value) if changed is None else changed)
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(model, blocks(X), blocks(Y[:, 0])).holds


@pytest.mark.parametrize("settings", [{}, {"cv": 4}], ids=str)
def test_another_penalty_with_all_that_belongs_to_it_is_noticed(settings):
    model = RidgeCV(ALPHAS, **settings).fit(blocks(X), blocks(Y[:, 0]))
    worse = RidgeCV(ALPHAS[-1:], **settings).fit(blocks(X), blocks(Y[:, 0]))
    forged = RidgeCV(ALPHAS, **settings).fit(blocks(X), blocks(Y[:, 0]))
    own = ("alphas", "fit_parameters_")
    vars(forged).update({name: value for name, value in vars(worse).items() if name not in own})
    assert forged.alpha_ != model.alpha_
    with pytest.warns(pellucid.UncertifiedWarning, match="alpha_ is not the best of alphas"):
        assert not pellucid.verify(forged, blocks(X), blocks(Y[:, 0])).holds


def test_float32_rows_are_proved_and_chosen_as_in_float64():
    rows, target = X.astype(np.float32), Y[:, 0].astype(np.float32)
    model = RidgeCV(ALPHAS).fit(blocks(rows), blocks(target))
    np.testing.assert_allclose(scores(model), scores(RidgeCV(ALPHAS).fit(rows.astype(float), target)), rtol=1e-6)
    assert pellucid.verify(model, blocks(rows), blocks(target)).holds


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"scoring": "r2"}, "For all rows leave scoring at None"),
        ({"store_cv_results": True}, "For all rows leave scoring at None"),
        ({"cv": 3, "scoring": "neg_mean_absolute_error"}, "For all rows leave scoring"),
        ({"cv": [(np.arange(9), np.arange(9, 12))]}, "cv must be a number of folds"),
    ],
    ids=str,
)
def test_what_needs_the_rows_in_memory_is_refused(settings, sentence):
    model = RidgeCV(ALPHAS, **settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(X), blocks(Y[:, 0]))
    assert not hasattr(model, "coef_")


def test_hardly_more_rows_than_columns_are_refused():
    with pytest.raises(
        ValueError, match="X must have more rows than columns, and one more.*got n_samples=5 and 4 columns"
    ):
        RidgeCV().fit(blocks(X[:5]), blocks(Y[:5, 0]))


def test_blocks_without_rows_and_of_weight_zero_are_passed_over():
    weight = np.where(np.arange(N) < 130, 0.0, 1.0)
    rows = da.concatenate([blocks(X[:0]), blocks(X)])
    model = RidgeCV(ALPHAS).fit(rows, Y, sample_weight=weight)
    np.testing.assert_allclose(scores(model), scores(RidgeCV(ALPHAS).fit(X[130:], Y[130:])), rtol=1e-9)


def test_nan_in_one_block_is_named():
    wrong = X.copy()
    wrong[300, 1] = np.nan
    with pytest.raises(ValueError, match="in row 40 of block 2"):
        RidgeCV().fit(blocks(wrong), blocks(Y))
