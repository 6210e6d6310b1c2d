"""Newton on a smoothing that shrinks: one hinge by hand, the gap, and both ways to solve the equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import make_classification

from pellucid.core.fit import Effort
from pellucid.core.watching import ignore
from pellucid.solvers import curvature_equations
from pellucid.solvers.newton import smoothed_newton


@dataclass
class Hinge:
    """``C max(0, 1 - f)`` summed over scores, smoothed to a parabola of width ``smoothing``."""

    f: np.ndarray
    C: float
    smoothing: float

    def __post_init__(self):
        lack = np.maximum(0.0, 1.0 - self.f)
        share = np.minimum(1.0, lack / self.smoothing)
        self.value = self.C * lack.sum()
        self.minus_slope = self.C * share
        self.excess = self.C * np.sum((1.0 - share) * lack)
        self.bend = self.C / self.smoothing * ((share > 0.0) & (share < 1.0))

    def bend_along(self, slopes):
        return float(self.bend @ slopes**2)


class Machine:
    def __init__(self, A, C):
        self.A, self.C = np.asarray(A, float), C
        self.entries, self.size = self.A.size, self.A.shape[1]

    def scores(self, w):
        return self.A @ w

    def transposed_times(self, r):
        return self.A.T @ r

    def loss(self, f, smoothing):
        return Hinge(f, self.C, smoothing)

    def newton_step(self, loss, gradient):
        return curvature_equations.solve_curvature(self, loss, gradient)

    def hessian(self, loss):
        return np.eye(self.size) + (self.A.T * loss.bend) @ self.A

    def hessian_product(self, loss, d):
        return self.hessian(loss) @ d

    def hessian_diagonal(self, loss):
        return np.diag(self.hessian(loss))


def solve(A, C, goal=1e-8, max_iter=500):
    return smoothed_newton(Machine(A, C), Effort(goal, max_iter, ignore), smoothing=1.0)


@pytest.mark.parametrize(("C", "weight"), [(0.25, 0.25), (10.0, 1.0)])
def test_one_hinge_has_its_cost_as_weight_until_the_margin_is_reached(C, weight):
    found = solve([[1.0]], C)  # w^2/2 + C max(0, 1 - w): w = min(1, C)
    assert found.w == pytest.approx([weight], abs=1e-6)
    assert found.objective == pytest.approx(0.5 * weight**2 + C * (1.0 - weight), abs=1e-6)


@pytest.mark.parametrize("length", [1e3, 1e6, 1e8])
def test_lines_that_rise_beyond_their_minimum_are_gone_back(length):
    for seed in range(6):
        X, y = make_classification(60, 8, n_informative=6, n_redundant=0, flip_y=0.1, random_state=seed)
        A = np.column_stack([length * X, np.ones(60)]) * (2 * y - 1)[:, None]
        found = solve(A, 1.0, goal=1e-6, max_iter=100)
        assert found.gap <= 1e-6 * found.objective
        assert found.trace["objective"].max() <= 60.0 + 1e-9  # that of w = 0: each smoothing goes down


def test_two_smoothings_point_at_the_minimum():
    # guess and dual point are both off by the square of the smoothing: a gap of 1e-8 does not need a smoothing of 1e-8
    found = solve([[1.0]], 10.0)
    assert found.smoothing > 1e-5
    assert found.w == pytest.approx([1.0], abs=1e-8)


def test_the_gap_is_reached_and_bounds_the_objective():
    A = np.random.default_rng(0).standard_normal((40, 5)) + 0.5
    rough, fine = solve(A, 1.0, goal=1e-2), solve(A, 1.0, goal=1e-9)
    assert rough.gap <= 1e-2 * rough.objective
    assert fine.gap <= 1e-9 * fine.objective
    assert -1e-9 <= rough.objective - fine.objective <= rough.gap


def test_conjugate_gradients_find_the_same(monkeypatch):
    A = np.random.default_rng(1).standard_normal((40, 5)) + 0.5
    direct = solve(A, 1.0)
    monkeypatch.setattr(curvature_equations, "DIRECT", 0)
    np.testing.assert_allclose(solve(A, 1.0).w, direct.w, atol=1e-4)


def test_conjugate_gradients_take_no_more_steps_than_there_are_unknowns(monkeypatch):
    machine, seen = Machine(np.random.default_rng(2).standard_normal((40, 5)), 1.0), []
    monkeypatch.setattr(curvature_equations, "DIRECT", 0)
    monkeypatch.setattr(curvature_equations, "RESIDUAL", 1e-8)
    loss, g = machine.loss(np.full(40, 0.5), 1.0), np.arange(1.0, 6.0)
    H = machine.hessian(loss)
    machine.hessian_product = lambda _loss, d: seen.append(d) or H @ d
    np.testing.assert_allclose(H @ curvature_equations.solve_curvature(machine, loss, g), g, rtol=1e-6)
    assert len(seen) <= 5


def test_stops_when_told_to():
    A = np.random.default_rng(0).standard_normal((40, 5))
    assert solve(A, 1.0, max_iter=2).n_iter == 2
    assert smoothed_newton(Machine(A, 1.0), Effort(1e-9, 500, lambda _w: True), smoothing=1.0).n_iter == 0
