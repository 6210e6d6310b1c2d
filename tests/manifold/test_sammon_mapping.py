"""SammonMapping: by hand, properties, proofs, workings, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris

import pellucid
from pellucid.manifold import MDS, SammonMapping
from pellucid.show import show_work

FEW = settings(max_examples=10, deadline=None)
WEIGHTINGS = ["inverse", "inverse_square"]


def cloud(seed=0, n=30, p=4):
    return np.random.default_rng(seed).standard_normal((n, p)) * np.arange(1.0, p + 1)


def stress_of(X, Z, weighting):
    known, d = pdist(X), pdist(Z)
    if weighting == "inverse":
        return np.sum((d - known) ** 2 / known) / known.sum()
    return np.mean((d / known - 1.0) ** 2)


@pytest.mark.by_hand
def test_three_points_on_a_line_by_hand():
    # all wanted distances 1; places -t, 0, t have stress (2 (t - 1)^2 + (2t - 1)^2) / 3, least at t = 2/3: 1/9
    for weighting in WEIGHTINGS:
        model = SammonMapping(1, weighting=weighting, metric="precomputed", tol=1e-14).fit(1.0 - np.eye(3))
        assert model.stress_ == pytest.approx(1 / 9)
        assert np.sort(model.embedding_[:, 0]) == pytest.approx([-2 / 3, 0.0, 2 / 3], abs=1e-6)


@pytest.mark.peer
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_the_stress_is_that_of_its_formula_and_no_minimizer_finds_less(weighting):
    X = cloud()
    model = SammonMapping(weighting=weighting, tol=1e-13, max_iter=20000).fit(X)
    assert model.stress_ == pytest.approx(stress_of(X, model.embedding_, weighting))
    found = minimize(lambda z: stress_of(X, z.reshape(-1, 2), weighting), model.embedding_.ravel(), method="L-BFGS-B")
    assert found.fun >= model.stress_ * (1 - 1e-4)


@pytest.mark.property
@FEW
@given(st.integers(0, 1000), st.sampled_from(WEIGHTINGS), st.sampled_from([1e-100, 1.0, 1e100]))
def test_stress_never_rises_and_has_no_unit(seed, weighting, scale):
    X = cloud(seed)
    model, other = (SammonMapping(weighting=weighting).fit(rows) for rows in (X, scale * X))
    assert np.all(np.diff(model.trace_["objective"]) <= 1e-12 * model.trace_["objective"][0])
    assert other.stress_ == pytest.approx(model.stress_, rel=1e-3)
    assert pellucid.verify(other, scale * X).holds


def test_short_distances_are_kept_better_than_without_weights():
    X = load_iris().data + 1e-3 * np.random.default_rng(0).standard_normal((150, 4))
    known = pdist(X)
    short = known < np.quantile(known, 0.05)
    error = [
        np.mean(np.abs(pdist(model.fit(X).embedding_) - known)[short])
        for model in (SammonMapping(weighting="inverse_square"), MDS(init="classical_mds", max_iter=3000))
    ]
    assert error[0] < error[1]


def test_new_rows_have_least_stress_and_known_rows_keep_their_places():
    flat = cloud(p=2)
    for weighting in WEIGHTINGS:
        model = SammonMapping(weighting=weighting, tol=1e-13).fit(flat)
        np.testing.assert_array_equal(model.transform(flat[:6]), model.embedding_[:6])
        new = flat[:3] + 0.2
        np.testing.assert_allclose(cdist(model.transform(new), model.embedding_), cdist(new, flat), atol=1e-3)


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("embedding_", lambda Z: 1.001 * Z, "stress"),
        ("embedding_", lambda Z: -Z, "orientation"),
        ("stress_", lambda stress: stress * (1 + 1e-8), "stress"),
        ("dissimilarity_matrix_", lambda D: D * (1 + 1e-9), "distances"),
        ("X_fit_", lambda X: X[::-1].copy(), "training rows"),
    ],
)
def test_a_changed_model_is_noticed(name, change, claim):
    X = cloud()
    broken = copy.deepcopy(SammonMapping().fit(X))
    setattr(broken, name, change(getattr(broken, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert claim in {failed.name for failed in pellucid.verify(broken, X).failed}


def test_a_map_that_is_no_minimum_is_noticed():
    X = cloud()
    start, end = SammonMapping(max_iter=5000, tol=1e-12).fit(X), SammonMapping().fit(X)
    with pytest.warns(pellucid.UncertifiedWarning, match="stationary is .* Raise max_iter"):
        SammonMapping(max_iter=1, init="random", random_state=0).fit(X)
    assert start.stress_ <= end.stress_


@pytest.mark.parametrize("prepare", [lambda X: X + 1e6, np.float32, lambda X: np.repeat(X, 2, axis=0)])
def test_no_false_alarm_for_offsets_single_precision_and_duplicates(prepare):
    X = prepare(cloud())
    model = SammonMapping().fit(X)
    assert pellucid.verify(model, X).holds


def test_the_work_by_hand_is_shown():
    for weighting in WEIGHTINGS:
        model = SammonMapping(1, weighting=weighting, metric="precomputed")
        shown = str(show_work(model, [[0, 3, 4], [3, 0, 5], [4, 5, 0]]))
        for words in ("Sammon's step", "Slopes and curvatures", "The step of the program"):
            assert words in shown
    with pytest.raises(ValueError, match="metric must be 'euclidean' or 'precomputed' to show the work"):
        show_work(SammonMapping(metric="cosine"), [[0, 1], [1, 3], [4, 2]])
    with pytest.raises(ValueError, match="X must have rows that differ to show the work"):
        show_work(SammonMapping(), [[0, 1], [0, 1], [4, 2]])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"weighting": "inverse_cube"}, "weighting must be one of"),
        ({"metric": "precomputed"}, "Distance matrix should be square"),
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"tol": -1.0}, "tol must be at least 0"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    with pytest.raises(ValueError, match=words):
        SammonMapping(**how).fit(cloud())
