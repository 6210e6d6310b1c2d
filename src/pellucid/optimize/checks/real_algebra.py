"""Formulas over the real numbers: reading them, solving equations, deciding signs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from sympy import Add, Expr, Matrix, Rational, Symbol, expand, factor, im, radsimp, re, simplify, solve, sympify

from pellucid.optimize.formula import Formula
from pellucid.show.notation import Math, fenced, math

NEGLIGIBLE = 1e-25
"""A number whose 40 digits are below this is 0, if SymPy cannot tell."""
TIDY = 20
"""Operations in an expression up to which it is worth simplifying."""
SHORT = 40
"""Longest spelling of an exact number that is still shown; what is longer is cut to a decimal."""


def read_real(expressions: Sequence[Any], variables: Sequence[str] | None = None) -> tuple[list[Expr], list[Symbol]]:
    """Return formulas and their variables as real symbols, in reading order.

    Examples
    --------
    >>> read_real(["x**2 + y", "1 - x"])
    ([x**2 + y, 1 - x], [x, y])
    """
    expressions = [one.expression if isinstance(one, Formula) else one for one in expressions]
    if variables is None:
        found = {symbol for text in expressions for symbol in _sympified(text).free_symbols}
        if not found:
            raise ValueError(f"expression must have variables, got {expressions!r}, which have none.")
        variables = [symbol.name for symbol in Formula(Add(*found)).variables]
    real = {Symbol(name): Symbol(name, real=True) for name in variables}
    read = [Formula(text, variables).expression.subs(real) for text in expressions]
    return read, list(real.values())


def _sympified(text: Any) -> Expr:
    try:
        return sympify(text, rational=True)
    except (SyntaxError, TypeError, ValueError) as error:
        raise ValueError(f"expression must be a formula such as 'x**2 + y**2', got {text!r}.") from error


def real_solutions(equations: Iterable[Expr], unknowns: Sequence[Symbol]) -> list[dict[Symbol, Expr]]:
    """Return all real solutions of some equations, each a value per unknown; a free unknown stands for itself."""
    equations = [equation for equation in equations if equation != 0]
    if any(equation.is_number for equation in equations):
        return []
    try:
        found = solve(equations, unknowns, dict=True, simplify=False) if equations else [{}]
    except NotImplementedError:
        raise ValueError(
            f"expression must lead to equations that can be solved by hand, got {equations}. Use minimize instead."
        ) from None
    complete = [{u: tidied(solution.get(u, u)) for u in unknowns} for solution in found]
    return sorted(
        (solution for solution in complete if all(_is_real(value) for value in solution.values())),
        key=lambda solution: [_order(solution[u]) for u in unknowns],
    )


def tidied(value: Expr) -> Expr:
    """Return a number or expression in its simplest form, if it is short enough for that."""
    return radsimp(simplify(value)) if value.count_ops() <= TIDY else value


def sign_of(value: Expr) -> int:
    """Return -1, 0 or 1 for a real number.

    Examples
    --------
    >>> from sympy import sqrt
    >>> sign_of(sqrt(2) - Rational(3, 2)), sign_of(sqrt(8) - 2 * sqrt(2))
    (-1, 0)
    """
    if value.is_Rational:
        return int(bool(value > 0)) - int(bool(value < 0))
    digits = digits_of(value)
    if abs(digits) < NEGLIGIBLE:
        return 0
    return 1 if digits > 0 else -1


def principal_minors(M: Matrix) -> list[Expr]:
    """Return the determinants of all square blocks on the diagonal: none negative means positive semidefinite."""
    n = M.rows
    blocks = [list(rows) for size in range(1, n + 1) for rows in combinations(range(n), size)]
    return [factor(expand(M.extract(rows, rows).det())) for rows in blocks]


def shown(value: Expr) -> Math:
    """Return a number as a person would write it: exact, or the first digits of it if that is long."""
    value = sympify(value)
    if value.is_Rational or value.free_symbols or len(str(value)) <= SHORT:
        return math(value)
    return math("≈", Rational(f"{digits_of(value):.6g}"))


def shown_point(values: Iterable[Expr]) -> Math:
    """Return numbers between parentheses, with commas."""
    parts: list[Any] = []
    for value in values:
        parts += [",", shown(value)] if parts else [shown(value)]
    return fenced(math(*parts))


def digits_of(value: Expr) -> float:
    """Return a real number that may be written with complex roots, as those of cubic equations are."""
    return float(re(value.evalf(40)))


def _is_real(value: Expr) -> bool:
    return bool(value.free_symbols) or abs(float(im(value.evalf(40)))) < NEGLIGIBLE


def _order(value: Expr) -> tuple[int, float, str]:
    return (1, 0.0, str(value)) if value.free_symbols else (0, digits_of(value), "")
