"""The perceptron by hand: every row shown, every mistake, and the bound on their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
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
from pellucid.show.notation import Script, combination, fenced, math, over, root
from pellucid.show.shown_rows import ShownRows, read_shown_rows

if TYPE_CHECKING:
    from pellucid.linear_model.sgd.perceptron import Perceptron


def perceptron_workings(estimator: Perceptron, X: Data, y: Data) -> Document:
    """Show the epochs of a perceptron of two classes, rows in the order in which the program shows them."""
    for name, wanted in (("penalty", None), ("early_stopping", False), ("class_weight", None)):
        require(estimator, name, wanted)
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = two_classes(labels)
    signs = [1 if label == classes[1] else -1 for label in labels]
    data = ExactData(features, Matrix(signs), names, rounded)
    eta, constant = exact_parameter(estimator, "eta0"), Rational(int(estimator.fit_intercept))
    products = features * features.T + constant * Matrix.ones(features.rows, features.rows)
    tol = None if estimator.tol is None else exact_parameter(estimator, "tol")
    shown = read_shown_rows(estimator, X, y, features, signs)
    done = walk(products, signs, shown, eta, Stop(estimator.max_iter, tol, estimator.n_iter_no_change))
    line = _WeightsSoFar(data, signs, shown, eta, constant)
    steps = (
        *(_epoch_step(number + 1, looks, line) for number, looks in enumerate(done.epochs)),
        _end_step(done, line),
        *([_bound_step(done, line)] if done.is_done else []),
    )
    w, b = line.after(done.counts)
    found = {"coef_": [list(w)], "intercept_": [b], "n_mistakes_": done.n_mistakes}
    opening = (*_opening(data, labels, classes, eta, bool(constant)), *shown.notes(estimator.random_state))
    return Document("The perceptron", opening, steps, found)


def number_of_mistakes(done: PerceptronWalk) -> str:
    """Return the number with its noun."""
    return "1 mistake" if done.n_mistakes == 1 else f"{done.n_mistakes} mistakes"


def counted_blocks(done: PerceptronWalk, shown: ShownRows) -> list[Block]:
    """Return how mistakes are counted where rows weigh more than one: nothing where none does."""
    if set(shown.weights) <= {0, 1}:
        return []
    return [
        sentence(
            "A row of weight s makes a step of length s, so that the bound is on ",
            over(Script(fenced("∑ s"), above=math(2)), "∑ s^2"),
            f", taken over the {number_of_mistakes(done)}:",
        )
    ]


def two_classes(labels: list[Label]) -> list[Any]:
    """Return the two classes in order, or refuse other numbers of them."""
    classes = sorted_classes(labels)
    if len(classes) != 2:
        raise ValueError(
            f"y must have 2 classes to be worked by hand, got {len(classes)}. Several classes are several machines: "
            "show one class against the rest."
        )
    return classes


class _WeightsSoFar:
    """The weights as they follow from the mistakes of the rows."""

    def __init__(self, data: ExactData, signs: list[int], shown: ShownRows, eta: Rational, constant: Rational) -> None:
        self.data, self.signs, self.shown, self.eta, self.constant = data, signs, shown, eta, constant

    def after(self, counts: tuple[int, ...]) -> tuple[Matrix, Rational]:
        """Return w and b."""
        each = zip(counts, self.signs, self.shown.weights, strict=True)
        steps = Matrix([[self.eta * count * sign * weight for count, sign, weight in each]])
        return steps * self.data.X, self.constant * sum(steps, Rational(0))


def _opening(
    data: ExactData, labels: list[Label], classes: list[Label], eta: Rational, has_b: bool
) -> tuple[Block, ...]:
    step_size = [] if eta == 1 else [eta]
    change = formula("w ← w +", *step_size, "y x", *([", b ← b +", *step_size, "y"] if has_b else []))
    return (
        sentence(
            f"Show the rows one after the other, and learn from mistakes alone. Write +1 for {classes[1]} and −1 for "
            f"{classes[0]}; a row is a mistake if ",
            math("y f ≤ 0"),
            ", where ",
            math("f = w x + b" if has_b else "f = w x"),
            ". Then, from ",
            math("w = 0"),
            " on,",
        ),
        change,
        remark(
            "A row on the line counts as a mistake. Who learns only where ",
            math("y f < 0"),
            ", as some notes say, never starts: from ",
            math("w = 0"),
            " every f is 0.",
        ),
        *data.opening(class_column(labels), (math("y"), data.y)),
    )


def _epoch_step(number: int, looks: tuple[RowLook, ...], line: _WeightsSoFar) -> Step:
    data, has_b = line.data, line.constant != 0
    head = [math("i"), math("y"), math("f"), ""]
    head += [data.symbol("w", j) for j in range(data.n_features)] + ([math("b")] if has_b else [])
    rows = []
    for look in looks:
        w, b = line.after(look.counts)
        verdict = "wrong" if look.is_mistake else "right"
        rows.append([math(look.row + 1), line.signs[look.row], look.score, verdict, *w, *([b] if has_b else [])])
    mistakes = sum(look.is_mistake for look in looks)
    return step(
        f"Epoch {number}",
        table(head, rows),
        sentence(f"{mistakes} {'mistake' if mistakes == 1 else 'mistakes'}."),
    )


def _end_step(done: PerceptronWalk, line: _WeightsSoFar) -> Step:
    w, b = line.after(done.counts)
    data = line.data
    words = {
        "right": f"Epoch {done.n_epochs} finds every row right and changes nothing: {number_of_mistakes(done)} in all.",
        "max_iter": f"max_iter ends the work after {done.n_epochs} epochs and {number_of_mistakes(done)}.",
        "tol": f"The mean loss has not improved by tol for some epochs, so epoch {done.n_epochs} is the last: "
        f"{number_of_mistakes(done)} in all.",
    }[done.end]
    pairs = [(w[j], data.name(j)) for j in range(data.n_features)] + ([(b, "")] if line.constant else [])
    counts = [[math(i + 1), math(count)] for i, count in enumerate(done.counts) if count]
    return step(
        "The line",
        sentence(words),
        result("f =", combination(pairs)),
        sentence("It is the sum of the rows that were mistakes, each with its sign and as often as it was one:"),
        table([math("i"), "mistakes"], counts),
        *(
            []
            if done.is_done
            else [remark("Without an epoch free of mistakes there is no margin to bound their number by.")]
        ),
    )


def _bound_step(done: PerceptronWalk, line: _WeightsSoFar) -> Step:
    data, has_b = line.data, line.constant != 0
    w, b = line.after(done.counts)
    length = sum((value**2 for value in w), Rational(0)) + b**2
    scores = [line.signs[i] * ((data.X.row(i) * w.T)[0] + b) for i in range(data.n_samples)]
    norms = [sum((value**2 for value in data.X.row(i)), Rational(0)) + line.constant for i in range(data.n_samples)]
    bound = max(norms) * length / min(scores) ** 2
    long = "(x, 1)" if has_b else "x"
    eta = [] if line.eta == 1 else [line.eta]
    return step(
        "How many mistakes there can be",
        sentence(
            "If a line of length 1 has all rows at least ",
            math("γ"),
            " on their side, each mistake brings w at least ",
            math(*eta, "γ"),
            " further along it, but lengthens ",
            math("w^2"),
            " by at most ",
            math(*([line.eta**2] if eta else []), "R^2"),
            f", where R is the largest length of a row {long}. So there are at most ",
            math(over("R^2", "γ^2")),
            " mistakes. The line found is such a line:",
        ),
        formula("R^2 =", max(norms), ", γ =", over(math("min y f"), root("w^2 + b^2" if has_b else "w^2"))),
        formula("γ^2 =", over(min(scores) ** 2, length)),
        *counted_blocks(done, line.shown),
        result(weighted_mistakes(done, line.shown), "≤", over("R^2", "γ^2"), "=", bound),
        remark("A line with a wider margin gives a smaller bound; the certificate of the fitted model looks for one."),
    )


MOST_SHOWN = 120
"""Rows that may be shown in epochs that still have mistakes."""


@dataclass(frozen=True)
class RowLook:
    """One row is shown: its score, whether it is a mistake, and the mistakes of all rows after it."""

    row: int
    score: Rational
    is_mistake: bool
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Stop:
    """When to stop, as the estimator does: by epochs, or by ``patience`` epochs in a row that improve by too little."""

    max_iter: int
    tol: Rational | None = None
    patience: int = 5


@dataclass(frozen=True)
class PerceptronWalk:
    """The epochs with mistakes, how many there were in all, and what ended them."""

    epochs: tuple[tuple[RowLook, ...], ...]
    n_epochs: int
    end: str
    """'right': an epoch without mistakes; otherwise the parameter that stopped it."""

    @property
    def is_done(self) -> bool:
        """Whether all rows are right."""
        return self.end == "right"

    @property
    def counts(self) -> tuple[int, ...]:
        """Mistakes of each row."""
        return self.epochs[-1][-1].counts

    @property
    def n_mistakes(self) -> int:
        """All mistakes."""
        return sum(self.counts)


def walk(products: Matrix, signs: list[int], shown: ShownRows, eta: Rational, stop: Stop) -> PerceptronWalk:
    """Show the rows in order until an epoch has no mistakes or the estimator would stop, or refuse what is too long."""
    counts, epochs = [0] * len(signs), list[tuple[RowLook, ...]]()
    best, waited = None, 0
    for epoch in range(1, stop.max_iter + 1):
        looks = [_look(products, signs, shown, eta, counts, i) for i in shown.order(epoch)]
        if not any(look.is_mistake for look in looks):
            return PerceptronWalk(tuple(epochs), epoch, "right")
        epochs.append(tuple(looks))
        if len(epochs) * len(looks) > MOST_SHOWN:
            raise ValueError(
                f"max_iter must be at most {MOST_SHOWN // len(looks)} for these {len(looks)} rows to be worked by "
                f"hand, which still make mistakes after {MOST_SHOWN} looks, got {stop.max_iter}. Lower it, or show "
                "rows that separate sooner."
            )
        lost = (shown.weights[look.row] * abs(look.score) for look in looks if look.is_mistake)
        loss = sum(lost, Rational(0)) / shown.total
        improves = stop.tol is None or best is None or loss <= best - stop.tol
        waited = 0 if improves else waited + 1
        best = loss if best is None else min(best, loss)
        if waited == stop.patience:
            return PerceptronWalk(tuple(epochs), epoch, "tol")
    return PerceptronWalk(tuple(epochs), stop.max_iter, "max_iter")


def _look(products: Matrix, signs: list[int], shown: ShownRows, eta: Rational, counts: list[int], i: int) -> RowLook:
    terms = (counts[j] * shown.weights[j] * signs[j] * products[j, i] for j in range(len(signs)) if counts[j])
    score = eta * sum(terms, Rational(0))
    is_mistake = bool(signs[i] * score <= 0)
    counts[i] += is_mistake
    return RowLook(i, score, is_mistake, tuple(counts))


def weighted_mistakes(done: PerceptronWalk, shown: ShownRows) -> Rational:
    """Return what the theorem bounds: (sum of s)^2 / (sum of s^2) over the mistakes, their number if all weigh 1."""
    pairs = list(zip(done.counts, shown.weights, strict=True))
    return Rational(sum(m * s for m, s in pairs) ** 2, sum(m * s * s for m, s in pairs))
