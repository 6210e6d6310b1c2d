"""Quality figures: by hand, properties, against scikit-learn, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness

from pellucid.manifold import ClassicalMDS, embedding_quality


def rows(seed=0, n=40, p=4):
    return np.random.default_rng(seed).standard_normal((n, p))


def test_an_exchange_of_two_of_three_points_by_hand():
    # nearest in the data: 1 of 0, 0 of 1, 1 of 2; on the map: 2 of 0, 2 of 1, 0 of 2. Every one is a stranger of rank
    # 2, so T = 1 - 2 / (3 * 1 * (6 - 3 - 1)) * 3 * (2 - 1) = 0. Distances 1, 3, 2 against 3, 1, 2: their cosine is
    # 10 / 14, the stress sqrt(1 - 25 / 49), the correlation -1
    found = embedding_quality([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[0.0], [3.0], [1.0]], n_neighbors=1)
    assert (found.trustworthiness, found.continuity) == pytest.approx((0.0, 0.0))
    assert found.stress == pytest.approx(np.sqrt(24) / 7)
    assert found.distance_correlation == pytest.approx(-1.0)


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_a_map_in_other_units_is_perfect(scale):
    X = rows()
    found = embedding_quality(cdist(X, X), scale * X[:, ::-1])
    assert (found.trustworthiness, found.continuity, found.distance_correlation) == pytest.approx((1.0, 1.0, 1.0))
    assert found.stress < 1e-7


@pytest.mark.parametrize("k", [1, 5, 12])
def test_trustworthiness_and_continuity_are_scikit_learns(k):
    X = rows()
    Z = X[:, :2] + 0.3 * rows(1, p=2)
    found = embedding_quality(cdist(X, X), Z, k)
    assert found.trustworthiness == pytest.approx(trustworthiness(X, Z, n_neighbors=k))
    assert found.continuity == pytest.approx(trustworthiness(Z, X, n_neighbors=k))
    pairs = np.triu_indices(len(X), 1)
    assert found.distance_correlation == pytest.approx(np.corrcoef(cdist(X, X)[pairs], cdist(Z, Z)[pairs])[0, 1])


def test_blocks_of_rows_give_the_same_figures(monkeypatch):
    from pellucid.manifold import embedding_quality as whole

    X = rows()
    at_once = whole(cdist(X, X), X[:, :2])
    monkeypatch.setitem(whole.__globals__, "BLOCK_ENTRIES", 100)
    in_blocks = whole(cdist(X, X), X[:, :2])
    assert vars(in_blocks) == pytest.approx(vars(at_once))


def test_a_model_is_compared_with_its_own_distances_or_with_others():
    X = rows()
    model = ClassicalMDS(2).fit(X)
    assert vars(model.quality()) == pytest.approx(vars(embedding_quality(cdist(X, X), model.embedding_)))
    assert model.quality(distances=cdist(model.embedding_, model.embedding_)).stress < 1e-7
    assert "trustworthiness 0." in str(model.quality(n_neighbors=3))


def test_rows_that_are_all_the_same_have_no_correlation():
    found = embedding_quality(np.zeros((5, 5)), np.zeros((5, 2)), 1)
    assert (found.distance_correlation, found.stress) == (0.0, 1.0)


@pytest.mark.parametrize("k", [0, 20, 40])
def test_refuses_too_many_neighbors(k):
    with pytest.raises(ValueError, match=f"n_neighbors must be at least 1 and below half of the 40 rows, got {k}"):
        embedding_quality(np.zeros((40, 40)), np.zeros((40, 2)), k)


def test_refuses_distances_of_other_rows():
    with pytest.raises(ValueError, match=r"distances must be those of all rows .* got shape \(3, 3\) for 4 rows"):
        embedding_quality(np.zeros((3, 3)), np.zeros((4, 2)))
