"""The elastic net in exact arithmetic: coordinate descent, duality gap, and the minimum from its signs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from sympy import Matrix, Rational, eye, sign, zeros


@dataclass(frozen=True)
class CoordinateUpdate:
    """One coefficient made best with the others held: ``rho`` is soft-thresholded and divided by ``curvature``."""

    j: int
    partial_residual: Matrix
    rho: Rational
    curvature: Rational
    old: Rational
    new: Rational


@dataclass(frozen=True)
class ElasticNetProblem:
    r"""Minimize :math:`\frac{1}{2n}\|y - Xw\|^2 + l_1\|w\|_1 + \frac{l_2}{2}\|w\|^2`, with w >= 0 if ``positive``."""

    X: Matrix
    y: Matrix
    l1: Rational
    l2: Rational
    positive: bool = False

    def objective(self, w: Matrix) -> Rational:
        """Return what is minimized."""
        r = self.y - self.X * w
        return r.dot(r) / (2 * self.X.rows) + self.l1 * sum(map(abs, w)) + self.l2 * w.dot(w) / 2

    def gradient(self, w: Matrix) -> Matrix:
        """Return minus the gradient of the smooth part: the pull on each coefficient."""
        return self.X.T * (self.y - self.X * w) / self.X.rows - self.l2 * w

    def dual_scale(self, w: Matrix) -> Rational:
        """Return the factor that makes the residuals of ``w`` feasible for the dual problem."""
        pulls = self.gradient(w) if self.positive else self.gradient(w).applyfunc(abs)
        strongest = max(pulls)
        return self.l1 / strongest if strongest > self.l1 else Rational(1)

    def dual_objective(self, w: Matrix) -> Rational:
        """Return the dual objective at the scaled residuals: no w has a smaller objective than this."""
        n, scale, r = self.X.rows, self.dual_scale(w), self.y - self.X * w
        return scale * self.y.dot(r) / n - scale**2 * (r.dot(r) / n + self.l2 * w.dot(w)) / 2

    def gap(self, w: Matrix) -> Rational:
        """Return how far the objective at ``w`` is above its minimum, at most."""
        return self.objective(w) - self.dual_objective(w)

    def soft_threshold(self, rho: Rational) -> Rational:
        """Return ``rho`` moved towards zero by l1, and no further than zero."""
        if rho > self.l1:
            return rho - self.l1
        return rho + self.l1 if rho < -self.l1 and not self.positive else Rational(0)

    def sweep(self, w: Matrix) -> tuple[Matrix, list[CoordinateUpdate]]:
        """Update every coefficient once, in order."""
        w, n, updates = w.copy(), self.X.rows, []
        for j in range(self.X.cols):
            x, old = self.X.col(j), w[j]
            partial = self.y - self.X * w + x * old
            rho, curvature = x.dot(partial) / n, x.dot(x) / n + self.l2
            w[j] = self.soft_threshold(rho) / curvature if curvature else Rational(0)
            updates.append(CoordinateUpdate(j, partial, rho, curvature, old, w[j]))
        return w, updates

    def minimum(self, guess: Matrix) -> Matrix:
        """Return a minimizer: with the signs known it solves a linear system, and few signs are possible."""
        for signs in self._sign_patterns(guess):
            w = self._with_signs(signs)
            if w is not None and self.is_minimum(w):
                return w
        raise ArithmeticError("no sign pattern satisfied the optimality conditions")

    def is_minimum(self, w: Matrix) -> bool:
        """Return whether the pulls balance the penalty: the optimality conditions."""
        for value, pull in zip(w, self.gradient(w), strict=True):
            balanced = (
                pull == self.l1 * sign(value) if value else pull <= self.l1 and (self.positive or pull >= -self.l1)
            )
            if not balanced or (self.positive and value < 0):
                return False
        return True

    def is_unique(self, w: Matrix) -> bool:
        """Return whether no other w attains the minimum: the columns that could be in use are independent."""
        usable = [j for j, pull in enumerate(self.gradient(w)) if abs(pull) == self.l1]
        return bool(self.l2) or not usable or self.X[:, usable].rank() == len(usable)

    def _sign_patterns(self, guess: Matrix) -> Iterator[tuple[int, ...]]:
        yield tuple(int(sign(value)) for value in guess)
        yield from product((0, 1) if self.positive else (0, 1, -1), repeat=self.X.cols)

    def _with_signs(self, signs: tuple[int, ...]) -> Matrix | None:
        used = [j for j, used_sign in enumerate(signs) if used_sign]
        w = zeros(self.X.cols, 1)
        if not used:
            return w
        columns, n = self.X[:, used], self.X.rows
        system = columns.T * columns / n + self.l2 * eye(len(used))
        if system.det() == 0:
            return None
        right = columns.T * self.y / n - self.l1 * Matrix([signs[j] for j in used])
        for j, value in zip(used, system.LUsolve(right), strict=True):
            w[j] = value
        return w
