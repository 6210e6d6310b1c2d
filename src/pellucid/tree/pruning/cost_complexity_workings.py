"""The price of a leaf by hand: which branch of a small tree is cut first, and at what price, until the root is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Rational

from pellucid.probability.exact_logarithms import Bits
from pellucid.show.document import Block, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import Math, fenced, math, over
from pellucid.tree.impurity_workings import rounded

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


def pruning_steps(root: Any, share: dict[int, Any]) -> tuple[list[Step], list[Any]]:
    """Return a step for each cut of the weakest link, and the prices, from 0 on.

    ``share`` holds the impurity of each node times its share of all rows.
    """
    cut: set[int] = set()
    steps, prices = list[Step](), [Rational(0)]
    links = _links(root, share, cut)
    if not links:
        return [], prices
    while links:
        least = min(float(link.strength) for link in links)
        weakest = next(link for link in links if float(link.strength) <= least + TIED)
        prices.append(weakest.strength.expression if isinstance(weakest.strength, Bits) else weakest.strength)
        steps.append(_round(len(steps) + 1, links, weakest, least))
        cut.add(weakest.node.number)
        links = _links(root, share, cut)
    return steps, prices


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
