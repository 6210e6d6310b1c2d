"""What a chosen tree, or an ensemble of trees, says for itself: its questions, and why it answers as it does."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from pellucid.app.tables.preparation import readable_names
from pellucid.app.tables.understanding import Columns
from pellucid.app.tables.word_encoder import WordEncoder
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.tree import explain_path, greedy_gap, shapley_values
from pellucid.tree.explaining.rules_in_words import Condition, readable_tree
from pellucid.tree.optimal_tree.optimal_tree_classifier import DEEPEST

if TYPE_CHECKING:
    from pellucid.app.bake_off.judgement import Judgement

MOST_LEAVES = 24
"""Of a tree that is drawn."""
GAP_SECONDS = 5.0
"""That the search for the best tree of the same depth may take."""
N_EXAMPLES = 3
MOST_REASONS = 5
MOST_SHAPLEY_ROWS = 500
SHAPLEY_WORK = 3e9
"""Steps that the Shapley values of the summary may take: rows times leaves times the square of the depth."""


@dataclass(frozen=True)
class StoryNode:
    """A node of a drawn tree: its question, where yes and no lead, and what it would answer."""

    question: str
    yes: int
    no: int
    answer: str
    share: float | None
    """Of the training rows that have the answer's class; None for numbers."""
    rows: float


@dataclass(frozen=True)
class Reason:
    """What one column adds to the prediction of a row, or to predictions on average."""

    column: str
    value: str
    added: float


@dataclass(frozen=True)
class ExampleRow:
    """A row kept aside, what the model says about it, and why."""

    prediction: str
    actual: str
    sentence: str = ""
    reasons: tuple[Reason, ...] = ()
    title: str = ""
    """Why it is shown: it is missed least, most, or typically."""


@dataclass(frozen=True)
class TreeStory:
    """The tree to draw, if there is one that a person can read, some rows explained, and what drives an ensemble."""

    nodes: tuple[StoryNode, ...] = ()
    examples: tuple[ExampleRow, ...] = ()
    drivers: tuple[Reason, ...] = ()
    """The mean size of what each column adds to a prediction, the largest first."""
    event: str = ""
    """What the sums stand for, such as the log odds of a class."""
    gap: str = ""
    """How far a small tree is from the best one of its depth, in a sentence."""


def tell_trees(
    model: Pipeline,
    columns: Columns,
    X: pd.DataFrame,
    y: Array,
    learning: tuple[pd.DataFrame, Array] | None = None,
    notable: Sequence[NotableRow] = (),
) -> TreeStory:
    """Return the story of a pipeline that ends in trees, told on rows kept aside; an empty one if it has no trees.

    The notable rows are explained, or some if there are none. With the rows that it learned from, a small tree of
    classes is compared with the best one of its depth.
    """
    method = model[-1]
    trees = getattr(method, "trees_", None)
    if trees is None or trees.value.shape[1] > 1:
        return TreeStory()
    names = readable_names(model[:-1].get_feature_names_out(), columns)
    rows = np.asarray(model[:-1].transform(X), dtype=np.float64)
    words = _words_by_column(model[0], len(names))
    if trees.n_trees == 1 and not hasattr(method, "baseline_"):
        story = _tell_tree(method, names, words, rows, y, notable)
        if learning is None or not story.nodes or not is_classifier(method):
            return story
        return replace(story, gap=_gap_to_best(method, np.asarray(model[:-1].transform(learning[0])), learning[1]))
    return _tell_ensemble(method, names, words, rows, y, notable)


def _tell_tree(
    method: Any,
    names: Sequence[str],
    words: Sequence[list[str]],
    rows: Array,
    y: Array,
    notable: Sequence[NotableRow],
) -> TreeStory:
    shown = readable_tree(method, names)
    nodes = []
    for branches, value, weight in zip(shown.branches, shown.value, shown.weight, strict=True):
        (yes, asked), (no, _) = branches or ((0, Condition(0, "")), (0, None))
        answer, share = _answer(method, value)
        question = str(_in_words(asked, words)) if branches else ""
        nodes.append(StoryNode(question, yes, no, answer, share, float(weight)))
    leaves = np.asarray(method.apply(rows))
    first = np.unique(leaves, return_index=True)[1]
    often = first[np.argsort(-np.bincount(leaves)[leaves[first]], kind="stable")][:N_EXAMPLES]
    chosen = notable or [NotableRow("", int(place)) for place in often]
    examples = tuple(
        replace(_explained(method, rows[one.place], y[one.place], names, words), title=one.title) for one in chosen
    )
    return TreeStory(tuple(nodes) if len(first) and shown_leaves(nodes) <= MOST_LEAVES else (), examples)


def _gap_to_best(tree: Any, rows: Array, y: Array) -> str:
    """Return how many more errors a tree makes than the best of its depth; nothing where the search cannot say."""
    if tree.get_depth() > DEEPEST or np.isnan(rows).any():
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a search that the time ends has a gap, which the sentence tells
        return str(greedy_gap(tree, rows, y, time_limit=GAP_SECONDS))


def shown_leaves(nodes: Sequence[StoryNode]) -> int:
    """Return how many leaves a tree has."""
    return sum(not node.question for node in nodes)


def _explained(method: Any, row: Array, actual: Any, names: Sequence[str], words: Sequence[list[str]]) -> ExampleRow:
    path = explain_path(method, row, names)
    told = replace(path, rule=replace(path.rule, conditions=tuple(_in_words(c, words) for c in path.rule.conditions)))
    values = tuple(_value(row[c.feature], words[c.feature]) for c in path.rule.conditions)
    told = replace(told, values=values)
    return ExampleRow(as_text(path.rule.prediction), as_text(actual), str(told))


def _tell_ensemble(
    method: Any,
    names: Sequence[str],
    words: Sequence[list[str]],
    rows: Array,
    y: Array,
    notable: Sequence[NotableRow],
) -> TreeStory:
    trees = method.trees_
    work = float(trees.is_leaf.sum()) * float(trees.depths().max() + 1) ** 2
    if work * N_EXAMPLES > SHAPLEY_WORK:
        return TreeStory()
    n_rows = int(min(MOST_SHAPLEY_ROWS, len(rows), SHAPLEY_WORK / work))
    some = some_rows(len(rows), n_rows)
    shown = notable or [NotableRow("", int(place)) for place in some[:N_EXAMPLES]]
    some = np.concatenate([[one.place for one in shown], np.setdiff1d(some, [one.place for one in shown])])
    n_rows = len(some)
    found = shapley_values(method, rows[some])
    values, event = found.values, "the prediction"
    if values.ndim == 3:  # of several classes, the one that the model says
        said = found.predictions.argmax(axis=1)
        values = values[np.arange(n_rows), :, said]
        event = "the share or score of the predicted class"
    elif is_classifier(method):
        event = f"the log odds of {as_text(method.classes_[-1])}"
    sizes = np.abs(values).mean(axis=0)
    drivers = tuple(Reason(names[j], "", float(sizes[j])) for j in np.argsort(-sizes, kind="stable") if sizes[j] > 0)
    predictions = method.predict(rows[some[: len(shown)]])
    examples = []
    for i, prediction in enumerate(predictions):
        order = np.argsort(-np.abs(values[i]), kind="stable")[:MOST_REASONS]
        reasons = tuple(Reason(names[j], _value(rows[some[i], j], words[j]), float(values[i, j])) for j in order)
        examples.append(ExampleRow(as_text(prediction), as_text(y[some[i]]), reasons=reasons, title=shown[i].title))
    return TreeStory((), tuple(examples), drivers, event)


def _words_by_column(prepare: Any, n_columns: int) -> list[list[str]]:
    """Return the words behind the codes of each prepared column, nothing for numbers."""
    encoder = getattr(prepare, "named_transformers_", {}).get("words")
    found = encoder.labels() if isinstance(encoder, WordEncoder) and not encoder.indicators else []
    return found + [[] for _ in range(n_columns - len(found))]


def _in_words(condition: Condition, words: Sequence[list[str]]) -> Condition:
    """Return a condition on codes as one on words, on those that it leaves out if they are fewer."""
    known = words[condition.feature]
    if condition.categories is None or not known:
        return condition
    listed = tuple(known[int(code)] for code in condition.categories)
    others = tuple(word for word in known if word not in listed)
    if 0 < len(others) < len(listed):
        return replace(condition, categories=others, is_excluded=not condition.is_excluded)
    return replace(condition, categories=listed)


def _answer(method: Any, value: Array) -> tuple[str, float | None]:
    if not is_classifier(method):
        return as_text(float(value[0])), None
    best = int(np.argmax(value))
    return as_text(method.classes_[best]), float(value[best])


def _value(value: float, known: Sequence[str]) -> str:
    if np.isnan(value):
        return "missing"
    return known[int(value)] if known else f"{value:.6g}"


def as_text(value: Any) -> str:
    """Return a value as it is shown: numbers with four figures, a gap as missing."""
    if isinstance(value, float | np.floating):
        return "missing" if np.isnan(value) else f"{value:.4g}"
    return str(value)


BEST, TYPICAL, WORST = "best", "typical", "worst"


@dataclass(frozen=True)
class NotableRow:
    """Why a row is worth a look, and its place among the rows kept aside."""

    title: str
    place: int


def notable_rows(judgement: Judgement) -> list[NotableRow]:
    """Return the rows with the least, the median and the largest miss; fewer if they are the same.

    Of classes, the miss is the probability that the true one did not get.
    """
    misses = row_misses(judgement)
    order = np.argsort(misses, kind="stable")
    chosen = {BEST: order[0], TYPICAL: order[len(order) // 2], WORST: order[-1]}
    found: dict[int, str] = {}
    for title in (TYPICAL, BEST, WORST):
        found.setdefault(int(chosen[title]), title)
    return [NotableRow(title, place) for place, title in found.items()]


def row_misses(judgement: Judgement) -> Array:
    """Return by how much each row kept aside is missed."""
    if judgement.classes is None:
        return np.abs(judgement.actual - judgement.predicted)
    if judgement.probabilities is None:
        return (judgement.actual != judgement.predicted).astype(np.float64)
    places = np.searchsorted(judgement.classes, judgement.actual)
    return np.asarray(1.0 - judgement.probabilities[np.arange(len(places)), places])
