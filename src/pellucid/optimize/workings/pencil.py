"""Exact arithmetic with a limit: fractions stay fractions while a person would still write them."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Poly, Rational, sqrt, sympify

from pellucid.show.document import Sentence, remark

LONGEST_EXACT = 200
"""Digits of numerator and denominator together up to which a fraction is kept."""
KEPT_DIGITS = 30
"""Significant digits kept of what is longer, and of roots, exponentials and the like."""
LARGEST = Rational(10) ** 300
"""What exceeds this is refused, and what is below its inverse is 0: as in floating point."""


class Pencil:
    """Writes every number as a rational and remembers whether one had to be rounded, and why.

    Examples
    --------
    >>> pencil = Pencil()
    >>> pencil.root(Rational(9, 4)), pencil.reason
    (3/2, '')
    >>> float(pencil.root(Rational(2))), pencil.reason
    (1.4142135623730951, 'irrational')
    """

    def __init__(self) -> None:
        self.reason = ""

    def kept(self, value: Any) -> Any:
        """Return a number, or a matrix of numbers, as rationals: exact if they are short, else to 30 digits."""
        if isinstance(value, Matrix):
            return value.applyfunc(self.kept)
        value = sympify(value)
        exact = value if value.is_Rational else value.expand()
        if exact.is_Rational and len(str(abs(exact.p))) + len(str(exact.q)) <= LONGEST_EXACT:
            return exact
        number = exact.evalf(KEPT_DIGITS)
        if not (number.is_real and number.is_finite and abs(number) < LARGEST):
            raise ValueError(
                f"function must be real and finite along the way, got {number}. Start elsewhere, or take smaller steps."
            )
        self.reason = self.reason or ("long" if exact.is_Rational else "irrational")
        return Rational(str(number)) if abs(number) * LARGEST > 1 else Rational(0)

    def root(self, value: Rational) -> Rational:
        """Return the square root: exact if it is a fraction, else its first 30 digits."""
        return self.kept(sqrt(value))

    def eigenvalues(self, symmetric: Matrix) -> list[Rational]:
        """Return the eigenvalues of a symmetric matrix of rationals, smallest first."""
        characteristic = Poly(symmetric.charpoly().as_expr())
        return [self.kept(root) for root in characteristic.real_roots()]

    def remark(self) -> list[Sentence]:
        """Return the sentence that owns up to rounding, if there was any."""
        if not self.reason:
            return []
        because = {
            "long": f"Some fractions grow longer than {LONGEST_EXACT} digits.",
            "irrational": "Some numbers are no fractions.",
        }[self.reason]
        return [
            remark(
                f"{because} From there on numbers are rounded to {KEPT_DIGITS} significant digits, and the first few "
                "of them are shown."
            )
        ]
