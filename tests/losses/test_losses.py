"""Losses: values by hand, slopes by differences, bounds, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import hinge_loss, log_loss

from pellucid.losses import (
    MARGIN_LOSSES,
    RESIDUAL_LOSSES,
    CrossEntropyLoss,
    EpsilonInsensitiveLoss,
    HingeLoss,
    HuberLoss,
    LogisticLoss,
    ModifiedHuberLoss,
    SquaredEpsilonInsensitiveLoss,
    SquaredHingeLoss,
    ZeroOneLoss,
)

EVERY = [*MARGIN_LOSSES, *RESIDUAL_LOSSES]
every_loss = pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)

# by hand


@pytest.mark.parametrize(
    ("name", "values", "slopes"),
    [  # at -1, 0, 1/2 and 2
        ("zero-one", [1, 1, 0, 0], [0, 0, 0, 0]),
        ("perceptron", [1, 0, 0, 0], [-1, 0, 0, 0]),
        ("hinge", [2, 1, 0.5, 0], [-1, -1, -1, 0]),
        ("squared hinge", [4, 1, 0.25, 0], [-4, -2, -1, 0]),
        ("squared", [1, 0, 0.25, 4], [-2, 0, 1, 4]),
        ("absolute", [1, 0, 0.5, 2], [-1, 0, 1, 1]),
        ("epsilon-insensitive", [0.9, 0, 0.4, 1.9], [-1, 0, 1, 1]),
    ],
)
def test_values_and_slopes_by_hand(name, values, slopes):
    loss = next(loss for loss in EVERY if loss.name == name)
    z = [-1.0, 0.0, 0.5, 2.0]
    np.testing.assert_allclose(loss.value(z), values)
    np.testing.assert_allclose(loss.gradient(z), slopes)


def test_logistic_loss_of_a_tie_is_log_two():
    assert LogisticLoss().value(0.0) == pytest.approx(np.log(2))
    assert LogisticLoss().gradient(0.0) == pytest.approx(-0.5)


# properties


@every_loss
@given(st.floats(-50, 50), st.floats(-50, 50))
def test_tangents_of_convex_losses_lie_below_them(loss, z, other):
    if not loss.is_convex:
        return
    tangent = loss.value(z) + loss.gradient(z) * (other - z)
    assert loss.value(other) >= tangent - 1e-9 * (1 + abs(tangent))


@every_loss
def test_slopes_are_those_of_differences(loss):
    z = np.linspace(-3, 3, 61) + 0.013  # off the kinks
    numerical = (loss.value(z + 1e-6) - loss.value(z - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.gradient(z), numerical, atol=1e-5)


@given(st.floats(-100, 100))
def test_hinge_losses_bound_the_mistakes(m):
    mistake = ZeroOneLoss().value(m)
    assert HingeLoss().value(m) >= mistake
    assert SquaredHingeLoss().value(m) >= mistake
    assert LogisticLoss().value(m) / np.log(2) >= mistake


@given(st.integers(0, 10**6))
def test_cross_entropy_of_two_classes_is_the_logistic_loss(seed):
    scores = np.random.default_rng(seed).standard_normal((6, 2)) * 5
    y = np.arange(6) % 2
    margin = np.where(y == 1, 1, -1) * (scores[:, 1] - scores[:, 0])
    np.testing.assert_allclose(CrossEntropyLoss().value(scores, y), LogisticLoss().value(margin), rtol=1e-9, atol=1e-14)
    gradient = CrossEntropyLoss().gradient(scores, y)
    np.testing.assert_allclose(gradient.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(gradient[:, 1], np.where(y == 1, 1, -1) * LogisticLoss().gradient(margin), atol=1e-12)


# peer


def test_agrees_with_the_metrics_of_scikit_learn():
    rng = np.random.default_rng(0)
    score, y = rng.standard_normal(50), rng.choice([-1, 1], 50)
    assert HingeLoss().of(y, score).mean() == pytest.approx(hinge_loss(y, score))
    assert LogisticLoss().of(y, score).mean() == pytest.approx(log_loss(y, 1 / (1 + np.exp(-score))))
    np.testing.assert_allclose(HingeLoss().score_gradient(y, score), np.where(y * score < 1, -y, 0))


# errors


def test_labels_and_shapes_are_checked():
    with pytest.raises(ValueError, match=r"y must hold -1 and 1, got \[0. 1.\]. Recode it"):
        HingeLoss().of([0, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"scores and y must have shapes \(n, n_classes\) and \(n,\), got \(2,\)"):
        CrossEntropyLoss().value([0.0, 1.0], [0, 1])
    with pytest.raises(ValueError, match="y must hold class numbers from 0 to 1, got .2."):
        CrossEntropyLoss().value([[0.0, 1.0]], [2])
    with pytest.raises(ValueError, match="epsilon must be at least 0, got -1"):
        EpsilonInsensitiveLoss(-1)


FULL = [*EVERY, ModifiedHuberLoss(), HuberLoss(0.5), HuberLoss(np.inf), SquaredEpsilonInsensitiveLoss(0.25)]


@pytest.mark.parametrize("loss", FULL, ids=repr)
def test_curvatures_are_derivatives_of_slopes(loss):
    away = np.array([-3.013, -0.713, -0.113, 0.287, 0.913, 2.013])  # from the kinks
    difference = (loss.gradient(away + 1e-6) - loss.gradient(away - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.curvature(away), difference, atol=1e-6)


@pytest.mark.parametrize("loss", FULL, ids=repr)
def test_a_slope_and_its_point_add_up_to_loss_and_conjugate(loss):
    # Fenchel and Young: l(z) + l*(s) >= s z, with equality where s is the slope at z
    z = np.array([-2.5, -0.6, 0.0, 0.4, 0.8, 3.0])
    if loss.is_convex:
        for slope in (loss.gradient(z), loss.gradient_below(z)):
            np.testing.assert_allclose(loss.value(z) + loss.conjugate(slope), slope * z, atol=1e-12)
    low, high = np.clip(loss.slope_range, -2.0, 2.0)
    slopes = np.linspace(low, high, 7)[:, None]
    assert np.all(loss.value(z) + loss.conjugate(slopes) - slopes * z >= -1e-12)
