"""Kernels by hand: the products of a few rows, and for polynomial kernels the features whose products they are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sympy import Matrix, Rational, prod

from pellucid.core.types import Data
from pellucid.kernels.feature_map import monomials, n_mapped
from pellucid.kernels.inner_product import Linear, Polynomial
from pellucid.kernels.kernel import Kernel
from pellucid.kernels.kernel_exact_workings import ExactKernel, exact_kernel
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.exact_data import exact_features
from pellucid.workings.notation import Math, Script, factor, fenced, math, matrix, root, total, typed

MAX_ROWS = 4
MAX_FEATURES = 20
"""More features do not fit on a page."""


def kernel_workings(kernel: Kernel, X: Data, y: Data = None) -> Document:
    """Show the products of all rows, and that they are those of the mapped rows; for ``show_work``."""
    if y is not None:
        raise ValueError("y must be None for a kernel, which knows no targets, got some. Leave it out.")
    rows, _, _ = exact_features(X, max_rows=MAX_ROWS)
    exact = exact_kernel(SimpleNamespace(kernel=kernel), rows)
    K = exact.products(rows)
    steps = [_products_step(exact, rows, K)]
    if exact.degree:
        polynomial = Polynomial(1) if isinstance(kernel, Linear) else kernel
        steps += _map_steps(exact, polynomial, rows, K)
    steps.append(_minors_step(K))
    return Document("A kernel", _opening(rows), tuple(steps), {"products": K.tolist()})


def _opening(rows: Matrix) -> tuple[Block, ...]:
    head = [math("i"), *_symbols(rows.cols)]
    return (
        sentence("A kernel multiplies two rows x and z as if they had been mapped to more features first."),
        table(head, [[math(i + 1), *map(typed, rows.row(i))] for i in range(rows.rows)], caption="The rows"),
    )


def _symbols(columns: int) -> list[Math]:
    return [math(f"x_{j + 1}" if columns > 1 else "x") for j in range(columns)]


def _products_step(exact: ExactKernel, rows: Matrix, K: Matrix) -> Step:
    return step(
        "Multiply the rows",
        formula("k =", exact.formula()),
        *exact.notes(),
        sentence(f"Of {rows.rows} rows these are {rows.rows * (rows.rows + 1) // 2} products, as K is symmetric:"),
        formula("K =", matrix(K)),
    )


def _map_steps(exact: ExactKernel, kernel: Any, rows: Matrix, K: Matrix) -> list[Step]:
    """Return the steps that write the features of a polynomial kernel out."""
    count = n_mapped(kernel, rows.cols)
    if count > MAX_FEATURES:
        raise ValueError(
            f"kernel must stand for at most {MAX_FEATURES} features to show the work, got {count}. "
            "Take fewer columns or a lower degree."
        )
    found = list(monomials(kernel, rows.cols))
    degree = int(kernel.degree)
    shares = [ways * exact.gamma ** len(chosen) * exact.coef0 ** (degree - len(chosen)) for chosen, ways in found]
    names = [_monomial(chosen, rows.cols) for chosen, _ in found]
    values = Matrix(rows.rows, count, lambda i, f: prod([rows[i, j] for j in found[f][0]], start=Rational(1)))
    again = values * Matrix.diag(*shares) * values.T
    if again != K:
        raise ArithmeticError("the features do not multiply to the kernel")
    return [_expansion_step(names, shares, count), _features_step(names, shares, values, K)]


def _expansion_step(names: list[Math], shares: list[Rational], count: int) -> Step:
    listed = [
        [name, share, math(*([] if share == 1 else [root(share)]), name)]
        for name, share in zip(names, shares, strict=True)
    ]
    return step(
        "Write the power out",
        sentence(
            "Multiplied out, the kernel is a sum over monomials: a factor times the monomial of x times the same "
            "monomial of z. The root of the factor goes to either side, and each term is one feature:"
        ),
        table(["monomial", "factor", "feature"], listed),
        sentence(f"{count} feature{'' if count == 1 else 's'} in all, and the kernel needs none of them."),
    )


def _features_step(names: list[Math], shares: list[Rational], values: Matrix, K: Matrix) -> Step:
    head = [math("i"), *names]
    shown = [[math(i + 1), *values.row(i)] for i in range(values.rows)]
    i, j = (0, 1) if values.rows > 1 else (0, 0)
    terms = [
        math(*([] if share == 1 else [factor(share), "·"]), factor(a), "·", factor(b))
        for share, a, b in zip(shares, values.row(i), values.row(j), strict=True)
    ]
    return step(
        "Map the rows and multiply",
        table(head, shown, caption="The monomials of each row"),
        sentence(f"The product of the features of rows {i + 1} and {j + 1}:"),
        result(total(terms), "=", K[i, j]),
        remark("The same for every pair gives K again, entry by entry, in exact arithmetic."),
    )


def _minors_step(K: Matrix) -> Step:
    minors = [[math(k + 1), K[: k + 1, : k + 1].det()] for k in range(K.rows)]
    return step(
        "No vector has negative energy",
        sentence(
            "With mapped rows φ the energy of any numbers c is the squared length of a sum, so K passes Mercer's test:"
        ),
        formula(
            Script(math("c"), above=math("T")),
            "K c =",
            Script(fenced("c_1 φ_1 + c_2 φ_2 + …", "‖‖"), above=math(2)),
            "≥ 0",
        ),
        sentence("Its determinants from the upper left corner are not negative either:"),
        table(["rows", "determinant"], minors),
    )


def _monomial(columns: tuple[int, ...], n_columns: int) -> Math:
    if not columns:
        return math(1)
    powers = [(j, columns.count(j)) for j in sorted(set(columns))]
    name = (lambda j: f"x_{j + 1}") if n_columns > 1 else (lambda _: "x")
    return math(*(name(j) if power == 1 else f"{name(j)}^{power}" for j, power in powers))
