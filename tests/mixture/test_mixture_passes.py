"""Mixtures of any densities on rows in blocks: the steps are those in memory, columns of words included."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.mixture import Mixture
from pellucid.mixture import mixture_passes as passes
from pellucid.probability import Bernoulli, Binomial, Categorical, Gaussian, MultivariateGaussian

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N = 900
rng = np.random.default_rng(4)
KIND = rng.integers(0, 2, N)
FRAME = pd.DataFrame(
    {
        "size": 1e4 + 3.0 * KIND + rng.normal(size=N),
        "color": np.where(KIND == 1, rng.choice(["red", "green"], N), rng.choice(["green", "blue", "grey"], N)),
        "flag": (rng.random(N) < np.where(KIND == 1, 0.9, 0.3)).astype(float),
        "hits": rng.binomial(5, np.where(KIND == 1, 0.7, 0.2)).astype(float),
    }
)
NUMBERS = FRAME[["size", "hits"]].to_numpy() + 0.1 * rng.normal(size=(N, 2))
WEIGHT = rng.integers(0, 3, N).astype(float)
TIGHT = {"tol": 1e-12, "max_iter": 2000, "random_state": 0}
BY_COLUMN = {"densities": {"hits": "binomial"}, **TIGHT}
GIVEN = [MultivariateGaussian([1e4, 1.0], np.eye(2)), MultivariateGaussian([1e4 + 3.0, 3.0], np.eye(2))]
OF_ROWS = {"densities": "multivariate_gaussian", **TIGHT}


def lazy(weight=None):
    table = dd.from_pandas(FRAME.assign(weight=WEIGHT if weight is None else weight), npartitions=5)
    return table[list(FRAME.columns)], table["weight"]


def blocks(array, height=250):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


def numbers_of(density):
    names = {
        Gaussian: ("mean", "variance"),
        Bernoulli: ("p",),
        Binomial: ("n_trials", "p"),
        Categorical: ("probabilities",),
        MultivariateGaussian: ("mean", "covariance"),
    }[type(density)]
    return np.concatenate([np.ravel(getattr(density, name)) for name in names])


def assert_same(one, other, tolerance):
    order = np.argsort([np.ravel(own[0].mean)[0] for own in other.densities_])
    first = np.argsort([np.ravel(own[0].mean)[0] for own in one.densities_])
    np.testing.assert_allclose(one.weights_[first], other.weights_[order], atol=tolerance)
    for k, twin in zip(first, order, strict=True):
        for a, b in zip(one.densities_[k], other.densities_[twin], strict=True):
            assert type(a) is type(b)
            np.testing.assert_allclose(numbers_of(a), numbers_of(b), rtol=tolerance, atol=tolerance)
            if isinstance(a, Categorical):
                np.testing.assert_array_equal(a.categories, b.categories)


def test_one_component_is_the_densities_of_all_rows():  # by hand: EM ends at once
    table = dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0, 3.0, 6.0], "c": ["a", "b", "a", "a"]}), npartitions=2)
    model = Mixture(n_components=1, var_smoothing=0.0).fit(table)
    ((x, c),) = model.densities_
    assert (x.mean, x.variance) == pytest.approx((3.0, 3.5))
    assert c.categories.tolist() == ["a", "b"]
    assert c.probabilities == pytest.approx([0.75, 0.25])


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
def test_columns_of_all_kinds_are_those_in_memory_and_are_proved_by_a_pass(is_weighted):
    rows, weight = lazy()
    given = {"sample_weight": WEIGHT} if is_weighted else {}
    in_blocks_given = {"sample_weight": weight} if is_weighted else {}
    in_memory = Mixture(**BY_COLUMN).fit(FRAME, **given)
    in_blocks = Mixture(**BY_COLUMN).fit(rows, **in_blocks_given)
    assert [type(one) for one in in_blocks.densities_[0]] == [Gaussian, Categorical, Bernoulli, Binomial]
    assert_same(in_memory, in_blocks, 1e-5)
    assert in_blocks.log_likelihood_ == pytest.approx(in_memory.log_likelihood_, rel=1e-10)
    assert in_blocks.certificate_.holds
    assert (np.diff(in_blocks.trace_.frame()["objective"]) <= 1e-12).all()
    assert pellucid.verify(in_blocks, rows, **in_blocks_given).holds
    assert pellucid.verify(in_memory, rows, **in_blocks_given).holds
    assert pellucid.verify(in_blocks, FRAME, **given).holds


@pytest.mark.parametrize("wanted", [{"densities": GIVEN, **TIGHT}, OF_ROWS], ids=["given", "found"])
def test_densities_of_rows_are_those_in_memory_and_are_proved_by_a_pass(wanted):
    in_memory, in_blocks = Mixture(**wanted).fit(NUMBERS), Mixture(**wanted).fit(blocks(NUMBERS))
    assert_same(in_memory, in_blocks, 1e-5)
    assert in_blocks.certificate_.holds
    for model in (in_memory, in_blocks):
        assert pellucid.verify(model, blocks(NUMBERS, height=101)).holds
        assert pellucid.verify(model, NUMBERS).holds


def test_a_step_over_blocks_is_the_step_in_memory():
    settings = {"densities": GIVEN, "max_iter": 1, "tol": 1e9}
    in_memory, in_blocks = Mixture(**settings).fit(NUMBERS), Mixture(**settings).fit(blocks(NUMBERS))
    assert_same(in_memory, in_blocks, 1e-12)
    assert in_blocks.lower_bound_ == pytest.approx(in_memory.lower_bound_, rel=1e-13)


def test_weights_are_repetitions():
    repeated = np.repeat(np.arange(N), WEIGHT.astype(int))
    settings = {"densities": GIVEN, "tol": 1e-6}
    once = Mixture(**settings).fit(blocks(NUMBERS), sample_weight=blocks(WEIGHT))
    assert_same(Mixture(**settings).fit(blocks(NUMBERS[repeated])), once, 1e-9)


def test_values_that_no_row_kept_has_get_their_place(monkeypatch):
    monkeypatch.setattr(passes, "MOST_ROWS", 60)
    rare = FRAME.assign(color=FRAME["color"].mask(np.arange(N) == 401, "gold"))
    model = Mixture(**BY_COLUMN).fit(dd.from_pandas(rare, npartitions=5))
    assert model.densities_[0][1].categories.tolist() == ["blue", "gold", "green", "grey", "red"]
    assert np.isfinite(model.lower_bounds_).all()
    assert_same(Mixture(**BY_COLUMN).fit(rare), model, 1e-4)


def test_clusters_far_apart_keep_their_digits():
    far = np.concatenate([NUMBERS[:450] * [0.0, 1.0], NUMBERS[:450] + [1e9, 0.0]])
    model = Mixture("gaussian", random_state=0, var_smoothing=0.0).fit(blocks(far, height=900))
    found = model.densities_[np.argmax([own[0].mean for own in model.densities_])]
    assert found[0].variance == pytest.approx(NUMBERS[:450, 0].var(), rel=1e-6)


def test_constant_columns_have_no_variance():
    table = np.column_stack([NUMBERS[:, 0], np.full(N, 0.1)])
    settings = {"densities": "gaussian", "n_components": 1}
    in_blocks = Mixture(**settings).fit(blocks(table))
    assert in_blocks.densities_[0][1] == Mixture(**settings).fit(table).densities_[0][1]
    assert in_blocks.certificate_.holds


def test_answers_are_lazy():
    rows, _ = lazy()
    model = Mixture(**BY_COLUMN).fit(rows)
    np.testing.assert_array_equal(model.predict(rows).compute(), model.predict(FRAME))
    np.testing.assert_allclose(model.predict_proba(rows).compute(), model.predict_proba(FRAME))
    assert model.score(rows) == pytest.approx(model.score(FRAME))


def test_bits_are_the_same_on_any_number_of_threads():
    rows, weight = lazy(rng.random(N))
    found = []
    for threads in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=threads):
            found.append(Mixture({"hits": "binomial"}, random_state=0).fit(rows, sample_weight=weight))
    for other in found[1:]:
        assert_same(found[0], other, 0.0)
        assert found[0].lower_bounds_ == other.lower_bounds_


def changed(density):
    if isinstance(density, Gaussian):
        return Gaussian(density.mean, density.variance * 1.001)
    if isinstance(density, Bernoulli):
        return Bernoulli(density.p * 1.001)
    if isinstance(density, Binomial):
        return Binomial(density.n_trials, density.p * 1.001)
    shares = density.probabilities.copy()
    shares[[0, 1]] = [shares[0] + shares[1], 0.0]
    return Categorical(shares, density.categories)


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("component", range(2))
def test_a_changed_density_is_noticed(column, component):
    rows, _ = lazy()
    model = Mixture(**BY_COLUMN).fit(rows)
    model.densities_[component][column] = changed(model.densities_[component][column])
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, rows).holds


@pytest.mark.parametrize("name", ["weights_", "log_likelihood_", "lower_bound_", "kind", "words", "fewer", "none"])
def test_other_changes_are_noticed(name):
    rows, _ = lazy()
    model = Mixture(**BY_COLUMN).fit(rows)
    if name == "weights_":
        model.weights_ = model.weights_ + [1e-4, -1e-4]
    elif name == "kind":
        model.densities_[0][2] = Gaussian(0.5, 0.25)
    elif name == "words":  # a density that no word can be asked about
        model.densities_[0][1] = Gaussian(0.0, 1.0)
    elif name == "fewer":
        model.densities_ = [own[:3] for own in model.densities_]
    elif name == "none":
        model.densities_ = model.densities_[:1]
    else:
        setattr(model, name, getattr(model, name) + 1e-4)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, rows).holds


@pytest.mark.parametrize("column", range(4))
def test_a_density_that_no_step_leaves_is_noticed_whatever_the_likelihood_says(column):
    rows, _ = lazy()
    model = Mixture(**BY_COLUMN).fit(rows)
    model.densities_[0][column] = changed(model.densities_[0][column])
    model.log_likelihood_ = model.lower_bound_ = model.lower_bounds_[-1] = model.score(FRAME)
    with pytest.warns(pellucid.UncertifiedWarning):
        found = pellucid.verify(model, rows)
    assert not {claim.name: claim for claim in found.claims}["score"].holds


@pytest.mark.parametrize("change", ["mean", "covariance", "length"])
def test_a_changed_density_of_rows_is_noticed(change):
    model = Mixture(**OF_ROWS).fit(blocks(NUMBERS))
    old = model.densities_[0][0]
    mean, covariance = old.mean + 1e-3 * (change == "mean"), old.covariance * (1.0 + 1e-4 * (change == "covariance"))
    model.densities_[0][0] = MultivariateGaussian(mean, covariance)
    if change == "length":
        model.densities_[0][0] = MultivariateGaussian(np.zeros(3), np.eye(3))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(NUMBERS)).holds


def in_blocks(*parts):
    return da.concatenate([da.from_array(np.asarray(part, dtype=object), chunks=(len(part), -1)) for part in parts])


@pytest.mark.parametrize(
    ("rows", "settings", "sentence"),
    [
        (in_blocks([[1.0]] * 5, [["a"]] * 5), {}, "column 0 must hold texts or numbers, got texts in some blocks only"),
        (in_blocks([["a"]] * 5, [["b"]] * 5), {"densities": "gaussian"}, r"block \d must hold numbers in a Gaussian"),
        (in_blocks([["a"]] * 5), {"densities": "multivariate_gaussian"}, "block 0 must hold numbers, got words"),
        (blocks(np.full((6, 2), 1e200), 3), {"densities": "multivariate_gaussian"}, "squares are finite"),
        (blocks(np.array([[1.0], [2.0], [np.nan]]), 2), {}, "in row 0 of block 1"),
        (blocks(NUMBERS), {"densities": "logistic"}, "For all rows take the densities gaussian, bernoulli"),
        (blocks(NUMBERS[:3]), {"n_components": 4}, "n_samples must be at least n_components, got n_samples=3"),
    ],
)
def test_what_is_wrong_is_said(rows, settings, sentence):
    model = Mixture(**settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(rows)
    assert not hasattr(model, "densities_")


def test_weights_of_0_are_refused():
    with pytest.raises(ValueError, match="sample_weight must be above 0 for some row"):
        Mixture().fit(blocks(NUMBERS), sample_weight=blocks(np.zeros(N)))
