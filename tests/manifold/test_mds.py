"""MDS: by hand, properties, against scikit-learn, proofs, the compiled pass, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import sklearn.manifold
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.isotonic import IsotonicRegression

import pellucid
from pellucid.manifold import MDS, smacof, stress_kernels, stress_solvers
from pellucid.manifold.mds.mds import Disparities
from tests.plain_kernels import in_python

FEW = settings(max_examples=10, deadline=None)
TRIANGLE = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]


def cloud(seed=0, n=40, p=4):
    return np.random.default_rng(seed).standard_normal((n, p)) * np.arange(1.0, p + 1)


def model_of(X, **how):
    return MDS(**{"init": "classical_mds", "max_iter": 3000, **how}).fit(X)


@pytest.mark.by_hand
def test_one_step_on_a_line_by_hand():
    # places 0, 1 and wanted distance 3: each is pulled by 3 * (difference of length 1), the mean of two is 1.5
    places, stress, steps = smacof(
        [[0, 3], [3, 0]], init=[[0.0], [1.0]], n_components=1, max_iter=1, return_n_iter=True
    )
    assert places.ravel().tolist() == [-1.5, 1.5]
    assert (stress, steps) == (0.0, 1)


def test_a_triangle_has_a_map_without_stress():
    model = MDS(metric="precomputed", eps=1e-15, random_state=0).fit(TRIANGLE)
    assert model.stress_ < 1e-9
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), TRIANGLE, atol=1e-4)


@pytest.mark.property
@FEW
@given(st.integers(0, 1000), st.booleans())
def test_stress_never_rises_and_another_order_changes_nothing(seed, metric):
    X, order = cloud(seed), np.random.default_rng(seed).permutation(40)
    model, other = model_of(X, metric_mds=metric), model_of(X[order], metric_mds=metric)
    assert np.all(np.diff(model.trace_["objective"]) <= 1e-9 * model.trace_["objective"][0])
    assert other.stress_ == pytest.approx(model.stress_, rel=0.05)
    assert pellucid.verify(model, X).holds


@pytest.mark.peer
@pytest.mark.parametrize("metric", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_same_steps_as_scikit_learn(metric, normalized):
    D = cdist(cloud(), cloud())
    start = np.random.default_rng(1).uniform(size=(40, 2))
    how = {"metric": metric, "init": start, "max_iter": 60, "normalized_stress": normalized, "return_n_iter": True}
    ours, peer = smacof(D, **how), sklearn.manifold.smacof(D, **how)
    np.testing.assert_allclose(ours[0], peer[0], atol=1e-8)
    assert ours[2] == peer[2]
    assert ours[1] == pytest.approx(peer[1], rel=1e-9) if metric else ours[1] <= peer[1]


def test_same_answer_as_scikit_learn_up_to_a_turn():
    X = cloud()
    ours, peer = (
        model_of(X, metric="manhattan"),
        sklearn.manifold.MDS(init="classical_mds", max_iter=3000, metric="manhattan").fit(X),
    )
    assert ours.stress_ == pytest.approx(peer.stress_, rel=1e-8)
    np.testing.assert_allclose(
        cdist(ours.embedding_, ours.embedding_), cdist(peer.embedding_, peer.embedding_), atol=1e-6
    )


def test_the_best_of_several_starts_counts():
    X = cloud()
    stresses = [MDS(n_init=n, random_state=0, max_iter=3000).fit(X).stress_ for n in (1, 5)]
    assert stresses[1] <= stresses[0]


@pytest.mark.parametrize("decimals", [0, 9])
def test_disparities_are_a_monotone_regression_and_equal_for_equal_dissimilarities(decimals):
    D, Z = cdist(cloud(), cloud()).round(decimals), cloud(1, p=2)
    D[0, 1] = D[1, 0] = 0.0  # missing
    pairs = np.triu_indices(40, 1)
    known = D[pairs] != 0.0
    fitted = IsotonicRegression().fit_transform(D[pairs][known], cdist(Z, Z)[pairs][known])
    wanted = np.zeros(known.size)
    wanted[known] = fitted * np.sqrt(known.size / np.sum(fitted**2))
    np.testing.assert_allclose(Disparities(D)(Z, 1)[pairs], wanted, atol=1e-12)


def test_new_rows_have_least_stress_and_known_rows_keep_their_places():
    X = cloud()
    for metric in (True, False):
        model = model_of(X, metric_mds=metric)
        np.testing.assert_array_equal(model.transform(X[:6]), model.embedding_[:6])
        near = model.transform(X[:6] + 1e-3)
        assert np.abs(near - model.embedding_[:6]).max() < 0.3 * np.abs(model.embedding_).max()
    flat = cloud(p=2)
    model = model_of(flat, eps=1e-14)
    new = flat[:3] + 0.3
    np.testing.assert_allclose(cdist(model.transform(new), model.embedding_), cdist(new, flat), atol=1e-4)


def test_weights_of_one_give_the_plain_solver():
    pulled = np.random.default_rng(0).standard_normal((9, 2))
    pulled -= pulled.mean(axis=0)
    solve, plain = stress_solvers.weight_solver(np.ones((9, 9))), stress_solvers.weight_solver(np.ones((1, 9)))
    np.testing.assert_allclose(solve(pulled), plain(pulled), atol=1e-12)


def test_the_loop_does_the_same_as_plain_python(monkeypatch):
    Z, D = cloud(p=2, n=9), cdist(cloud(1, n=9), cloud(1, n=9))
    W = 1.0 / (1.0 + D)
    wanted = [stress_solvers.look_at(Z, D, weights) for weights in (W, np.ones((1, 9)))]
    d = cdist(Z, Z)
    assert wanted[0].stress == pytest.approx(np.sum(W * (d - D) ** 2) / 2)
    assert wanted[0].spread == pytest.approx(np.sum(W * d**2) / 2)
    monkeypatch.setattr(stress_kernels, "stress_of_rows", in_python(stress_kernels.stress_of_rows))
    for weights, one in zip((W, np.ones((1, 9))), wanted, strict=True):
        again = stress_solvers.look_at(Z, D, weights)
        np.testing.assert_allclose(again.pulled, one.pulled, atol=1e-12)
        assert again.stress == pytest.approx(one.stress)


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("embedding_", lambda Z: 1.001 * Z, "stress"),
        ("embedding_", lambda Z: -Z, "orientation"),
        ("embedding_", lambda Z: Z @ [[0.8, 0.6], [-0.6, 0.8]], "orientation"),
        ("embedding_", lambda Z: Z + 1.0, "orientation"),
        ("stress_", lambda stress: stress * (1 + 1e-8), "stress"),
        ("dissimilarity_matrix_", lambda D: D * (1 + 1e-9), "distances"),
        ("X_fit_", lambda X: X[::-1].copy(), "training rows"),
    ],
)
@pytest.mark.parametrize("metric", [True, False])
def test_a_changed_model_is_noticed(name, change, claim, metric):
    X = cloud()
    broken = copy.deepcopy(model_of(X, metric_mds=metric))
    setattr(broken, name, change(getattr(broken, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert claim in {failed.name for failed in pellucid.verify(broken, X).failed}


def test_a_descent_that_stops_early_says_so():
    with pytest.warns(pellucid.UncertifiedWarning, match="stationary is .* Raise max_iter"):
        MDS(max_iter=2, random_state=0).fit(cloud())


@pytest.mark.parametrize("prepare", [lambda X: 1e-120 * X, lambda X: 1e120 * X, lambda X: X + 1e6, np.float32])
def test_no_false_alarm_in_other_units(prepare):
    X = prepare(cloud())
    model = model_of(X)
    assert pellucid.verify(model, X).holds
    assert model.n_iter_ == pytest.approx(model_of(cloud()).n_iter_, abs=2)


def test_rows_that_are_the_same_and_more_dimensions_than_rows():
    for X in (np.ones((5, 2)), np.repeat(cloud(n=5), 2, axis=0), cloud(n=2)):
        model = model_of(X, n_components=3)
        assert model.embedding_.shape == (len(X), 3)
        assert np.isfinite(model.transform(X + 0.5)).all()


def test_callbacks_see_the_places():
    from sklearn.callback import ProgressBar

    model = MDS(random_state=0, max_iter=3000).set_callbacks(ProgressBar()).fit(cloud())
    assert model.certificate_.holds


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"metric": "precomputed"}, "Distance matrix should be square"),
        ({"metric": "miles"}, "metric must be one of"),
        ({"init": "pca"}, "init must be one of"),
        ({"eps": -1}, "eps must be at least 0, got -1"),
        ({"metric": "cosine", "dissimilarity": "euclidean"}, "You provided both `dissimilarity` and `metric`"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    with pytest.raises(ValueError, match=words):
        MDS(**how).fit(cloud())


def test_refuses_first_places_of_other_rows_and_warns_of_old_names():
    with pytest.raises(ValueError, match=r"init must have one row for each of the 40 rows, got shape \(3, 2\)"):
        MDS().fit(cloud(), init=np.ones((3, 2)))
    with pytest.warns(FutureWarning, match="Use metric_mds=False"):
        assert MDS(metric=False, max_iter=3000, random_state=0).fit(cloud()).stress_ < 1.0
    with pytest.warns(FutureWarning, match="dissimilarity"):
        MDS(dissimilarity="precomputed", init="classical_mds", max_iter=3000).fit(cdist(cloud(), cloud()))
    with pytest.warns(UserWarning, match="it is square"):
        model_of(cloud(n=4))
    with pytest.warns(UserWarning, match="performing only one init"):
        smacof(TRIANGLE, init=np.eye(3)[:, :2], n_init=2)
