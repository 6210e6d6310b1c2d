"""A tree as a drawing of a few lines: what each node asks, where its answers lead, and what leaves say."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from pellucid.show.document import Drawing

LETTER, LINE = 7.3, 17
"""Room for a letter of even width, and for a line."""


@dataclass(frozen=True)
class DrawnNode:
    """What stands at a node, and its branches: each an answer and the node that it leads to."""

    text: str
    branches: tuple[tuple[str, DrawnNode], ...] = ()

    def lines(self) -> list[str]:
        """Return the node and all below it, a line for each."""
        found = [self.text]
        for k, (answer, node) in enumerate(self.branches):
            is_last = k == len(self.branches) - 1
            first, *others = node.lines()
            found.append(f"{'└' if is_last else '├'}─ {answer}: {first}")
            found += [f"{' ' if is_last else '│'}  {line}" for line in others]
        return found


def drawn_tree(root: DrawnNode, caption: str) -> Drawing:
    """Return the drawing of a tree, the root above.

    Examples
    --------
    >>> print(drawn_tree(DrawnNode("wind?", (("weak", DrawnNode("yes")), ("strong", DrawnNode("no")))), "A tree").text)
    wind?
    ├─ weak: yes
    └─ strong: no
    """
    lines = root.lines()
    wide, high = round(LETTER * max(map(len, lines)) + 16), LINE * len(lines) + 12
    texts = "".join(
        f'<text x="8" y="{LINE * (k + 1)}" xml:space="preserve" fill="currentColor">{escape(line)}</text>'
        for k, line in enumerate(lines)
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img"'
        f' font-family="monospace" font-size="12"><title>{escape(caption)}</title>{texts}</svg>'
    )
    return Drawing("\n".join(lines), svg, caption)
