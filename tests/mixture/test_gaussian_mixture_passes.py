"""Gaussian mixtures over rows in blocks: as in memory, from the same start or their own, and attacked."""

from __future__ import annotations

from copy import copy
from functools import cache

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import pellucid
from pellucid.core.scale import first_look
from pellucid.mixture import GaussianMixture
from pellucid.mixture import gaussian_mixture_solvers as solvers

da = pytest.importorskip("dask.array", reason="the extra 'scale' is not installed")

N, D, K = 6000, 3, 3
rng = np.random.default_rng(2)
MIDDLES = 4.0 * rng.normal(size=(K, D))
X = MIDDLES[rng.integers(K, size=N)] + rng.normal(size=(N, D)) @ rng.normal(size=(D, D)) + 1e3 * (np.arange(D) == 1)
WEIGHT = rng.integers(0, 3, N).astype(float)
KINDS = ("full", "tied", "diag", "spherical")
PRECISIONS = {"full": np.stack([np.eye(D)] * K), "tied": np.eye(D), "diag": np.ones((K, D)), "spherical": np.ones(K)}
NAMES = ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "log_likelihood_")


def blocks(array, height=800):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


def given(kind):
    return {"weights_init": [0.2, 0.3, 0.5], "means_init": X[:K], "precisions_init": PRECISIONS[kind]}


def mixture(kind, **settings):
    return GaussianMixture(K, **{"covariance_type": kind, "max_iter": 1000, "tol": 1e-5, **settings})


def test_one_component_is_mean_and_covariance():
    # 0, 1, 2, 9: the mean is 3, the variance (9 + 4 + 1 + 36) / 4 = 12.5
    model = GaussianMixture(1, reg_covar=0.0).fit(blocks(np.array([[0.0], [1.0], [2.0], [9.0]]), height=1))
    np.testing.assert_allclose((model.means_[0, 0], model.covariances_[0, 0, 0]), (3.0, 12.5), rtol=1e-14)


@pytest.mark.parametrize("is_careful", [False, True], ids=["fast", "careful"])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_start_ends_where_it_does_in_memory(kind, is_weighted, is_careful, monkeypatch):
    if is_careful:
        monkeypatch.setattr(solvers, "NARROW", 0.0)
    weight = WEIGHT if is_weighted else None
    lazy = blocks(WEIGHT) if is_weighted else None
    in_memory = mixture(kind, **given(kind)).fit(X, sample_weight=weight)
    model = mixture(kind, **given(kind)).fit(blocks(X), sample_weight=lazy)
    for name in NAMES:
        np.testing.assert_allclose(getattr(model, name), getattr(in_memory, name), rtol=1e-8, atol=1e-9, err_msg=name)
    assert abs(model.n_iter_ - in_memory.n_iter_) <= 1  # rounding may decide about the last
    assert (np.diff(model.lower_bounds_) >= -1e-12).all()
    assert model.certificate_.holds
    assert pellucid.verify(model, blocks(X, 999), sample_weight=lazy).holds
    assert pellucid.verify(model, X, sample_weight=weight).holds
    assert pellucid.verify(in_memory, blocks(X), sample_weight=lazy).holds


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_some_rows_make_a_start_for_all(init, monkeypatch):
    monkeypatch.setattr(first_look, "MOST_ROWS", 500)
    in_memory = mixture("full", random_state=0, n_init=4).fit(X)
    model = mixture("full", init_params=init, random_state=0, n_init=4).fit(blocks(X))
    assert model.certificate_.holds
    assert model.n_iter_ < 60
    assert model.log_likelihood_ >= in_memory.log_likelihood_ - 1e-3


def test_a_further_fit_goes_on_from_the_last():
    model = mixture("diag", random_state=0, warm_start=True).fit(blocks(X))
    bound = model.log_likelihood_
    model.fit(blocks(X))
    assert model.n_iter_ <= 2
    assert model.log_likelihood_ >= bound - 1e-12


def test_too_few_steps_and_collapsed_components_are_said():
    with pytest.warns(pellucid.UncertifiedWarning):
        early = mixture("full", **given("full") | {"max_iter": 2}).fit(blocks(X))
    assert "gain" in {claim.name for claim in early.certificate_.failed}
    twice = np.concatenate([np.zeros((200, 1)), rng.normal(5.0, 1.0, size=(200, 1))])
    with pytest.warns(ConvergenceWarning, match="collapsed"):
        GaussianMixture(2, random_state=0).fit(blocks(twice))


@cache
def fitted_mixture(kind):
    return mixture(kind, random_state=0).fit(blocks(X))


CHANGES = {
    "a little": lambda value: value * 1.001,
    "order": lambda value: value[::-1].copy(),
    "sign": lambda value: -value,
    "nan": lambda value: value * np.nan,
    "huge": lambda value: value + 1e140,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_model_is_noticed(kind, name, change):
    model = copy(fitted_mixture(kind))
    before = getattr(model, name)
    if change == "order" and kind == "tied" and name not in ("weights_", "means_"):
        return  # another order of columns
    setattr(model, name, CHANGES[change](before))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(X)).holds


@pytest.mark.parametrize("name", ["log_likelihood_", "lower_bound_"])
def test_a_changed_likelihood_and_other_rows_are_noticed(name):
    model = mixture("diag", random_state=0).fit(blocks(X))
    other = X.copy()
    other[100:200] += 5.0
    with pytest.warns(pellucid.UncertifiedWarning, match="not the training data"):
        assert not pellucid.verify(model, blocks(other)).holds
    setattr(model, name, getattr(model, name) + 0.01)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, blocks(X)).holds


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_units_cry_no_wolf(scale):
    model = mixture("full", random_state=0, reg_covar=0.0).fit(blocks((X - [0.0, 1e3, 0.0]) * scale))
    assert model.certificate_.holds


@pytest.mark.parametrize(
    ("settings", "rows", "sentence"),
    [
        ({"means_init": X[:2]}, X, "means_init must be finite numbers of shape"),
        ({}, X[:2], "n_samples must be at least n_components"),
        ({}, np.where(X[1700] == X, np.nan, X), "NaN or infinity, in row 100 of block 2"),
        ({"reg_covar": 0.0}, np.repeat(X[:3], 40, axis=0), "ill-defined"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_looks_fitted(settings, rows, sentence):
    model = mixture("full", random_state=0, **settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(rows))
    assert not hasattr(model, "means_")


def test_the_best_of_several_starts_goes_on():
    places = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0], [3.0, 14.0]])
    draw = np.random.default_rng(0)
    rows = blocks(places[draw.integers(5, size=1200)] + draw.normal(size=(1200, 2)), height=300)
    one, best = (
        GaussianMixture(5, n_init=n, init_params="random_from_data", random_state=0).fit(rows).log_likelihood_
        for n in (1, 6)
    )
    assert best > one + 0.1


def test_components_that_are_narrow_beside_the_data_keep_their_digits():
    draw, width = np.random.default_rng(0), 1e-4
    rows = np.where(draw.random((1500, 1)) < 0.4, 0.0, 1.0) + width * draw.normal(size=(1500, 2))
    start = {"weights_init": [0.5, 0.5], "means_init": [[0.0, 0.0], [1.0, 1.0]]}
    start["precisions_init"] = np.stack([np.eye(2) / width**2] * 2)
    in_memory, model = (GaussianMixture(2, reg_covar=0.0, **start).fit(X) for X in (rows, blocks(rows)))
    np.testing.assert_allclose(model.covariances_, in_memory.covariances_, rtol=1e-10, atol=1e-20)


def test_a_constant_column_costs_nothing():
    rows = np.column_stack([X, np.full(N, 7.0)])
    in_memory, model = (GaussianMixture(1).fit(table) for table in (rows, blocks(rows)))
    np.testing.assert_allclose(model.covariances_, in_memory.covariances_, rtol=1e-9, atol=1e-12)
