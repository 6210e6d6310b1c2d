"""Forged models of rows in blocks: what belongs together is changed together, and the proof by a pass objects."""

from __future__ import annotations

import pytest
from sklearn.base import clone, is_classifier

from tests.forging import forgeries
from tests.proving import quiet_proof
from tests.public_estimators import carded, problem_for
from tests.tampering import objects

da = pytest.importorskip("dask.array", reason="the extra 'scale' is not installed")

HEIGHTS = (17, 0, 1, 22)
"""Uneven, one block without rows and one of a single row."""


def blocks(array):
    return da.from_array(array, chunks=(HEIGHTS, (2, 2)) if array.ndim == 2 else (HEIGHTS,))


def takes_blocks(card, estimator):
    try:
        return bool(card.rules_for(estimator).blocks)
    except TypeError:  # built on something that must be given
        return False


FIRST = {card.name: (card, estimator) for card, estimator in reversed(carded()) if takes_blocks(card, estimator)}
CLASSIFIERS = [pair for pair in FIRST.values() if is_classifier(pair[1])]


@pytest.mark.parametrize(("card", "estimator"), CLASSIFIERS, ids=lambda value: getattr(value, "name", ""))
def test_classes_in_another_order_are_noticed_though_all_that_belongs_to_them_follows(card, estimator):
    X, y = problem_for(estimator)
    model = clone(estimator).fit(blocks(X), blocks(y))
    assert not objects(model, blocks(X), blocks(y))
    turned = [forged for kind, words, forged in forgeries(card, model, X) if kind == "order" and "classes_" in words]
    assert turned
    for forged in turned:
        assert objects(forged, blocks(X), blocks(y))


def test_labels_out_of_order_are_named():
    _, estimator = FIRST["LogisticRegression"]
    X, y = problem_for(estimator)
    model = clone(estimator).fit(blocks(X), blocks(y))
    model.classes_, model.coef_, model.intercept_ = model.classes_[::-1], model.coef_[::-1], model.intercept_[::-1]
    (claim,) = quiet_proof(model, blocks(X), blocks(y)).failed
    assert claim.statement == "classes_ must be sorted, each label once, got [2, 1, 0]"


def test_seeds_of_boosting_that_are_missing_are_noticed():
    _, estimator = FIRST["HistGradientBoostingRegressor"]
    X, y = problem_for(estimator)
    model = clone(estimator).fit(blocks(X), blocks(y))
    model.random_seeds_ = model.random_seeds_[:1]
    (claim,) = quiet_proof(model, blocks(X), blocks(y)).failed
    assert claim.statement.endswith("random_seeds_ are not two")
