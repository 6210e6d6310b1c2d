"""SVC by hand: the products, SMO pair by pair, the same machine by its KKT conditions, and what it decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import isinf
from typing import TYPE_CHECKING, Any, ClassVar

from sympy import Matrix, Rational, oo, sqrt

from pellucid.core.checks import check_positive, is_number
from pellucid.core.types import Data
from pellucid.kernels.kernel_workings import ExactKernel, exact_kernel
from pellucid.optimize.checks.real_algebra import shown
from pellucid.optimize.constrained.active_set_workings import BoxedDual, Multipliers, solve_dual
from pellucid.optimize.constrained.exact_machine_workings import (
    HALF,
    SQUARED_NORM,
    ExactMachine,
    Terms,
    conditions_step,
    gap_step,
    intercept_blocks,
    search_step,
    slack_price,
    width_step,
)
from pellucid.show.decisions import kernel_step, read_new, vote_step
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import (
    ExactData,
    Label,
    class_column,
    exact_features,
    exact_parameter,
    read_labels,
    require,
    sorted_classes,
)
from pellucid.show.notation import column, combination, fenced, math, matrix, over, typed
from pellucid.svm.svc.smo_workings import PairSearch, pair_steps, rule_step, search_by_pairs

if TYPE_CHECKING:
    from pellucid.svm.svc.svc import SVC

MOST_POINTS = 6


@dataclass(frozen=True)
class KernelMachine(ExactMachine):
    """A machine that knows its points by their products only."""

    product: ClassVar[str] = "K_ij"
    score: ClassVar[str] = "w^T φ_i"

    @cached_property
    def signed(self) -> list[Rational]:
        """Each multiplier times its sign."""
        return [a * sign for a, sign in zip(self.alpha, self.t, strict=True)]

    @cached_property
    def scores(self) -> list[Rational]:
        """The score of each point, without the intercept."""
        return [sign * margin for sign, margin in zip(self.t, self.found.margins, strict=True)]

    @property
    def square(self) -> Rational:
        """The squared length of the normal."""
        return (Matrix(self.alpha).T * self.found.dual.Q * Matrix(self.alpha))[0]


@dataclass(frozen=True)
class PairOfClasses:
    """One machine: its points among all, the class of the sign +, and how its multipliers were found."""

    rows: list[int]
    positive: Any
    negative: Any
    kernel: ExactKernel
    products: Matrix
    search: PairSearch
    machine: KernelMachine
    direct: KernelMachine


def svc_workings(estimator: SVC, X: Data, y: Data, new: Data = None) -> Document:
    """Show how the machine, of more than two classes the machines, are found."""
    require(estimator, "class_weight", None)
    features, names, rounded = exact_features(X, max_rows=MOST_POINTS)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    C = exact_price(estimator)
    terms = Terms(C, squared=False, constant=None)
    kernel = exact_kernel(estimator, features)
    data = ExactData(features, Matrix([0] * features.rows), names, rounded)
    found = [
        _solve(data, labels, kernel, terms, pair, exact_parameter(estimator, "tol"))
        for pair in ([classes[::-1]] if len(classes) == 2 else combinations(classes, 2))
    ]
    steps: list[Step] = [_dual_step(terms), rule_step(C)]
    for one in found:
        parts = _machine_steps(one)
        if len(found) > 1:
            parts = [replace(part, heading=f"{one.positive} against {one.negative}: {part.heading}") for part in parts]
        steps += parts
    if len(found) > 1:
        steps.append(_vote_step(found, features, labels, classes))
    answer = _answer(found)
    if new is not None:
        decided = [_new_steps(i, row, found, classes) for i, row in enumerate(read_new(new, features.cols))]
        steps += [made for own, _ in decided for made in own]
        answer["predicted"] = [label for _, label in decided]
    title = "A support vector machine by pairs" if len(found) == 1 else "Support vector machines of pairs of classes"
    return Document(title, _opening(data, labels, classes, terms), tuple(steps), answer)


def exact_price(estimator: SVC) -> Rational | None:
    """Return C, None for a hard margin."""
    if is_number(estimator.C) and isinf(estimator.C) and estimator.C > 0:
        return None
    check_positive(C=estimator.C)
    return exact_parameter(estimator, "C")


def _solve(
    data: ExactData, labels: list[Label], kernel: ExactKernel, terms: Terms, pair: Sequence[Any], tol: Rational
) -> PairOfClasses:
    positive, negative = pair
    rows = [i for i, label in enumerate(labels) if label in pair]
    t = Matrix([1 if labels[i] == positive else -1 for i in rows])
    own = replace(data, X=data.X.extract(rows, list(range(data.n_features))), y=t)
    K = kernel.products(own.X)
    dual = BoxedDual(Matrix.diag(*t) * K * Matrix.diag(*t), list(t), terms.C, balanced=True)
    best = solve_dual(dual)
    if best is None:
        raise ValueError("X must be separable for a hard margin, got classes that overlap. Pass a C below infinity.")
    search = search_by_pairs(K, list(t), terms.C, tol)
    direct = KernelMachine(own, terms, best)
    machine = direct
    if search.violation <= 0:
        inside = [i for i, a in enumerate(search.alpha) if a > 0 and a != terms.C]
        machine = KernelMachine(own, terms, Multipliers(dual, Matrix(search.alpha), inside))
    return PairOfClasses(rows, positive, negative, kernel, K, search, machine, direct)


def _machine_steps(one: PairOfClasses) -> list[Step]:
    machine = one.machine
    return [
        _products_step(one),
        *pair_steps(one.search, machine.t),
        _direct_step(one),
        step("The intercept", *intercept_blocks(machine), result("b =", machine.b)),
        conditions_step(machine),
        _decision_step(one),
        _margin_step(one),
        gap_step(machine),
    ]


def _opening(data: ExactData, labels: list[Label], classes: list[Label], terms: Terms) -> tuple[Block, ...]:
    if len(classes) == 2:
        coding = sentence("The sign ", math("t_i"), f" is +1 for {classes[1]} and −1 for {classes[0]}. Find")
    else:
        coding = sentence(
            "Each pair of classes gets a machine of its own: ",
            math("t_i"),
            " is +1 for the first and −1 for the second. Find",
        )
    C = terms.C
    return (
        *data.opening(class_column(labels)),
        coding,
        formula("min", HALF, SQUARED_NORM, *slack_price(terms)),
        formula(
            "t_i", fenced("w^T φ_i + b"), "≥ 1" if C is None else "≥ 1 − ξ_i ,", *([] if C is None else ["ξ_i ≥ 0"])
        ),
        sentence(
            "where ",
            math("φ_i"),
            " is the point in the space of the kernel, which is never written down",
            *([". The margin is hard."] if C is None else [", and ", math("C =", typed(C)), "."]),
        ),
        *([] if C is None else [remark("The soft margin is a minimum: the slack is paid for, not earned.")]),
    )


def _dual_step(terms: Terms) -> Step:
    box = math("α_i ≥ 0") if terms.C is None else math("0 ≤ α_i ≤ C")
    return step(
        "The multipliers alone",
        sentence(
            "Where the derivatives of the Lagrangian vanish, the plane is a sum of points and the multipliers balance:"
        ),
        formula("w = ∑ α_i t_i φ_i ,", "∑ α_i t_i = 0"),
        remark("The Lagrangian is minimized over w and b, and maximized over the multipliers."),
        sentence("Put back, that leaves a problem which sees the points through their products only:"),
        formula("max ∑ α_i −", HALF, "∑ ∑ α_i α_j t_i t_j K_ij ,", box),
    )


def _products_step(one: PairOfClasses) -> Step:
    numbers = [] if one.rows == list(range(len(one.rows))) else [_numbering(one.rows)]
    return step("The products", *numbers, *kernel_blocks(one.kernel, one.products))


def kernel_blocks(kernel: ExactKernel, K: Matrix) -> list[Block]:
    """Return the kernel, its products, and what must be said of them."""
    blocks: list[Block] = [formula("k", fenced("x , z"), "=", kernel.formula()), formula("K =", matrix(K))]
    if not kernel.degree:
        blocks.append(
            remark("Mind the minus sign: near points have a large product, at most 1, and far ones a product near 0.")
        )
    return [*blocks, *kernel.notes()]


def _numbering(rows: list[int]) -> Block:
    return sentence(
        "The points of this machine are " + ", ".join(str(i + 1) for i in rows) + "; here they are numbered anew."
    )


def _direct_step(one: PairOfClasses) -> Step:
    rounds = search_step(one.direct)
    same = one.machine.alpha == one.direct.alpha
    if one.search.violation > 0:
        words = "These are the numbers that the pairs come nearer to."
    elif same:
        words = "They are those that the pairs have found."
    else:
        words = (
            "They differ from those that the pairs have found, but both give every point the same score: the products "
            "leave a choice, as the points depend on each other. We go on with those of the pairs."
        )
    return replace(rounds, heading="The same by the KKT conditions directly", blocks=(*rounds.blocks, sentence(words)))


def _decision_step(one: PairOfClasses) -> Step:
    machine = one.machine
    terms = [(value, math("k", fenced(f"x_{i + 1} , x"))) for i, value in enumerate(machine.signed) if value]
    blocks: list[Block] = [
        sentence("A new point x has the score"),
        formula("f", fenced("x"), "=", combination(terms), *_constant(machine.b)),
    ]
    if is_linear(one.kernel):
        blocks += [
            sentence("which for the linear kernel is a plane, ", math("f", fenced("x"), "= w^T x + b"), ", with"),
            formula("w = ∑ α_i t_i x_i =", column(machine.w)),
        ]
    return step("The decision", *blocks, sentence(f"Above 0 it is {one.positive}, below 0 {one.negative}."))


def _constant(b: Rational) -> list[Any]:
    return ["+" if b > 0 else "−", abs(b)] if b else []


def _margin_step(one: PairOfClasses) -> Step:
    if is_linear(one.kernel):
        return width_step(ExactMachine(one.machine.data, one.machine.terms, one.machine.found))
    support = [i for i, a in enumerate(one.machine.alpha) if a > 0]
    return step(
        "The margin",
        sentence("Support vectors: the points " + ", ".join(str(i + 1) for i in support) + "."),
        sentence("The length of the plane's normal comes from the products:"),
        formula(SQUARED_NORM, "= ∑ ∑ α_i α_j t_i t_j K_ij =", one.machine.square),
        *([result(over(2, fenced("w", "‖‖")), "=", shown(2 / sqrt(one.machine.square)))] if one.machine.square else []),
        sentence(
            "is the width of the margin in the space of the kernel." if one.machine.square else "There is no plane."
        ),
    )


def is_linear(kernel: ExactKernel) -> bool:
    """Return whether the points themselves have these products."""
    return bool(kernel.degree == 1 and kernel.gamma == 1 and kernel.coef0 == 0)


def _vote_step(found: list[PairOfClasses], X: Matrix, labels: list[Label], classes: list[Label]) -> Step:
    rows = []
    for i, label in enumerate(labels):
        scores = [_score(one, X.row(i)) for one in found]
        votes = [one.positive if score > 0 else one.negative for one, score in zip(found, scores, strict=True)]
        winner = max(classes, key=lambda name: (votes.count(name), -classes.index(name)))
        rows.append([math(i + 1), str(label), *scores, str(winner), "" if winner == label else "wrong"])
    head = [math("i"), "class", *(f"{one.positive} or {one.negative}" for one in found), "votes", ""]
    return step("Vote", sentence("Each machine has a vote. Of equal votes the first class wins."), table(head, rows))


def _new_steps(
    i: int, row: list[Rational], found: list[PairOfClasses], classes: list[Label]
) -> tuple[list[Step], Label]:
    """Return a step for each machine that a new row is put to, of several one more for the vote, and the class."""
    steps, votes = [], []
    for one in found:
        products = one.kernel.products(Matrix([row]), one.machine.data.X)
        sides = (one.negative, one.positive)
        made, decided = kernel_step(i, row, products, one.machine.signed, one.machine.b, sides)
        who = f"{one.positive} or {one.negative}"
        steps.append(made if len(found) == 1 else replace(made, heading=f"{made.heading}: {who}"))
        votes.append((who, decided, Rational(1)))
    if len(found) == 1:
        return steps, votes[0][1]
    vote, winner = vote_step(i, votes, classes, ["machine", "says", "votes"])
    return [*steps, replace(vote, heading=f"{vote.heading}: the vote")], winner


def _score(one: PairOfClasses, row: Matrix) -> Rational:
    products = one.kernel.products(row, one.machine.data.X)
    return (products * Matrix(one.machine.signed))[0] + one.machine.b


def _answer(found: list[PairOfClasses]) -> dict[str, Any]:
    """Return the exact numbers; of two classes under the names of the fitted attributes."""
    answer: dict[str, Any] = {
        "intercept_": [one.machine.b for one in found],
        "margin_width_": [2 / sqrt(one.machine.square) if one.machine.square else oo for one in found],
        "objective_": [one.machine.primal_value for one in found],
        "alpha": [one.machine.alpha for one in found],
        "pairs": [len(one.search.pairs) for one in found],
    }
    if len(found) == 1:
        machine = found[0].machine
        order = [i for sign in (-1, 1) for i, a in enumerate(machine.alpha) if a > 0 and machine.t[i] == sign]
        answer |= {"support_": order, "dual_coef_": [[machine.signed[i] for i in order]]}
        if is_linear(found[0].kernel):
            answer["coef_"] = [list(machine.w)]
    return answer
