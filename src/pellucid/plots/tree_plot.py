"""A decision tree, drawn: what each node asks for, its answers, the rows behind it, and what pruning cut away."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array
from pellucid.plots.drawing.style import INK, QUIET, SMALL_SIZE, TEXT_SIZE, class_color, tidy_axes, write_legend
from pellucid.tree.explaining.rules_in_words import Condition, ReadableTree, readable_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT_OF_LEVEL, WIDTH_OF_LEAF, WIDTH_OF_LETTER = 1.3, 1.1, 0.095
"""Inches on a new figure: of a level, the least of a leaf, and of a letter of the longest text."""
FEW_CLASSES = 3
"""Up to so many classes are counted in each node; of more only the largest."""
LONGEST_LINE = 12
"""Letters of an answer in one line."""
MOST_LEAVES = 60
"""More cannot be read."""


class TreeLayout(NamedTuple):
    """Where the nodes of a tree stand; nodes that are not drawn have depth -1."""

    x: Array
    depth: Array
    is_cut: Array
    """Nodes that pruning took away."""
    is_end: Array
    """Nodes drawn without their branches."""


def plot_tree(
    model: Any,
    ax: Axes | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    grown: Any = None,
    max_depth: int | None = None,
) -> Axes:
    """Draw a fitted decision tree: columns asked for in the nodes, answers on the branches, classes or numbers below.

    The fill of a node is the color of its largest class, the paler the more mixed it is. What was cut from a pruned
    tree is drawn in gray, dashed; what the node above it asked for stands in parentheses below what it says now.

    Parameters
    ----------
    model : fitted ID3Classifier, DecisionTreeClassifier or DecisionTreeRegressor
        Also what the functions of pruning return.
    ax : Axes, default=None
        Where to draw; None makes a new figure that is large enough.
    feature_names : sequence of str, default=None
        Names of the columns; None takes those of the fit, or x0, x1, ...
    grown : fitted tree, default=None
        The tree before it was cut, for its gray parts; a tree from a function of pruning knows its own.
    max_depth : int, default=None
        Questions drawn on a path; None draws the whole tree.
    """
    check_is_fitted(model)
    names = _names(model, feature_names)
    left = readable_tree(model, names)
    whole, is_cut = _with_cut_parts(model, left, grown, names)
    layout = tree_layout(whole, is_cut, max_depth)
    n_leaves, deepest = int(np.sum(layout.is_end)), int(layout.depth.max())
    if n_leaves > MOST_LEAVES:
        raise ValueError(f"model must have at most {MOST_LEAVES} leaves to be read, got {n_leaves}. Set max_depth.")
    ax = tidy_axes(ax, (max(6.4, _leaf_width(model, whole) * n_leaves + 1.6), HEIGHT_OF_LEVEL * (deepest + 1) + 0.4))
    for node in np.flatnonzero(layout.depth >= 0):
        if not layout.is_end[node]:
            _draw_branches(ax, whole, layout, int(node))
        _draw_node(ax, model, whole, layout, int(node))
    _name_classes(ax, model, has_cuts=bool(is_cut.any()))
    ax.set(xlim=(-0.6, n_leaves - 0.4), ylim=(-deepest - 0.5, 0.45))
    ax.set_axis_off()
    return ax


def _leaf_width(model: Any, tree: ReadableTree) -> float:
    """Return the inches that a leaf needs, so that neither classes nor answers side by side touch."""
    answers = [_answer(condition) for branches in tree.branches for _, condition in branches]
    texts = [line for answer in answers for line in answer.split("\n")]
    texts += [_told(model, value) for value in tree.value]
    return max(WIDTH_OF_LEAF, WIDTH_OF_LETTER * max(map(len, texts)) + 0.35)


def _names(model: Any, given: Sequence[str] | None) -> list[str]:
    n = int(model.n_features_in_)
    known = getattr(model, "feature_names_in_", None) if given is None else given
    if known is None:
        return [f"x{j}" for j in range(n)]
    if len(known) != n:
        raise ValueError(f"feature_names must be as many as columns ({n}), got {len(known)}.")
    return [str(name) for name in known]


def _with_cut_parts(model: Any, left: ReadableTree, grown: Any, names: Sequence[str]) -> tuple[ReadableTree, Array]:
    """Return the tree before it was cut, and which of its nodes are gone."""
    if grown is None and hasattr(model, "grown_"):
        grown = copy.copy(model)
        grown.trees_ = model.grown_
    if grown is None:
        return left, np.zeros(len(left.branches), dtype=bool)
    whole = readable_tree(grown, names)
    is_cut = np.ones(len(whole.branches), dtype=bool)
    waiting = [(0, 0)]
    while waiting:
        before, after = waiting.pop()
        is_cut[before] = False
        if left.branches[after]:
            ways = [branch for _, branch in left.branches[after]]
            if [branch for _, branch in whole.branches[before]] != ways:
                raise ValueError("grown must be the tree that model was cut from, got one with other questions.")
            children = zip(whole.branches[before], left.branches[after], strict=True)
            waiting += [(one[0], other[0]) for one, other in children]
    return whole, is_cut


def tree_layout(tree: ReadableTree, is_cut: Array, max_depth: int | None) -> TreeLayout:
    """Return places at which no branches cross: ends from left to right, other nodes above the middle of theirs."""
    n = len(tree.branches)
    x, depth, is_end = np.zeros(n), np.full(n, -1), np.zeros(n, dtype=bool)
    count = 0

    def place(node: int, level: int) -> None:
        nonlocal count
        depth[node] = level
        is_end[node] = not tree.branches[node] or level == max_depth
        if is_end[node]:
            x[node] = count
            count += 1
            return
        for child, _ in tree.branches[node]:
            place(child, level + 1)
        below = [x[child] for child, _ in tree.branches[node]]
        x[node] = (below[0] + below[-1]) / 2

    place(0, 0)
    return TreeLayout(x, depth, is_cut, is_end)


def _draw_branches(ax: Axes, tree: ReadableTree, layout: TreeLayout, node: int) -> None:
    start = (layout.x[node], -layout.depth[node])
    for child, condition in tree.branches[node]:
        end = (layout.x[child], -layout.depth[child])
        is_cut = bool(layout.is_cut[child])
        dashes: Any = (0, (3, 2)) if is_cut else "-"
        ax.plot(*zip(start, end, strict=True), color=QUIET, linewidth=1.4, linestyle=dashes, zorder=1)
        x, y = ((0.35 * a + 0.65 * b) for a, b in zip(start, end, strict=True))
        paper = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
        ink = QUIET if is_cut else INK
        ax.text(
            x, y, _answer(condition), ha="center", va="center", fontsize=SMALL_SIZE, color=ink, bbox=paper, zorder=2
        )


def _answer(condition: Condition) -> str:
    """Return what a branch says, without the name of the column that stands above it."""
    if condition.categories is None:
        return str(condition).removeprefix(condition.name).strip()
    text = f"{'not ' if condition.is_excluded else ''}{', '.join(map(str, condition.categories))}"
    return "\n".join(textwrap.wrap(text, LONGEST_LINE)) or text


def _draw_node(ax: Axes, model: Any, tree: ReadableTree, layout: TreeLayout, node: int) -> None:
    from matplotlib.colors import to_rgb

    is_cut = bool(layout.is_cut[node])
    is_new_leaf = not is_cut and any(layout.is_cut[child] for child, _ in tree.branches[node])
    says = layout.is_end[node] or is_new_leaf
    shade = np.array([1.0, 1.0, 1.0])
    if is_classifier(model) and not is_cut:
        shares = tree.value[node]
        best, n = int(np.argmax(shares)), len(shares)
        purity = 0.65 * (float(shares[best]) - 1.0 / n) / (1.0 - 1.0 / n) if n > 1 else 0.5
        shade = 1.0 - max(purity, 0.05) * (1.0 - np.array(to_rgb(class_color(best, n))))
    border = QUIET if is_cut else INK
    box: dict[str, Any] = {
        "boxstyle": "round,pad=0.35" if says else "square,pad=0.35",
        "facecolor": tuple(shade),
        "edgecolor": border,
        "linewidth": 1.0,
        "linestyle": "--" if is_cut else "-",
    }
    asked = f"{tree.branches[node][0][1].name}?" if tree.branches[node] else ""
    lines = [_told(model, tree.value[node]) if says else asked, _rows(model, tree, node)]
    if says and asked:
        lines.append("..." if layout.is_end[node] else f"({asked})")
    ax.text(
        float(layout.x[node]),
        -float(layout.depth[node]),
        "\n".join(line for line in lines if line),
        ha="center",
        va="center",
        fontsize=TEXT_SIZE,
        color=QUIET if is_cut else INK,
        bbox=box,
        zorder=3,
    )


def _told(model: Any, value: Array) -> str:
    return str(model.classes_[int(np.argmax(value))]) if is_classifier(model) else f"{float(value[0]):.4g}"


def _rows(model: Any, tree: ReadableTree, node: int) -> str:
    """Return how many rows of each class a node has, or how many at all."""
    weight = float(tree.weight[node])
    if not is_classifier(model):
        return f"{weight:.4g} row{'' if weight == 1 else 's'}"
    if weight == 0:
        return "no rows"
    shares = tree.value[node]
    if len(shares) <= FEW_CLASSES:
        return " : ".join(f"{share * weight:.4g}" for share in shares)
    return f"{shares.max():.0%} of {weight:.4g}"


def _name_classes(ax: Axes, model: Any, *, has_cuts: bool) -> None:
    from matplotlib.patches import Patch

    handles = []
    if is_classifier(model):
        n = len(model.classes_)
        handles = [
            Patch(color=class_color(k, n), alpha=0.65, label=str(label)) for k, label in enumerate(model.classes_)
        ]
    if has_cuts:
        handles.append(Patch(facecolor="white", edgecolor=QUIET, linestyle="--", label="cut away"))
    if handles:
        labels = list(getattr(model, "classes_", ()))
        title = f"rows of {' : '.join(map(str, labels))}" if 0 < len(labels) <= FEW_CLASSES else None
        write_legend(ax, handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), title=title)
