"""Kernels by hand: the products of a few rows, and for polynomial kernels the features whose products they are."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from mpmath import mp  # type: ignore[import-untyped]  # it comes with sympy
from sympy import Matrix, Rational, exp, prod, tanh

from pellucid.core.types import Data
from pellucid.kernels.feature_map import monomials, n_mapped
from pellucid.kernels.formulas import RBF, Laplacian, Linear, Polynomial, Sigmoid
from pellucid.kernels.kernel import Constant, Kernel, Product, Scaled, Sum
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_features, exact_number, numbered_table
from pellucid.show.notation import Math, Mathlike, Script, Words, factor, fenced, math, matrix, minus, root, total

MAX_ROWS = 4
MAX_FEATURES = 20
"""More features do not fit on a page."""


def kernel_workings(kernel: Kernel, X: Data, y: Data = None) -> Document:
    """Show the products of all rows, and that they are those of the mapped rows; for ``show_work``."""
    if y is not None:
        raise ValueError("y must be None for a kernel, which knows no targets, got some. Leave it out.")
    rows, _, _ = exact_features(X, max_rows=MAX_ROWS)
    if not isinstance(kernel, Linear | Polynomial | RBF):
        return _other_workings(kernel, rows)
    exact = exact_kernel(SimpleNamespace(kernel=kernel), rows)
    K = exact.products(rows)
    steps = [_products_step(exact, rows, K)]
    if exact.degree:
        polynomial = Polynomial(1) if isinstance(kernel, Linear) else kernel
        steps += _map_steps(exact, polynomial, rows, K)
    steps.append(_minors_step(K))
    return Document("A kernel", _opening(rows), tuple(steps), {"products": K.tolist()})


def _other_workings(kernel: Kernel, rows: Matrix) -> Document:
    """Show the products of a kernel without a finite map, part by part, and whether they pass Mercer's test."""
    parts = _parts(kernel, rows)
    K = parts[-1][1]
    steps = [
        step(
            name, formula("k =", written) if written is not None else remark(DIGITS_REMARK), formula("K =", matrix(K_))
        )
        for (name, K_), written in zip(parts, _written(kernel), strict=True)
    ]
    steps.append(_mercer_step(K))
    return Document("A kernel", _opening(rows), tuple(steps), {"products": K.tolist(), "mercer": _is_positive(K)})


DIGITS_REMARK = "Entry by entry, from the matrices above. Of numbers without end the first digits are kept."


def _parts(kernel: Kernel, rows: Matrix) -> list[tuple[str, Matrix]]:
    """Return the products of each part of a kernel and, last, of the whole."""
    if isinstance(kernel, Sum | Product):
        found = [one for part in kernel.parts for one in _parts(part, rows)]
        own = [_parts(part, rows)[-1][1] for part in kernel.parts]
        whole = own[0]
        for one in own[1:]:
            whole = whole + one if isinstance(kernel, Sum) else whole.multiply_elementwise(one)
        return [*found, ("The sum" if isinstance(kernel, Sum) else "The product, entry by entry", whole)]
    if isinstance(kernel, Scaled):
        below = _parts(kernel.kernel, rows)
        return [*below, ("Times a number", exact_number(kernel.factor, "factor")[0] * below[-1][1])]
    if isinstance(kernel, Constant):
        return [("The same for all", exact_number(kernel.value, "value")[0] * Matrix.ones(rows.rows, rows.rows))]
    if isinstance(kernel, Sigmoid | Laplacian):
        return [(f"The {type(kernel).__name__.lower()} kernel", _entries(kernel, rows))]
    if isinstance(kernel, Linear | Polynomial | RBF):
        exact = exact_kernel(SimpleNamespace(kernel=kernel), rows)
        return [
            (f"The {'RBF' if isinstance(kernel, RBF) else type(kernel).__name__.lower()} kernel", exact.products(rows))
        ]
    raise ValueError(f"kernel must be made of the kernels of pellucid.kernels to show the work, got {kernel!r}.")


def _entries(kernel: Any, rows: Matrix) -> Matrix:
    gamma = _gamma(kernel.gamma, rows)
    if isinstance(kernel, Sigmoid):
        c = exact_number(kernel.coef0, "coef0")[0]
        return (rows * rows.T).applyfunc(lambda v: _digits(tanh(gamma * v + c)))
    n = rows.rows
    away = Matrix(n, n, lambda i, j: sum((abs(v) for v in rows.row(i) - rows.row(j)), Rational(0)))
    return away.applyfunc(lambda v: _digits(exp(-gamma * v)))


def _digits(value: Any) -> Rational:
    return value if value.is_Rational else Rational(str(value.evalf(DIGITS)))


def _written(kernel: Kernel) -> list[Any]:
    """Return the formula of each part, None where it is a sum, a product or a multiple."""
    if isinstance(kernel, Sum | Product):
        return [*(one for part in kernel.parts for one in _written(part)), None]
    if isinstance(kernel, Scaled):
        return [*_written(kernel.kernel), None]
    product = [Script(math("x"), above=math("T")), "z"]
    if isinstance(kernel, Sigmoid):
        return [math(Words("tanh"), fenced(math("γ", *product, "+ c")))]
    if isinstance(kernel, Laplacian):
        return [Script(math("e"), above=math("− γ", Script(fenced("x − z", "‖‖"), below=math(1))))]
    if isinstance(kernel, Constant):
        return [math("c")]
    return [_plain_formula(kernel)]


def _plain_formula(kernel: Any) -> Math:
    if isinstance(kernel, RBF):
        return Script(math("e"), above=math("− γ", Script(fenced("x − z", "‖‖"), above=math(2))))
    product = math(Script(math("x"), above=math("T")), "z")
    return product if isinstance(kernel, Linear) else to_power(math("γ", product, "+ c"), int(kernel.degree))


def _is_positive(K: Matrix) -> bool:
    """Return whether no energy of these products is below 0, up to the digits that are kept."""
    return all(value > -Rational(1, 10**20) for value in _eigenvalues(K))


def _eigenvalues(K: Matrix) -> list[Rational]:
    with mp.workdps(3 * DIGITS):
        return sorted(Rational(mp.nstr(value, DIGITS)) for value in mp.eigsy(_many_digits(K), eigvals_only=True))


def _many_digits(K: Matrix) -> Any:
    return mp.matrix([[mp.mpf(int(v.p)) / int(v.q) for v in K.row(i)] for i in range(K.rows)])


def _mercer_step(K: Matrix) -> Step:
    with mp.workdps(3 * DIGITS):
        values, vectors = mp.eigsy(_many_digits(K))
        least = min(range(K.rows), key=lambda k: values[k])
        ordered = sorted(map(float, values), reverse=True)
        listed = [[math(f"λ_{k + 1}"), Words(minus(f"{value:.5g}"))] for k, value in enumerate(ordered)]
        c = [float(vectors[i, least]) for i in range(K.rows)]
        energy = float(values[least])
    blocks: list[Block] = [
        sentence("K is symmetric. It is that of inner products only if no energy is below 0: none of its eigenvalues."),
        table(["", "eigenvalue"], listed),
    ]
    if _is_positive(K):
        blocks.append(sentence("None is below 0: on these rows the kernel passes Mercer's test."))
    else:
        told = [[math(i + 1), Words(minus(f"{value:.4g}"))] for i, value in enumerate(c)]
        blocks += [
            sentence("One is below 0. A witness, numbers c whose energy is negative, shows that no map exists:"),
            table([math("i"), math("c_i")], told),
            result("c^T K c =", Words(minus(f"{energy:.5g}"))),
            remark("The sigmoid is no kernel for all its parameters; on other rows it may pass."),
        ]
    return step("Mercer's test", *blocks)


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
