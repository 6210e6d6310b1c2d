"""The picture of a tree: questions from left to right, yes above no, answers at the right edge."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from pellucid.bake_off.tree_story import StoryNode

ROW, COLUMN, BOX = 46, 178, 154
"""Height of a leaf, width of a level, width of a question, in pixels."""
MARGIN = 8
ANSWER = 185
LONGEST = 24
"""Letters of a question that fit into its box; the whole is shown on pointing at it."""


def tree_picture(nodes: Sequence[StoryNode]) -> Markup:
    """Return a tree as inline SVG that takes its colors from the page."""
    depth, height = _places(nodes)
    levels = max(depth)
    width = levels * COLUMN + ANSWER + 2 * MARGIN
    n_leaves = sum(not node.question for node in nodes)
    largest = nodes[0].rows
    parts = [_edges(nodes, depth, height), *(_box(node, depth[i], height[i], largest) for i, node in enumerate(nodes))]
    view = f"0 0 {width} {n_leaves * ROW + 2 * MARGIN}"
    return Markup('<svg class="tree" viewBox="{}" width="{}" role="img">{}</svg>').format(
        view, width, Markup("").join(parts)
    )


def _places(nodes: Sequence[StoryNode]) -> tuple[list[int], list[float]]:
    """Return the level of each node and its height: leaves one below the other, others half way between theirs."""
    depth, height = [0] * len(nodes), [0.0] * len(nodes)
    n_leaves = 0

    def visit(i: int, level: int) -> None:
        nonlocal n_leaves
        depth[i] = level
        if not nodes[i].question:
            height[i] = MARGIN + ROW * (n_leaves + 0.5)
            n_leaves += 1
            return
        visit(nodes[i].yes, level + 1)
        visit(nodes[i].no, level + 1)
        height[i] = (height[nodes[i].yes] + height[nodes[i].no]) / 2

    visit(0, 0)
    return depth, height


def _edges(nodes: Sequence[StoryNode], depth: Sequence[int], height: Sequence[float]) -> Markup:
    parts = []
    for i, node in enumerate(nodes):
        if not node.question:
            continue
        x, y = MARGIN + depth[i] * COLUMN + BOX, height[i]
        for child, word, shift in ((node.yes, "yes", -5), (node.no, "no", 13)):
            end_x, end_y = MARGIN + depth[child] * COLUMN, height[child]
            middle = (x + end_x) / 2
            parts.append(
                Markup(
                    '<path d="M{} {} C{} {} {} {} {} {}" fill="none" stroke="var(--soft)" stroke-width="1"/>'
                    '<text x="{}" y="{}" class="way">{}</text>'
                ).format(x, y, middle, y, middle, end_y, end_x, end_y, end_x - 4, end_y + shift, word)
            )
    return Markup("").join(parts)


def _box(node: StoryNode, level: int, y: float, largest: float) -> Markup:
    x = MARGIN + level * COLUMN
    if node.question:
        short = node.question if len(node.question) <= LONGEST else f"{node.question[: LONGEST - 1].rstrip()}…"
        return Markup(
            '<g><title>{}</title><rect x="{}" y="{}" width="{}" height="28" rx="5" class="question"/>'
            '<text x="{}" y="{}" text-anchor="middle">{}</text></g>'
        ).format(node.question, x, y - 14, BOX, x + BOX / 2, y + 4, short)
    share = "" if node.share is None else f", {100 * node.share:.0f} %"
    bar = max(2.0, 90 * node.rows / largest)
    return Markup(
        '<g><rect x="{}" y="{}" width="{}" height="5" class="weight"/>'
        '<text x="{}" y="{}"><tspan font-weight="600">{}</tspan>{} of {:,} rows</text></g>'
    ).format(x, y + 8, f"{bar:.1f}", x, y + 3, escape(node.answer), share, round(node.rows))
