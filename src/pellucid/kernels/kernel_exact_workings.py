"""Kernels whose products can be worked by hand: fractions for polynomials, thirty digits for the Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Matrix, Rational, exp

from pellucid.kernels.distance import RBF
from pellucid.kernels.inner_product import Linear, Polynomial
from pellucid.kernels.kernel import Kernel
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

    def products(self, X: Matrix, Z: Matrix | None = None) -> Matrix:
        """Return the products of all rows with each other, or with other rows."""
        Z = X if Z is None else Z
        if self.degree:
            return (X * Z.T).applyfunc(lambda product: (self.gamma * product + self.coef0) ** self.degree)
        return Matrix(
            X.rows,
            Z.rows,
            lambda i, j: self._gaussian(sum((x - z) ** 2 for x, z in zip(X.row(i), Z.row(j), strict=True))),
        )

    def _gaussian(self, distance: Rational) -> Rational:
        return Rational(str(exp(-self.gamma * distance).evalf(DIGITS))) if distance else Rational(1)

    def formula(self) -> Math:
        """Return the kernel as it is written."""
        if not self.degree:
            distance = Script(fenced("x − z", "‖‖"), above=math(2))
            return Script(math("e"), above=math("−", *([] if self.gamma == 1 else [self.gamma]), distance))
        product = [Script(math("x"), above=math("T")), "z"]
        inside = math(*([] if self.gamma == 1 else [self.gamma]), *product, *(["+", self.coef0] if self.coef0 else []))
        return inside if self.degree == 1 else to_power(inside, self.degree)

    def notes(self) -> list[Block]:
        """Return what must be said of the digits."""
        if self.degree:
            return []
        return [remark(f"These products are no fractions. The work goes on with their first {DIGITS} digits.")]


def exact_kernel(estimator: Any, X: Matrix) -> ExactKernel:
    """Return the kernel of an estimator, named or a plain object, or refuse one without exact products."""
    kernel = estimator.kernel
    if isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear"):
        return ExactKernel(Rational(1), Rational(0), 1)
    if isinstance(kernel, RBF) or (isinstance(kernel, str) and kernel == "rbf"):
        return ExactKernel(_gamma(_parameter(estimator, "gamma"), X), Rational(0), 0)
    if isinstance(kernel, Polynomial) or (isinstance(kernel, str) and kernel in ("poly", "polynomial")):
        degree = _parameter(estimator, "degree")
        if degree != int(degree) or degree < 1:
            raise ValueError(f"degree must be a whole number of at least 1 to show the work, got {degree!r}.")
        coef0 = exact_number(_parameter(estimator, "coef0"), "coef0")[0]
        return ExactKernel(_gamma(_parameter(estimator, "gamma"), X), coef0, int(degree))
    raise ValueError(
        f"kernel must be 'linear', 'poly' or 'rbf' to show the work, got {kernel!r}. The products of "
        "others are not written down."
    )


def _parameter(estimator: Any, name: str) -> Any:
    """Return a parameter of the kernel: its own if it is an object, the estimator's if it is named."""
    return getattr(estimator.kernel if isinstance(estimator.kernel, Kernel) else estimator, name)


def _gamma(gamma: Any, X: Matrix) -> Rational:
    """Return the factor: a number, one over the columns, or that over the variance of all entries."""
    if gamma is None or (isinstance(gamma, str) and gamma == "auto"):
        return Rational(1, X.cols)
    if not isinstance(gamma, str):
        return exact_number(gamma, "gamma")[0]
    mean = sum(X, Rational(0)) / len(X)
    variance = sum(((value - mean) ** 2 for value in X), Rational(0)) / len(X)
    return 1 / (X.cols * variance) if variance else Rational(1)


def to_power(inside: Mathlike, power: int = 2) -> Math:
    """Return something between parentheses to a power."""
    return Script(fenced(inside), above=math(power))
