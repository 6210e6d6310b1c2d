"""The perceptron by hand: every row shown, every mistake, and the bound on their number."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.linear_model.sgd.perceptron_exact_workings import Look, Stop, Walk, walk, weighted_mistakes
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.exact_data import ExactData, exact_features
from pellucid.workings.exact_labels import read_labels, sorted_classes
from pellucid.workings.notation import Script, combination, fenced, math, over, root, typed
from pellucid.workings.parameters import exact_parameter, require
from pellucid.workings.shown_rows import ShownRows, read_shown_rows


def perceptron_workings(estimator: Any, X: Data, y: Data) -> Document:
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
    line = _Line(data, signs, shown, eta, constant)
    steps = (
        *(_epoch_step(number + 1, looks, line) for number, looks in enumerate(done.epochs)),
        _end_step(done, line),
        *([_bound_step(done, line)] if done.is_done else []),
    )
    w, b = line.after(done.counts)
    found = {"coef_": [list(w)], "intercept_": [b], "n_mistakes_": done.n_mistakes}
    opening = (*_opening(data, labels, classes, eta, bool(constant)), *shown.notes(estimator.random_state))
    return Document("The perceptron", opening, steps, found)


def number_of_mistakes(done: Walk) -> str:
    """Return the number with its noun."""
    return "1 mistake" if done.n_mistakes == 1 else f"{done.n_mistakes} mistakes"


def counted_blocks(done: Walk, shown: ShownRows) -> list[Block]:
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


def two_classes(labels: list[Any]) -> list[Any]:
    """Return the two classes in order, or refuse other numbers of them."""
    classes = sorted_classes(labels)
    if len(classes) != 2:
        raise ValueError(
            f"y must have 2 classes to be worked by hand, got {len(classes)}. Several classes are several machines: "
            "show one class against the rest."
        )
    return classes


class _Line:
    """The weights as they follow from the mistakes of the rows."""

    def __init__(self, data: ExactData, signs: list[int], shown: ShownRows, eta: Rational, constant: Rational) -> None:
        self.data, self.signs, self.shown, self.eta, self.constant = data, signs, shown, eta, constant

    def after(self, counts: tuple[int, ...]) -> tuple[Matrix, Rational]:
        """Return w and b."""
        each = zip(counts, self.signs, self.shown.weights, strict=True)
        steps = Matrix([[self.eta * count * sign * weight for count, sign, weight in each]])
        return steps * self.data.X, self.constant * sum(steps, Rational(0))


def _opening(data: ExactData, labels: list[Any], classes: list[Any], eta: Rational, has_b: bool) -> tuple[Block, ...]:
    p = data.n_features
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(labels[i]), data.y[i]] for i in range(data.n_samples)]
    head = [math("i"), *(data.symbol("x", j) for j in range(p)), "class", math("y")]
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
        table(head, rows, caption="The data"),
        *data.notes(),
    )


def _epoch_step(number: int, looks: tuple[Look, ...], line: _Line) -> Step:
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


def _end_step(done: Walk, line: _Line) -> Step:
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


def _bound_step(done: Walk, line: _Line) -> Step:
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
