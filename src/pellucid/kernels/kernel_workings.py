"""Kernels by hand: the products of a few rows, and for polynomial kernels the features whose products they are."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sympy import Matrix, Rational, exp, prod

from pellucid.core.types import Data
from pellucid.kernels.feature_map import monomials, n_mapped
from pellucid.kernels.formulas import RBF, Linear, Polynomial
from pellucid.kernels.kernel import Kernel
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_features, exact_number, numbered_table
from pellucid.show.notation import Math, Mathlike, Script, factor, fenced, math, matrix, root, total

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
    return (
        sentence("A kernel multiplies two rows x and z as if they had been mapped to more features first."),
        numbered_table(rows, _symbols(rows.cols), caption="The rows"),
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
