"""SVR by hand: the dual by its KKT conditions, who is inside, on and outside of the tube, and the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, ones

from pellucid.core.checks import check_one_of
from pellucid.core.types import Data
from pellucid.kernels.kernel_workings import ExactKernel, exact_kernel
from pellucid.optimize.constrained.active_set_workings import BoxedDual, Multipliers, solve_dual
from pellucid.optimize.constrained.exact_machine_workings import HALF, SQUARED_NORM
from pellucid.show.decisions import kernel_step, read_new
from pellucid.show.document import (
    Block,
    Document,
    Figure,
    Series,
    Step,
    formula,
    remark,
    result,
    sentence,
    step,
    table,
)
from pellucid.show.exact_data import ExactData, exact_data, exact_parameter
from pellucid.show.notation import Script, column, combination, fenced, math, matrix, over, typed
from pellucid.svm.svc.svc_workings import exact_price, is_linear, kernel_blocks

if TYPE_CHECKING:
    from pellucid.svm.linear_svc.linear_svr import LinearSVR
    from pellucid.svm.svc.svr import SVR

MOST_POINTS = 5

CURVE = 61
"""Points of the drawn line."""


def svr_workings(estimator: LinearSVR | SVR, X: Data, y: Data, new: Data = None) -> Document:
    """Show the line with its tube, and what it says of new rows."""
    data = exact_data(X, y, max_rows=MOST_POINTS)
    tube = solve_tube(
        data, exact_kernel(estimator, data.X), exact_price(estimator), exact_parameter(estimator, "epsilon")
    )
    answer = _answer(tube)
    asked = [] if new is None else read_new(new, data.n_features)
    decided = [
        kernel_step(i, row, tube.kernel.products(Matrix([row]), data.X), tube.beta, tube.b)
        for i, row in enumerate(asked)
    ]
    if decided:
        answer["predicted"] = [value for _, value in decided]
    steps = (*_steps(tube), *(made for made, _ in decided))
    return Document("Support vector regression", _opening(tube), steps, answer)


def linear_svr_workings(estimator: LinearSVR | SVR, X: Data, y: Data) -> Document:
    """Show the line of a LinearSVR, whose intercept is penalized as the weight of a constant feature."""
    check_one_of(
        ("epsilon_insensitive",), hint="The steps of the squared loss are not written down.", loss=estimator.loss
    )
    data = exact_data(X, y, max_rows=MOST_POINTS)
    constant = exact_parameter(estimator, "intercept_scaling") if estimator.fit_intercept else Rational(0)
    epsilon = exact_parameter(estimator, "epsilon")
    tube = solve_tube(data, ExactKernel(Rational(1), Rational(0), 1), exact_price(estimator), epsilon, constant)
    answer = _answer(tube)
    answer |= {"coef_": answer["coef_"][0], "dual_coef_": tube.beta}
    answer["intercept_"] = [tube.b] if constant else Rational(0)
    return Document("Linear support vector regression", _opening(tube), _steps(tube), answer)


def _steps(tube: ExactTube) -> tuple[Step, ...]:
    return (
        _dual_step(tube),
        _products_step(tube),
        _search_step(tube),
        _intercept_step(tube),
        _tube_step(tube),
        _prediction_step(tube),
        _gap_step(tube),
    )


def _answer(tube: ExactTube) -> dict[str, Any]:
    support = [i for i, pull in enumerate(tube.beta) if pull]
    answer = {
        "support_": support,
        "dual_coef_": [[tube.beta[i] for i in support]],
        "intercept_": [tube.b],
        "objective_": [tube.primal_value],
        "predictions": [tube.data.y[i] - r for i, r in enumerate(tube.residuals)],
    }
    if is_linear(tube.kernel):
        answer["coef_"] = [list(tube.data.X.T * Matrix(tube.beta))]
    return answer


def _opening(tube: ExactTube) -> tuple[Block, ...]:
    C = tube.C
    price = [] if C is None else ["+ C ∑", fenced("ξ_i + ζ_i")]
    above, below = ([], []) if C is None else (["+ ξ_i"], ["+ ζ_i"])
    with_price = ["."] if C is None else [" and ", math("C =", typed(C)), "."]
    return (
        *tube.data.opening(),
        sentence("Find the flattest line whose tube of half width ε holds the points; what sticks out is paid for:"),
        formula("min", HALF, SQUARED_NORM, *_intercept_cost(tube), *price),
        formula("y_i − w^T φ_i − b ≤ ε", *above),
        formula("w^T φ_i + b − y_i ≤ ε", *below),
        sentence("with ", math("ε =", typed(tube.epsilon)), *_scale(tube), *with_price),
        remark("Inside the tube a residual costs nothing, so most points may have no say at all."),
    )


def _intercept_cost(tube: ExactTube) -> list[Any]:
    return ["+", HALF, Script(fenced(over("b", "s")), above=math(2))] if tube.constant else []


def _scale(tube: ExactTube) -> list[Any]:
    return [", ", math("s =", typed(tube.constant))] if tube.constant else []


def _dual_step(tube: ExactTube) -> Step:
    hard = tube.C is None
    penalized = [", b = s^2 ∑ β_i"] if tube.constant else []
    balance = [", ∑ β_i = 0"] if tube.constant is None else penalized
    products = "K_ij" if not tube.constant else fenced("K_ij + s^2")
    return step(
        "One pull per point",
        sentence(
            "Give the first constraint of a point the multiplier ",
            math("α_i"),
            " and the second ",
            math("γ_i"),
            ". No point sticks out on both sides, so one of them is 0, and ",
            math("β_i = α_i − γ_i"),
            " says with its sign on which side the point pulls. Where the derivatives of the Lagrangian vanish,",
        ),
        formula("w = ∑ β_i φ_i", *balance, *([] if hard else [", − C ≤ β_i ≤ C"])),
        sentence("Put back, that leaves"),
        formula("max ∑ y_i β_i − ε ∑", fenced("β_i", "||"), "−", HALF, "∑ ∑ β_i β_j", products),
    )


def _products_step(tube: ExactTube) -> Step:
    return step("The products", *kernel_blocks(tube.kernel, tube.K))


def _search_step(tube: ExactTube) -> Step:
    n = tube.data.n_samples
    rows = []
    for k, found in enumerate(tube.found.rounds):
        pulls = [found.alpha[i] - found.alpha[n + i] for i in range(n)]
        rows.append([math(k + 1), _edges(found.entered, n), _edges(found.on_margin, n), *pulls])
    head = ["round", "new", "on the edge", *(math(f"β_{i + 1}") for i in range(n))]
    full = "0" if tube.C is None else "0 or C"
    balance = ", with ∑ β = 0" if tube.constant is None else ", with b = s² ∑ β" if tube.constant else ", with b = 0"
    two = " (where none is in, the two most at odds)" if tube.constant is None else ""
    return step(
        "Find the points that hold the tube",
        sentence(
            f"Begin with all pulls at 0. In each round let the point that sticks out most come in{two} "
            "and solve the equations ",
            math("∑ K_ij β_j + b = y_i − ε"),
            " of the points on the upper edge and ",
            math("∑ K_ij β_j + b = y_i + ε"),
            f" of those on the lower one{balance}; a pull that would leave its bounds stops there, at {full}. "
            "Upper is marked + and lower −.",
        ),
        table(head, rows) if rows else sentence("No point sticks out of the tube around a constant: all pulls stay 0."),
        result("β =", column(tube.beta)),
    )


def _edges(points: tuple[int, ...], n: int) -> str:
    return ", ".join(f"{i + 1}+" if i < n else f"{i - n + 1}−" for i in points) or "none"


def _intercept_step(tube: ExactTube) -> Step:
    if tube.constant is not None:
        if not tube.constant:
            return step("The intercept", sentence("There is none: the line goes through 0."))
        words = "The intercept is the weight of the constant feature, times s: "
        return step("The intercept", sentence(words, math("b = s^2 ∑ β_i"), "."), result("b =", tube.b))
    free, scores, y = tube.free, tube.scores, tube.data.y
    if not free:
        low, high = tube.found.intercept_range()
        words = "No pull is inside its bounds. The other points leave the intercept"
        return step("The intercept", sentence(words), formula(low, "≤ b ≤", high), *_middle(tube, low, high))
    rows = []
    for i in free:
        edge = tube.epsilon if tube.beta[i] > 0 else -tube.epsilon
        rows.append([math(i + 1), y[i], scores[i], edge, y[i] - scores[i] - edge])
    return step(
        "The intercept",
        sentence("A point whose pull is inside its bounds lies on the edge of the tube, which tells b; average these:"),
        table(["point", math("y_i"), math("∑ K_ij β_j"), "± ε", math("b")], rows),
        result("b =", tube.b),
    )


def _middle(tube: ExactTube, low: Rational, high: Rational) -> list[Block]:
    return [*([sentence("of which we take the middle:")] if low < high else []), result("b =", tube.b)]


def _tube_step(tube: ExactTube) -> Step:
    rows = [
        [math(i + 1), tube.data.y[i], tube.data.y[i] - r, r, _place(tube, i), tube.slack[i], tube.beta[i]]
        for i, r in enumerate(tube.residuals)
    ]
    ends = "" if tube.C is None else ", outside with ±C exactly"
    return step(
        "Who is inside, on and outside of the tube",
        table(["point", math("y"), math("f"), math("r = y − f"), "tube", "beyond", math("β")], rows),
        sentence(
            "The conditions hold: inside the tube the pull is 0, on its edge it has the sign of the residual"
            + ends
            + "."
        ),
        *([sentence("The pulls balance: ", math("∑ β_i =", sum(tube.beta)), ".")] if tube.constant is None else []),
    )


def _place(tube: ExactTube, i: int) -> str:
    size = abs(tube.residuals[i])
    return "inside" if size < tube.epsilon else "on the edge" if size == tube.epsilon else "outside"


def _prediction_step(tube: ExactTube) -> Step:
    terms = [(pull, math("k", fenced(f"x_{i + 1} , x"))) for i, pull in enumerate(tube.beta) if pull]
    sign: list[Any] = ["+" if tube.b > 0 else "−", abs(tube.b)] if tube.b else []
    blocks: list[Block] = [formula("f", fenced("x"), "=", combination(terms), *sign)] if terms else []
    if not terms:
        blocks.append(formula("f", fenced("x"), "=", tube.b))
    if is_linear(tube.kernel):
        w = tube.data.X.T * Matrix(tube.beta)
        line = combination([(value, tube.data.symbol("x", j)) for j, value in enumerate(w)])
        blocks.append(formula("w = ∑ β_i x_i =", column(w), ",", "f", fenced("x"), "=", line, *sign))
    blocks.append(
        remark("The signs of the pulls are in β: unlike in a classifier, no target stands beside them in the sum.")
    )
    mean = Matrix([[sum(tube.data.X.col(j)) / Rational(tube.data.n_samples) for j in range(tube.data.n_features)]])
    at = matrix(mean.T) if tube.data.n_features > 1 else math(mean[0])
    blocks.append(
        sentence("At the mean of the points, ", math("x =", at), ", it predicts ", math(tube.predict(mean)), ".")
    )
    return step("The prediction", *blocks, *([_picture(tube)] if tube.data.n_features == 1 else []))


def _picture(tube: ExactTube) -> Figure:
    places = [float(value) for value in tube.data.X]
    low, high = min(places), max(places)
    xs = [low + (high - low) * k / (CURVE - 1) for k in range(CURVE)]
    line = [float(tube.predict(Matrix([[Rational(str(round(x, 9)))]]))) for x in xs]
    shifted = [tuple(value + float(tube.epsilon) * side for value in line) for side in (-1, 1)]
    name = tube.data.names[0] if tube.data.names else "x"
    return Figure(
        (
            Series(tuple(places), tuple(float(value) for value in tube.data.y), label="points"),
            Series(tuple(xs), tuple(line), joined=True, label="f"),
            Series(tuple(xs), shifted[0], joined=True, label="f − ε"),
            Series(tuple(xs), shifted[1], joined=True, label="f + ε"),
        ),
        name,
        "y",
        "The points, the line and the edges of its tube",
    )


def _gap_step(tube: ExactTube) -> Step:
    price = [] if tube.C is None else ["+ C ∑", fenced("ξ_i + ζ_i")]
    products = "K_ij" if not tube.constant else fenced("K_ij + s^2")
    return step(
        "Primal and dual meet",
        formula(HALF, SQUARED_NORM, *_intercept_cost(tube), *price, "=", tube.primal_value),
        formula("∑ y_i β_i − ε ∑", fenced("β_i", "||"), "−", HALF, "∑ ∑ β_i β_j", products, "=", tube.dual_value),
        result("gap =", tube.primal_value - tube.dual_value),
        sentence("No gap is left: no other line does better."),
    )


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
