from __future__ import annotations

import pytest
from sympy import Rational, sqrt

from pellucid.optimize import (
    AdaGrad,
    Adam,
    Backtracking,
    ExactStep,
    GradientDescent,
    InverseTime,
    Momentum,
    Nesterov,
    RMSProp,
    StochasticGradient,
    StrongWolfe,
)
from pellucid.optimize.workings import show_steps

BOWL = "x**2 + 2*y**2"


def R(above, below=1):
    return Rational(above, below)


def test_a_fixed_step_by_hand():
    # g = (2, 4), then (1, 0)
    work = show_steps(GradientDescent(step_size=0.25), BOWL, [1, 1], steps=2)
    assert work.answer["x"] == [[1, 1], [R(1, 2), 0], [R(1, 4), 0]]
    assert "L = 4" in work.text()  # the largest curvature, so steps below 1/2 converge
    assert "2 / L = 1/2" in work.text()


def test_a_schedule_is_worked_in_fractions():
    # 0 + 1/2 * 2 = 1, then 1 + 1/4 * 3/2
    work = show_steps(GradientDescent(step_size=InverseTime(0.5, decay=1.0)), "(x - 4)**2 / 4", [0], steps=2)
    assert work.answer["x"] == [[0], [1], [R(11, 8)]]


def test_an_exact_step_by_hand():
    # at (2, 1): g = (4, 4), g'g = 32, g'Ag = 16 * 2 + 16 * 4 = 96, so t = 1/3
    work = show_steps(GradientDescent(step_size=ExactStep()), BOWL, [2, 1], steps=2)
    assert work.answer["x"] == [[2, 1], [R(2, 3), R(-1, 3)], [R(2, 9), R(1, 9)]]
    assert "φ(t) = f(z₀ + t d₀) = 48 t² − 32 t + 6" in work.text()


def test_backtracking_shows_every_trial():
    # x² from 1: t = 1 leads to -1, which is no lower; t = 1/2 leads to 0
    work = show_steps(GradientDescent(step_size=Backtracking(first=1.0)), "x**2", [1], steps=3)
    assert work.answer["x"] == [[1], [0]]
    assert "1             1              0.9996  no" in work.text()
    assert "1/2             0              0.9998  yes" in work.text()
    assert "The gradient at z₁ is 0" in work.text()


def test_the_strong_wolfe_search_brackets_and_interpolates():
    # (x - 10)² from 0 has the slope -400 along d = 20. Trials: 1/20 (slope -360), 1/5 (-240), 4/5 (240, as high as
    # 1/5: a bracket), and by symmetry the cubic is lowest in the middle, at 1/2, where x = 10
    work = show_steps(GradientDescent(StrongWolfe(curvature=0.5)), "(x - 10)**2", [0], steps=1)
    assert work.answer["x"] == [[0], [10]]
    rows = [line.split() for line in work.text().splitlines() if line.endswith(("yes", "no"))]
    assert [row[0] for row in rows] == ["1/20", "1/5", "4/5", "1/2"]
    assert [row[3:] for row in rows] == [["yes", "no"]] * 3 + [["yes", "yes"]]


def test_the_first_trial_moves_by_one_and_later_ones_double_the_last_step():
    # at (1, 0): g = (2, 1), t = 1/2 is accepted; then t = 1 with g = (0, 1)
    work = show_steps(GradientDescent(), "x**2 + y", [1, 0], steps=2)
    assert work.answer["x"] == [[1, 0], [0, R(-1, 2)], [0, R(-3, 2)]]


def test_one_epoch_by_hand():
    # eta = 1/4 and terms (x - a)²: x <- (x + a) / 2, in the shuffled order 3, 2, 1
    work = show_steps(StochasticGradient(0.25), ["(x - 1)**2", "(x - 2)**2", "(x - 3)**2"], [0])
    assert work.answer["x"] == [[0], [R(3, 2)], [R(7, 4)], [R(11, 8)]]
    assert work.answer["reported"] == [[0], [R(11, 8)]]
    assert "The shuffled order is f₃ | f₂ | f₁." in work.text()


def test_a_batch_takes_the_mean_of_its_terms():
    # f3 and f2 together pull to 5/2: 0 -> 5/4; then f1 alone: 9/8
    work = show_steps(StochasticGradient(0.25), ["(x - 1)**2", "(x - 2)**2", "(x - 3)**2"], [0], batch_size=2)
    assert work.answer["x"] == [[0], [R(5, 4)], [R(9, 8)]]


def test_the_mean_of_the_terms_is_the_gradient():
    # at (0, 0): (-2, 0), (-4, -4), (0, 0); mean (-2, -4/3)
    work = show_steps(StochasticGradient(0.1), ["(x - 1)**2", "(x + y - 2)**2", "(2*y - x)**2"], [0, 0])
    assert "mean  −2  −4/3" in work.text()


def test_epochs_are_shuffled_anew():
    work = show_steps(StochasticGradient(0.25), ["(x - 1)**2", "(x - 2)**2", "(x - 3)**2"], [0], steps=2)
    assert work.text().count("The shuffled order is") == 2
    assert len(work.answer["x"]) == 7


def test_momentum_by_hand():
    # v: -1/2, then -1/4 - 1/4, then -1/4 - 0
    work = show_steps(Momentum(0.25, momentum=0.5), "x**2", [1])
    assert work.answer["velocity"] == [[0], [R(-1, 2)], [R(-1, 2)], [R(-1, 4)]]
    assert work.answer["x"] == [[1], [R(1, 2)], [0], [R(-1, 4)]]
    assert "the function rose by 1/16" in work.text()


def test_nesterov_looks_ahead():
    # the second gradient is taken at 1/2 - 1/4 = 1/4: v = -1/4 - 1/8
    work = show_steps(Nesterov(0.25, momentum=0.5), "x**2", [1], steps=2)
    assert work.answer["x"] == [[1], [R(1, 2)], [R(1, 8)]]


def test_adagrad_by_hand():
    # x: r = 4, root 2, step 1/4; then g = 3/2, r = 25/4, root 5/2, step 3/20
    work = show_steps(AdaGrad(0.25), BOWL, [1, 1], steps=2)
    assert work.answer["x"] == [[1, 1], [R(3, 4), R(3, 4)], [R(3, 5), R(3, 5)]]
    assert "x  3/4  3/2  25/4  5/2  3/20  3/5" in work.text()


def test_adagrad_divides_zero_by_zero_to_zero():
    assert show_steps(AdaGrad(0.25), BOWL, [1, 0], steps=1).answer["x"][1] == [R(3, 4), 0]


def test_rmsprop_by_hand():
    # r = 1/4 * 4 = 1, step 1/2; then g = 1 and r = 3/4 + 1/4 = 1, step 1/4
    work = show_steps(RMSProp(0.25, decay=0.75), "x**2", [1], steps=2)
    assert work.answer["x"] == [[1], [R(1, 2)], [R(1, 4)]]


def test_adam_by_hand():
    # m = 1, r = 1, corrected 2 and 4: step 1/4. Then g = 3/2, m = 5/4, r = 21/16, corrected 5/3 and 3
    work = show_steps(Adam(0.25, decay1=0.5, decay2=0.75), "x**2", [1], steps=2)
    assert work.answer["x"][1] == [R(3, 4)]
    assert float(work.answer["x"][2][0]) == pytest.approx(float(R(3, 4) - R(5, 12) / sqrt(3)), abs=1e-15)
    assert "x  3/2  5/4  5/3  21/16   3" in work.text()
    assert "Some numbers are no fractions" in work.text()


def test_adam_names_the_usual_decay_and_keeps_the_safeguard_for_the_comparison():
    work = show_steps(Adam(0.25), BOWL, [1, 1], steps=1)
    assert "The usual ρ₂ is 0.999" in work.text()
    assert work.answer["x"][1] == [R(3, 4), R(3, 4)]
    assert work.answer["reported"][1][0] == 1 - R(1, 4) * 2 / (2 + R(1, 10**8))
