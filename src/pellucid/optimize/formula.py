"""Functions written as formulas: exact derivatives for workings, fast ones for the methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy

from pellucid.core.types import Array
from pellucid.optimize.problem import Problem


class Formula:
    """A function of a few variables, given as a SymPy expression or as text.

    Parameters
    ----------
    expression : str or sympy expression
        For example ``"(1 - x)**2 + 100*(y - x**2)**2"``. Text is read by SymPy, which evaluates it: it must be yours.
    variables : sequence of str, default=None
        Their order; without it alphabetical, with ``x2`` before ``x10``.

    Examples
    --------
    >>> bowl = Formula("x**2 + 3*y**2")
    >>> bowl.gradient
    Matrix([
    [2*x],
    [6*y]])
    >>> bowl.problem().gradient(np.array([1.0, 1.0]))
    array([2., 6.])
    """

    def __init__(self, expression: Any, variables: Sequence[str] | None = None) -> None:
        try:
            self.expression = sympy.sympify(expression, rational=True)
        except (sympy.SympifyError, SyntaxError, TypeError) as error:
            raise ValueError(f"expression must be a formula such as 'x**2 + y**2', got {expression!r}.") from error
        found = sorted(self.expression.free_symbols, key=lambda symbol: _reading_order(symbol.name))
        self.variables = tuple(found) if variables is None else tuple(sympy.Symbol(name) for name in variables)
        if not self.variables:
            raise ValueError(f"expression must have variables, got {expression!r}, which has none.")
        if self.expression.has(sympy.zoo, sympy.nan, sympy.oo):
            raise ValueError(f"expression must be finite, got {expression!r}, which divides by zero.")
        missing = set(found) - set(self.variables)
        if missing:
            raise ValueError(f"variables must name every symbol of the expression, got none called {missing}.")

    @property
    def gradient(self) -> sympy.Matrix:
        """The column of partial derivatives; where there is a kink, a subgradient if the function is convex."""
        return sympy.Matrix([self._derivative(self.expression, v) for v in self.variables])

    @property
    def hessian(self) -> sympy.Matrix:
        """The matrix of second derivatives, without those of kinks."""
        rows = [[self._derivative(slope, v) for v in self.variables] for slope in self.gradient]
        return sympy.Matrix(rows)

    @property
    def is_quadratic(self) -> bool:
        """Whether the second derivatives are constants."""
        is_polynomial = self.expression.is_polynomial(*self.variables)
        return bool(is_polynomial) and sympy.Poly(self.expression, *self.variables).total_degree() <= 2

    def at(self, what: Any, x: Sequence[Any]) -> Any:
        """Return an expression or matrix of expressions with the variables replaced by exact numbers."""
        return what.subs(dict(zip(self.variables, x, strict=True)))

    def problem(self, **known: Any) -> Problem:
        """Return the problem of minimizing the function, with value, gradient and Hessian in floating point."""
        value, gradient, hessian = (
            _compiled(self.variables, what) for what in (self.expression, list(self.gradient), self.hessian.tolist())
        )
        return Problem(
            value=lambda x: float(value(x)),
            gradient=lambda x: np.array(gradient(x), dtype=x.dtype),
            hessian=lambda x: np.array(hessian(x), dtype=x.dtype),
            **({"is_quadratic": self.is_quadratic} | known),
        )

    def _derivative(self, what: Any, variable: Any) -> Any:
        """Differentiate with respect to a real variable: the derivative of |x| is its sign, and 0 at 0."""
        real = {v: sympy.Symbol(v.name, real=True) for v in self.variables}
        slope = sympy.diff(_in_pieces(what.xreplace(real)), real[variable])
        smooth = slope.replace(sympy.DiracDelta, lambda *_: sympy.S.Zero)
        return smooth.xreplace({r: v for v, r in real.items()})

    def __repr__(self) -> str:
        return f"Formula({str(self.expression)!r})"


def _in_pieces(expression: Any) -> Any:
    """Return the expression with each maximum as the first of its arguments that is the largest."""

    def first_largest(*arguments: Any) -> Any:
        *others, last = arguments
        largest = [(a, sympy.And(*(a >= b for b in arguments[i + 1 :]))) for i, a in enumerate(others)]
        return sympy.Piecewise(*largest, (last, True))

    return expression.replace(sympy.Max, first_largest)


def _compiled(variables: Sequence[Any], what: Any) -> Callable[[Array], Any]:
    function = sympy.lambdify(variables, what, modules="numpy")
    return lambda x: function(*x)


def _reading_order(name: str) -> tuple[str, int]:
    letters = name.rstrip("0123456789")
    digits = name[len(letters) :]
    return letters, int(digits or 0)
