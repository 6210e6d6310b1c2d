"""ClassicalMDS: by hand, properties, against scikit-learn, proofs, workings, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import ClassicalMDS as PeerClassicalMDS

import pellucid
from pellucid.manifold import ClassicalMDS, scalar_products
from pellucid.show import show_work

FEW = settings(max_examples=15, deadline=None)
RECTANGLE = [[0, 3, 4, 5], [3, 0, 5, 4], [4, 5, 0, 3], [5, 4, 3, 0]]


def cloud(seed=0, n=50, p=4):
    return np.random.default_rng(seed).standard_normal((n, p)) * np.arange(1.0, p + 1) + 2.0


@pytest.mark.by_hand
def test_the_corners_of_a_rectangle_by_hand():
    # 3 by 4 about its middle: eigenvalues 4 * 2^2 and 4 * 1.5^2, places (2, 1.5), (2, -1.5), ...
    model = ClassicalMDS(metric="precomputed").fit(RECTANGLE)
    assert model.eigenvalues_ == pytest.approx([16.0, 9.0])
    np.testing.assert_allclose(model.embedding_, [[2.0, 1.5], [2.0, -1.5], [-2.0, 1.5], [-2.0, -1.5]])
    assert model.squared_means_ == pytest.approx([12.5] * 4)
    assert model.transform([[2.5, 2.5, 2.5, 2.5]])[0] == pytest.approx([0.0, 0.0], abs=1e-12)  # the middle
    assert model.transform([[1.5, 1.5, np.sqrt(18.25), np.sqrt(18.25)]])[0] == pytest.approx([2.0, 0.0])


def test_a_third_dimension_that_the_distances_have_no_use_for_is_flat():
    model = ClassicalMDS(3, metric="precomputed").fit(RECTANGLE)
    assert model.eigenvalues_[2] == 0.0
    assert not model.embedding_[:, 2].any()
    assert pellucid.verify(model, RECTANGLE).holds
    assert model.transform(RECTANGLE)[:, 2].tolist() == [0.0] * 4


@FEW
@given(st.integers(0, 1000))
def test_euclidean_distances_give_principal_components_and_come_back_whole(seed):
    X = cloud(seed)
    model = ClassicalMDS(4).fit(X)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(PCA().fit_transform(X)), atol=1e-9)
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


@pytest.mark.property
@FEW
@given(st.integers(0, 1000), st.sampled_from([1e-150, 1e-3, 1e140]))
def test_other_units_and_another_order_change_nothing_else(seed, scale):
    X, order = cloud(seed), np.random.default_rng(seed).permutation(50)
    model, other = ClassicalMDS(metric="manhattan").fit(X), ClassicalMDS(metric="manhattan").fit(scale * X[order])
    np.testing.assert_allclose(np.abs(other.embedding_ / scale), np.abs(model.embedding_[order]), atol=1e-8)
    assert pellucid.verify(other, scale * X[order]).holds


@pytest.mark.peer
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "precomputed"])
def test_same_answer_as_scikit_learn(metric):
    X = cdist(cloud(), cloud()) if metric == "precomputed" else cloud()
    ours, peer = (kind(3, metric=metric).fit(X) for kind in (ClassicalMDS, PeerClassicalMDS))
    np.testing.assert_allclose(ours.embedding_, peer.embedding_, atol=1e-9)
    np.testing.assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.dissimilarity_matrix_, peer.dissimilarity_matrix_, atol=1e-12)
    assert pellucid.verify(ours, X).holds


def test_few_axes_of_many_rows_are_found_without_the_others(monkeypatch):
    X = cloud(n=120)
    whole = ClassicalMDS(metric="manhattan").fit(X)
    monkeypatch.setattr(scalar_products, "LARGE", 10)
    part = ClassicalMDS(metric="manhattan").fit(X)
    np.testing.assert_allclose(part.embedding_, whole.embedding_, atol=1e-9)
    assert pellucid.verify(part, X).holds


def test_distances_that_no_points_have_show_in_the_share_of_negative_eigenvalues():
    D = np.array([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0.0]])  # a star: three ends around a middle
    model = ClassicalMDS(metric="precomputed").fit(D)
    values = np.linalg.eigvalsh(-0.5 * (np.eye(4) - 0.25) @ D**2 @ (np.eye(4) - 0.25))
    share = -values[values < 0].sum() / np.abs(values).sum()
    assert share > 0.01
    assert model.negative_share() == pytest.approx(share)
    assert pellucid.verify(model, D).reason.startswith(f"{share:.3g} of the eigenvalues, by size, are below 0")
    assert ClassicalMDS().fit(cloud()).negative_share() < 1e-12


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("embedding_", lambda Z: Z[:, ::-1]),
        ("embedding_", lambda Z: -Z),
        ("embedding_", lambda Z: Z @ [[0.8, 0.6], [-0.6, 0.8]]),
        ("eigenvalues_", lambda values: values * [1.0, 1.0 + 1e-9]),
        ("squared_means_", lambda m: m + 1e-6),
        ("dissimilarity_matrix_", lambda D: D * (1 + 1e-9)),
        ("X_fit_", lambda X: X[::-1]),
    ],
)
def test_a_changed_model_is_noticed(name, change):
    X = cloud()
    model = ClassicalMDS().fit(X)
    assert pellucid.verify(model, X).holds
    broken = copy.deepcopy(model)
    setattr(broken, name, np.ascontiguousarray(change(getattr(model, name))))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(broken, X).holds


def test_an_axis_that_was_passed_over_is_noticed():
    X = cloud()
    full, model = ClassicalMDS(3).fit(X), ClassicalMDS(2).fit(X)
    model.eigenvalues_, model.embedding_ = full.eigenvalues_[[0, 2]], full.embedding_[:, [0, 2]].copy()
    with pytest.warns(pellucid.UncertifiedWarning):
        assert {claim.name for claim in pellucid.verify(model, X).failed} == {"missed"}


@pytest.mark.parametrize("prepare", [lambda X: X + 1e6, np.float32, np.asfortranarray, lambda X: np.repeat(X, 2, 0)])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_no_false_alarm_for_offsets_single_precision_and_duplicates(prepare, metric):
    X = prepare(cloud(n=30))
    model = ClassicalMDS(metric=metric).fit(X)
    assert pellucid.verify(model, X).holds
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-5 * np.abs(model.embedding_).max())


def test_constant_columns_constant_rows_and_two_rows():
    for X in (np.column_stack([cloud(), np.ones(50)]), np.ones((6, 3)), cloud(n=2)):
        model = ClassicalMDS().fit(X)
        assert pellucid.verify(model, X).holds
        assert np.isfinite(model.transform(X)).all()


def test_the_model_stands_when_the_rows_are_written_to_later():
    X = cloud()
    model = ClassicalMDS().fit(X)
    X[...] = 0.0
    np.testing.assert_allclose(model.dissimilarity_matrix_, cdist(cloud(), cloud()))
    np.testing.assert_allclose(model.transform(cloud()), model.embedding_, atol=1e-9)


def test_the_work_by_hand_is_that_of_the_program():
    shown = str(show_work(ClassicalMDS(metric="precomputed"), RECTANGLE))
    for words in ("Center twice", "25/4", "Place a new row", "embedding_"):
        assert words in shown
    assert "squared_means_" in str(show_work(ClassicalMDS(1), [[0, 1], [1, 3], [4, 2]]))
    with pytest.raises(ValueError, match="metric must be 'euclidean' or 'precomputed' to show the work"):
        show_work(ClassicalMDS(metric="cosine"), [[0, 1], [1, 3], [4, 2]])
    with pytest.raises(ValueError, match="X must be a symmetric matrix of distances"):
        show_work(ClassicalMDS(metric="precomputed"), [[0, 1], [2, 0]])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0, 1], [2, 0.0]], r"X must be symmetric as a distance matrix, got 1 at \(0, 1\) and 2 at \(1, 0\)"),
        ([[0, -1], [-1, 0.0]], "X must have no negative numbers as a distance matrix, got -1"),
        ([[1, 2], [2, 0.0]], "X must have zeros on its diagonal as a distance matrix, got 1 at row 0"),
        ([[0, 1, 2], [1, 0, 1.0]], "Distance matrix should be square"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
    ],
)
def test_refuses_what_is_no_matrix_of_distances(X, words):
    with pytest.raises(ValueError, match=words):
        ClassicalMDS(1, metric="precomputed").fit(X)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"n_components": 51}, "n_components must be at most the number of rows, got 51 for n_samples=50"),
        ({"metric": "miles"}, "metric must be one of .* got 'miles'"),
        ({"metric": lambda a, b: a[0]}, "X must"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    with pytest.raises(ValueError, match=words):
        ClassicalMDS(**how).fit(cloud())


def test_refuses_new_distances_below_zero_and_of_other_rows():
    model = ClassicalMDS(metric="precomputed").fit(RECTANGLE)
    with pytest.raises(ValueError, match="X must have no negative numbers as distances of new rows, got -1"):
        model.transform([[1, -1, 1, 1]])
    with pytest.raises(ValueError, match="3 features, but ClassicalMDS is expecting 4"):
        model.transform([[1, 1, 1]])


def test_distances_are_proved_once_someone_has_asked_for_them():
    X = cloud()
    model = ClassicalMDS(2).fit(X)
    assert pellucid.verify(model, X).holds
    assert "dissimilarity_matrix_" not in vars(model)
    model.dissimilarity_matrix_ *= 1.0 + 1e-9
    with pytest.warns(pellucid.UncertifiedWarning, match="training rows"):
        pellucid.verify(model, X)
