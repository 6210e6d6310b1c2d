"""MixedNB on rows in blocks: the densities are those of the rows in memory, columns of words included."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.naive_bayes import MixedNB
from pellucid.probability import Bernoulli, Categorical, Gaussian

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N = 700
rng = np.random.default_rng(2)
LABELS = np.array(["no", "yes", "maybe"])[rng.integers(0, 3, N)]
FRAME = pd.DataFrame(
    {
        "size": 1e5 + rng.normal(size=N) * (1.0 + (LABELS == "yes")),
        "color": np.array(["red", "green", "blue"])[rng.integers(0, 3, N)],
        "flag": (rng.random(N) < 0.3).astype(float),
        "grade": rng.integers(1, 5, N).astype(float),
    }
)
WEIGHT = rng.integers(0, 3, N).astype(float)
SETTINGS = [{}, {"alpha": 0.0, "prior_alpha": 1.0}, {"densities": {"grade": "categorical"}, "var_smoothing": 0.1}]


def lazy(weight=None):
    table = FRAME.assign(label=LABELS, weight=WEIGHT if weight is None else weight)
    found = dd.from_pandas(table, npartitions=6)
    return found[list(FRAME.columns)], found["label"], found["weight"]


def values(density):
    names = {Gaussian: ("mean", "variance"), Bernoulli: ("p",), Categorical: ("probabilities",)}[type(density)]
    return np.hstack([getattr(density, name) for name in names])


def assert_same(one, other, tolerance=1e-12):
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_allclose(one.class_prior_, other.class_prior_, rtol=tolerance)
    for ours, theirs in zip(one.densities_, other.densities_, strict=True):
        assert [type(density) for density in ours] == [type(density) for density in theirs]
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(values(a), values(b), rtol=tolerance)
            if isinstance(a, Categorical):
                np.testing.assert_array_equal(a.categories, b.categories)


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_fit_is_that_in_memory_and_is_proved_by_a_pass(settings, is_weighted):
    rows, labels, weight = lazy()
    given = {"sample_weight": WEIGHT} if is_weighted else {}
    in_blocks_given = {"sample_weight": weight} if is_weighted else {}
    in_memory = MixedNB(**settings).fit(FRAME, LABELS, **given)
    in_blocks = MixedNB(**settings).fit(rows, labels, **in_blocks_given)
    assert_same(in_memory, in_blocks, 1e-9)  # a mean of 1e5 deviations
    assert in_blocks.certificate_.holds
    assert in_blocks.trace_.frame()["objective"][0] == pytest.approx(in_memory.trace_.frame()["objective"][0], rel=1e-9)
    assert pellucid.verify(in_blocks, rows, labels, **in_blocks_given).holds
    assert pellucid.verify(in_memory, rows, labels, **in_blocks_given).holds
    assert pellucid.verify(in_blocks, FRAME, LABELS, **given).holds


def test_columns_that_are_declared_categories_are_categorical():
    table = FRAME.assign(grade=FRAME["grade"].astype("category"), label=LABELS)
    found = dd.from_pandas(table, npartitions=3)
    model = MixedNB().fit(found[list(FRAME.columns)], found["label"])
    assert isinstance(model.densities_[3][0], Categorical)
    assert_same(MixedNB().fit(table[list(FRAME.columns)], LABELS), model, 1e-9)


def test_numbers_that_look_like_flags_in_one_block_only_are_gaussian():
    column = np.zeros((40, 1))
    column[33] = 7.0
    model = MixedNB().fit(da.from_array(column, chunks=(10, 1)), LABELS[:40])
    assert_same(MixedNB().fit(column, LABELS[:40]), model)


def test_answers_are_lazy_and_the_score_is_that_in_memory():
    rows, labels, _ = lazy()
    model = MixedNB().fit(rows, labels)
    np.testing.assert_array_equal(model.predict(rows).compute(), model.predict(FRAME))
    np.testing.assert_allclose(model.predict_proba(rows).compute(), model.predict_proba(FRAME))
    assert model.score(rows, labels) == pytest.approx(model.score(FRAME, LABELS))


def test_bits_are_the_same_on_any_number_of_threads():
    rows, labels, weight = lazy(rng.random(N))
    found = []
    for threads in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=threads):
            found.append(MixedNB().fit(rows, labels, sample_weight=weight))
    for other in found[1:]:
        assert_same(found[0], other, 0.0)


def changed(density, change):
    if isinstance(density, Gaussian):
        return Gaussian(density.mean, density.variance * 1.001) if change else Gaussian(density.mean + 1.0, 1.0)
    if isinstance(density, Bernoulli):
        return Bernoulli(density.p * 1.001)
    shares = density.probabilities.copy()
    shares[:2] += [1e-3, -1e-3]
    return Categorical(shares, density.categories)


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("change", [0, 1])
def test_a_changed_density_is_noticed(column, change):
    rows, labels, _ = lazy()
    model = MixedNB().fit(rows, labels)
    model.densities_[column][1] = changed(model.densities_[column][1], change)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, rows, labels).holds


@pytest.mark.parametrize("name", ["class_prior_", "class_count_", "order of classes", "kind", "fewer columns"])
def test_other_changes_are_noticed(name):
    rows, labels, _ = lazy()
    model = MixedNB().fit(rows, labels)
    if name == "order of classes":
        model.classes_ = model.classes_[::-1].copy()
    elif name == "kind":
        model.densities_[2] = [Gaussian(density.mean, density.variance) for density in model.densities_[2]]
    elif name == "fewer columns":
        model.densities_ = model.densities_[:3]
    else:
        setattr(model, name, getattr(model, name) * [1.001, 1.0, 1.0])
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, rows, labels).holds


def in_blocks(*parts):
    return da.concatenate([da.from_array(np.asarray(part, dtype=object), chunks=(len(part), -1)) for part in parts])


@pytest.mark.parametrize(
    ("parts", "settings", "sentence"),
    [
        (([[1.0]] * 5, [["a"]] * 5), {}, "column 0 must hold texts or numbers, got texts in some blocks only"),
        (([["a"]] * 5, [["b"]] * 4 + [[None]]), {}, "block 1 must hold texts or numbers in column 0, got both"),
        (([["a"]] * 5, [["b"]] * 5), {"densities": "gaussian"}, r"block \d must hold numbers in a Gaussian column"),
        (([[1.0]] * 5, [[2.0]] * 4 + [[np.nan]]), {}, "in row 4 of block 1"),
        (([[1.0]] * 5, [[2.0]] * 5), {"densities": "logistic"}, "For all rows take the densities gaussian"),
    ],
)
def test_what_is_wrong_is_said(parts, settings, sentence):
    model = MixedNB(**settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(in_blocks(*parts), np.array(["x", "y"] * 5))
    assert not hasattr(model, "densities_")


def test_labels_that_the_model_does_not_know_are_refused_by_verify():
    rows, labels, _ = lazy()
    model = MixedNB().fit(rows, labels)
    with pytest.raises(ValueError, match="y must have the labels of the fit, got other too"):
        pellucid.verify(model, rows, labels.where(labels != "no", "other"))
