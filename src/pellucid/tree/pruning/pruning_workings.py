"""Pruning by hand: from the bottom up each branch against a leaf in its place, or by the price of a leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted
from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.probability.exact_logarithms import Bits
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import Label, class_column, exact_features, exact_number, numbered_table, read_labels
from pellucid.show.notation import Math, Words, fenced, math, over, typed
from pellucid.tree.impurity_workings import rounded

MAX_ROWS = 14
MAX_NODES = 15


@dataclass
class _PrunedNode:
    """A node of the tree with the validation rows that come to it."""

    number: int
    way: tuple[str, ...]
    says: Any
    rows: tuple[int, ...]
    wrong: tuple[int, ...]
    """Rows that it would get wrong as a leaf."""
    children: tuple[_PrunedNode, ...] = ()

    def leaves(self) -> list[_PrunedNode]:
        """Return the leaves below it."""
        return [leaf for child in self.children for leaf in child.leaves()] if self.children else [self]

    def all_nodes(self) -> list[_PrunedNode]:
        """Return this node and all below it."""
        return [self, *(node for child in self.children for node in child.all_nodes())]


def reduced_error_workings(_prune: Any, tree: Any, validation: Data) -> Document:
    """Show how a fitted classification tree is pruned on validation rows, given as ``(X, y)``."""
    check_is_fitted(tree)
    if not is_classifier(tree) or tree.tree_.node_count > MAX_NODES or tree.tree_.n_outputs > 1:
        raise ValueError(
            f"tree must be a classification tree of at most {MAX_NODES} nodes to be pruned by hand, got "
            f"{type(tree).__name__} of {tree.tree_.node_count} nodes."
        )
    if not isinstance(validation, (tuple, list)) or len(validation) != 2:
        raise ValueError("the validation set must be given as (X, y): the third argument of show_work.")
    X, names, _ = exact_features(validation[0], max_rows=MAX_ROWS)
    labels = read_labels(validation[1], X.rows)
    known = names or tuple(map(str, getattr(tree, "feature_names_in_", ())))
    columns = list(known) or (["x"] if X.cols == 1 else ["x" + chr(ord("₁") + j) for j in range(X.cols)])
    root = _read(tree, X, labels, columns)
    n_before = len(root.leaves())
    before = sum(len(leaf.wrong) for leaf in root.leaves())
    opening = _opening(root, X, labels, columns)
    steps, cut = _prune_all(root)
    after = sum(len(leaf.wrong) for leaf in root.leaves())
    last = _last_step(root, before, after, n_before, len(labels))
    answer = {"cut": cut, "errors": after, "n_leaves": len(root.leaves())}
    return Document("Reduced-error pruning", opening, (*steps, last), answer)


def _read(tree: Any, X: Matrix, labels: list[Label], columns: list[str]) -> _PrunedNode:
    """Return the tree with the rows of the validation set in its nodes."""
    arrays = tree.tree_

    def node(number: int, way: tuple[str, ...], rows: tuple[int, ...]) -> _PrunedNode:
        says = tree.classes_[int(np.argmax(arrays.value[number].ravel()))]
        says = says.item() if hasattr(says, "item") else says
        found = _PrunedNode(number, way, says, rows, tuple(i for i in rows if labels[i] != says))
        if arrays.children_left[number] >= 0:
            j, cut = int(arrays.feature[number]), exact_number(float(arrays.threshold[number]), "threshold")[0]
            told = "".join(part if k != 2 or not part else f"/{part}" for k, part in enumerate(typed(cut).spelling))
            left = tuple(i for i in rows if X[i, j] <= cut)
            right = tuple(i for i in rows if X[i, j] > cut)
            found.children = (
                node(int(arrays.children_left[number]), (*way, f"{columns[j]} ≤ {told}"), left),
                node(int(arrays.children_right[number]), (*way, f"{columns[j]} > {told}"), right),
            )
        return found

    return node(0, (), tuple(range(X.rows)))


def _opening(root: _PrunedNode, X: Matrix, labels: list[Label], columns: list[str]) -> tuple[Block, ...]:
    lines = [
        [math(node.number), " and ".join(node.way) or "all rows", str(node.says), "" if node.children else "leaf"]
        for node in root.all_nodes()
    ]
    return (
        sentence(
            "A tree that was grown to the end has learned the noise of its training rows too. Rows that it has not "
            "seen tell which branches are worth keeping: from the bottom up, a branch that makes no fewer errors on "
            "them than a leaf in its place would is cut."
        ),
        table(["node", "rows with", "majority", ""], lines, caption="The tree, as it was grown"),
        numbered_table(X, columns, class_column(labels), caption="The validation rows"),
    )


def _prune_all(root: _PrunedNode) -> tuple[list[Step], list[int]]:
    """Prune from the last node to the first; return a step for each inner node, and the nodes that were cut."""
    steps, cut = [], []
    for node in sorted(root.all_nodes(), key=lambda node: -node.number):
        if not node.children:
            continue
        leaves = node.leaves()
        branch = sum(len(leaf.wrong) for leaf in leaves)
        lines = [
            [math(leaf.number), str(leaf.says), _listed(leaf.rows), _listed(leaf.wrong), math(len(leaf.wrong))]
            for leaf in leaves
        ]
        as_leaf = [
            [f"{node.number} as a leaf", str(node.says), _listed(node.rows), _listed(node.wrong), math(len(node.wrong))]
        ]
        goes = len(node.wrong) <= branch
        if goes:
            cut.append(node.number)
            node.children = ()
        verdict = "cut: the leaf is no worse" if goes else "kept: the leaf would be worse"
        blocks: list[Block] = [
            table(
                ["leaf", "says", "rows", "wrong", "errors"], lines, summary=as_leaf, caption="The branch, and the leaf"
            ),
            formula(Words("errors of the branch"), "=", branch, ",", Words("of the leaf"), "=", len(node.wrong)),
            result(Words(verdict)),
        ]
        if not node.rows:
            blocks.append(
                remark("No validation row comes here: nothing speaks for the branch, so the smaller tree is taken.")
            )
        steps.append(step(f"Node {node.number}: {' and '.join(node.way) or 'all rows'}", *blocks))
    return steps, cut


def _listed(rows: tuple[int, ...]) -> str:
    return ", ".join(str(i + 1) for i in rows) or "none"


def _last_step(root: _PrunedNode, before: int, after: int, n_before: int, n: int) -> Step:
    lines = [
        [math(leaf.number), " and ".join(leaf.way) or "always", str(leaf.says), math(len(leaf.wrong))]
        for leaf in root.leaves()
    ]
    return step(
        "The pruned tree",
        table(["leaf", "if", "then", "errors"], lines),
        sentence(
            f"{len(root.leaves())} of {n_before} leaves are left. Of the {n} validation rows {after} are wrong, "
            f"{before} before."
        ),
        remark(
            "The validation rows have now been used to choose: how well the tree does on new rows must be measured on "
            "others."
        ),
    )


TIED = 1e-12


@dataclass(frozen=True)
class Link:
    """An inner node: its own share of the impurity, that of the leaves below it, how many these are, its strength."""

    node: Any
    own: Any
    below: Any
    n_leaves: int

    @property
    def strength(self) -> Any:
        """What its branch takes from the impurity, per leaf it costs."""
        fall = self.own - self.below
        factor = Rational(1, self.n_leaves - 1)
        return fall.times(factor) if isinstance(fall, Bits) else fall * factor


def pruning_steps(root: Any, share: dict[int, Any], price: Rational) -> tuple[list[Step], list[Any], set[int]]:
    """Return a step for each cut of the weakest link, the prices, from 0 on, and the nodes cut up to one price.

    ``share`` holds the impurity of each node times its share of all rows.
    """
    cut: set[int] = set()
    chosen: set[int] = set()
    steps, prices = list[Step](), [Rational(0)]
    links = _links(root, share, cut)
    if not links:
        return [], prices, chosen
    while links:
        least = min(float(link.strength) for link in links)
        weakest = next(link for link in links if float(link.strength) <= least + TIED)
        prices.append(weakest.strength.expression if isinstance(weakest.strength, Bits) else weakest.strength)
        steps.append(_round(len(steps) + 1, links, weakest, least))
        cut.add(weakest.node.number)
        if price and least <= float(price) + TIED:
            chosen = set(cut)
        links = _links(root, share, cut)
    if price:
        steps.append(_choice_step(root, share, chosen, price))
    return steps, prices, chosen


def _choice_step(root: Any, share: dict[int, Any], chosen: set[int], price: Rational) -> Step:
    """Return which of the trees a price picks: the one whose cuts were all worth it."""
    n_leaves = max((link.n_leaves for link in _links(root, share, chosen)), default=1)
    which = ", ".join(map(str, sorted(chosen)))
    words = (
        f"No link is as weak as that: the whole tree is kept, with {n_leaves} leaves."
        if not chosen
        else f"All links up to that price go, those of node{'' if len(chosen) == 1 else 's'} {which}: "
        f"{n_leaves} {'leaf is' if n_leaves == 1 else 'leaves are'} left."
    )
    return step(
        "The tree that ccp_alpha picks",
        sentence("The price of a leaf is set to ", math("α =", typed(price)), ". ", words),
        result(Words("leaves"), "=", n_leaves),
    )


def _links(root: Any, share: dict[int, Any], cut: set[int]) -> list[Link]:
    """Return the inner nodes that are left, in the order of their numbers."""
    found: list[Link] = []

    def below(node: Any) -> tuple[Any, int]:
        if not node.children or node.number in cut:
            return share[node.number], 1
        place = len(found)
        found.append(None)  # type: ignore[arg-type]  # its place, before those below it
        sums = [below(child) for child in node.children]
        total, n_leaves = sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]
        found[place] = Link(node, share[node.number], total, n_leaves)
        return total, n_leaves

    below(root)
    return found


def _round(number: int, links: list[Link], weakest: Link, least: float) -> Step:
    blocks: list[Block] = []
    if number == 1:
        blocks += [
            sentence(
                "If a leaf costs ",
                math("α"),
                ", a branch is worth keeping only while it lowers the impurity by more than its leaves cost. With ",
                math("R", fenced("t")),
                " the impurity of a node times its share of the rows, and ",
                math("R", fenced("T")),
                " the sum over the ",
                math("ℓ"),
                " leaves below it, the branch goes when ",
                math("α"),
                " reaches",
            ),
            formula("g =", over(math("R", fenced("t"), "−", "R", fenced("T")), "ℓ − 1")),
        ]
    rows = [
        [math(link.node.number), _told(link.own), _told(link.below), math(link.n_leaves), _told(link.strength)]
        for link in links
    ]
    head = ["node", math("R", fenced("t")), math("R", fenced("T")), "leaves", math("g")]
    blocks.append(table(head, rows, caption="Branches that are left"))
    if sum(float(link.strength) <= least + TIED for link in links) > 1:
        blocks.append(remark("Several are equally weak: the one with the lowest number goes first."))
    last = weakest.node.number == 0
    blocks.append(result("α =", _told(weakest.strength)))
    words = (
        "The root becomes a leaf: at this price the whole tree is not worth its leaves."
        if last
        else f"At this price node {weakest.node.number} becomes a leaf."
    )
    return step(f"Weakest link {number}", *blocks, sentence(words))


def _told(value: Any) -> Math:
    return rounded(value) if isinstance(value, Bits) else math(value)
