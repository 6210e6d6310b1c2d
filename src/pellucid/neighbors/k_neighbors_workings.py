"""The nearest neighbors by hand: found with a kd-tree, ties settled by the rule, then a vote or a mean."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_regressor
from sympy import Matrix, Rational

from pellucid.core.checks import check_whole
from pellucid.core.types import Data
from pellucid.neighbors.kd_tree_workings import (
    BoxSearch,
    build_step,
    build_tree,
    distance,
    search_step,
    search_tree,
    tree_figure,
)
from pellucid.show.decisions import read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import MAX_CELLS, ExactData, exact_features, exact_number
from pellucid.show.notation import Math, matrix, over, root, total, typed
from pellucid.show.notation import math as notate

if TYPE_CHECKING:
    from pellucid.neighbors.k_neighbors_classifier import KNeighborsClassifier
    from pellucid.neighbors.k_neighbors_regressor import KNeighborsRegressor

LEAF_ROWS = 2
"""A person stops splitting later than a program: at this many rows, or at ``leaf_size`` if that is less."""
NAMED_POWERS = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": math.inf}


def k_neighbors_workings(
    estimator: KNeighborsClassifier | KNeighborsRegressor, X: Data, y: Data, query: Data = None, new: Data = None
) -> Document:
    """Show how one query is answered, by default the mean of the rows: a vote, or for a regressor a mean.

    ``answer`` holds the indices of the neighbors (from 0), how many nodes were visited, and the prediction. Of ``new``
    rows each is a query, and the answer has a list for each.
    """
    features, names, rounded = exact_features(X, max_cells=MAX_CELLS)
    targets = _targets(y, features.rows)
    power, k = _power(estimator), _count(estimator, features.rows)
    inverse = _is_inverse(estimator, power)
    data = ExactData(features, Matrix([0] * features.rows), names, rounded)
    points = read_new(new, features.cols) if new is not None else [_point(query, features)]
    tree = build_tree(features, min(LEAF_ROWS, int(estimator.leaf_size)))
    regress = is_regressor(estimator)
    steps, found = [build_step(tree, data)], []
    for i, point in enumerate(points):
        search = search_tree(tree, features, point, k, power)
        predicted, last = (_mean_step if regress else _vote_step)(search, targets, inverse)
        own = [search_step(search, tree, features.rows), _neighbors_step(search, data, targets, point), last]
        if data.n_features == 2:
            own.insert(0, step("Draw it", tree_figure(tree, data, point)))
        if new is not None:
            asked = sentence("The query is ", notate("q =", matrix([point])), ".")
            own[0] = replace(own[0], blocks=(asked, *own[0].blocks))
            own = [replace(one, heading=f"New row {i + 1}: {one.heading}") for one in own]
        steps += own
        found.append({"neighbors": [i for _, i in search.found], "visited": search.visited, "predicted": predicted})
    answer = found[0] if new is None else {name: [one[name] for one in found] for name in found[0]}
    title = "Regression by the nearest neighbors" if regress else "Classification by the nearest neighbors"
    opening = _opening(data, targets, points[0] if len(points) == 1 else None, k, power, new is None and query is None)
    return Document(title, opening, tuple(steps), answer)


def _targets(y: Data, n: int) -> list[Any]:
    if y is None:
        raise ValueError("y must be given, got None. Pass the target of every row as the third argument.")
    targets = np.asarray(y)
    targets = targets[:, 0] if targets.ndim == 2 and targets.shape[1] == 1 else targets
    if targets.shape != (n,):
        raise ValueError(f"y must have one target for each of the {n} rows of X, got shape {targets.shape}.")
    return list(targets.tolist())


def _power(estimator: KNeighborsClassifier | KNeighborsRegressor) -> float:
    name = estimator.metric
    power = estimator.p if name == "minkowski" else NAMED_POWERS.get(name) if isinstance(name, str) else None
    if power not in (1, 2, math.inf) or estimator.metric_params:
        raise ValueError(
            f"metric must be the Minkowski metric with p = 1, 2 or infinity to show the work, got metric={name!r} and "
            f"p={estimator.p!r}. The other steps are not written down."
        )
    return float(power)


def _count(estimator: KNeighborsClassifier | KNeighborsRegressor, n: int) -> int:
    check_whole(n_neighbors=estimator.n_neighbors)
    if estimator.n_neighbors > n:
        raise ValueError(f"n_neighbors must be at most {n}, the number of rows, got {estimator.n_neighbors}.")
    return int(estimator.n_neighbors)


def _is_inverse(estimator: KNeighborsClassifier | KNeighborsRegressor, power: float) -> bool:
    if estimator.weights in (None, "uniform"):
        return False
    if not isinstance(estimator.weights, str) or estimator.weights != "distance" or power == 2.0:
        raise ValueError(
            f"weights must be 'uniform', or 'distance' with p = 1 or infinity, to show the work in fractions, got "
            f"{estimator.weights!r}. Roots and exponentials are no fractions."
        )
    return True


def _point(query: Data, X: Matrix) -> list[Rational]:
    if query is None:
        return [sum(X.col(j), Rational(0)) / X.rows for j in range(X.cols)]
    values = np.asarray(query).ravel().tolist()
    if len(values) != X.cols:
        raise ValueError(f"query must have {X.cols} features, got {len(values)}.")
    return [exact_number(value, "query")[0] for value in values]


def _opening(
    data: ExactData, targets: list[Any], point: list[Rational] | None, k: int, power: float, middle: bool
) -> tuple[Block, ...]:
    shown = [value if isinstance(value, str) else _typed(value) for value in targets]
    distances = {
        2.0: "squared Euclidean distances: the root would not change who is nearer",
        1.0: "sums of absolute differences",
    }
    return (
        sentence(
            f"Find the {'row' if k == 1 else f'{k} rows'} nearest to ",
            *(["the query ", notate("q =", matrix([point]))] if point else ["each new row"]),
            ", the mean of the rows." if middle else ".",
            f" We compare {distances.get(power, 'the largest absolute differences')}.",
        ),
        *data.opening((notate("y"), shown)),
    )


def _typed(value: Any) -> Math | str:
    try:
        return typed(exact_number(value, "y")[0])
    except ValueError:
        return str(value)


def _neighbors_step(search: BoxSearch, data: ExactData, targets: list[Any], point: list[Rational]) -> Step:
    is_square = search.power == 2.0
    rows = [
        [notate(i + 1), notate(d), *([notate(root(d))] if is_square else []), _typed(targets[i])]
        for d, i in search.found
    ]
    heads = ["squared distance", "distance"] if is_square else ["distance"]
    blocks: list[Block] = [table(["row", *heads, notate("y")], rows, caption="The nearest rows, nearest first")]
    reach, found = search.found[-1][0], {i for _, i in search.found}
    tied = [
        i + 1
        for i in range(data.n_samples)
        if i not in found and distance([data.X[i, j] - point[j] for j in range(data.n_features)], search.power) == reach
    ]
    if tied:
        others = ", ".join(map(str, tied))
        blocks.append(
            remark(
                f"Row {others} is as near as row {search.found[-1][1] + 1}: of equal distances the lower number wins."
            )
        )
    return step("Read off the neighbors", *blocks)


def _weights(search: BoxSearch, inverse: bool) -> list[Rational]:
    distances = [d for d, _ in search.found]
    if not inverse:
        return [Rational(1)] * len(distances)
    if min(distances) == 0:
        return [Rational(int(d == 0)) for d in distances]
    return [1 / Rational(d) for d in distances]


def _vote_step(search: BoxSearch, targets: list[Any], inverse: bool) -> tuple[Any, Step]:
    classes = list(np.unique(targets).tolist())
    votes = {name: Rational(0) for name in classes}
    for (_, i), weight in zip(search.found, _weights(search, inverse), strict=True):
        votes[targets[i]] += weight
    cast = sum(votes.values(), Rational(0))
    best = max(votes.values())
    winners = [name for name in classes if votes[name] == best]
    rows = [[str(name), notate(votes[name]), notate(votes[name] / cast)] for name in classes]
    blocks: list[Block] = [
        sentence("Each neighbor gives its class " + ("one over its distance:" if inverse else "one vote:")),
        table(["class", "votes", "share"], rows),
        sentence(f"The query is classified as {winners[0]}."),
    ]
    if len(winners) > 1:
        tied = " and ".join(map(str, winners))
        blocks.append(remark(f"The votes for {tied} are equal: the class that comes first in sorted order wins."))
    return winners[0], step("Vote", *blocks)


def _mean_step(search: BoxSearch, targets: list[Any], inverse: bool) -> tuple[Rational, Step]:
    weights = _weights(search, inverse)
    values = [exact_number(targets[i], "y")[0] for _, i in search.found]
    terms = [w * v for w, v in zip(weights, values, strict=True)]
    mean = sum(terms, Rational(0)) / sum(weights, Rational(0))
    words = (
        "Weigh each target with one over the distance:" if inverse else "The prediction is the mean of their targets:"
    )
    blocks: list[Block] = [sentence(words), formula("ŷ =", over(total(terms), total(weights))), result("ŷ =", mean)]
    return mean, step("Take the mean", *blocks)
