"""TruncatedSVD: by hand, against scikit-learn, weights, proofs, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import decomposition as peers

import pellucid
from pellucid.decomposition import TruncatedSVD

FEW = settings(max_examples=15, deadline=None)


def counts(seed=0, n=80, d=40):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.1), size=4)
    return sparse.csr_array(rng.poisson(20 * rng.dirichlet(np.full(4, 0.3), size=n) @ topics).astype(float))


@pytest.mark.by_hand
def test_two_texts_by_hand():
    # rows (3, 0), (0, 1): singular values 3 and 1; projections 3, 0 of mean 1.5 and variance 2.25 of 2.5 in all
    model = TruncatedSVD(1).fit([[3.0, 0.0], [0.0, 1.0]])
    assert model.singular_values_ == pytest.approx([3.0])
    assert model.explained_variance_ == pytest.approx([2.25])
    assert model.explained_variance_ratio_ == pytest.approx([0.9])
    assert model.transform([[1.0, 7.0]])[0] == pytest.approx([1.0])


@pytest.mark.peer
@pytest.mark.parametrize("algorithm", ["arpack", "randomized"])
@pytest.mark.parametrize("make", [lambda X: X, lambda X: X.toarray(), lambda X: X.tocsc()], ids=["csr", "dense", "csc"])
def test_agrees_with_scikit_learn(algorithm, make):
    X = make(counts())
    ours, peer = TruncatedSVD(5, algorithm=algorithm).fit(X), peers.TruncatedSVD(5, algorithm="arpack").fit(counts())
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_", "components_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(X)), peer.inverse_transform(peer.transform(X)), atol=1e-12
    )
    assert pellucid.verify(ours, X).holds


@pytest.mark.parametrize("shape", [(60, 400), (400, 60)])
def test_either_side_may_be_longer(shape):
    X = counts(1, *shape)
    model = TruncatedSVD(6).fit(X)
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(X.toarray())[1][:6], rtol=1e-10)
    assert pellucid.verify(model, X).holds


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    X, weights = counts(seed, 30, 12), np.random.default_rng(seed).integers(0, 3, 30)
    repeated = sparse.csr_array(np.repeat(X.toarray(), weights, axis=0))
    one, other = TruncatedSVD(3).fit(X, sample_weight=weights), TruncatedSVD(3).fit(repeated)
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-8)


@pytest.mark.parametrize("unit", [1e-160, 1e120])
def test_units_do_not_matter(unit):
    X = counts()
    model = TruncatedSVD(3).fit(X * unit)
    np.testing.assert_allclose(model.components_, TruncatedSVD(3).fit(X).components_, atol=1e-9)
    assert pellucid.verify(model, X * unit).holds


def test_any_seed_gives_the_same_answer():
    X = counts(2, 200, 120)
    one, other = (TruncatedSVD(5, random_state=seed).fit(X) for seed in (1, 2))
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-8)


def test_verify_sees_a_direction_that_was_missed():
    X = counts()
    model, more = TruncatedSVD(2).fit(X), TruncatedSVD(3).fit(X)
    for name in ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"):
        setattr(model, name, getattr(more, name)[[0, 2]])
    with pytest.warns(pellucid.UncertifiedWarning, match="missed"):
        assert not pellucid.verify(model, X).holds


def test_small_singular_values_keep_their_digits():
    X = counts().toarray() + 1e5  # the first one is a million times the second
    model = TruncatedSVD(2).fit(X)
    assert model.singular_values_ == pytest.approx(np.linalg.svd(X)[1][:2], rel=1e-7)
    model.singular_values_ = model.singular_values_ * [1.0, 1.001]
    with pytest.warns(pellucid.UncertifiedWarning, match="singular values"):
        pellucid.verify(model, X)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 41}, r"n_components\(41\) must be <= n_features\(40\)"),
        ({"n_components": 40, "algorithm": "arpack"}, "must be below min"),
        ({"n_components": 0}, "n_components must be"),
        ({"algorithm": "lanczos"}, "algorithm must be"),
    ],
)
def test_refuses_with_a_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        TruncatedSVD(**parameters).fit(counts())
