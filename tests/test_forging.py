"""Forged models differ from what was fitted, in parts that belong together."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.cluster import KMeans
from pellucid.core.cards import card_of
from pellucid.decomposition import NMF, PCA
from tests.attack import Tally, attack
from tests.forging import axes_by_size, forgeries

X = np.abs(np.random.default_rng(0).standard_normal((40, 4)))


def forged(model, kind):
    return [(words, found) for given, words, found in forgeries(card_of(type(model)), model, X) if given == kind]


def test_clusters_in_another_order_take_their_labels_along():
    model = KMeans(3, random_state=0).fit(X)
    [(_, other)] = [found for found in forged(model, "order") if "no others" not in found[0]]
    np.testing.assert_array_equal(other.cluster_centers_, model.cluster_centers_[::-1])
    np.testing.assert_array_equal(other.labels_, 2 - model.labels_)
    np.testing.assert_array_equal(other.predict(X), other.labels_)


def test_a_dropped_part_is_gone_everywhere_and_counted_no_more():
    model = PCA(3).fit(X)
    [(_, fewer)] = forged(model, "part")
    assert len(fewer.components_) == len(fewer.explained_variance_) == fewer.n_components_ == 2
    assert model.n_components_ == 3


def test_factors_of_other_scales_have_the_same_product():
    model = NMF(3, init="random", random_state=0, max_iter=2000).fit(X)
    for kind in ("scale", "sign", "order"):
        for words, other in forged(model, kind):
            np.testing.assert_allclose(
                other.weights_ @ other.components_, model.weights_ @ model.components_, err_msg=words
            )
            assert np.abs(other.components_ - model.components_).max() > 0.0


@pytest.mark.parametrize("kind", ["exchange", "few rows"])
def test_labels_and_centers_no_longer_agree(kind):
    model = KMeans(3, random_state=0).fit(X)
    found = forged(model, kind)
    assert found
    for _, other in found:
        assert not np.array_equal(other.predict(X), other.labels_)


def test_axes_belong_together_by_name_or_by_length():
    model = PCA(3).fit(X)
    names = {axis.name for axis in axes_by_size(card_of(PCA), model, X)["n_found"]}
    assert {"components_", "explained_variance_", "singular_values_"} <= names


def test_what_a_card_calls_free_is_tried_and_not_counted():
    tally = Tally()
    attack(card_of(KMeans), KMeans(3, random_state=0), "plain", tally)
    assert tally.tried["order"] >= 1
    assert not tally.silent
    attack(replace(card_of(KMeans), free={}), KMeans(3, random_state=0), "plain", tally)
    assert tally.silent_kinds == {"order": 1}
    assert "order (1 silent)" in str(tally)
