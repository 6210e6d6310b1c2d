"""Kernels whose products can be worked by hand: fractions for polynomials, thirty digits for the Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Matrix, Rational, exp

from pellucid.workings.document import Block, remark
from pellucid.workings.exact_data import exact_number
from pellucid.workings.notation import Math, Mathlike, Script, fenced, math

DIGITS = 30
"""Digits kept of a product that is no fraction."""


@dataclass(frozen=True)
class ExactKernel:
    """A polynomial of the product of two rows, or for ``degree`` 0 the Gaussian of their distance."""

    gamma: Rational
    coef0: Rational
    degree: int

    def products(self, X: Matrix) -> Matrix:
        """Return the products of all rows with each other."""
        plain = X * X.T
        if self.degree:
            return plain.applyfunc(lambda product: (self.gamma * product + self.coef0) ** self.degree)
        n = X.rows
        return Matrix(n, n, lambda i, j: self._gaussian(plain[i, i] + plain[j, j] - 2 * plain[i, j]))

    def _gaussian(self, distance: Rational) -> Rational:
        return Rational(str(exp(-self.gamma * distance).evalf(DIGITS))) if distance else Rational(1)

    def formula(self) -> Math:
        """Return the kernel as it is written."""
        if not self.degree:
            distance = Script(fenced("x − z", "‖‖"), above=math(2))
            return Script(math("e"), above=math("−", *([] if self.gamma == 1 else [self.gamma]), distance))
        inside = math(*([] if self.gamma == 1 else [self.gamma]), "x z", *(["+", self.coef0] if self.coef0 else []))
        return inside if self.degree == 1 else to_power(inside, self.degree)

    def notes(self) -> list[Block]:
        """Return what must be said of the digits."""
        if self.degree:
            return []
        return [remark(f"These products are no fractions. The work goes on with their first {DIGITS} digits.")]


def exact_kernel(estimator: Any, X: Matrix) -> ExactKernel:
    """Return the kernel of an estimator, or refuse one without exact products."""
    if estimator.kernel not in ("linear", "poly", "rbf"):
        raise ValueError(
            f"kernel must be 'linear', 'poly' or 'rbf' to show the work, got {estimator.kernel!r}. The products of "
            "others are not written down."
        )
    if estimator.kernel == "linear":
        return ExactKernel(Rational(1), Rational(0), 1)
    if estimator.kernel == "rbf":
        return ExactKernel(_gamma(estimator.gamma, X), Rational(0), 0)
    if estimator.degree != int(estimator.degree):
        raise ValueError(f"degree must be a whole number to show the work, got {estimator.degree!r}.")
    return ExactKernel(_gamma(estimator.gamma, X), exact_number(estimator.coef0, "coef0")[0], int(estimator.degree))


def _gamma(gamma: Any, X: Matrix) -> Rational:
    """Return the factor: a number, one over the columns, or that over the variance of all entries."""
    if not isinstance(gamma, str):
        return exact_number(gamma, "gamma")[0]
    if gamma == "auto":
        return Rational(1, X.cols)
    mean = sum(X, Rational(0)) / len(X)
    variance = sum(((value - mean) ** 2 for value in X), Rational(0)) / len(X)
    return 1 / (X.cols * variance) if variance else Rational(1)


def to_power(inside: Mathlike, power: int = 2) -> Math:
    """Return something between parentheses to a power."""
    return Script(fenced(inside), above=math(power))
