"""The elastic net in exact arithmetic: coordinate descent, duality gap, and the minimum from its signs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from sympy import Matrix, Rational, eye, sign, zeros

from pellucid.linear_model.least_squares.line_workings import matrix_or_number
from pellucid.show.document import Block, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData
from pellucid.show.notation import Math, Mathlike, Script, Words, column, fenced, math, over


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


def gap_step(problem: ElasticNetProblem, w: Matrix, heading: str) -> Step:
    """Return the step that bounds the distance to the minimum by the duality gap."""
    scale = problem.dual_scale(w)
    primal, dual = problem.objective(w), problem.dual_objective(w)
    residual = "y − X w"
    theta = math(residual) if scale == 1 else math(scale, fenced(residual))
    squares: list[Mathlike] = [over(1, "2 n"), Script(fenced(math("θ"), "‖‖"), above=math(2))]
    ridge: list[Mathlike] = ["−", problem.l2 * scale**2 / 2, Script(fenced("w", "‖‖"), above=math(2))]
    return step(
        heading,
        sentence(
            "The dual problem bounds the minimum from below. Its point is made from the residuals, scaled so that no "
            "pull is stronger than the penalty allows: ",
            math("θ =", theta),
            ".",
        ),
        formula("P =", primal, Words("(the objective)")),
        formula("D =", over(1, "n"), "y^T θ −", *squares, *(ridge if problem.l2 else []), "=", dual),
        sentence(
            "The minimum lies between ",
            math("D"),
            " and ",
            math("P"),
            ". So the objective is above its minimum by at most",
        ),
        result("P − D =", primal - dual),
    )


def minimum_step(problem: ElasticNetProblem, data: ExactData, w: Matrix, *, settled: bool) -> Step:
    """Return the step that finds the minimum from its signs, unless the sweeps reached it, and checks it."""
    blocks: list[Block] = [] if settled else _system_blocks(problem, data, w)
    pulls = problem.gradient(w)
    rows = [[data.symbol("w", j), w[j], pulls[j], _verdict(problem, w[j], pulls[j])] for j in range(data.n_features)]
    blocks += [
        sentence(
            "Check: the pull left over equals the threshold, with its sign, where a coefficient is in use, and is no "
            "stronger where it is zero."
        ),
        table(["coefficient", "value", "pull", "condition"], rows),
        sentence(
            "Objective and dual objective agree: ",
            math("P = D =", problem.objective(w)),
            ", the gap is exactly ",
            math(problem.gap(w)),
            ", so this is the minimum.",
        ),
    ]
    if not problem.is_unique(w):
        blocks.append(remark("The columns in use are linearly dependent: other coefficients reach the same minimum."))
    return step("Check the minimum" if settled else "Solve for the exact minimum", *blocks)


def _system_blocks(problem: ElasticNetProblem, data: ExactData, w: Matrix) -> list[Block]:
    used = [j for j, value in enumerate(w) if value]
    columns, n = problem.X[:, used], problem.X.rows
    gram = columns.T * columns / n + problem.l2 * eye(len(used))
    pull, signs = columns.T * problem.y / n, Matrix([sign(w[j]) for j in used])
    return [
        sentence(
            "With the signs known the kinks are gone, and the coefficients in use solve linear equations: curvature "
            "times coefficients equals pull less threshold times sign."
        ),
        formula(
            *(matrix_or_number(gram), _unknowns(data, used), "=", matrix_or_number(pull)),
            *("−", problem.l1, "·", matrix_or_number(signs)),
        ),
        sentence("The solution is in the table below."),
    ]


def _unknowns(data: ExactData, used: list[int]) -> Math:
    symbols = [data.symbol("w", j) for j in used]
    return symbols[0] if len(symbols) == 1 else column(symbols)


def _verdict(problem: ElasticNetProblem, value: Rational, pull: Rational) -> Math:
    if value:
        return math("=", problem.l1 if value > 0 else -problem.l1)
    return math("≤", problem.l1) if problem.positive else math(fenced(pull, "||"), "≤", problem.l1)
