"""CART by hand: at every node all thresholds of all columns with their exact impurities, then the price of a leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.probability.exact_logarithms import Bits
from pellucid.show.decisions import path_step, read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import (
    ExactData,
    exact_data,
    exact_features,
    exact_parameter,
    numbered_table,
    read_labels,
    rounding_remark,
    sorted_classes,
)
from pellucid.show.notation import Math, Words, fenced, math, over, typed
from pellucid.show.text_printer import first_that_fits, name_columns
from pellucid.tree.impurity_workings import (
    class_counts,
    entropy,
    error,
    gini,
    majority,
    rounded,
    rule_blocks,
    told_counts,
)
from pellucid.tree.pruning.pruning_workings import pruning_steps

if TYPE_CHECKING:
    from pellucid.tree.decision_tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
    from pellucid.tree.pruning.pruned_tree import PrunedTreeClassifier, PrunedTreeRegressor

MAX_ROWS = 14
LONGEST_HEADING = 64
TIED = 1e-12
IMPURITIES: dict[str, Callable[[Any], Any]] = {"gini": gini, "entropy": entropy, "log_loss": entropy, "error": error}
NAMES = {"gini": "Gini impurity", "entropy": "entropy", "log_loss": "entropy", "error": "share of errors"}


@dataclass
class CartNode:
    """Rows that a way leads to; ``number`` is that of the program, which goes down the left side first."""

    rows: tuple[int, ...]
    way: tuple[str, ...]
    impurity: Any
    """A fraction, or bits."""
    number: int = 0
    split: CutCandidate | None = None
    children: tuple[CartNode, ...] = ()

    def all_nodes(self) -> list[CartNode]:
        """Return this node and all below it, in the order of their numbers."""
        return [self, *(node for child in self.children for node in child.all_nodes())]


@dataclass(frozen=True)
class CutCandidate:
    """A threshold of a column, the rows on its sides, their impurities and the mean of these."""

    column: int
    threshold: Rational
    sides: tuple[tuple[int, ...], tuple[int, ...]]
    impurities: tuple[Any, Any]
    mean: Any

    @property
    def score(self) -> float:
        """The mean as a float, to compare."""
        return float(self.mean)


@dataclass(frozen=True)
class CartProblem:
    """A small data set, how impure some of its rows are, and how that is told."""

    data: ExactData
    impurity: Callable[[Sequence[int]], Any]
    tell: Callable[[Sequence[int]], str]
    """What some rows are: counts of classes, or their mean."""
    name: str
    limits: dict[str, Any] = field(default_factory=dict)

    @property
    def short_name(self) -> str:
        """What heads a column of impurities."""
        return "error" if self.name == "mean squared error" else "impurity"

    def describe(self, rows: Sequence[int]) -> str:
        """Return how many rows these are, and what."""
        told = self.tell(rows)
        return told.replace(",", " rows,", 1) if self.short_name == "error" else f"{len(rows)} rows ({told})"

    def notes(self) -> list[Block]:
        """Return what symbols stand for, and whether numbers were rounded."""
        told = name_columns(self.data.names, self.data.n_features)[1]
        return [*told, *([rounding_remark()] if self.data.rounded else [])]

    def column(self, j: int) -> str:
        """Return the name of a column."""
        if self.data.n_features == 1 and not self.data.names:
            return "x"
        return name_columns(self.data.names, self.data.n_features)[0][j]


def classifier_workings(
    estimator: DecisionTreeClassifier | PrunedTreeClassifier, X: Data, y: Data, new: Data = None
) -> Document:
    """Show how a classification tree is grown from a few rows, every row counted once."""
    _refuse_options(estimator, tuple(IMPURITIES))
    features, names, was_rounded = exact_features(X, max_rows=MAX_ROWS)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    measure = IMPURITIES[estimator.criterion]
    problem = CartProblem(
        ExactData(features, Matrix.zeros(features.rows, 1), names, was_rounded),
        lambda rows: measure(class_counts(labels, rows, classes)),
        lambda rows: told_counts(class_counts(labels, rows, classes), classes),
        NAMES[estimator.criterion],
        _limits(estimator),
    )
    says = {n: majority(class_counts(labels, n, classes), classes) for n in _leaf_rows(problem)}
    opening = [
        sentence(
            "Every threshold half way between two neighboring values of a column is tried. The one whose two sides "
            f"have the lowest {problem.name}, averaged by their rows, parts the node; of equals the first column, then "
            "the lowest threshold."
        ),
        *_definition(estimator.criterion),
        _data_table(problem, [str(label) for label in labels], "class"),
        *problem.notes(),
    ]
    return _document("A classification tree by CART", problem, opening, says, estimator, new)


def regressor_workings(
    estimator: DecisionTreeRegressor | PrunedTreeRegressor, X: Data, y: Data, new: Data = None
) -> Document:
    """Show how a regression tree is grown from a few rows, every row counted once."""
    _refuse_options(estimator, ("squared_error", "friedman_mse"))
    data = exact_data(X, y, max_rows=MAX_ROWS)

    def mean(rows: Sequence[int]) -> Rational:
        return sum((data.y[i] for i in rows), Rational(0)) / len(rows)

    def variance(rows: Sequence[int]) -> Rational:
        center = mean(rows)
        return sum(((data.y[i] - center) ** 2 for i in rows), Rational(0)) / len(rows)

    def tell(rows: Sequence[int]) -> str:
        center = _fraction(mean(rows))
        short = center if len(center) <= 6 else f"{float(mean(rows)):.4g}".replace("-", "−")
        return f"{len(rows)}, mean {short}"

    problem = CartProblem(data, variance, tell, "mean squared error", _limits(estimator))
    says = {rows: mean(rows) for rows in _leaf_rows(problem)}
    opening = [
        sentence(
            "A leaf predicts the mean of its rows. Every threshold half way between two neighboring values of a column "
            "is tried; the one whose two sides have the lowest squared error around their means parts the node."
        ),
        formula("E =", over(1, "n"), "∑", "e^2", ",", "e = y − ȳ"),
        _data_table(problem, [typed(value) for value in data.y], math("y")),
        *problem.notes(),
    ]
    return _document("A regression tree by CART", problem, opening, says, estimator, new)


def _definition(criterion: str) -> list[Block]:
    if criterion == "gini":
        return [formula("G = 1 −", "∑", "p^2")]
    if criterion == "error":
        return [formula("E = 1 −", "max p"), remark("The error is 1 less the largest share, not that share itself.")]
    return [formula("H =", "∑", "p log_2", fenced(over(1, "p")))]


def _refuse_options(estimator: DecisionTreeClassifier | DecisionTreeRegressor, criteria: tuple[str, ...]) -> None:
    if estimator.criterion not in criteria:
        raise ValueError(f"criterion must be one of {criteria} to be worked by hand, got {estimator.criterion!r}.")
    plain = {"splitter": "best", "max_features": None, "max_leaf_nodes": None, "monotonic_cst": None}
    for name, value in {**plain, "categorical_features": None, "class_weight": None}.items():
        if getattr(estimator, name, value) != value:
            raise ValueError(f"{name} must be {value!r} to be worked by hand, got {getattr(estimator, name)!r}.")


def _limits(estimator: DecisionTreeClassifier | DecisionTreeRegressor) -> dict[str, Any]:
    limits = {"max_depth": estimator.max_depth}
    for name in ("min_samples_split", "min_samples_leaf"):
        limits[name] = getattr(estimator, name)
        if not isinstance(limits[name], int):
            raise ValueError(f"{name} must be a whole number to be worked by hand, got {limits[name]!r}.")
    return limits


def grow(problem: CartProblem) -> CartNode:
    """Return the root of the tree, with everything below it."""
    root = CartNode(tuple(range(problem.data.n_samples)), (), problem.impurity(range(problem.data.n_samples)))
    _grow_below(root, problem)
    for number, node in enumerate(root.all_nodes()):
        node.number = number
    return root


def _grow_below(node: CartNode, problem: CartProblem) -> None:
    found = candidates(node, problem)
    if not found:
        return
    least = min(candidate.score for candidate in found)
    node.split = next(candidate for candidate in found if candidate.score <= least + TIED)
    name, cut = problem.column(node.split.column), _fraction(node.split.threshold)
    words = (f"{name} ≤ {cut}", f"{name} > {cut}")
    node.children = tuple(
        CartNode(rows, (*node.way, word), impurity)
        for rows, word, impurity in zip(node.split.sides, words, node.split.impurities, strict=True)
    )
    for child in node.children:
        _grow_below(child, problem)


def candidates(node: CartNode, problem: CartProblem) -> list[CutCandidate]:
    """Return every threshold that may part the node, by column and in ascending order; none if it is a leaf."""
    limits, X, n = problem.limits, problem.data.X, len(node.rows)
    is_deep = limits["max_depth"] is not None and len(node.way) >= limits["max_depth"]
    if float(node.impurity) == 0.0 or is_deep or n < limits["min_samples_split"]:
        return []
    found = []
    for j in range(problem.data.n_features):
        for low, high in pairwise(sorted({X[i, j] for i in node.rows})):
            cut = (low + high) / 2
            sides = tuple(i for i in node.rows if X[i, j] <= cut), tuple(i for i in node.rows if X[i, j] > cut)
            if min(map(len, sides)) < limits["min_samples_leaf"]:
                continue
            of = problem.impurity(sides[0]), problem.impurity(sides[1])
            mean = _times(of[0], Rational(len(sides[0]), n)) + _times(of[1], Rational(len(sides[1]), n))
            found.append(CutCandidate(j, cut, sides, of, mean))
    return found


def _leaf_rows(problem: CartProblem) -> list[tuple[int, ...]]:
    return [node.rows for node in grow(problem).all_nodes()]


def _document(
    title: str,
    problem: CartProblem,
    opening: list[Block],
    says: dict[tuple[int, ...], Any],
    estimator: Any,
    new: Data,
) -> Document:
    root = grow(problem)
    nodes = root.all_nodes()
    inner = [node for node in nodes if node.split is not None]
    n = problem.data.n_samples
    share = {node.number: _times(node.impurity, Rational(len(node.rows), n)) for node in nodes}
    price = exact_parameter(estimator, "ccp_alpha")
    pruning, prices, cut = pruning_steps(root, share, price)
    stops = cut | _cut_already(estimator, root)
    answer: dict[str, Any] = {
        "features": [node.split.column if node.split else -2 for node in nodes],
        "thresholds": [node.split.threshold if node.split else Rational(-2) for node in nodes],
        "impurities": [_number(node.impurity) for node in nodes],
        "ccp_alphas": prices,
    }
    if inner and isinstance(root.impurity, Rational) and not any(_tied(node, problem) for node in inner):
        answer["feature_importances_"] = _importances(inner, share, problem.data.n_features)
    steps = [*(_node_step(node, problem) for node in inner), _tree_step(nodes, problem, says), *pruning]
    if stops:
        answer.pop("feature_importances_", None)  # of the whole tree; the program's are of what is left
    for i, row in enumerate([] if new is None else read_new(new, problem.data.n_features)):
        leaf, way = _walk(root, row, problem, stops)
        said = says[leaf.rows]
        kind = "Predict" if problem.short_name == "error" else "Decide about"
        steps.append(path_step(i, way, _told_value(said), kind))
        answer.setdefault("predicted", []).append(said)
    return Document(title, tuple(opening), tuple(steps), answer)


def _told_value(said: Any) -> str:
    return _fraction(said) if isinstance(said, Rational) else str(said)


def _walk(
    node: CartNode, row: Sequence[Rational], problem: CartProblem, stops: set[int]
) -> tuple[CartNode, list[tuple[str, str, str]]]:
    """Return the leaf of a row and the way to it: each question, the value of the row, the answer."""
    way = []
    while node.split is not None and node.number not in stops:
        name, cut = problem.column(node.split.column), node.split.threshold
        is_left = bool(row[node.split.column] <= cut)
        way.append((f"{name} ≤ {_fraction(cut)}", _fraction(row[node.split.column]), "yes" if is_left else "no"))
        node = node.children[0 if is_left else 1]
    return node, way


def _cut_already(estimator: Any, root: CartNode) -> set[int]:
    """Return the nodes that are leaves of a tree whose branches were cut after it had been grown."""
    if not hasattr(estimator, "grown_"):
        return set()
    arrays, found = estimator.tree_, set()

    def compare(node: CartNode, number: int) -> None:
        if arrays.children_left[number] < 0:
            found.add(node.number)
        else:
            compare(node.children[0], int(arrays.children_left[number]))
            compare(node.children[1], int(arrays.children_right[number]))

    compare(root, 0)
    return found


def _tied(node: CartNode, problem: CartProblem) -> int:
    """Return how many other thresholds are as good as the one that was taken."""
    assert node.split is not None
    return sum(candidate.score <= node.split.score + TIED for candidate in candidates(node, problem)) - 1


def _importances(inner: list[CartNode], share: dict[int, Rational], n_features: int) -> list[Rational]:
    """Return how much the splits of each column lower the impurity, as shares of the sum."""
    falls = [Rational(0)] * n_features
    for node in inner:
        assert node.split is not None
        falls[node.split.column] += share[node.number] - sum(share[child.number] for child in node.children)
    return [fall / sum(falls) for fall in falls]


def _node_step(node: CartNode, problem: CartProblem) -> Step:
    assert node.split is not None
    where = f"Node {node.number}: rows with {' and '.join(node.way)}" if node.way else "Node 0: all rows"
    is_long = len(where) > LONGEST_HEADING
    found = candidates(node, problem)
    blocks: list[Block] = [
        *([sentence(f"The way here: {' and '.join(node.way)}.")] if is_long else []),
        sentence(
            f"{problem.describe(node.rows)}; their {problem.name} is ",
            _notation(node.impurity),
            ".",
        ),
    ]
    for j in dict.fromkeys(candidate.column for candidate in found):
        own = [candidate for candidate in found if candidate.column == j]
        shown = [_threshold_table(own, problem, j, told) for told in (_notation, rounded)]
        blocks += first_that_fits(*([block] for block in shown))
    n_tied = _tied(node, problem) + 1
    if n_tied > 1:
        blocks.append(remark(f"{n_tied} thresholds are equally good: the first column counts, then the lowest one."))
    fall = node.impurity - node.split.mean
    question = Words(f"{problem.column(node.split.column)} ≤ {_fraction(node.split.threshold)}")
    blocks += [
        sentence("The lowest mean is ", _notation(node.split.mean), ", lower than before by ", _notation(fall), "."),
        result(question),
    ]
    return step(f"Node {node.number}" if is_long else where, *blocks)


def _threshold_table(own: list[CutCandidate], problem: CartProblem, j: int, told: Callable[[Any], Math]) -> Block:
    lines = [
        [
            typed(candidate.threshold),
            problem.tell(candidate.sides[0]),
            told(candidate.impurities[0]),
            problem.tell(candidate.sides[1]),
            told(candidate.impurities[1]),
            told(candidate.mean),
        ]
        for candidate in own
    ]
    head = ["threshold", "up to it", problem.short_name, "above it", problem.short_name, "mean"]
    return table(head, lines, caption=f"Thresholds of {problem.column(j)}")


def _tree_step(nodes: list[CartNode], problem: CartProblem, says: dict[tuple[int, ...], Any]) -> Step:
    lines = [
        [
            " and ".join(node.way) or "always",
            _told_value(says[node.rows]),
            f"node {node.number}: {problem.tell(node.rows)}",
        ]
        for node in nodes
        if node.split is None
    ]
    return step(
        "The tree",
        sentence("What is left are leaves: of one value, without a threshold, or at a limit. Each is a rule:"),
        *rule_blocks(["if", "then", "training rows"], lines),
    )


def _data_table(problem: CartProblem, target: Sequence[Any], name: Any) -> Block:
    heads = [problem.column(j) for j in range(problem.data.n_features)]
    return numbered_table(problem.data.X, heads, (name, target))


def _times(value: Any, factor: Rational) -> Any:
    return value.times(factor) if isinstance(value, Bits) else value * factor


def _number(value: Any) -> Any:
    return value.expression if isinstance(value, Bits) else value


def _notation(value: Any) -> Math:
    if isinstance(value, Bits):
        return rounded(value)
    return math(value)


def _fraction(value: Rational) -> str:
    sign, above, below = typed(value).spelling
    return f"{sign}{above}/{below}" if below else f"{sign}{above}"
