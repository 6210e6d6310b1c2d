"""A single tree as a layer: the nodes that it has at a stage."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pellucid.app.playing.layers import Layer, TreeLayer
from pellucid.app.playing.stages import FitStage
from pellucid.app.playing.views.scene import FitScene

MOST_LEAVES = 40
"""A larger tree cannot be read."""
DEVIATIONS = 2.0
"""An ellipse holds the places within so many deviations, an arrow is as long."""


def grown_tree(scene: FitScene, stage: FitStage) -> list[Layer]:
    """Return the nodes that a single tree has at a stage, where they stand in the grown tree."""
    from pellucid.plots.tree_plot import tree_layout
    from pellucid.tree.explaining.rules_in_words import readable_tree

    whole = stage.known.get("whole", scene.model)
    trees: Any = getattr(whole, "trees_", None)
    if getattr(trees, "n_trees", 0) != 1 or trees.value.shape[1] != 1 or trees.is_leaf.sum() > MOST_LEAVES:
        return []
    tree = readable_tree(whole, scene.names)
    layout = tree_layout(tree, np.zeros(len(tree.branches), dtype=bool), None)
    is_split = stage.known.get("is_split", np.array([bool(branches) for branches in tree.branches]))
    nodes: list[dict[str, Any]] = []
    waiting: list[tuple[int, int | None]] = [(0, None)]
    while waiting:
        node, parent = waiting.pop(0)
        own = len(nodes)
        nodes.append(_node(whole, tree, layout, node, parent, is_split=bool(is_split[node])))
        waiting += [(child, own) for child, _ in tree.branches[node]] if is_split[node] else []
    return [TreeLayer(nodes)]


def _node(model: Any, tree: Any, layout: Any, node: int, parent: int | None, *, is_split: bool) -> dict[str, Any]:
    is_class = is_classifier(model)
    best = int(np.argmax(tree.value[node])) if is_class else None
    says = str(model.classes_[best]) if is_class else f"{float(tree.value[node][0]):.4g}"
    return {
        "x": (layout.x[node] + 0.5) / (layout.x.max() + 1),
        "y": 1 - (layout.depth[node] + 0.5) / (layout.depth.max() + 1),
        "text": f"{tree.branches[node][0][1]}?" if is_split else says,
        "parent": parent,
        "class": best,
    }
