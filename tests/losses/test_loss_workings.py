"""Losses by hand: exact values, intervals of subgradients, and agreement with the loss objects."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, exp, log

import pellucid
from pellucid.losses import (
    MARGIN_LOSSES,
    RESIDUAL_LOSSES,
    AbsoluteLoss,
    CrossEntropyLoss,
    EpsilonInsensitiveLoss,
    HingeLoss,
    LogisticLoss,
    SquaredHingeLoss,
    ZeroOneLoss,
)

EVERY = [*MARGIN_LOSSES, *RESIDUAL_LOSSES, EpsilonInsensitiveLoss(0.0)]
every_loss = pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)

# by hand


def test_hinge_at_four_margins():
    work = pellucid.show_work(HingeLoss(), [-1, 0.5, 1, 2])
    assert work.answer["value"] == [2, Rational(1, 2), 0, 0]
    assert work.answer["gradient"] == [-1, -1, 0, 0]
    assert "[−1, 0]" in work.text()  # the subgradients at the kink
    assert "Together the loss is 5/2." in work.text()


def test_squared_hinge_has_no_kink():
    work = pellucid.show_work(SquaredHingeLoss(), [0, 1])
    assert work.answer["gradient"] == [-2, 0]
    assert "There are none" in work.text()


def test_absolute_loss_has_all_slopes_between_minus_one_and_one_at_zero():
    assert "[−1, 1]" in pellucid.show_work(AbsoluteLoss(), [0]).text()


def test_the_tube_has_two_kinks():
    text = pellucid.show_work(EpsilonInsensitiveLoss(0.25), [0.25]).text()
    assert "[0, 1]" in text
    assert "−1/4" in text


def test_logistic_loss_is_a_logarithm_and_bounds_mistakes_only_when_divided():
    work = pellucid.show_work(LogisticLoss(), [0, 2])
    assert work.answer["value"] == [log(2), log(1 + exp(-2))]
    assert work.answer["gradient"][0] == Rational(-1, 2)
    assert "Divided by log 2 it bounds the mistakes" in work.text()


def test_zero_one_loss_jumps_and_is_not_convex():
    text = pellucid.show_work(ZeroOneLoss(), [-1, 0, 1]).text()
    assert "It is not convex" in text
    assert "The jump" in text


def test_cross_entropy_of_two_equal_scores_is_log_two():
    work = pellucid.show_work(CrossEntropyLoss(), [[0, 0]], [1])
    assert work.answer["value"] == [log(2)]
    assert work.answer["gradient"] == [[Rational(1, 2), Rational(-1, 2)]]


@every_loss
@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html"])
def test_every_printer_takes_every_loss(loss, kind):
    assert "Compare with the program" in pellucid.show_work(loss, [-1, 0, 1], format=kind)


# properties


@every_loss
@settings(max_examples=20)
@given(st.lists(st.fractions(-5, 5, max_denominator=8), min_size=1, max_size=6))
def test_the_program_agrees_with_the_work(loss, numbers):
    answer = pellucid.show_work(loss, numbers).answer
    z = np.array(numbers, dtype=float)
    np.testing.assert_allclose(np.array(answer["value"], dtype=float), loss.value(z), atol=1e-14)
    np.testing.assert_allclose(np.array(answer["gradient"], dtype=float), loss.gradient(z), atol=1e-14)


@pytest.mark.parametrize("loss", [HingeLoss(), SquaredHingeLoss()], ids=lambda loss: loss.name)
@given(st.fractions(-5, 5, max_denominator=8))
def test_losses_that_claim_to_bound_the_mistakes_do(loss, margin):
    assert pellucid.show_work(loss, [margin]).answer["value"][0] >= (1 if margin <= 0 else 0)


def test_cross_entropy_agrees_with_the_program_on_three_classes():
    scores, y = [[0.5, -1, 2], [1, 1, 0]], [2, 0]
    answer, loss = pellucid.show_work(CrossEntropyLoss(), scores, y).answer, CrossEntropyLoss()
    np.testing.assert_allclose(np.array(answer["value"], dtype=float), loss.value(scores, y))
    np.testing.assert_allclose(np.array(answer["gradient"], dtype=float), loss.gradient(scores, y))


# errors


def test_refuses_labels_beside_margins():
    with pytest.raises(ValueError, match="y must be None.*Pass margins"):
        pellucid.show_work(HingeLoss(), [1.0], [1])


def test_refuses_a_class_and_tables_and_too_many_numbers():
    with pytest.raises(TypeError, match="loss must be an instance .*got the class HingeLoss"):
        pellucid.show_work(HingeLoss, [1.0])
    with pytest.raises(ValueError, match="a list of at most 20 numbers"):
        pellucid.show_work(HingeLoss(), np.zeros(21))
    with pytest.raises(ValueError, match="a list of at most 20 numbers"):
        pellucid.show_work(HingeLoss(), [[1.0], [2.0]])


def test_refuses_class_numbers_out_of_range():
    with pytest.raises(ValueError, match="y must hold class numbers from 0 to 1"):
        pellucid.show_work(CrossEntropyLoss(), [[0, 0]], [2])
