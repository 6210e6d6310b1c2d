"""The tube of a support vector regression in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sympy import Matrix, Rational, ones

from pellucid.kernels.kernel_workings import ExactKernel
from pellucid.optimize.constrained.active_set_workings import BoxedDual, Multipliers, solve_dual
from pellucid.workings.exact_data import ExactData


@dataclass(frozen=True)
class ExactTube:
    """The solution: two multipliers per point, first those of the points above the line, then those of all below."""

    data: ExactData
    kernel: ExactKernel
    K: Matrix
    C: Rational | None
    epsilon: Rational
    found: Multipliers
    constant: Rational | None = None
    """The feature whose weight the intercept is: 0 for none, None for a free intercept."""

    @cached_property
    def beta(self) -> list[Rational]:
        """The pull of each point on the line."""
        n = self.data.n_samples
        return [self.found.alpha[i] - self.found.alpha[n + i] for i in range(n)]

    @cached_property
    def b(self) -> Rational:
        """The intercept."""
        return self.found.intercept() if self.constant is None else self.constant**2 * sum(self.beta)

    @cached_property
    def scores(self) -> list[Rational]:
        """The prediction for each point, without the intercept."""
        return list(self.K * Matrix(self.beta))

    @cached_property
    def residuals(self) -> list[Rational]:
        """How far each point is above the line."""
        return [target - score - self.b for target, score in zip(self.data.y, self.scores, strict=True)]

    @cached_property
    def slack(self) -> list[Rational]:
        """How far each point is beyond the tube."""
        return [max(Rational(0), abs(r) - self.epsilon) for r in self.residuals]

    @property
    def square(self) -> Rational:
        """The squared length of the weights, with that of the constant feature."""
        penalized = (self.constant or 0) ** 2 * sum(self.beta) ** 2
        return (Matrix(self.beta).T * self.K * Matrix(self.beta))[0] + penalized

    @property
    def primal_value(self) -> Rational:
        """The objective of the line."""
        return self.square / 2 + (self.C or 0) * sum(self.slack)

    @property
    def dual_value(self) -> Rational:
        """The objective of the pulls."""
        gain = sum(target * pull for target, pull in zip(self.data.y, self.beta, strict=True))
        return gain - self.epsilon * sum(map(abs, self.beta)) - self.square / 2

    @property
    def free(self) -> list[int]:
        """The points that pull, but with less than C."""
        return [i for i, pull in enumerate(self.beta) if pull and abs(pull) != self.C]

    def predict(self, row: Matrix) -> Rational:
        """Return the prediction for a new point."""
        return (self.kernel.products(row, self.data.X) * Matrix(self.beta))[0] + self.b


def solve_tube(
    data: ExactData, kernel: ExactKernel, C: Rational | None, epsilon: Rational, constant: Rational | None = None
) -> ExactTube:
    """Return the exact solution, or refuse a tube without slack that no line fits into."""
    K, n = kernel.products(data.X), data.n_samples
    with_constant = K if constant is None else K + constant**2 * ones(n, n)
    Q = Matrix([[with_constant, -with_constant], [-with_constant, with_constant]])
    signs = [Rational(1)] * n + [Rational(-1)] * n
    wanted = [target - epsilon for target in data.y] + [-target - epsilon for target in data.y]
    found = solve_dual(BoxedDual(Q, signs, C, balanced=constant is None, wanted=wanted))
    if found is None:
        raise ValueError("C must be below infinity, got inf: no line of this kernel keeps all points in the tube.")
    return ExactTube(data, kernel, K, C, epsilon, found, constant)
