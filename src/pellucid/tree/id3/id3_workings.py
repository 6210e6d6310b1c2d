"""ID3 by hand: at every node the impurity, what each column would gain, and which column is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational

from pellucid.core.checks import column_values
from pellucid.core.types import Data
from pellucid.probability.exact_logarithms import Bits
from pellucid.show.decisions import MOST_NEW, path_step
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import Label, exact_number, read_labels, rounding_remark, sorted_classes
from pellucid.show.notation import Math, Words, fenced, math, over, typed
from pellucid.show.text_printer import first_that_fits, name_columns
from pellucid.tree.drawn_tree_workings import DrawnNode, drawn_tree
from pellucid.tree.id3.id3_tree import held_back, numeric_columns
from pellucid.tree.impurity_workings import (
    class_counts,
    entropy,
    entropy_terms,
    error,
    error_terms,
    gini,
    gini_terms,
    majority,
    rounded,
    rule_blocks,
    told_counts,
)

if TYPE_CHECKING:
    from pellucid.tree.id3.id3_classifier import ID3Classifier

MAX_ROWS = 24
MAX_COLUMNS = 6
LONGEST_HEADING = 64
TIED = 1e-12
"""Scores closer than this are equal: two different ones of so few rows are farther apart."""
MEASURES = {"gain": "gain", "gain_ratio": "gain ratio", "gini": "Gini", "error": "error"}


@dataclass(frozen=True)
class _AskedColumn:
    """A column: its name, its values (texts or fractions), its categories or, if it is split by threshold, none."""

    name: str
    values: tuple[Any, ...]
    categories: tuple[Any, ...]


@dataclass(frozen=True)
class _AskedSplit:
    """One question: a column, a threshold where it has no categories, and the rows of each answer."""

    column: int
    name: str
    threshold: Any
    """A fraction, or None."""
    answers: tuple[tuple[str, tuple[int, ...]], ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def total(self) -> tuple[int, ...]:
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def sizes(self) -> list[int]:
        return [sum(of) for of in self.counts]

    @cached_property
    def gain(self) -> Bits:
        inside = Bits({})
        for of in self.counts:
            if sum(of):
                inside = inside + entropy(of).times(Rational(sum(of), sum(self.total)))
        return entropy(self.total) - inside

    @cached_property
    def information(self) -> Bits:
        """The entropy of the answers."""
        return entropy(self.sizes)

    def fall(self, impurity: Any) -> Rational:
        """Return by how much an impurity falls."""
        n = sum(self.total)
        inside = sum((Rational(sum(of), n) * impurity(of) for of in self.counts if sum(of)), Rational(0))
        return impurity(self.total) - inside

    def score(self, criterion: str) -> float:
        """Return what the criterion compares."""
        if criterion in ("gain", "gain_ratio"):
            return float(self.gain) / (float(self.information) if criterion == "gain_ratio" else 1.0)
        return float(self.fall(gini if criterion == "gini" else error))


@dataclass
class _AskedNode:
    """Rows that gave the same answers, and what is asked of them."""

    rows: tuple[int, ...]
    path: tuple[str, ...]
    used: frozenset[int]
    counts: tuple[int, ...]
    held: tuple[int, ...] = ()
    """Rows held back for pruning that come here."""
    split: _AskedSplit | None = None
    cut: str = ""
    """What validation rows spoke against, in words, where they made it a leaf."""


def id3_workings(estimator: ID3Classifier, X: Data, y: Data, new: Data = None) -> Document:
    """Show how a tree is grown from a small table, every row counted once."""
    columns, was_rounded = _read_columns(estimator, X)
    labels = read_labels(y, len(columns[0].values))
    classes = sorted_classes(labels)
    held = _held(estimator, len(labels))
    nodes, steps = _grow(estimator, columns, labels, classes, held)
    if estimator.pruning == "post":
        steps.append(step("The whole tree", _drawing(nodes, columns, classes), _accuracy(nodes, labels, classes, held)))
        steps += _prune(nodes, labels, classes, held)
        nodes = _reached(nodes)
    steps.append(_tree_step(nodes, columns, classes))
    if held:
        steps[-1] = replace(steps[-1], blocks=(*steps[-1].blocks, _accuracy(nodes, labels, classes, held)))
    answer: dict[str, Any] = {
        "features": [node.split.column if node.split else -2 for node in nodes],
        "values": [list(node.counts) for node in nodes],
        "gains": [node.split.gain.expression for node in nodes if node.split],
    }
    for i, row in enumerate([] if new is None else _read_new(new, columns)):
        way, said = _walk(nodes, row, columns, classes)
        steps.append(path_step(i, way, said))
        answer.setdefault("predicted", []).append(said)
    notes = name_columns([str(name) for name in getattr(X, "columns", ())], len(columns))[1]
    opening = (*_opening(estimator, columns, labels, held, rounded_data=was_rounded), *notes)
    return Document("A decision tree by ID3", opening, tuple(steps), answer)


def _read_new(new: Data, columns: list[_AskedColumn]) -> list[list[Any]]:
    """Return new rows as texts and fractions, or refuse them."""
    cells = np.asarray(new, dtype=object)
    if cells.ndim != 2 or cells.shape[1] != len(columns) or not 1 <= len(cells) <= MOST_NEW:
        raise ValueError(f"new must have 1 to {MOST_NEW} rows of {len(columns)} columns, got shape {cells.shape}.")
    is_text = [isinstance(column.values[0], str) for column in columns]
    return [
        [str(cell) if text else exact_number(cell, "new")[0] for cell, text in zip(row, is_text, strict=True)]
        for row in cells
    ]


def _walk(
    nodes: list[_AskedNode], row: list[Any], columns: list[_AskedColumn], classes: list[Label]
) -> tuple[list[tuple[str, str, str]], Any]:
    """Return the way of a row down the tree, question by question, and what is said at its end."""
    by_path = {node.path: node for node in nodes}
    node, way = nodes[0], list[tuple[str, str, str]]()
    while node.split is not None:
        value, cut = row[node.split.column], node.split.threshold
        if cut is not None:
            place = 0 if value <= cut else 1
            way.append((f"{node.split.name} ≤ {_told(cut)}", _told(value), "no" if place else "yes"))
        elif value not in (known := columns[node.split.column].categories):
            way.append((f"{node.split.name}?", _told(value), "never seen: the majority here decides"))
            break
        else:
            place = known.index(value)
            way.append((f"{node.split.name}?", _told(value), node.split.answers[place][0]))
        node = by_path[(*node.path, node.split.answers[place][0])]
    return way, majority(node.counts, classes)


def _read_columns(estimator: ID3Classifier, X: Data) -> tuple[list[_AskedColumn], bool]:
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2 or not (1 <= len(cells) <= MAX_ROWS and 1 <= cells.shape[1] <= MAX_COLUMNS):
        raise ValueError(
            f"X must have 1 to {MAX_ROWS} rows and 1 to {MAX_COLUMNS} columns to be worked by hand, got shape "
            f"{cells.shape}. Show the work on a few rows and columns of it."
        )
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else []
    values = [column_values(cells, j) for j in range(cells.shape[1])]
    is_numeric = numeric_columns(estimator.numeric, values, names or None)
    found, was_rounded, shown = [], False, name_columns(names, len(values))[0]
    for j, column in enumerate(values):
        is_text = column.dtype.kind == "U"
        read = [(str(v), False) if is_text else exact_number(v, "X") for v in cells[:, j]]
        was_rounded |= any(cut for _, cut in read)
        exact = tuple(value for value, _ in read)
        found.append(_AskedColumn(shown[j], exact, () if is_numeric[j] else tuple(sorted(set(exact)))))
    return found, was_rounded


def _held(estimator: ID3Classifier, n: int) -> tuple[int, ...]:
    """Return the rows held back for pruning."""
    if estimator.pruning is None:
        return ()
    if estimator.validation is None:
        raise ValueError(f"validation must name rows, or be their share, with pruning={estimator.pruning!r}, got None.")
    return tuple(int(i) for i in held_back(estimator.validation, n))


def _grow(
    estimator: ID3Classifier,
    columns: list[_AskedColumn],
    labels: list[Label],
    classes: list[Label],
    held: tuple[int, ...],
) -> tuple[list[_AskedNode], list[Step]]:
    """Return the nodes in the order in which they are made, and a step for each that is split."""
    everything = tuple(i for i in range(len(labels)) if i not in held)
    nodes = [_AskedNode(everything, (), frozenset(), tuple(class_counts(labels, everything, classes)), held)]
    waiting, steps = deque(nodes), list[Step]()
    while waiting:
        node = waiting.popleft()
        found = _candidates(estimator, node, columns, labels, classes)
        if not found:
            continue
        scores = [split.score(estimator.criterion) for split in found]
        best = next(k for k, score in enumerate(scores) if score >= max(scores) - TIED)
        if scores[best] < estimator.min_gain - TIED:
            continue
        node.split = found[best]
        made = _node_step(node, found, best, scores, estimator.criterion, classes)
        children = _children(node, columns)
        if estimator.pruning == "pre":
            made, pays = _validated(made, node, children, nodes, labels, classes, held)
            if not pays:
                node.cut, node.split = f"not split by {found[best].name}", None
                children = []
        steps.append(made)
        nodes += children
        waiting.extend(children)
    return nodes, steps


def _children(node: _AskedNode, columns: list[_AskedColumn]) -> list[_AskedNode]:
    """Return the nodes that the split of a node makes."""
    split = node.split
    assert split is not None
    column = columns[split.column]
    used = node.used | {split.column} if column.categories else node.used
    found = []
    for place, ((answer, rows), counts) in enumerate(zip(split.answers, split.counts, strict=True)):
        here = tuple(i for i in node.held if _place(column, split, column.values[i]) == place)
        found.append(_AskedNode(rows, (*node.path, answer), used, counts if rows else node.counts, here))
    return found


def _place(column: _AskedColumn, split: _AskedSplit, value: Any) -> int:
    """Return which answer a value is."""
    return column.categories.index(value) if split.threshold is None else int(value > split.threshold)


def _right(node: _AskedNode, labels: list[Label], classes: list[Label]) -> list[int]:
    """Return the validation rows that a node gets right as a leaf."""
    return [i for i in node.held if labels[i] == majority(node.counts, classes)]


def _leaves_right(nodes: Sequence[_AskedNode], labels: list[Label], classes: list[Label]) -> int:
    return sum(len(_right(node, labels, classes)) for node in nodes if node.split is None)


def _percent(right: int, n: int) -> str:
    return f"{right} of {n}, {100 * right / n:.1f} %"


def _validated(
    made: Step,
    node: _AskedNode,
    children: list[_AskedNode],
    nodes: list[_AskedNode],
    labels: list[Label],
    classes: list[Label],
    held: tuple[int, ...],
) -> tuple[Step, bool]:
    """Return the step of a node with what its split does to the validation rows, and whether it is made."""
    name = node.split.name if node.split else ""
    node.split, kept_split = None, node.split
    before = _leaves_right(nodes, labels, classes)
    node.split = kept_split
    own = len(_right(node, labels, classes))
    split = sum(len(_right(child, labels, classes)) for child in children)
    after, n = before - own + split, len(held)
    verdict = (
        "More are right: the node is split."
        if split > own
        else "No more are right: the node stays a leaf (pre-pruning)."
    )
    lines = [
        ["as a leaf", str(majority(node.counts, classes)), _listed(node.held), math(own)],
        *(
            [
                child.path[-1],
                str(majority(child.counts, classes)),
                _listed(child.held),
                math(len(_right(child, labels, classes))),
            ]
            for child in children
        ),
    ]
    blocks: list[Block] = [
        table(["", "says", "validation rows", "right"], lines, caption=f"What asking for {name} does to them"),
        sentence(
            f"Before the split the tree gets {_percent(before, n)}, of the validation rows right, after it "
            f"{_percent(after, n)}. {verdict}"
        ),
    ]
    return replace(made, blocks=(*made.blocks, *blocks)), split > own


def _listed(rows: Sequence[int]) -> str:
    return ", ".join(str(i + 1) for i in rows) or "none"


def _prune(nodes: list[_AskedNode], labels: list[Label], classes: list[Label], held: tuple[int, ...]) -> list[Step]:
    """Make leaves of nodes whose branch is no better on the validation rows, from the last to the first; tell how."""
    steps = []
    for node in reversed(nodes):
        if node.split is None:
            continue
        below = [other for other in nodes if other.path[: len(node.path)] == node.path and other is not node]
        whole = [one for one in nodes if one.split is None and not _is_below_leaf(one, nodes)]
        before = sum(len(_right(one, labels, classes)) for one in whole)
        branch = sum(len(_right(one, labels, classes)) for one in whole if one in below)
        own = len(_right(node, labels, classes))
        after, goes = before - branch + own, own >= branch
        where = f"Rows with {' and '.join(node.path)}" if node.path else "All rows"
        verdict = "is no worse: the branch is cut" if goes else "would be worse: the branch is kept"
        blocks: list[Block] = [
            sentence(
                f"The validation rows {_listed(node.held)} come here. The branch that asks for {node.split.name} gets "
                f"{branch} of them right, a leaf that says {majority(node.counts, classes)} gets {own}. With the "
                f"branch the tree is right on {_percent(before, len(held))}, with the leaf on "
                f"{_percent(after, len(held))}."
            ),
            result(Words(f"the leaf {verdict}")),
        ]
        if goes:
            node.cut, node.split = f"a branch by {node.split.name} was cut", None
        steps.append(step(f"Prune? {where}" if len(where) <= LONGEST_HEADING else "Prune?", *blocks))
    return steps


def _is_below_leaf(node: _AskedNode, nodes: list[_AskedNode]) -> bool:
    """Return whether a node is below one that was made a leaf."""
    above = [one for one in nodes if len(one.path) < len(node.path) and node.path[: len(one.path)] == one.path]
    return any(one.split is None for one in above)


def _reached(nodes: list[_AskedNode]) -> list[_AskedNode]:
    return [node for node in nodes if not _is_below_leaf(node, nodes)]


def _accuracy(nodes: list[_AskedNode], labels: list[Label], classes: list[Label], held: tuple[int, ...]) -> Block:
    right = _leaves_right(_reached(nodes), labels, classes)
    return sentence(f"Of the validation rows it gets {_percent(right, len(held))}, right.")


def _candidates(
    estimator: ID3Classifier, node: _AskedNode, columns: list[_AskedColumn], labels: list[Label], classes: list[Label]
) -> list[_AskedSplit]:
    """Return the questions that may be asked at a node, in the order in which equals are preferred."""
    is_deep = estimator.max_depth is not None and len(node.path) >= estimator.max_depth
    if len(node.rows) < estimator.min_samples_split or sum(map(bool, node.counts)) < 2 or is_deep:
        return []
    found = []
    for j, column in enumerate(columns):
        if j in node.used:
            continue
        asked: list[tuple[Any, list[tuple[str, tuple[int, ...]]]]] = []
        if column.categories:
            rows_of = [
                (f"{column.name} = {_told(c)}", tuple(i for i in node.rows if column.values[i] == c))
                for c in column.categories
            ]
            asked.append((None, rows_of))
        else:
            values = sorted({column.values[i] for i in node.rows})
            for a, b in pairwise(values):
                cut = (a + b) / 2
                low = (f"{column.name} ≤ {_told(cut)}", tuple(i for i in node.rows if column.values[i] <= cut))
                high = (f"{column.name} > {_told(cut)}", tuple(i for i in node.rows if column.values[i] > cut))
                asked.append((cut, [low, high]))
        for threshold, answers in asked:
            counts = tuple(tuple(class_counts(labels, rows, classes)) for _, rows in answers)
            if sum(bool(rows) and len(rows) >= estimator.min_samples_leaf for _, rows in answers) > 1:
                found.append(_AskedSplit(j, column.name, threshold, tuple(answers), counts))
    return found


def _told(value: Any) -> str:
    if isinstance(value, str):
        return value
    sign, above, below = typed(value).spelling
    return f"{sign}{above}/{below}" if below else f"{sign}{above}"


def _opening(
    estimator: ID3Classifier,
    columns: list[_AskedColumn],
    labels: list[Label],
    held: tuple[int, ...],
    *,
    rounded_data: bool,
) -> tuple[Block, ...]:
    criterion = estimator.criterion
    head = [math("i"), *(column.name for column in columns), "class"]
    rows = [
        [math(i + 1), *(v if isinstance(v := c.values[i], str) else typed(v) for c in columns), str(label)]
        for i, label in enumerate(labels)
    ]
    pruned = {
        "pre": "a node is split only if that gets more of them right",
        "post": "a branch that gets no more of them right than a leaf is cut once the tree has been grown",
    }
    words = {
        "gain": "the entropy falls most (information gain)",
        "gain_ratio": "the gain is largest for what the answers cost (gain ratio)",
        "gini": "the Gini impurity falls most",
        "error": "the share of errors falls most",
    }
    return (
        sentence(
            "A tree asks for one column after the other until the rows of a node are of one class. It asks for the "
            f"column by which {words[criterion]}; of equally good ones for the first."
        ),
        formula("H =", Words("sum of"), "p log_2", fenced(over(1, "p")), ",", Words("gain"), "= H −", *_average()),
        *first_that_fits([table(head, rows, caption="The data")], _halves(head, rows)),
        *(
            [sentence(f"The rows {_listed(held)} are held back for validation: {pruned[str(estimator.pruning)]}.")]
            if held
            else []
        ),
        *([rounding_remark()] if rounded_data else []),
    )


def _halves(head: list[Any], rows: list[list[Any]]) -> list[Block]:
    """Return a table that is too wide for a page as two: the first columns, and the others."""
    middle = 1 + (len(head) - 1) // 2
    parts = (
        ([*head[:middle]], [row[:middle] for row in rows]),
        ([head[0], *head[middle:]], [[row[0], *row[middle:]] for row in rows]),
    )
    return [
        table(names, lines, caption=text)
        for (names, lines), text in zip(parts, ("The data", "The other columns"), strict=True)
    ]


def _average() -> list[Any]:
    return [Words("sum of"), over("n_v", "n"), "H_v"]


def _node_step(
    node: _AskedNode, found: list[_AskedSplit], best: int, scores: list[float], criterion: str, classes: list[Label]
) -> Step:
    where = f"Rows with {' and '.join(node.path)}" if node.path else "All rows"
    where = where if len(where) <= LONGEST_HEADING else f"Rows with {' and '.join(node.path[:1])} and more"
    n, of_node = len(node.rows), entropy(node.counts)
    blocks: list[Block] = [
        *([sentence(f"The way here: {' and '.join(node.path)}.")] if where.endswith("and more") else []),
        sentence(f"{n} rows: {told_counts(node.counts, classes)}. How mixed are they?"),
        formula("H =", entropy_terms(node.counts), "=", of_node.notation()),
        sentence("Beside it, the other two impurities:"),
        formula(Words("Gini"), "=", gini_terms(node.counts), "=", gini(node.counts)),
        formula(Words("error"), "=", error_terms(node.counts), "=", error(node.counts)),
        *([] if node.path else [remark("The error is 1 less the largest share, not that share itself.")]),
    ]
    blocks += [block for split in found if split.threshold is None for block in _column_blocks(split, of_node, classes)]
    blocks += _threshold_blocks([split for split in found if split.threshold is not None], of_node, classes)
    return step(where, *blocks, *_comparison(found, best, scores, criterion))


def _column_blocks(split: _AskedSplit, of_node: Bits, classes: list[Label]) -> list[Block]:
    """Return how one column of categories parts the rows, and what that gains."""
    terms = list[Any]()
    for (_, rows), counts in zip(split.answers, split.counts, strict=True):
        if rows and entropy(counts).parts:
            terms += ["−", over(len(rows), sum(split.total)), "·", rounded(entropy(counts))]

    def counted(told: Callable[[Bits], Any]) -> Block:
        lines = [
            [answer, math(len(rows)), *map(math, counts), told(entropy(counts)) if rows else "no rows"]
            for (answer, rows), counts in zip(split.answers, split.counts, strict=True)
        ]
        return table(["answer", "rows", *map(str, classes), math("H_v")], lines, caption=f"Ask for {split.name}")

    return [
        *first_that_fits([counted(lambda bits: bits.notation())], [counted(rounded)]),
        formula(Words("gain"), "=", rounded(of_node), *terms),
        formula(Words("gain"), "=", split.gain.notation() if split.gain.parts else math(0)),
        formula(Words("gain ratio"), "=", over(Words("gain"), _entropy_of_answers(split)), "=", _ratio(split)),
    ]


def _entropy_of_answers(split: _AskedSplit) -> Math:
    return rounded(split.information) if not split.information.is_rational else split.information.notation()


def _ratio(split: _AskedSplit) -> Math:
    return rounded(split.score("gain_ratio"))


def _threshold_blocks(found: Sequence[_AskedSplit], of_node: Bits, classes: list[Label]) -> list[Block]:
    """Return the thresholds of all columns of numbers: each lies half way between neighbors."""
    blocks: list[Block] = []
    for name in dict.fromkeys(split.name for split in found):
        own = [split for split in found if split.name == name]

        def listed(told: Callable[[Bits], Any], own: list[_AskedSplit] = own, name: str = name) -> Block:
            lines = [
                [
                    typed(split.threshold),
                    *(told_counts(counts, classes) for counts in split.counts),
                    told(split.gain) if split.gain.parts else math(0),
                    _ratio(split),
                ]
                for split in own
            ]
            head = ["threshold", "up to it", "above it", "gain", "gain ratio"]
            return table(head, lines, caption=f"Thresholds of {name}, half way between neighbors")

        blocks += first_that_fits([listed(lambda bits: bits.notation())], [listed(rounded)])
    if blocks:
        blocks.append(
            sentence("Each gain is ", rounded(of_node), " less the entropies of the two sides, weighted by their rows.")
        )
    return blocks


def _comparison(found: list[_AskedSplit], best: int, scores: list[float], criterion: str) -> list[Block]:
    """Return every candidate by all four measures, and the winner."""
    lines = [
        [_question(split), rounded(split.gain), _ratio(split), math(split.fall(gini)), math(split.fall(error))]
        for split in found
    ]
    head = ["ask for", *MEASURES.values()]
    winners = {
        words: _question(found[next(k for k, s in enumerate(of) if s >= max(of) - TIED)])
        for name, words in MEASURES.items()
        for of in [[split.score(name) for split in found]]
    }
    others = [f"{words} would ask for {winners[words]}" for words in MEASURES.values() if words != MEASURES[criterion]]
    agree = len(set(winners.values())) == 1
    told = "All four measures agree." if agree else f"{'; '.join(others)}."
    n_tied = sum(score >= max(scores) - TIED for score in scores)
    return [
        table(head, lines, caption="How much each question lowers the impurity"),
        *([remark(f"{n_tied} questions are equally good: the first counts.")] if n_tied > 1 else []),
        result(Words("ask for"), Words(_question(found[best]))),
        sentence(told[0].upper() + told[1:]),
    ]


def _question(split: _AskedSplit) -> str:
    return split.name if split.threshold is None else f"{split.name} ≤ {_told(split.threshold)}"


def _drawing(nodes: list[_AskedNode], columns: list[_AskedColumn], classes: list[Label]) -> Block:
    """Return the tree as a drawing; a leaf tells its rows, and what it asked for before it was cut."""
    by_path = {node.path: node for node in nodes}

    def drawn(node: _AskedNode) -> DrawnNode:
        if node.split is None:
            rows = told_counts(node.counts, classes) if node.rows else "no rows: as its parent"
            cut = f"; {node.cut}" if node.cut else ""
            return DrawnNode(f"{majority(node.counts, classes)} ({rows}{cut})")
        branches = [
            (
                answer.removeprefix(f"{node.split.name} = ").removeprefix(f"{node.split.name} "),
                drawn(by_path[(*node.path, answer)]),
            )
            for answer, _ in node.split.answers
        ]
        return DrawnNode(f"{columns[node.split.column].name}?", tuple(branches))

    return drawn_tree(drawn(nodes[0]), "The tree: each node with what it asks, each leaf with its class and rows.")


def _tree_step(nodes: list[_AskedNode], columns: list[_AskedColumn], classes: list[Label]) -> Step:
    leaves = [node for node in sorted(nodes, key=lambda node: node.path) if node.split is None]
    lines = [
        [
            " and ".join(node.path) or "always",
            str(majority(node.counts, classes)),
            told_counts(node.counts, classes) if node.rows else "none: as its parent",
        ]
        for node in leaves
    ]
    blocks: list[Block] = [
        _drawing(nodes, columns, classes),
        sentence(
            "Every node that is left is of one class, cannot be split further, or was made a leaf. Each is a rule:"
            if any(node.cut for node in nodes)
            else "Every node that is left is of one class, or cannot be split further. Each is a rule:"
        ),
        *rule_blocks(["if", "then", "training rows"], lines),
    ]
    if not all(node.rows for node in leaves):
        blocks.append(remark("A branch that no training row takes answers with the majority of its parent."))
    return step("The tree", *blocks)
