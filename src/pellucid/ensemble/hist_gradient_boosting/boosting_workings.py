"""The first round of gradient boosting by hand: residuals, every split with its gain, the Newton step of every leaf."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sympy import Matrix, Rational, log

from pellucid.core.types import Data
from pellucid.show.decisions import heading, point, read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import (
    ExactData,
    class_column,
    exact_data,
    exact_features,
    exact_parameter,
    read_labels,
    require,
    sorted_classes,
)
from pellucid.show.notation import Script, Words, fenced, math, over, typed

if TYPE_CHECKING:
    from pellucid.ensemble.hist_gradient_boosting.hist_gradient_boosting import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )

FEW_ROUNDS = 5
MAX_LEAVES = 4


@dataclass
class BoostedNode:
    """Rows with the sums of their derivatives, and the split that gains most."""

    rows: tuple[int, ...]
    gradient: Rational
    hessian: Rational
    best: BoostedSplit | None = None


@dataclass(frozen=True)
class BoostedSplit:
    """A threshold of a column, the rows on its sides and what the split gains."""

    column: int
    threshold: Rational
    sides: tuple[tuple[int, ...], tuple[int, ...]]
    gain: Rational


@dataclass(frozen=True)
class BoostingProblem:
    """A small data set with first and second derivatives of each row's loss, and the parameters of the tree."""

    data: ExactData
    gradients: tuple[Rational, ...]
    hessians: tuple[Rational, ...]
    l2: Rational
    rate: Rational
    least_rows: int
    most_leaves: int

    def node(self, rows: tuple[int, ...], *, is_root: bool = False) -> BoostedNode:
        """Return a node with its best split, of equal ones the first column and the lowest threshold."""
        g, h = (sum((values[i] for i in rows), Rational(0)) for values in (self.gradients, self.hessians))
        node = BoostedNode(rows, g, h)
        splits = self.splits(node, is_root=is_root)
        best = max(splits, key=lambda split: split.gain) if splits else None
        node.best = best if best is not None and best.gain > 0 else None
        return node

    def splits(self, node: BoostedNode, *, is_root: bool = False) -> list[BoostedSplit]:
        """Return all splits whose sides have rows enough."""
        found, X = [], self.data.X
        own = Rational(0) if is_root else self.score(node.rows)
        for j in range(X.cols):
            for low, high in pairwise(sorted({X[i, j] for i in node.rows})):
                # edges lie halfway between neighboring values of all rows; the lowest one that parts the node counts
                edge = min(v for v in X.col(j) if v > low)
                cut = (low + edge) / 2 if edge <= high else (low + high) / 2
                left = tuple(i for i in node.rows if X[i, j] <= cut)
                right = tuple(i for i in node.rows if X[i, j] > cut)
                if min(len(left), len(right)) >= self.least_rows:
                    found.append(BoostedSplit(j, cut, (left, right), self.score(left) + self.score(right) - own))
        return found

    def score(self, rows: tuple[int, ...]) -> Rational:
        """Return ``G² / (H + λ)``."""
        g, h = (sum((values[i] for i in rows), Rational(0)) for values in (self.gradients, self.hessians))
        return g**2 / (h + self.l2)

    def value(self, node: BoostedNode) -> Rational:
        """Return the shrunken Newton step."""
        return -self.rate * node.gradient / (node.hessian + self.l2)


def boosting_workings(
    estimator: HistGradientBoostingClassifier | HistGradientBoostingRegressor, X: Data, y: Data, new: Data = None
) -> Document:
    """Show the first round on numbers, or on two classes, every row counted once; of new rows all rounds."""
    for name, wanted in (("monotonic_cst", None), ("interaction_cst", None), ("max_depth", None)):
        require(estimator, name, wanted)
    loss = "log_loss" if is_classifier(estimator) else estimator.loss
    if loss not in ("squared_error", "log_loss"):
        raise ValueError(f"loss must be 'squared_error' to be worked by hand, got {loss!r}.")
    data, opening, outputs = _log_loss(X, y) if loss == "log_loss" else _squared_error(X, y)
    steps: list[Step] = []
    values: list[Rational] = []
    for output in outputs:
        problem = BoostingProblem(
            data,
            output.gradients,
            output.hessians,
            exact_parameter(estimator, "l2_regularization"),
            exact_parameter(estimator, "learning_rate"),
            estimator.min_samples_leaf,
            min(estimator.max_leaf_nodes or MAX_LEAVES, data.n_samples),
        )
        own, nodes = _tree_steps(problem, output.name)
        if len(nodes) > 2 * MAX_LEAVES - 1:
            raise ValueError(f"max_leaf_nodes must be at most {MAX_LEAVES} to be worked by hand, got more.")
        steps += [*own, _leaf_step(problem, nodes, output.name)]
        values += [problem.value(node) for node in nodes if not _is_split(node, nodes)]
    answer: dict[str, Any] = {"baseline_": [output.baseline for output in outputs], "values": values}
    if new is not None:
        decided = _new_steps(estimator, X, y, read_new(new, data.n_features))
        steps += [made for made, _ in decided]
        answer["predicted"] = [said for _, said in decided]
    return Document("One round of gradient boosting", opening, tuple(steps), answer)


def _new_steps(estimator: Any, X: Data, y: Data, rows: list[list[Rational]]) -> list[tuple[Step, Any]]:
    """Return how the prediction of each new row grows from round to round in the program, and where it ends."""
    model = estimator if hasattr(estimator, "n_iter_") else clone(estimator).fit(np.asarray(X), y)
    asked = np.array([[float(x) for x in row] for row in rows])
    is_class = is_classifier(model)
    stages = [np.asarray(raw) for raw in (model.staged_decision_function if is_class else model.staged_predict)(asked)]
    made = []
    for i, row in enumerate(rows):
        own = [np.atleast_1d(raw[i]) for raw in stages]
        shown = range(len(own)) if len(own) <= 2 * FEW_ROUNDS else [*range(FEW_ROUNDS), len(own) - 1]
        lines = [[math(t + 1), *(f"{value:.5g}" for value in own[t])] for t in shown]
        names = [math("F")] if own[0].size == 1 else [math(f"F_{k + 1}") for k in range(own[0].size)]
        blocks: list[Block] = [
            sentence("Each round adds the value of the leaf that ", math("x =", point(row)), " comes to. So it grows:"),
            table(["after round", *names], lines),
            *(
                []
                if len(own) == len(lines)
                else [remark(f"{len(own)} rounds in all; the first and the last are listed.")]
            ),
            remark("These are numbers of the program: after the first round they are no short fractions."),
        ]
        if not is_class:
            said = Rational(repr(float(own[-1][0])))
            made.append((step(heading(i, "Predict"), *blocks, result("ŷ =", Words(f"{float(said):.6g}"))), said))
            continue
        code = int(own[-1][0] > 0) if own[-1].size == 1 else int(np.argmax(own[-1]))
        label = model.classes_[code].item()
        why = sentence(
            f"Above 0 it is {model.classes_[1]}, otherwise {model.classes_[0]}."
            if own[-1].size == 1
            else "The largest wins."
        )
        made.append((step(heading(i), *blocks, why, result("class =", Words(str(label)))), label))
    return made


@dataclass(frozen=True)
class Output:
    """A raw prediction that the round improves: what it starts from, and the derivatives of the loss by it."""

    gradients: tuple[Rational, ...]
    hessians: tuple[Rational, ...]
    baseline: Any
    name: str = ""


def _squared_error(X: Data, y: Data) -> tuple[ExactData, tuple[Block, ...], list[Output]]:
    data = exact_data(X, y)
    n = data.n_samples
    mean = sum(data.y, Rational(0)) / n
    gradients = tuple(mean - value for value in data.y)
    residuals = math("r"), [math(-gradient) for gradient in gradients]
    opening = (
        sentence("Before the first round every prediction is the mean:"),
        formula("F =", over(sum(data.y, Rational(0)), n), "=", mean),
        sentence(
            "The loss of a row is ", math(over(1, 2), Script(fenced(math("y − F")), None, math(2))),
            ". Its slope is ", math("g = F − y"), ", minus the residual ", math("r"), ", and its curvature is ",
            math("h = 1"), ".",
        ),
        *data.opening((math("y"), [typed(value) for value in data.y]), residuals, caption="The residuals"),
    )  # fmt: skip
    return data, opening, [Output(gradients, (Rational(1),) * n, mean)]


def _log_loss(X: Data, y: Data) -> tuple[ExactData, tuple[Block, ...], list[Output]]:
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    codes = [classes.index(label) for label in labels]
    data, n = ExactData(features, Matrix(codes), names, rounded), features.rows
    shown = [1] if len(classes) == 2 else list(range(len(classes)))
    shares = [Rational(codes.count(k), n) for k in range(len(classes))]
    mean_log = sum(log(share) for share in shares) / len(classes)
    outputs = []
    for k in shown:
        share = shares[k]
        start = log(share / (1 - share)) if len(classes) == 2 else log(share) - mean_log
        gradients = tuple(share - int(code == k) for code in codes)
        outputs.append(Output(gradients, (share * (1 - share),) * n, start, "" if len(shown) == 1 else str(classes[k])))
    residuals = [
        (math("r" if len(shown) == 1 else f"r_{k + 1}"), [math(-gradient) for gradient in output.gradients])
        for k, output in zip(shown, outputs, strict=True)
    ]
    counted = [[str(classes[k]), math(shares[k]), math(shares[k] * (1 - shares[k]))] for k in shown]
    opening = (
        sentence(
            "Before the first round every row has the share of a class as its probability ", math("p"),
            ". The logistic loss has the slope ", math("g = p − y"), ", minus the residual ", math("r"),
            ", where ", math("y"),
            " is 1 for rows of the class and 0 for others, and the curvature ", math("h = p", fenced(math("1 − p"))),
            ".",
        ),
        table(["class", math("p"), math("h")], counted),
        *data.opening(class_column(labels), *residuals, caption="The residuals"),
    )  # fmt: skip
    return data, opening, outputs


def _tree_steps(problem: BoostingProblem, name: str) -> tuple[list[Step], list[BoostedNode]]:
    """Return a step per split, and all nodes in the order in which they were made."""
    nodes = [problem.node(tuple(range(problem.data.n_samples)), is_root=True)]
    leaves, steps = [nodes[0]], []
    while len(leaves) < problem.most_leaves:
        open_nodes = [node for node in leaves if node.best is not None]
        if not open_nodes:
            break
        node = max(open_nodes, key=lambda one: one.best.gain)  # type: ignore[union-attr]
        assert node.best is not None
        steps.append(_split_step(problem, node, name, is_root=node is nodes[0], is_next=len(open_nodes) > 1))
        place = leaves.index(node)
        children = [problem.node(side) for side in node.best.sides]
        leaves[place : place + 1] = children
        nodes += children
        if len(nodes) > 2 * MAX_LEAVES - 1:
            break
    return steps, nodes


def _is_split(node: BoostedNode, nodes: list[BoostedNode]) -> bool:
    return node.best is not None and any(other.rows == node.best.sides[0] for other in nodes)


def _split_step(problem: BoostingProblem, node: BoostedNode, name: str, *, is_root: bool, is_next: bool) -> Step:
    best = node.best
    assert best is not None
    lines = []
    for split in problem.splits(node, is_root=is_root):
        sides = [problem.node(side) for side in split.sides]
        cut = math(problem.data.symbol("x", split.column), "≤", typed(split.threshold))
        lines.append([cut, *(math(side.gradient) for side in sides), *(math(side.hessian) for side in sides),
                      math(split.gain), "taken" if split == best else ""])  # fmt: skip
    named = ", ".join(str(i + 1) for i in node.rows)
    own = Rational(0) if is_root else problem.score(node.rows)
    blocks: list[Block] = [
        formula("gain =", over(math("G_l^2"), math("H_l + λ")), "+", over(math("G_r^2"), math("H_r + λ")), "−", own),
        table(["split", math("G_l"), math("G_r"), math("H_l"), math("H_r"), "gain", ""], lines, caption="All splits"),
    ]
    if is_next:
        blocks.append(sentence("No other leaf has a split that gains more."))
    return step(f"{_of(name)}Split the rows {named}", *blocks)


def _leaf_step(problem: BoostingProblem, nodes: list[BoostedNode], name: str) -> Step:
    lines = []
    for node in nodes:
        if not _is_split(node, nodes):
            named = ", ".join(str(i + 1) for i in node.rows)
            newton = -node.gradient / (node.hessian + problem.l2)
            lines.append([named, math(node.gradient), math(node.hessian), math(newton), math(problem.rate * newton)])
    alone = "No split has rows enough on both sides and gains something: the tree is one leaf."
    return step(
        f"{_of(name)}The values of the leaves",
        *([remark(alone)] if len(nodes) == 1 else []),
        sentence("A leaf moves its rows by a Newton step, shortened by the learning rate:"),
        formula("v = − η", over(math("G"), math("H + λ")), ",", "η =", typed(problem.rate), ", λ =", typed(problem.l2)),
        table(["rows", math("G"), math("H"), "Newton step", math("v")], lines),
        sentence(
            "Every row of a leaf now has the prediction ",
            math("F + v"),
            ". The next round starts from these: new residuals, a new tree, another short step. A short step leaves "
            "something for later trees, which look at the rows in other ways; that is why many of them do better.",
        ),
    )


def _of(name: str) -> str:
    return f"Class {name}. " if name else ""
