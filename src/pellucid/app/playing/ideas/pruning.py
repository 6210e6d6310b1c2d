"""A tree that loses its weakest link again and again, until one leaf is left; rows held out say where to stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.model_selection import train_test_split

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recorded_fit import perform_stages
from pellucid.app.playing.stages import ANSWER, FitStage, Report, shown_not_warned
from pellucid.core.kinds.plain import Number, OneOf, Whole
from pellucid.core.types import Array


def perform_pruning(
    data: GivenData,
    report: Report | None = None,
    *,
    criterion: str = "gini",
    max_depth: int = 6,
    held_out: float = 0.3,
    random_state: int = 0,
) -> Performance:
    """Grow a tree and prune it by cost and complexity.

    Parameters
    ----------
    criterion : {"gini", "entropy"}, default="gini"
        What a split is to reduce.
    max_depth : int, default=6
        Levels of the tree before it is pruned.
    held_out : float, default=0.3
        Share of the rows that the tree does not see: their error says how far to prune.
    random_state : int, default=0
        Seed of the split of the rows.
    """
    from pellucid.tree import DecisionTreeClassifier

    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    learn, left, y_learn, y_left = train_test_split(X, y, test_size=held_out, random_state=random_state)
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=max_depth, random_state=0)
    with shown_not_warned():
        prices = np.unique(np.asarray(tree.cost_complexity_pruning_path(learn, y_learn).ccp_alphas))
        whole = tree.fit(learn, y_learn)
        stages = []
        for k, price in enumerate(prices.tolist()):
            model = DecisionTreeClassifier(**{**tree.get_params(), "ccp_alpha": price}).fit(learn, y_learn)
            errors = [float(np.mean(model.predict(rows) != told)) for rows, told in ((learn, y_learn), (left, y_left))]
            leaves = int(model.trees_.is_leaf.sum())
            measured = {"alpha": price, "leaves": leaves, "training error": errors[0], "held out error": errors[1]}
            known = {"whole": whole, "is_split": kept_splits(whole, model), "measured": measured}
            label = f"alpha = {price:.3g}, {leaves} {'leaf' if leaves == 1 else 'leaves'}"
            stages.append(FitStage(label, model, None, known, k + 1))
            if report is not None:
                report(k + 1, label, 0.0)
    best = min(stages, key=lambda stage: (stage.known["measured"]["held out error"], stage.known["measured"]["leaves"]))
    stages.append(FitStage(ANSWER, best.model, None, best.known))
    alpha = best.known["measured"]["alpha"]
    return perform_stages(
        stages,
        replace(data, X=learn, y=y_learn),
        title="Pruning a tree",
        python=_python(data, best.model, held_out, random_state, alpha),
    )


def kept_splits(whole: object, pruned: object) -> Array:
    """Return which nodes of the whole tree are still split in the pruned one."""
    before, after = whole.trees_, pruned.trees_  # type: ignore[attr-defined]
    is_split = np.zeros(before.n_nodes, dtype=bool)
    waiting = [(0, 0)]
    while waiting:
        old, new = waiting.pop()
        if after.is_leaf[new]:
            continue
        is_split[old] = True
        waiting.append((int(before.children_left[old]), int(after.children_left[new])))
        waiting.append((int(before.children_right[old]), int(after.children_right[new])))
    return is_split


def _python(data: GivenData, model: object, held_out: float, random_state: int, alpha: float) -> str:
    return (
        "from sklearn.model_selection import train_test_split\n\n"
        "from pellucid.app.playing import read_data\nfrom pellucid.tree import DecisionTreeClassifier\n\n"
        f"{data.loading}\n"
        "X, held_out, y, told = train_test_split("
        f"data.X, data.y, test_size={held_out}, random_state={random_state})\n"
        f"model = {model!r}\nprint(model.cost_complexity_pruning_path(X, y).ccp_alphas)\n"
        f"model.fit(X, y)  # alpha = {alpha:.4g} has the least error of the rows held out\n"
        "print(model.score(held_out, told))\nprint(model.certificate_)\n"
    )


PRUNING = idea(
    "pruning",
    "Pruning a tree",
    perform_pruning,
    {
        "criterion": OneOf(("gini", "entropy")),
        "max_depth": Whole(low=1, high=12),
        "held_out": Number(above=0, below=1),
        "random_state": Whole(low=0, high=2**32 - 1),
    },
    first={"set": "moons", "rows": 300},
    wants="classes",
)
