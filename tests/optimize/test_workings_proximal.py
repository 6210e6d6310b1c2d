"""FISTA and proximal gradient descent by hand."""

from __future__ import annotations

import pytest
from sympy import Rational, sqrt

import pellucid
from pellucid.optimize import FISTA, L1, Box, GradientDescent, ProximalGradient, SquaredL2
from pellucid.optimize.workings import show_steps


def R(above, below=1):
    return Rational(above, below)


SEPARABLE = "(x - 3)**2/2 + (y - 1)**2"


def test_the_first_step_by_hand():
    # g = (-3, -2). With a step of 1 the penalty leaves (2, 1): f = 1/2 is above the parabola 11/2 - 8 + 5/2 = 0. With
    # 1/2: u = (3/2, 1), less 1/2 each: (1, 1/2), where f = 2 + 1/4 and the parabola is 11/2 - 4 + 5/4 = 11/4
    work = show_steps(FISTA(), SEPARABLE, [0, 0], steps=2, penalty=L1(1.0))
    assert work.answer["x"][1] == [1, R(1, 2)]
    # the first look ahead is by (1 - 1) / w = 0; then g = (-2, -1), u = (2, 1), less 1/2: (3/2, 1/2)
    assert work.answer["ahead"][1] == [1, R(1, 2)]
    assert work.answer["x"][2] == [R(3, 2), R(1, 2)]
    text = " ".join(work.text().split())
    assert "Every entry goes towards 0 by η α = 1/2" in text
    assert "1/2 9/4 11/4 yes" in text


def test_the_momentum_by_hand():
    # f = x^2 / 2 from 1 with steps of 1/2: 1/2, then from y = 1/2: 1/4; w = 1, (1 + sqrt 5) / 2, ...
    work = show_steps(FISTA(0.5), "x**2/2", [1], steps=2)
    first = (1 + sqrt(5)) / 2
    second = (1 + sqrt(1 + 4 * first**2)) / 2
    assert work.answer["x"] == [[1], [R(1, 2)], [R(1, 4)]]
    ahead = R(1, 4) + (first - 1) / second * (R(1, 4) - R(1, 2))
    assert float(work.answer["ahead"][2][0]) == pytest.approx(float(ahead), abs=1e-15)


def test_the_penalties_by_hand():
    # u = 4 - 1/2 * 4 = 2: less 1/2 is 3/2; divided by 1 + 1/2 is 4/3; into [0, 1] is 1
    for penalty, expected in ((L1(1.0), R(3, 2)), (SquaredL2(1.0), R(4, 3)), (Box(0.0, 1.0), 1)):
        work = show_steps(ProximalGradient(0.5), "x**2/2", [4], steps=1, penalty=penalty)
        assert work.answer["x"] == [[4], [expected]]


def test_a_minimum_is_noticed():
    work = show_steps(ProximalGradient(0.25), "x**2 + y**2", [1, 1], penalty=Box(0.5, 2.0))
    assert work.answer["x"] == [[1, 1], [R(1, 2), R(1, 2)]]
    assert "leads back to it" in work.text()


@pytest.mark.parametrize("method", [FISTA(), FISTA(0.125), ProximalGradient(), ProximalGradient(0.125)])
@pytest.mark.parametrize("penalty", [None, L1(0.5), SquaredL2(0.5), Box(-0.5, 0.75)])
def test_agrees_with_the_program_and_prints(method, penalty):
    work = show_steps(method, "x**2 + 3*y**2 + x*y - 2*x", [1.5, -1], steps=4, penalty=penalty)
    assert "more than rounding" not in work.text()
    assert all("Iteration 1" in work.printed(kind) for kind in ("markdown", "latex", "html"))


def test_show_work_shows_it_without_a_penalty():
    assert pellucid.show_work(FISTA(0.25), "x**2", [1]).answer["x"][1] == [R(1, 2)]


def test_refuses_what_has_no_steps():
    with pytest.raises(ValueError, match="penalty must be None for GradientDescent"):
        show_steps(GradientDescent(0.1), "x**2", [1], penalty=L1(1.0))
    with pytest.raises(TypeError, match="penalty must be an L1, SquaredL2 or Box to be worked by hand, got str"):
        show_steps(FISTA(), "x**2", [1], penalty="l1")
    with pytest.raises(ValueError, match="steps must be at most 20"):
        show_steps(FISTA(), "x**2", [1], steps=21)


def test_accelerated_gradient_is_worked_as_fista_without_a_penalty():
    from pellucid.optimize import FISTA, AcceleratedGradient
    from pellucid.show import show_work

    work = show_work(AcceleratedGradient(step_size=0.1), "x**2 + 3*y**2", [1, 1], steps=3)
    assert work.title == "Accelerated gradient descent"
    assert work.answer["x"] == show_work(FISTA(step_size=0.1), "x**2 + 3*y**2", [1, 1], steps=3).answer["x"]
    assert work.answer["x"][1] == [Rational(4, 5), Rational(2, 5)]
