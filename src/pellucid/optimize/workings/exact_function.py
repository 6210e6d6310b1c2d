"""A function with its derivatives at exact points."""

from __future__ import annotations

from sympy import Matrix, Piecewise, Rational, Symbol, sign

from pellucid.optimize.formula import Formula
from pellucid.optimize.workings.pencil import Pencil
from pellucid.optimize.workings.step_notation import indexed
from pellucid.workings.document import Block, formula
from pellucid.workings.notation import Math, column, fenced

LETTERS = ("z", "p", "u", "q", "point")
"""Names for the column of all variables: the first that is not the name of one of them."""


class ExactFunction:
    """A formula whose values, gradients and Hessians are rationals.

    Examples
    --------
    >>> f = ExactFunction(Formula("x**2 + y**2/3"))
    >>> f.value(Matrix([1, 2])), list(f.gradient(Matrix([1, 2])))
    (7/3, [2, 4/3])
    """

    def __init__(self, function: Formula, pencil: Pencil | None = None) -> None:
        self.formula = function
        self.pencil = pencil or Pencil()
        self._gradient, self._hessian = function.gradient, function.hessian
        names = {symbol.name for symbol in function.variables}
        self.letter = next(letter for letter in LETTERS if letter not in names)

    def afresh(self) -> ExactFunction:
        """Return the same function with a pencil of its own, for numbers that are not shown."""
        return ExactFunction(self.formula)

    @property
    def variables(self) -> tuple[Symbol, ...]:
        """The variables, in order."""
        return self.formula.variables

    @property
    def is_quadratic(self) -> bool:
        """Whether the Hessian is the same everywhere."""
        return self.formula.is_quadratic

    @property
    def has_kinks(self) -> bool:
        """Whether the gradient jumps somewhere."""
        return bool(self._gradient.has(Piecewise, sign))

    def value(self, x: Matrix) -> Rational:
        """Return the value at a point."""
        return self.pencil.kept(self.formula.at(self.formula.expression, list(x)))

    def gradient(self, x: Matrix) -> Matrix:
        """Return the column of partial derivatives at a point."""
        return self.pencil.kept(Matrix(self.formula.at(self._gradient, list(x))))

    def hessian(self, x: Matrix) -> Matrix:
        """Return the matrix of second derivatives at a point."""
        return self.pencil.kept(Matrix(self.formula.at(self._hessian, list(x))))

    def point(self, k: int | str) -> Math:
        """Return the symbol of the point after ``k`` steps."""
        return indexed(self.letter, k)

    def gradient_formula(self, k: int, gradient: Matrix, at: Math | None = None) -> Block:
        """Return ``g_k = gradient at the point = column``."""
        return formula(f"g_{k} = ∇ f", fenced(at if at is not None else self.point(k)), "=", column(gradient))
