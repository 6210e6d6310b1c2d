"""FeatureEmbedding: by hand, properties, proofs, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

import pellucid
from pellucid.decomposition import FeatureEmbedding
from pellucid.decomposition.feature_embedding import feature_embedding

FEW = settings(max_examples=10, deadline=None)
WORDS = [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]


def cloud(seed=0, n=40, p=5):
    return np.random.default_rng(seed).standard_normal((n, p)) + 0.5


@pytest.mark.by_hand
def test_three_words_by_hand():
    # eigenvalues 1.5 with (1, 1, 0) / sqrt 2, 1 with (0, 0, 1), 0.5 with (1, -1, 0) / sqrt 2
    model = FeatureEmbedding(3, similarity="precomputed").fit(WORDS)
    assert model.eigenvalues_ == pytest.approx([1.5, 1.0, 0.5])
    np.testing.assert_allclose(model.embedding_, [[0.75**0.5, 0, 0.5], [0.75**0.5, 0, -0.5], [0, 1, 0]], atol=1e-12)
    assert model.transform([[0, 0, 2]])[0] == pytest.approx([0.0, 2.0, 0.0], abs=1e-12)


@pytest.mark.peer
@FEW
@given(st.integers(0, 1000), st.sampled_from(["cosine", "correlation"]))
def test_all_dimensions_give_the_similarities_back_and_known_rows_their_vectors(seed, similarity):
    X = cloud(seed)
    model = FeatureEmbedding(5, similarity=similarity).fit(X)
    wanted = cosine_similarity(X if similarity == "cosine" else X - X.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, wanted, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    assert pellucid.verify(model, X).holds


def test_given_similarities_are_the_same_as_those_of_rows():
    X = cloud()
    wanted, model = FeatureEmbedding(3).fit(X), FeatureEmbedding(3, similarity="precomputed").fit(cosine_similarity(X))
    np.testing.assert_allclose(model.embedding_, wanted.embedding_, atol=1e-9)
    new = cloud(1, n=4)
    np.testing.assert_allclose(model.transform(cosine_similarity(new, X)), wanted.transform(new), atol=1e-9)


def test_few_dimensions_of_many_rows_are_found_without_the_others(monkeypatch):
    whole = FeatureEmbedding().fit(cloud())
    monkeypatch.setattr(feature_embedding, "LARGE", 10)
    part = FeatureEmbedding().fit(cloud())
    np.testing.assert_allclose(part.embedding_, whole.embedding_, atol=1e-9)


def test_a_part_of_the_similarities_that_no_vectors_have_is_told():
    S = [[1, 1, -1], [1, 1, 1], [-1, 1, 1]]  # eigenvalues 2, 2, -1
    model = FeatureEmbedding(3, similarity="precomputed").fit(S)
    assert model.eigenvalues_ == pytest.approx([2.0, 2.0, 0.0])
    assert not model.embedding_[:, 2].any()
    assert pellucid.verify(model, S).reason.startswith("0.2 of the eigenvalues, by size, are below 0")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("embedding_", lambda Z: Z[:, ::-1].copy()),
        ("embedding_", lambda Z: -Z),
        ("eigenvalues_", lambda values: values * (1 + 1e-9)),
        ("X_fit_", lambda X: X[::-1].copy()),
    ],
)
def test_a_changed_model_is_noticed(name, change):
    X = cloud()
    broken = copy.deepcopy(FeatureEmbedding().fit(X))
    setattr(broken, name, change(getattr(broken, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(broken, X).holds


def test_a_dimension_that_was_passed_over_is_noticed():
    X = cloud()
    full, model = FeatureEmbedding(3).fit(X), FeatureEmbedding(2).fit(X)
    model.eigenvalues_, model.embedding_ = full.eigenvalues_[[0, 2]], full.embedding_[:, [0, 2]].copy()
    with pytest.warns(pellucid.UncertifiedWarning):
        assert {claim.name for claim in pellucid.verify(model, X).failed} == {"missed"}


@pytest.mark.property
@pytest.mark.parametrize(
    "prepare", [lambda X: 1e-140 * X, lambda X: 1e140 * X, np.float32, lambda X: X * [1, 1, 1, 1, 0]]
)
def test_no_false_alarm_in_other_units_and_with_constant_columns(prepare):
    X = prepare(cloud())
    model = FeatureEmbedding().fit(X)
    assert pellucid.verify(model, X).holds
    assert np.isfinite(model.transform(X)).all()


def test_rows_of_zeros_are_similar_to_none():
    X = cloud()
    X[3] = 0.0
    model = FeatureEmbedding().fit(X)
    assert np.abs(model.embedding_[3]).max() < 1e-12
    assert pellucid.verify(model, X).holds


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "X", "words"),
    [
        ({"n_components": 41}, cloud(), "n_components must be at most the number of rows, got 41 for n_samples=40"),
        ({"similarity": "precomputed"}, cloud(), r"X must be square if it holds similarities, got shape \(40, 5\)"),
        ({"similarity": "precomputed"}, [[1, 2.0], [0, 1]], "must be symmetric"),
        ({"similarity": "dot"}, cloud(), "similarity must be one of"),
    ],
)
def test_refuses_with_a_sentence(how, X, words):
    with pytest.raises(ValueError, match=words):
        FeatureEmbedding(**how).fit(X)
