"""Calibration is as free as rows held out ask for; whole numbers in an order have likely shares."""

import copy

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from pellucid.app.table_model.calibration import (
    ISOTONIC,
    NONE,
    PLATT,
    TEMPERATURE,
    Calibration,
    best_calibration,
    calibrated,
)
from pellucid.app.table_model.class_scores import HeldOutScores
from pellucid.app.table_model.error_quantiles import WEAK, ErrorQuantiles, OrderedShares
from pellucid.proofs.table_model import calibration_claim, order_claim

WAYS = {
    NONE: Calibration(),
    TEMPERATURE: Calibration(TEMPERATURE, 0.4),
    PLATT: Calibration(PLATT, 0.7, np.array([0.8, -0.8])),
    ISOTONIC: Calibration(
        ISOTONIC, 1.0, np.empty(0), np.array([-2.1, -2.0, 1.0, 1.1]), np.array([0.05, 0.4, 0.4, 0.9])
    ),
}


def drawn(way, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    scores = 2 * rng.normal(size=(n, 2))
    return HeldOutScores(scores, (rng.random(n) < way.probabilities(scores)[:, 1]).astype(np.int64))


@pytest.mark.parametrize("kind", WAYS)
def test_the_way_that_made_the_rows_is_found(kind):
    assert best_calibration(drawn(WAYS[kind])).kind == kind


def test_few_rows_have_no_steps_and_three_classes_neither():
    assert best_calibration(drawn(WAYS[ISOTONIC], 300)).kind != ISOTONIC
    rng = np.random.default_rng(0)
    assert best_calibration(HeldOutScores(rng.normal(size=(2000, 3)), rng.integers(0, 3, 2000))).kind != ISOTONIC


@pytest.mark.parametrize("kind", WAYS)
def test_its_numbers_are_proved_and_others_are_not(kind):
    held_out = drawn(WAYS[kind])
    way = best_calibration(held_out)
    assert calibration_claim(way, held_out).holds
    for other in (
        Calibration(TEMPERATURE, 1.01 * way.inverse_temperature),
        Calibration(PLATT, way.inverse_temperature, np.array([0.3, -0.3])),
        Calibration(PLATT, way.inverse_temperature, np.array([0.3])),
        Calibration(ISOTONIC, 1.0, np.empty(0), np.array([0.0, 1.0]), np.array([0.2, 0.9])),
        Calibration(TEMPERATURE, np.nan),
        Calibration("other"),
    ):
        assert not calibration_claim(other, held_out).holds
    assert not calibration_claim(way, None).holds
    assert calibration_claim(Calibration(), held_out).holds == (kind == NONE)


def test_offsets_are_those_of_another_solver():
    held_out = drawn(WAYS[PLATT], 500)
    way = calibrated(PLATT, held_out.scores, held_out.codes)
    x, y = held_out.scores[:, 1] - held_out.scores[:, 0], held_out.codes

    def loss(p):  # of two classes only the difference of the offsets counts; each has half of it
        z = np.exp(p[0]) * x + p[1]
        return np.sum(np.logaddexp(0, z) - y * z) + p[0] ** 2 / 2 + p[1] ** 2 / 4

    peer = minimize(loss, [0.0, 0.0], tol=1e-12).x
    assert np.log(way.inverse_temperature) == pytest.approx(peer[0], abs=1e-4)
    assert way.offsets[1] - way.offsets[0] == pytest.approx(peer[1], abs=1e-4)


def test_steps_are_scikit_learns_drawn_in_a_little():
    held_out = drawn(WAYS[ISOTONIC])
    way = calibrated(ISOTONIC, held_out.scores, held_out.codes)
    x = held_out.scores[:, 1] - held_out.scores[:, 0]
    peer = IsotonicRegression().fit(x, held_out.codes).predict(x)
    assert np.mean(np.abs(way.probabilities(held_out.scores)[:, 1] - peer)) < 0.03
    assert (np.diff(way.chances) >= 0).all()
    assert way.chances.min() > 0
    assert way.chances.max() < 1


@pytest.fixture(scope="module")
def graded():
    rng = np.random.default_rng(0)
    predicted = rng.normal(6, 1, 2000)
    return ErrorQuantiles.of(np.clip(np.round(predicted + rng.logistic(0, 0.4, 2000)), 3, 9), predicted)


def test_shares_of_an_order_are_the_likeliest(graded):
    order = OrderedShares.of(graded)
    actual = np.round(graded.predicted + graded.errors)
    codes, spread = np.searchsorted(order.values, actual), np.std(graded.predicted)

    def loss(p):
        edges = np.concatenate([[-np.inf], np.sort(p[1:]), [np.inf]])
        f = p[0] * graded.predicted
        share = expit(edges[codes + 1] - f) - expit(edges[codes] - f)
        return -np.sum(np.log(np.maximum(share, 1e-12))) + WEAK * (p[0] * spread) ** 2 / 2

    own = loss(np.concatenate([[order.slope], order.thresholds]))
    rng = np.random.default_rng(1)
    for _ in range(50):
        moved = np.concatenate([[order.slope], order.thresholds]) * (1 + 0.003 * rng.normal(size=len(order.values)))
        assert loss(moved) >= own
    peer = minimize(loss, np.concatenate([[order.slope], order.thresholds]) * 1.02, method="Powell", tol=1e-10)
    assert own <= peer.fun + 1e-6
    shares = order.shares(graded.predicted)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(shares.mean(axis=0), np.bincount(codes) / len(codes), atol=2e-3)


def test_a_changed_order_is_found(graded):
    order = OrderedShares.of(graded)
    assert order_claim(order, graded).holds
    for changed in (
        OrderedShares(order.values, 1.01 * order.slope, order.thresholds),
        OrderedShares(order.values, order.slope, order.thresholds + 0.05),
        OrderedShares(order.values, order.slope, order.thresholds[::-1]),
        OrderedShares(order.values + 1, order.slope, order.thresholds),
        OrderedShares(order.values[:-1], order.slope, order.thresholds[:-1]),
        OrderedShares(order.values, np.nan, order.thresholds),
    ):
        assert not order_claim(changed, graded).holds
    assert not order_claim(copy.copy(order), None).holds


def test_perfect_predictions_and_one_number():
    exact = ErrorQuantiles.of(np.repeat([1.0, 2.0, 3.0], 20), np.repeat([1.0, 2.0, 3.0], 20))
    order = OrderedShares.of(exact)
    assert np.isfinite(order.slope)
    np.testing.assert_array_equal(order.shares(exact.predicted).argmax(axis=1), np.repeat([0, 1, 2], 20))
    assert order_claim(order, exact).holds
    assert OrderedShares.of(ErrorQuantiles.of(np.ones(5), np.zeros(5))) is None
