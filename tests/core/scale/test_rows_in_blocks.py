"""Rows in Dask blocks: the fit is that of the rows in memory, to the last bit the same for any number of threads."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from contextlib import suppress
from fractions import Fraction
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.cluster import KMeans
from pellucid.core.cards import all_cards, find_card
from pellucid.core.scale import block_data, moments
from pellucid.core.scale.equivalent_rows import rows_with
from pellucid.core.scale.instead import INSTEAD
from pellucid.core.scale.moments import summarize_block
from pellucid.core.scale.row_blocks import RowBlock
from pellucid.cross_decomposition import CCA
from pellucid.decomposition import PCA, FactorAnalysis, TruncatedSVD
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from pellucid.feature_selection import MRMR, SelectTop
from pellucid.linear_model import (
    BridgeRegression,
    ElasticNet,
    ElasticNetCV,
    Lars,
    Lasso,
    LassoCV,
    LassoLars,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from pellucid.mixture import GaussianMixture
from pellucid.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from pellucid.svm import SVC, LinearSVC

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N, P, HEIGHT = 4000, 5, 700
EXACT, CLOSE = 1e-11, 1e-7
"""Of sums, and of what a gap decides about."""
BESIDE = {"trace_", "certificate_", "data_fingerprint_", "fit_parameters_", "n_iter_", "dual_gap_", "labels_"}

rng = np.random.default_rng(0)
X = rng.normal(size=(N, P)) @ rng.normal(size=(P, P)) + 1e3 * (np.arange(P) % 3 == 0)
Y = X @ rng.normal(size=(P, 2)) + rng.normal(size=(N, 2))
LABELS = np.array(["few", "many", "none"])[np.digitize(Y[:, 0] - Y[:, 0].mean(), [-2.0, 1.0])]
WEIGHT = rng.integers(0, 3, N).astype(float)

METHODS = [
    (LinearRegression(), Y[:, 0]),
    (LinearRegression(fit_intercept=False), Y),
    (Ridge(alpha=10.0), Y),
    (Lasso(alpha=0.1), Y[:, 0]),
    (ElasticNet(alpha=0.1), Y),
    (BridgeRegression(), Y[:, 0]),
    (LassoCV(alphas=12), Y[:, 0]),
    (ElasticNetCV(l1_ratio=[0.3, 0.8], alphas=7, cv=3), Y[:, 0]),
    (PCA(3), None),
    (PCA(0.9, whiten=True), None),
    (CCA(n_components=1), Y),
    (GaussianNB(), LABELS),
    (LinearDiscriminantAnalysis(), LABELS),
    (LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1), LABELS),
    (QuadraticDiscriminantAnalysis(), LABELS),
    (Lars(n_nonzero_coefs=3), Y[:, 0]),
    (LassoLars(alpha=0.1), Y),
    (RidgeClassifier(), LABELS),
    (RidgeClassifier(class_weight="balanced", alpha=3.0), LABELS == "few"),
    (SelectTop(2, measure="correlation"), Y[:, 0]),
    (RidgeCV(alphas=(0.1, 10.0, 1e3), cv=4), Y),
]

PASSING = [
    (RidgeCV(alphas=(0.1, 10.0, 1e3)), Y),
    (FactorAnalysis(2), None),
    (FactorAnalysis(2, rotation="varimax"), None),
    (KMeans(4, init=X[:4]), None),
    (LogisticRegression(tol=1e-9), LABELS),
    (LinearSVC(), LABELS),
    (GaussianMixture(2, weights_init=[0.4, 0.6], means_init=X[:2], precisions_init=np.stack([np.eye(P)] * 2)), None),
]
"""Those that make a pass for each step."""

METHODS += PASSING
METHODS += [(TruncatedSVD(3), None)]

TOLERANCES = {
    LogisticRegression: CLOSE,
    LinearSVC: CLOSE,
    TruncatedSVD: 1e-9,  # squares of singular values that are 500 times apart: in memory, too, 2e-11 off
}

COUNTS = rng.poisson(2.0, (N, P))

COUNTING = [
    MultinomialNB(),
    MultinomialNB(alpha=0.1, fit_prior=False),
    BernoulliNB(),
    BernoulliNB(binarize=2.5),
    CategoricalNB(),
]


def blocks(array, height=HEIGHT, width=None):
    return da.from_array(array, chunks=(height, width or -1) if array.ndim == 2 else height)


def fitted(model, rows, target, **weights):
    return (
        pellucid.core.cards.card_of(type(model))
        .estimator(**model.get_params())
        .fit(rows, *(() if target is None else (target,)), **weights)
    )


def attributes(model):
    found = {name: getattr(model, name) for name in vars(model) if name.endswith("_") and name not in BESIDE}
    return {name: value for name, value in found.items() if not name.startswith("_")}


def assert_same(one, other, tolerance=EXACT):
    for name, value in attributes(one).items():
        twin = getattr(other, name)
        for a, b in zip(value, twin, strict=True) if isinstance(value, list) else ((value, twin),):
            if np.asarray(a).dtype.kind == "f":
                size = np.abs(a).max(initial=0.0) if np.size(a) else 0.0
                if name == "intercept_":  # a difference of means
                    size = max(size, 1e3)
                if name == "rotations_":  # signs of directions are free
                    a, b = np.abs(a), np.abs(b)
                np.testing.assert_allclose(b, a, rtol=0, atol=tolerance * max(size, 1e-300), err_msg=name)
            else:
                np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.parametrize(("model", "target"), METHODS, ids=lambda value: type(value).__name__)
def test_the_fit_is_that_in_memory_and_is_proved_by_a_pass(model, target):
    in_memory = fitted(model, X, target)
    others = (None,) if target is None else (blocks(target),)
    in_blocks = fitted(model, blocks(X, width=2), others[0])
    assert_same(in_memory, in_blocks, TOLERANCES.get(type(model), EXACT))
    assert in_blocks.certificate_.holds
    assert pellucid.verify(in_blocks, blocks(X, height=999), *others).holds  # blocks of other heights are the same rows
    assert pellucid.verify(in_blocks, X, *(() if target is None else (target,))).holds


@pytest.mark.parametrize("model", [LinearRegression(), Lasso(alpha=0.1), GaussianNB()], ids=repr)
def test_weights_are_repetitions(model):
    target = LABELS if isinstance(model, GaussianNB) else Y[:, 0]
    repeated = np.repeat(np.arange(N), WEIGHT.astype(int))
    in_blocks = fitted(model, blocks(X), blocks(target), sample_weight=blocks(WEIGHT))
    assert_same(fitted(model, X[repeated], target[repeated]), in_blocks)
    assert pellucid.verify(in_blocks, blocks(X), blocks(target), sample_weight=blocks(WEIGHT)).holds


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize("model", COUNTING, ids=repr)
def test_counts_are_those_in_memory_to_the_last_bit(model, weight):
    weights = {} if weight is None else {"sample_weight": weight}
    lazy = {name: blocks(value) for name, value in weights.items()}
    in_memory = fitted(model, COUNTS, LABELS, **weights)
    in_blocks = fitted(model, blocks(COUNTS), blocks(LABELS), **lazy)
    assert_same(in_memory, in_blocks, tolerance=0.0)
    assert in_blocks.certificate_.holds
    assert pellucid.verify(in_blocks, blocks(COUNTS, height=999), blocks(LABELS), **lazy).holds
    assert pellucid.verify(in_blocks, COUNTS, LABELS, **weights).holds
    in_blocks.class_count_ = in_blocks.class_count_ + 1.0
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(in_blocks, blocks(COUNTS), blocks(LABELS), **lazy).holds


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize("model", [SelectTop(2), SelectTop(2, n_bins=3)], ids=repr)
def test_mutual_information_of_counts_is_that_in_memory(model, weight):
    weights = {} if weight is None else {"sample_weight": weight}
    lazy = {name: blocks(value) for name, value in weights.items()}
    in_blocks = fitted(model, blocks(COUNTS), blocks(LABELS), **lazy)
    assert_same(fitted(model, COUNTS, LABELS, **weights), in_blocks)
    assert pellucid.verify(in_blocks, blocks(COUNTS, height=999), blocks(LABELS), **lazy).holds
    in_blocks.scores_ = in_blocks.scores_ + 1e-3
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(in_blocks, blocks(COUNTS), blocks(LABELS), **lazy).holds


CHANGED = [
    (Lars(n_nonzero_coefs=3), Y[:, 0], "coef_"),
    (Lars(n_nonzero_coefs=3), Y[:, 0], "alphas_"),
    (Lars(n_nonzero_coefs=3), Y[:, 0], "coef_path_"),
    (LassoLars(alpha=0.1), Y[:, 0], "intercept_"),
    (LassoLars(alpha=0.1), Y[:, 0], "alphas_"),
    (RidgeClassifier(class_weight="balanced"), LABELS, "coef_"),
    (RidgeClassifier(class_weight="balanced"), LABELS, "intercept_"),
    (SelectTop(2, measure="correlation"), Y[:, 0], "scores_"),
    (SelectTop(2, measure="correlation"), Y[:, 0], "intervals_"),
    (SelectTop(2, measure="correlation"), Y[:, 0], "pvalues_"),
]


@pytest.mark.parametrize(
    "change", [lambda v: v * 1.001, lambda v: v * np.nan, lambda v: v + 1e200], ids=("scaled", "nan", "huge")
)
@pytest.mark.parametrize(("model", "target", "name"), CHANGED)
def test_every_attribute_that_is_changed_is_noticed(model, target, name, change):
    broken = fitted(model, blocks(X), blocks(target))
    before = getattr(broken, name)
    setattr(broken, name, change(before))
    if np.array_equal(getattr(broken, name), before):  # p-values of 0 stay so
        return
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(broken, blocks(X), blocks(target)).holds


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize("is_even", [False, True], ids=["as they are", "as large on both sides"])
def test_factors_have_the_signs_of_the_fit_in_memory(is_even, weight):
    near = X[:2000] - X[:2000].mean(axis=0)
    rows = np.concatenate([near, -near]) if is_even else X
    given = {} if weight is None else {"sample_weight": np.concatenate([weight[:2000]] * 2)}
    lazy = {name: blocks(value) for name, value in given.items()}
    in_memory = fitted(FactorAnalysis(2), rows, None, **given)
    in_blocks = fitted(FactorAnalysis(2), blocks(rows), None, **lazy)
    np.testing.assert_allclose(in_blocks.components_, in_memory.components_, rtol=0, atol=1e-9)
    assert in_blocks.certificate_.holds
    assert pellucid.verify(in_blocks, blocks(rows, height=999), **lazy).holds


FACTOR_CHANGES = {
    "components_": lambda v: v * 1.001,
    "sign": lambda v: v * [[-1.0], [1.0]],
    "order": lambda v: v[::-1].copy(),
    "turn": lambda v: np.array([[0.8, 0.6], [-0.6, 0.8]]) @ v,
    "noise_variance_": lambda v: v * 1.01,
    "mean_": lambda v: v + 1e-3,
    "NaN": lambda v: v * np.nan,
    "1e200": lambda v: v + 1e200,
}


@pytest.mark.parametrize("change", FACTOR_CHANGES)
def test_changed_factors_are_noticed(change):
    model = FactorAnalysis(2).fit(blocks(X))
    name = change if change.endswith("_") else "components_"
    setattr(model, name, FACTOR_CHANGES[change](getattr(model, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(X)).holds


@pytest.mark.parametrize(
    ("model", "target", "sentence"),
    [
        (Lars(jitter=0.1), Y[:, 0], "in memory for Lars"),
        (MRMR(2), LABELS, "in memory for MRMR"),
        (SelectTop(2), Y[:, 0], "y must be labels for the mutual_information of rows in blocks, got float64"),
        (SelectTop(2, measure="correlation"), LABELS, "y must be floats for the correlation"),
        (RidgeClassifier(), (Y > 0).astype(int), "y must be one column of labels"),
    ],
)
def test_settings_that_need_every_row_say_so(model, target, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(model, blocks(COUNTS), blocks(target))


@pytest.mark.parametrize(
    ("model", "rows", "sentence"),
    [
        (MultinomialNB(), COUNTS - 1, "Negative values"),
        (CategoricalNB(), COUNTS + 0.5, "whole numbers"),
        (BernoulliNB(), np.where(COUNTS == 3, np.nan, COUNTS), "NaN or infinity"),
        (BernoulliNB(binarize=None), COUNTS > 1, "in memory for BernoulliNB"),
    ],
)
def test_what_cannot_be_counted_is_refused(model, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(rows), blocks(LABELS))


def test_means_far_from_zero_cost_no_digits():
    far = X + 1e6
    in_memory, in_blocks = LinearRegression().fit(far, Y[:, 0]), LinearRegression().fit(blocks(far), blocks(Y[:, 0]))
    np.testing.assert_allclose(in_blocks.coef_, in_memory.coef_, rtol=1e-10)
    np.testing.assert_allclose(PCA().fit(blocks(far)).explained_variance_, PCA().fit(X).explained_variance_, rtol=1e-9)


def test_columns_that_hardly_differ_are_told_apart_by_a_second_pass():
    close = np.column_stack([X[:, 0] - 1e3, X[:, 0] - 1e3 + 1e-6 * rng.normal(size=N)])
    target = close @ [1.0, 2.0] + 1e-3 * rng.normal(size=N)
    in_memory = LinearRegression().fit(close, target)
    in_blocks = LinearRegression().fit(blocks(close), blocks(target))
    np.testing.assert_allclose(in_blocks.coef_, in_memory.coef_, rtol=1e-6)
    assert in_blocks.rank_ == in_memory.rank_ == 2


@pytest.mark.parametrize(("model", "target"), [METHODS[3], *PASSING], ids=lambda value: type(value).__name__)
def test_bits_are_the_same_on_any_number_of_threads(model, target):
    found = []
    for threads in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=threads), threadpool_limits(threads):
            found.append(fitted(model, blocks(X, height=90), None if target is None else blocks(target, height=90)))
    for other in found[1:]:
        assert_same(found[0], other, tolerance=0.0)


@pytest.mark.parametrize("name", ["coef_", "intercept_", "theta_", "components_", "means_"])
def test_a_changed_model_is_noticed(name):
    for model, target in METHODS[:1] + METHODS[8:9] + METHODS[11:13]:
        others = () if target is None else (blocks(target),)
        broken = fitted(model, blocks(X), *(others or (None,)))
        if not hasattr(broken, name):
            continue
        setattr(broken, name, getattr(broken, name) * 1.001)
        with pytest.warns(pellucid.UncertifiedWarning):
            certificate = pellucid.verify(broken, blocks(X), *others)
        assert not certificate.holds
        assert "fingerprint" not in certificate.reason  # the data are those of the fit


def test_other_rows_are_noticed():
    model = LinearRegression().fit(blocks(X), blocks(Y[:, 0]))
    other = X.copy()
    other[17, 2] += 30.0
    with pytest.warns(pellucid.UncertifiedWarning, match="not the training data"):
        assert not pellucid.verify(model, blocks(other), blocks(Y[:, 0])).holds


# answers


@pytest.mark.parametrize(("model", "target"), METHODS, ids=lambda value: type(value).__name__)
def test_answers_about_blocks_are_lazy_and_those_about_rows(model, target):
    found = fitted(model, X, target)
    for name in ("predict", "predict_proba", "decision_function", "transform"):
        if not hasattr(found, name):
            continue
        lazy = getattr(found, name)(blocks(X, width=2))
        assert isinstance(lazy, da.Array)
        expected = getattr(found, name)(X)
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        got = lazy.compute()
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    ("model", "target"), [pair for pair in METHODS if hasattr(pair[0], "score")], ids=lambda value: type(value).__name__
)
def test_scores_of_blocks_are_those_of_rows(model, target, is_weighted):
    found = fitted(model, X, target)
    if "sample_weight" not in signature(found.score).parameters and is_weighted:
        return
    weight = {"sample_weight": WEIGHT} if is_weighted else {}
    lazy = {name: blocks(value) for name, value in weight.items()}
    targets, in_blocks = ((), ()) if target is None else ((target,), (blocks(target),))
    expected = found.score(X, *targets, **weight)
    np.testing.assert_allclose(found.score(blocks(X, width=2), *in_blocks, **lazy), expected, rtol=1e-10)


def test_scores_of_tables_constant_targets_and_single_rows():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = LinearRegression().fit(frame, Y[:, 0])
    lazy = dd.from_pandas(frame.assign(y=Y[:, 0]), npartitions=3)
    np.testing.assert_allclose(model.score(lazy[list("abcde")], lazy["y"]), model.score(frame, Y[:, 0]), rtol=1e-12)
    with pytest.raises(ValueError, match="y must be given"):
        model.score(lazy[list("abcde")])
    with pytest.raises(ValueError, match="must have the columns"):
        model.score(lazy[list("edcba")], lazy["y"])
    plain = LinearRegression().fit(X, np.full(N, 7.0))
    assert plain.score(blocks(X), blocks(np.full(N, 7.0))) == plain.score(X, np.full(N, 7.0))
    assert plain.score(blocks(X), blocks(np.full(N, 8.0))) == 0.0
    with pytest.warns(UserWarning, match="at least 2 rows"):
        assert np.isnan(plain.score(blocks(X[:1]), blocks(np.ones(1))))


# tables


def test_data_frames_of_any_partitions_are_read():
    names = list("abcde")
    frame = pd.DataFrame(X, columns=names).assign(y=Y[:, 0])
    lazy = dd.from_pandas(frame, npartitions=3)
    model = LinearRegression().fit(lazy[names], lazy["y"])
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, Y[:, 0]).coef_, rtol=1e-11)
    np.testing.assert_allclose(model.predict(lazy[names]).compute(), model.predict(frame[names]), rtol=1e-12)
    two = LinearRegression().fit(lazy[names[:3]], lazy[["d", "e"]], sample_weight=lazy["a"].abs())
    expected = LinearRegression().fit(frame[names[:3]], frame[["d", "e"]], sample_weight=frame["a"].abs())
    np.testing.assert_allclose(two.coef_, expected.coef_, rtol=1e-9)
    some = lazy[lazy["a"] > 1e3]  # lengths that Dask does not know
    kept = frame[frame["a"] > 1e3]
    np.testing.assert_allclose(
        LinearRegression().fit(some[names], some["y"]).coef_,
        LinearRegression().fit(kept[names], kept["y"]).coef_,
        rtol=1e-10,
    )
    with pytest.raises(ValueError, match="must have the columns"):
        pellucid.verify(model, lazy[names[::-1]], lazy["y"])


def test_files_whose_columns_dask_reads_in_other_blocks(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=Y[:, 0])
    for k in range(4):
        frame[1000 * k : 1000 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    lazy = dd.read_parquet(tmp_path)
    assert lazy["y"].optimize().npartitions < lazy[list("abcde")].optimize().npartitions  # small ones are joined
    model = LinearRegression().fit(lazy[list("abcde")], lazy["y"])
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, Y[:, 0]).coef_, rtol=1e-11)
    assert pellucid.verify(model, lazy[list("abcde")], lazy["y"]).holds
    two = lazy[["a", "b"]]
    for weight in (WEIGHT, blocks(WEIGHT)):  # in blocks of its own, or none
        weighted = LinearRegression().fit(two, lazy["y"], sample_weight=weight)
        expected = LinearRegression().fit(frame[["a", "b"]], frame["y"], sample_weight=WEIGHT)
        np.testing.assert_allclose(weighted.coef_, expected.coef_, rtol=1e-10)


def test_targets_in_memory_and_blocks_of_unknown_length_go_together():
    unknown = blocks(X)[blocks(X)[:, 0] > -np.inf]
    assert np.isnan(unknown.shape[0])
    expected = LinearRegression().fit(X, Y[:, 0]).coef_
    np.testing.assert_allclose(LinearRegression().fit(unknown, Y[:, 0]).coef_, expected, rtol=1e-11)
    np.testing.assert_allclose(
        LinearRegression().fit(blocks(X), blocks(Y[:, 0], height=911)).coef_, expected, rtol=1e-11
    )


# what is wrong is named


def delayed_blocks(*parts):
    return da.concatenate([da.from_array(part, chunks=part.shape) for part in parts], axis=0)


@pytest.mark.parametrize(
    ("rows", "target", "sentence"),
    [
        (delayed_blocks(X[:9], X[9:30]), blocks(Y[:29, 0]), "y must have an entry for each row, got 29 and 30 rows"),
        (blocks(X[:, 0]), blocks(Y[:, 0]), "X must be a 2D array"),
        (blocks(X), None, "y must be given"),
        (dask.delayed(X), blocks(Y[:, 0]), "X must be a Dask array or data frame, got Delayed"),
        (dd.from_pandas(pd.Series(X[:, 0]), npartitions=2), blocks(Y[:, 0]), "X must be a 2D array, got 1 dim"),
        (blocks(X + 1j), blocks(Y[:, 0]), "block [0-9] must hold real numbers, got complex128"),
        (blocks(X).map_blocks(csr_array), blocks(Y[:, 0]), "block [0-9] must be a dense array, got csr_array"),
        (delayed_blocks(np.full((9, P), np.nan), X[9:30]), blocks(Y[:30, 0]), "in row 0 of block 0"),
        (delayed_blocks(X[:9], np.full((9, P), np.inf)), blocks(Y[:18, 0]), "in row 0 of block 1"),
        (delayed_blocks(X[:9], np.full((9, P), 1e200)), blocks(Y[:18, 0]), "whose squares are finite"),
        (blocks(X[:30]), blocks(np.array(["a"] * 30)), "block 0 must have numbers as its target"),
        (blocks(X[:30].astype("U8")).astype(object), blocks(LABELS[:30]), "numbers"),
        (blocks(X[:0]), blocks(Y[:0, 0]), "must have rows"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_and_nothing_looks_fitted(rows, target, sentence):
    model = LinearRegression()
    with pytest.raises(ValueError, match=sentence):
        model.fit(rows, target)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (2.0, "sample_weight must have an entry for each row, got 2.0 alone"),
        (np.zeros(N), "sample_weight must be above 0 for some row, got all 0"),
        (np.ones(N - 1), "sample_weight must have an entry for each row, got 3999 and 4000 rows"),
    ],
)
def test_weights_that_are_none_are_one_sentence(weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearRegression().fit(blocks(X), blocks(Y[:, 0]), sample_weight=weight)


def with_large(value, where, kind=np.float64):
    rows = X[:60].astype(kind)
    rows[where] = value
    return rows


@pytest.mark.parametrize(
    "rows",
    [
        with_large(1e200, np.s_[:, 2]),  # constant: no deviation of it overflows
        with_large(-1e200, np.s_[20:40]),
        with_large(1e200, np.s_[33, 1]),
        with_large(1e154, np.s_[:, 0]),  # each square is finite, the sum of a block is not
        with_large(1e153, np.s_[:, 0]),  # nor is that of many blocks
    ],
    ids=["a column", "a block", "a number", "a sum", "a sum of blocks"],
)
@pytest.mark.parametrize("model", [LinearRegression(), PCA(2), GaussianNB(), LinearDiscriminantAnalysis()], ids=repr)
def test_values_whose_squares_overflow_are_refused_wherever_they_are(model, rows):
    target = Y[:60, 0] if isinstance(model, LinearRegression) else LABELS[:60]
    with pytest.raises(ValueError, match=r"block \d must have values whose squares are finite, got larger ones"):
        model.fit(blocks(rows, height=20), None if isinstance(model, PCA) else blocks(target))


def test_a_class_of_one_row_hides_no_value():
    with pytest.raises(ValueError, match="block 1 must have values whose squares are finite"):
        GaussianNB().fit(blocks(with_large(1e200, 50), height=30), blocks(np.arange(60) == 50))


def test_large_values_of_float32_have_squares_in_float64():
    rows = with_large(1e30, np.s_[:, 1], np.float32)
    rows[::2, 1] *= 2
    in_memory = LinearRegression().fit(rows.astype(float), Y[:60, 0])
    in_blocks = LinearRegression().fit(blocks(rows, height=20), blocks(Y[:60, 0]))
    np.testing.assert_allclose(in_blocks.coef_, in_memory.coef_, rtol=1e-9)


@pytest.mark.parametrize("alone", [False, True])
def test_first_rows_far_from_the_others_cost_no_digits(alone, monkeypatch):
    monkeypatch.setattr(moments, "CHUNK", 40 * P)
    rows, weight = X[:400].copy(), np.ones(400)
    rows[40:] += 1e9
    weight[:40] = 1e-12
    found = moments.moments_of((rows,), weight, alone=alone)
    away = rows[40:] - rows[40:].mean(axis=0)
    np.testing.assert_allclose(found.scatter.diagonal(), (away**2).sum(axis=0) + 40e6, rtol=1e-5)


def exact_mean(rows, weight):
    parts = [Fraction(float(one)) for one in weight]
    return [sum(Fraction(float(x)) * w for x, w in zip(column, parts, strict=True)) / sum(parts) for column in rows.T]


def test_digits_of_a_mean_that_rounding_takes_are_kept_and_given_to_equivalent_rows():
    rows = X[:400] + 1e6
    halves = [moments.moments_of((part,), None) for part in (rows[:150], rows[150:])]
    found = halves[0].merged(halves[1])
    wanted = exact_mean(rows, np.ones(400))
    kept = [Fraction(float(high)) + Fraction(float(low)) for high, low in zip(found.mean, found.rest, strict=True)]
    np.testing.assert_allclose([float(a - b) for a, b in zip(kept, wanted, strict=True)], 0.0, atol=1e-14)
    triangle = np.linalg.cholesky(found.scatter).T
    lost, left = (
        max(
            abs(float(a - b))
            for a, b in zip(exact_mean(*rows_with(found, triangle, exact_mean=way)), wanted, strict=True)
        )
        for way in (False, True)
    )
    assert lost > 1e-11
    assert left < 1e-3 * lost
    table, weight = rows_with(found, triangle, exact_mean=True)
    away = table - found.mean
    np.testing.assert_allclose((away.T * weight) @ away, found.scatter, rtol=1e-10)
    assert weight.sum() == 400.0


@pytest.mark.parametrize(
    ("model", "target"),
    [(RidgeClassifier(), LABELS[:400]), (RidgeCV(cv=3), Y[:400, 0]), (Lasso(), Y[:400, 0]), (LassoLars(), Y[:400, 0])],
    ids=["classes", "folds", "path", "angles"],
)
def test_an_offset_is_no_alarm(model, target):
    far = 1e6 * (1.0 + np.arange(P)) + X[:400]
    found = clone(model).fit(blocks(far, 150), blocks(target, 150))
    assert pellucid.verify(found, far, target).holds
    np.testing.assert_allclose(found.coef_, clone(model).fit(far, target).coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("order", "CF")
def test_variances_of_classes_are_those_of_the_full_scatter(order):
    block = RowBlock(0, np.asarray(X, order=order), LABELS, WEIGHT)
    alone, full = (summarize_block(block, kind).moments for kind in ("columns", "classes"))
    for label in alone:
        rows, weight = X[label == LABELS], WEIGHT[label == LABELS]
        mean = np.average(rows, axis=0, weights=weight)
        np.testing.assert_allclose(alone[label].mean, mean, rtol=1e-14)
        np.testing.assert_allclose(full[label].scatter.diagonal(), weight @ (rows - mean) ** 2, rtol=1e-12)
        np.testing.assert_allclose(alone[label].scatter, np.diag(full[label].scatter.diagonal()), rtol=1e-12)


def test_a_block_with_other_columns_is_named():
    good = pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, 1.0]})
    parts = [dask.delayed(good), dask.delayed(good.rename(columns={"b": "c"}))]
    lazy = dd.from_delayed(parts, meta=good, verify_meta=False)
    with pytest.raises(ValueError, match=r"block 1 must have the columns \['a', 'b'\], got \['a', 'c'\]"):
        LinearRegression().fit(lazy, np.arange(4.0))
    words = dd.from_delayed([parts[0], dask.delayed(good.assign(b=["x", "y"]))], meta=good, verify_meta=False)
    with pytest.raises(ValueError, match="block 1 must hold numbers"):
        LinearRegression().fit(words, np.arange(4.0))


def test_blocks_without_rows_are_passed_over():
    rows, target = delayed_blocks(X[:0], X[:500], X[:0]), blocks(Y[:500, 0])
    np.testing.assert_allclose(
        LinearRegression().fit(rows, target).coef_, LinearRegression().fit(X[:500], Y[:500, 0]).coef_, rtol=1e-10
    )


def takes_blocks(name):
    card = find_card(name)
    return bool(card.rules_for(card.estimator()).blocks)


@pytest.mark.parametrize("name", sorted(card.name for card in all_cards()))
def test_every_method_that_needs_all_rows_names_one_that_does_not(name):
    assert (name in INSTEAD) != takes_blocks(name)
    assert takes_blocks(INSTEAD.get(name, name))


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("heights", [(500, 1, 1099, 0, 400), (700, 700, 600), (1, 1, 1998)], ids=str)
def test_folds_of_blocks_of_unknown_height_take_one_pass_and_the_blocks_they_end_in(heights, is_weighted, monkeypatch):
    frame = pd.DataFrame(X[:2000], columns=[f"x{j}" for j in range(P)]).assign(y=Y[:2000, 0], w=WEIGHT[:2000])
    ends, read = np.cumsum((0, *heights)), []

    @dask.delayed
    def part(k):
        read.append(k)
        return frame.iloc[ends[k] : ends[k + 1]]

    table = dd.from_delayed([part(k) for k in range(len(heights))], meta=frame.iloc[:0], verify_meta=False)
    weights = {"sample_weight": table["w"]} if is_weighted else {}
    model = LassoCV(alphas=12, cv=3).fit(table[[f"x{j}" for j in range(P)]], table["y"], **weights)
    own = WEIGHT[:2000] if is_weighted else None
    in_memory = LassoCV(alphas=12, cv=3).fit(frame.drop(columns=["y", "w"]), Y[:2000, 0], own)
    assert_same(model, in_memory, CLOSE)
    folds = np.searchsorted([667, 1334], np.arange(2000), side="right")  # 667, 667 and 666 rows
    cut = [k for k in range(len(heights)) if len(set(folds[ends[k] : ends[k + 1]])) > 1]
    assert sorted(read) == sorted([*range(len(heights)), *cut])
    read.clear()
    monkeypatch.setattr(block_data, "MOST_KEPT", 0)
    again = LassoCV(alphas=12, cv=3).fit(table[[f"x{j}" for j in range(P)]], table["y"], **weights)
    assert_same(again, model, CLOSE)
    assert sorted(read) == sorted(2 * [*range(len(heights))])  # counted first


def test_methods_that_need_every_row_say_so():
    with pytest.raises(ValueError, match=r"in memory for SVC, got a Dask collection.*Take \w+, or fit it to a sample"):
        SVC().fit(blocks(X), blocks(LABELS))
    with pytest.raises(ValueError, match=r"in memory for LinearDiscriminantAnalysis.*set shrinkage to None"):
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(blocks(X), blocks(LABELS))


def test_folds_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="cv must be a number of folds"):
        LassoCV(cv=[(np.arange(5), np.arange(5, 9))]).fit(blocks(X), blocks(Y[:, 0]))


def test_dask_is_imported_by_nobody_who_does_not_bring_it():
    code = "import sys, numpy as np; from pellucid.linear_model import Ridge; X = np.eye(3); Ridge().fit(X, X[0])"
    code += "; sys.exit('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# workers in processes


CLUSTER = """
    import os, signal, sys
    from pathlib import Path
    import dask.array as da, numpy as np
    from distributed import Client, LocalCluster
    from pellucid.cluster import KMeans
    from pellucid.linear_model import Lasso, LogisticRegression
    from pellucid.mixture import GaussianMixture
    from pellucid.svm import LinearSVC

    FITS = (
        lambda rows, target: Lasso(alpha=0.1).fit(rows, target).coef_,
        lambda rows, target: KMeans(3, random_state=0, tol=1.0).fit(rows).cluster_centers_,
        lambda rows, target: LogisticRegression().fit(rows, target > 1.0).coef_,
        lambda rows, target: LinearSVC().fit(rows, target > 1.0).coef_,
        lambda rows, target: GaussianMixture(1).fit(rows).means_,
    )
    ORDER = Path("somebody dies")

    def read(block, number):
        if number == 7:
            try:
                ORDER.unlink()  # whoever finds it there dies, in the middle of a pass
            except FileNotFoundError:
                return block
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    def numbered(block, block_info=None):
        return read(block, block_info[None]["chunk-location"][0])

    if __name__ == "__main__":
        rows = da.random.default_rng(0).normal(size=(80_000, 8), chunks=(4_000, 8)).map_blocks(numbered, dtype=float)
        target = rows @ np.arange(8.0) + 1.0
        expected = [fit(rows, target).tobytes() for fit in FITS]  # on threads, here
        many = {"n_workers": 3, "threads_per_worker": 1}
        with LocalCluster(**many, dashboard_address=None) as cluster, Client(cluster) as client:
            for fit, bits in zip(FITS, expected):
                ORDER.touch()
                assert fit(rows, target).tobytes() == bits
                assert not ORDER.exists(), "nobody died"
            print("same bits")
            sys.stdout.flush()
            os._exit(0)  # those that start again need not be waited for
"""


def test_bits_are_the_same_on_threads_and_on_workers_of_which_one_is_killed_in_each_fit(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(textwrap.dedent(CLUSTER))
    command = [sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    assert "same bits" in done.stdout, done.stderr[-2000:]


LIMITED = """
    import resource, sys
    import dask, dask.array as da, numpy as np
    from pellucid.linear_model import LinearRegression

    rows = da.random.default_rng(0).normal(size=(6_000_000, 20), chunks=(100_000, 20))  # 960 MB
    target = rows[:, 0] - 2.0 * rows[:, 3]
    LinearRegression().fit(rows[:200_000], target[:200_000])
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 400_000_000, used + 400_000_000))
    with dask.config.set(scheduler="threads", num_workers=2):
        model = LinearRegression().fit(rows, target)
    print("fitted", model.coef_.round(9).tolist())
    try:
        rows.compute()
    except MemoryError:
        print("too large to hold")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
def test_a_fit_holds_a_few_blocks_only(tmp_path):
    script = tmp_path / "limited.py"
    script.write_text(textwrap.dedent(LIMITED))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=False)
    assert "fitted [1.0" in done.stdout, done.stderr[-2000:]
    assert "too large to hold" in done.stdout


def test_the_page_about_scale_names_the_methods_that_take_blocks():
    page = (Path(__file__).parents[3] / "docs" / "scale.md").read_text(encoding="utf-8")
    table = "\n".join(
        line.split("|")[2] for line in page.splitlines() if line.startswith("| ") and "methods" not in line
    )
    named = set(re.findall(r"[A-Z]\w+", table))
    found = set()
    for card in all_cards():
        with suppress(TypeError):  # built on something that must be given
            found |= {card.name} if card.rules_for(card.estimator()).blocks else set()
    assert named == found


def test_indicators_of_all_groups_are_proved():
    group = rng.integers(0, 4, N)
    table = np.column_stack([np.eye(4)[group], np.full(N, 2024.0), X])
    model = LinearRegression().fit(blocks(table), blocks(Y[:, 0]))
    in_memory = LinearRegression().fit(table, Y[:, 0])
    assert model.rank_ == in_memory.rank_ == 3 + P
    np.testing.assert_allclose(model.coef_, in_memory.coef_, atol=1e-9)
    assert pellucid.verify(model, blocks(table), blocks(Y[:, 0])).holds
    model.coef_[:4] += 1e-3  # fits as well, and is longer
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(table), blocks(Y[:, 0])).holds
