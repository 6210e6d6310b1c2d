"""ID3 by hand: at every node the impurity, what each column would gain, and which column is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from pellucid.tree.id3.id3_tree import numeric_columns
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
    split: _AskedSplit | None = None


def id3_workings(estimator: ID3Classifier, X: Data, y: Data, new: Data = None) -> Document:
    """Show how a tree is grown from a small table, every row counted once."""
    columns, was_rounded = _read_columns(estimator, X)
    labels = read_labels(y, len(columns[0].values))
    classes = sorted_classes(labels)
    nodes, steps = _grow(estimator, columns, labels, classes)
    steps.append(_tree_step(nodes, classes))
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
    opening = (*_opening(estimator.criterion, columns, labels, rounded_data=was_rounded), *notes)
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


def _grow(
    estimator: ID3Classifier, columns: list[_AskedColumn], labels: list[Label], classes: list[Label]
) -> tuple[list[_AskedNode], list[Step]]:
    """Return the nodes in the order in which they are made, and a step for each that is split."""
    everything = tuple(range(len(labels)))
    nodes = [_AskedNode(everything, (), frozenset(), tuple(class_counts(labels, everything, classes)))]
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
        steps.append(_node_step(node, found, best, scores, estimator.criterion, classes))
        used = node.used | {node.split.column} if columns[node.split.column].categories else node.used
        for (answer, rows), counts in zip(node.split.answers, node.split.counts, strict=True):
            child = _AskedNode(rows, (*node.path, answer), used, counts if rows else node.counts)
            nodes.append(child)
            waiting.append(child)
    return nodes, steps


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
    criterion: str, columns: list[_AskedColumn], labels: list[Label], *, rounded_data: bool
) -> tuple[Block, ...]:
    head = [math("i"), *(column.name for column in columns), "class"]
    rows = [
        [math(i + 1), *(v if isinstance(v := c.values[i], str) else typed(v) for c in columns), str(label)]
        for i, label in enumerate(labels)
    ]
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
        table(head, rows, caption="The data"),
        *([rounding_remark()] if rounded_data else []),
    )


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


def _tree_step(nodes: list[_AskedNode], classes: list[Label]) -> Step:
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
        sentence("Every node that is left is of one class, or cannot be split further. Each is a rule:"),
        *rule_blocks(["if", "then", "training rows"], lines),
    ]
    if not all(node.rows for node in leaves):
        blocks.append(remark("A branch that no training row takes answers with the majority of its parent."))
    return step("The tree", *blocks)
