"""How each method becomes an exercise: what is asked of a student, how its data are drawn, what is left out.

A recipe is a sentence, a function that draws a problem, and a few words on how its workings are read. What is asked,
and what is right, comes from the workings themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from random import Random
from typing import Any

from pellucid.core.card_index import entries, hyphened
from pellucid.core.cards import find_card
from pellucid.core.input_rules import NO_TARGET, NUMBERS
from pellucid.exercises.drawn_data import (
    Row,
    box,
    counts,
    cross,
    mixed_groups,
    numbers,
    points,
    rectangle,
    spread_out,
    two_groups,
    weather,
)
from pellucid.show.document import Document
from pellucid.show.showing import work_by_hand


@dataclass(frozen=True)
class DrawnProblem:
    """What ``show_work`` is given, and what a student is told of the settings."""

    shown: Any
    given: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)

    def work(self) -> Document:
        """Return the workings, without a comparison with the program."""
        return work_by_hand(self.shown, *self.given, **self.options)


def _any(_work: Document) -> bool:
    return True


@dataclass(frozen=True)
class ExerciseRecipe:
    """How an exercise on one method is made."""

    task: str
    draw: Callable[[Random, int], DrawnProblem]
    skip: tuple[str, ...] = ()
    """Beginnings of the headings of steps that are not asked for."""
    most_steps: int = 6
    """Steps asked for: the first ones."""
    hides_headings: bool = False
    """Whether headings of the workings tell results."""
    told_by_headings: Mapping[str, str] = field(default_factory=dict)
    """Beginnings of headings, and what the rest of them tells, which is asked for as well."""
    empty_columns: int = 0
    """How many last columns of the tables of a step are asked for; the others are given, as nobody could know them."""
    given: tuple[str, ...] = ()
    """Names of what a step writes down but does not find out."""
    directions: tuple[str, ...] = ()
    """Letters of results that are directions: minus one is the same."""
    largest_denominator: int = 100
    rounded: bool = False
    """Whether its numbers are no fractions, so that decimals are asked for."""
    about_ties: bool = False
    """Whether a tie may occur: the workings say by which rule it is settled."""
    accept: Callable[[Document], bool] = _any
    """What else makes a solution clean."""


UNTOLD = ("init", "random_state", "shuffle")
"""Settings that the workings write down themselves, or that a student has no use for."""


@dataclass(frozen=True)
class Drawn:
    """Rows, their target if there is one, settings that were drawn with them, and options of the workings."""

    X: Any
    y: Any = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def _fit(
    name: str,
    task: str,
    data: Callable[[Random, int], Drawn],
    settings: Mapping[str, Any] | None = None,
    silent: Mapping[str, Any] | None = None,
    **more: Any,
) -> tuple[str, ExerciseRecipe]:
    """Return the name and the recipe of an estimator; students are told its settings, but for the silent ones."""

    def draw(rng: Random, level: int) -> DrawnProblem:
        drawn = data(rng, level)
        all_settings = {**(silent or {}), **(settings or {}), **drawn.settings}
        told = {key: value for key, value in all_settings.items() if key not in {*(silent or {}), *UNTOLD}}
        card: Any = find_card(name)
        given = tuple(part for part in (drawn.X, drawn.y) if part is not None)
        return DrawnProblem(card.estimator(**all_settings), given, drawn.options, told)

    return entries()[name].command_name, ExerciseRecipe(task, draw, **more)


def _topic(name: str, task: str, data: Callable[[Random, int], Drawn], **more: Any) -> tuple[str, ExerciseRecipe]:
    """Return the name and the recipe of a topic, which takes what is drawn."""

    def draw(rng: Random, level: int) -> DrawnProblem:
        drawn = data(rng, level)
        given = tuple(part for part in (drawn.X, drawn.y) if part is not None)
        return DrawnProblem(name, given, drawn.options, drawn.settings)

    return name.replace(" ", "-"), ExerciseRecipe(task, draw, **more)


def _walk(name: str, settings: Mapping[str, Any] | None = None, **more: Any) -> tuple[str, ExerciseRecipe]:
    """Return the name and the recipe of a method that minimizes a quadratic function."""

    def draw(rng: Random, level: int) -> DrawnProblem:
        a, b, c = rng.randint(1, 3), rng.randint(1, 3), rng.choice((0, 0, 1)) if level > 1 else 0
        function = f"{a}*x**2 + {b}*y**2" + (" + x*y" if c else "")
        start = [rng.choice((-2, -1, 1, 2)), rng.choice((-2, -1, 1, 2))]
        method = getattr(import_module("pellucid.optimize"), name)(**(settings or {}))
        return DrawnProblem(method, (function, start), {"steps": min(level, 2) + 1}, settings or {})

    task = f"Work the first steps of {hyphened(name).replace('-', ' ')} by hand."
    return hyphened(name), ExerciseRecipe(task, draw, **more)


def _density(name: str, task: str, data: Callable[[Random, int], Any], **more: Any) -> tuple[str, ExerciseRecipe]:
    """Return the name and the recipe of a density, or of a measure of information."""

    def draw(rng: Random, level: int) -> DrawnProblem:
        return DrawnProblem(getattr(import_module("pellucid.probability"), name), (data(rng, level),))

    return hyphened(name).replace("_", "-"), ExerciseRecipe(task, draw, **more)


def _regression(columns: tuple[int, int, int] = (1, 1, 2), high: int = 6, half: bool = False) -> Callable[..., Drawn]:
    """Return what draws rows and a number for each; with ``half``, numbers that are not all whole."""

    def data(rng: Random, level: int) -> Drawn:
        n, d = (4, 4, 5)[level - 1], columns[level - 1]
        X = spread_out(rng, n) if d == 1 else points(rng, n, d, 0, high)
        y: list[Any] = numbers(rng, n)
        return Drawn(X, [value + 0.5 for value in y] if half else y)

    return data


def _points(sizes: tuple[int, int, int] = (5, 6, 7), columns: int = 2, high: int = 6) -> Callable[..., Drawn]:
    return lambda rng, level: Drawn(points(rng, sizes[level - 1], columns, 0, high))


def _classes(
    draw: Callable[..., Any] = two_groups, sizes: tuple[int, int, int] = (2, 3, 3), columns: int = 2, **more: Any
) -> Callable[..., Drawn]:
    return lambda rng, level: Drawn(*draw(rng, sizes[level - 1], columns, **more))


def _asked_about(data: Callable[..., Drawn], high: int = 5, name: str = "new") -> Callable[..., Drawn]:
    """Return what draws a row to decide about as well."""

    def more(rng: Random, level: int) -> Drawn:
        drawn = data(rng, level)
        row = [rng.randint(0, high) for _ in drawn.X[0]]
        return Drawn(drawn.X, drawn.y, drawn.settings, {name: [row] if name == "new" else row})

    return more


def _k_means(rng: Random, level: int) -> Drawn:
    X = points(rng, (5, 6, 7)[level - 1])
    return Drawn(X, settings={"n_clusters": 2, "init": [list(row) for row in rng.sample(X, 2)]})


def _k_neighbors(rng: Random, level: int) -> Drawn:
    X, y = mixed_groups(rng, (3, 4, 5)[level - 1])
    return Drawn(X, y, {"n_neighbors": 3}, {"query": [rng.randint(0, 5), rng.randint(0, 5)]})


def _k_neighbors_numbers(rng: Random, level: int) -> Drawn:
    drawn = _k_neighbors(rng, level)
    return Drawn(drawn.X, numbers(rng, len(drawn.X)), drawn.settings, drawn.options)


def _multinomial(rng: Random, level: int) -> Drawn:
    words = (2, 3, 3)[level - 1]
    X, y = counts(rng, (4, 4, 5)[level - 1], words)
    return Drawn(X, y, {"alpha": 1}, {"new": [max(points(rng, 2, words, 0, 2))]})


def _bernoulli(rng: Random, level: int) -> Drawn:
    words = (2, 2, 3)[level - 1]
    X, y = counts(rng, (4, 5, 6)[level - 1], words, 1)
    return Drawn(X, y, {"alpha": 1}, {"new": [[rng.randint(0, 1) for _ in range(words)]]})


def _categories(rng: Random, level: int) -> Drawn:
    columns = (1, 2, 2)[level - 1]
    X, y = counts(rng, (5, 6, 7)[level - 1], columns, 2)
    return Drawn(X, y, {"alpha": 1}, {"new": [list(rng.choice(X))]})


def _weather(rng: Random, level: int) -> Drawn:
    return Drawn(*weather(rng, (5, 6, 8)[level - 1], (2, 2, 3)[level - 1]))


def _mixed(rng: Random, level: int) -> Drawn:
    X, y = two_groups(rng, (2, 3, 3)[level - 1], 1, 3)
    return Drawn(X, y, options={"new": [[rng.randint(0, 5)]]})


def _given_densities(rng: Random, level: int) -> Drawn:
    kind: Any = import_module("pellucid.probability").Gaussian
    m, n = rng.sample(range(5), 2)
    X = [[value] for value in rng.sample(range(5), level + 1)]
    return Drawn(X, (["a", "b"] * level)[: level + 1], {"densities": {"a": kind(m, 1), "b": kind(n, 1)}})


def _axes(rng: Random, level: int) -> Drawn:
    """Return points whose axes and variances are fractions."""
    return Drawn(cross(rng, ((1, 0), (3, 4), (4, 3))[level - 1]))


def _corners(rng: Random, level: int) -> Drawn:
    return Drawn(rectangle(rng, ((1, 0), (0, 1), (3, 4))[level - 1]))


def _singular(rng: Random, level: int) -> Drawn:
    """Return a matrix whose singular values are whole: its rows are at right angles, and of whole lengths."""
    long, short = sorted(rng.sample((1, 2, 3), 2), reverse=True)
    u, v = rng.choice(((3, 4), (4, 3)))
    rows = ([[0, long], [short, 0]], [[long * u, long * v], [-short * v, short * u]])[min(level, 2) - 1]
    rng.shuffle(rows)
    return Drawn(rows if level < 3 else [list(column) for column in zip(*rows, strict=True)])


def _matrix(rng: Random, level: int) -> Drawn:
    rows, columns = ((2, 2), (2, 3), (3, 2))[level - 1]
    return Drawn([[rng.randint(1, 4) for _ in range(columns)] for _ in range(rows)])


def _ranked(rng: Random, level: int) -> Drawn:
    return Drawn(points(rng, (3, 3, 4)[level - 1], 2, 0, 4), rng.sample(range(1, 5), (3, 3, 4)[level - 1]))


def _on_a_line(rng: Random, level: int) -> Drawn:
    """Return four places on a line whose squared distances from their mean add up to a square: 49 + 1 + 1 + 49."""
    start, unit = rng.randint(0, 9), rng.randint(1, level)
    places = [[start + unit * x] for x in (0, 3, 4, 7)]
    rng.shuffle(places)
    return Drawn(places)


def _network(rng: Random, level: int) -> Drawn:
    units = (1, 2, 2)[level - 1]
    weights = [_grid(rng, 2, units, -2, 3), _grid(rng, units, 1, -2, 3)]
    biases = [numbers(rng, units, -1, 1), numbers(rng, 1, -1, 1)]
    told = {"W_1": weights[0], "W_2": weights[1], "b_1": biases[0], "b_2": biases[1]}
    return Drawn(weights, biases, told, {"x": numbers(rng, 2, 1, 3)})


def _scored(rng: Random, level: int) -> Drawn:
    n = 3 + level
    scores = sorted((value / 10 for value in rng.sample(range(1, 10), n)), reverse=True)
    return Drawn(scores, ["yes", "no", *(rng.choice(("yes", "no")) for _ in range(n - 2))])


def _two_orders(rng: Random, level: int) -> Drawn:
    n = 2 + level
    return Drawn(rng.sample(range(1, 9), n), rng.sample(range(1, n + 1), n))


def _detections(rng: Random, level: int) -> Drawn:
    hits = [1, 0, *(rng.randint(0, 1) for _ in range(level))]
    rng.shuffle(hits)
    objects = sum(hits) + rng.randint(0, 1)
    return Drawn(hits, objects, {"detections": hits, "objects": objects})


def _rival_boxes(rng: Random, level: int) -> Drawn:
    boxes = [[0, 0, 4, 4], [0, rng.randint(1, 3), 4, 4 + rng.randint(1, 3)], *(box(rng) for _ in range(level - 1))]
    scores = [value / 10 for value in rng.sample(range(5, 10), len(boxes))]
    return Drawn(boxes, scores, {"boxes": boxes, "scores": scores, "threshold": 0.5}, {"threshold": 0.5})


def _selection(rng: Random, level: int) -> Drawn:
    n = (4, 5, 5)[level - 1]
    return Drawn(points(rng, n, 2, 0, 4), [value + 0.5 for value in numbers(rng, n)])


def _filter(rng: Random, level: int) -> Drawn:
    n = (4, 4, 6)[level - 1]
    return Drawn([[rng.randint(0, 1), rng.randint(0, 1)] for _ in range(n)], ["a"] * (n // 2) + ["b"] * (n - n // 2))


def _grid(rng: Random, rows: int, columns: int, low: int = 0, high: int = 4) -> list[Row]:
    return [[rng.randint(low, high) for _ in range(columns)] for _ in range(rows)]


def _two_boxes(rng: Random, _level: int) -> Drawn:
    first, second = box(rng), box(rng)
    return Drawn(first, second, {"the first box": first, "the second": second})


def _label_maps(rng: Random, level: int) -> Drawn:
    found, true = (_grid(rng, 2, level + 1, 1, 2) for _ in range(2))
    return Drawn(found, true, {"the label map": found, "the truth": true})


def _images(rng: Random, level: int) -> Drawn:
    restored, true = (_grid(rng, 1, level + 1, 90, 110) for _ in range(2))
    return Drawn(restored, true, {"the restored image": restored, "the true one": true})


def _margin(rng: Random, level: int) -> Drawn:
    X, y = two_groups(rng, (1, 2, 2)[level - 1], 2, 3, 2)
    return Drawn(X, y)


def _signs(rng: Random, level: int) -> Drawn:
    X, y = two_groups(rng, (1, 2, 2)[level - 1], 2, 3, 2)
    return Drawn(X, [-1 if label == "a" else 1 for label in y])


def _constrained(rng: Random, level: int) -> Drawn:
    a, b = rng.randint(1, 3), rng.randint(1, 3)
    limit = rng.randint(1, 4)
    objective = f"{a}*x**2 + {b}*y**2" if level < 3 else f"(x - {a})**2 + (y - {b})**2"
    return Drawn(objective, [f"{limit} - x - y" if level < 3 else f"x + y - {limit}"])


def _surface(rng: Random, level: int) -> Drawn:
    a, b, c = rng.choice((-2, -1, 1, 2)), rng.choice((-2, -1, 1, 2)), rng.randint(-3, 3)
    return Drawn(f"{a}*x**2 + {b}*y**2 + {c}*x" + (f" + {rng.choice((1, 2))}*x*y" if level > 1 else ""))


def _expression(rng: Random, level: int) -> Drawn:
    formula = rng.choice(
        (("(x + w)*z", "(x - w)*z", "x*w + z"), ("(x + w)*(w - z)", "x*w*z + x"), ("max(x, w)*(x + z)",))[level - 1]
    )
    values = {name: rng.choice((-4, -3, -2, 2, 3, 4, 5)) for name in ("x", "w", "z")}
    return Drawn(formula, settings=values, options=values)


RECIPES: dict[str, ExerciseRecipe] = dict(
    [
        _fit(
            "KMeans",
            "Cluster the rows by k-means from the given centers.",
            _k_means,
            silent={"n_init": 1},
            skip=("The clusters",),
        ),
        _fit(
            "KMedians",
            "Cluster the rows by k-medians from the given centers.",
            _k_means,
            silent={"n_init": 1},
            skip=("The clusters",),
        ),
        _fit(
            "KMedoids",
            "Find two medoids by building and swapping.",
            _points((4, 5, 6)),
            {"n_clusters": 2, "metric": "manhattan"},
            hides_headings=True,
        ),
        _fit(
            "AgglomerativeClustering",
            "Merge the nearest clusters until one is left, and write down each distance at which two are merged.",
            _points((4, 5, 6)),
            {"linkage": "single", "metric": "manhattan"},
            told_by_headings={"Merge ": "the two that merge"},
            skip=("Cut",),
            hides_headings=True,
        ),
        _fit(
            "Diana",
            "Split the clusters by DIANA, the widest one first.",
            _points((4, 4, 5)),
            {"metric": "manhattan"},
            told_by_headings={"Split ": "the rows that are split"},
            hides_headings=True,
        ),
        _fit("PCA", "Find the principal axes of the rows.", _axes, skip=("Project",), directions=("v",)),
        _fit("SVD", "Find the singular values and the best approximation of rank 1.", _singular, directions=("u", "v")),
        _fit(
            "KernelPCA",
            "Find the first component by the products of the rows alone.",
            _corners,
            {"n_components": 1},
            skip=("The eigenvectors", "Multiply", "Project"),
        ),
        _fit("NMF", "Do one round of the factorization.", _matrix, {"n_components": 1}),
        _fit(
            "AlternatingLeastSquares", "Do one round of the factorization.", _matrix, {"n_components": 1}, rounded=True
        ),
        _fit(
            "LinearDiscriminantAnalysis",
            "Find the linear discriminants, and decide about every row.",
            _classes(two_groups, columns=1, apart=2, spread=3),
            skip=("Solve", "The boundary"),
        ),
        _fit(
            "QuadraticDiscriminantAnalysis",
            "Find the quadratic discriminants, and decide about every row.",
            _classes(two_groups, (2, 3, 3), columns=1, apart=2, spread=3),
            skip=("The boundary",),
        ),
        _fit(
            "AdaBoostClassifier",
            "Work the rounds of AdaBoost with stumps.",
            _classes(mixed_groups, (2, 3, 4), columns=1, high=7),
            skip=("The votes",),
            about_ties=True,
            hides_headings=True,
        ),
        _fit(
            "HistGradientBoostingRegressor",
            "Work the first round of boosting.",
            _regression((1, 1, 1)),
            {"learning_rate": 0.5, "max_leaf_nodes": 2, "min_samples_leaf": 1},
            given=("η", "λ"),
        ),
        _fit(
            "HistGradientBoostingClassifier",
            "Work the first round of boosting.",
            _classes(mixed_groups, (2, 3, 3), columns=1),
            {"learning_rate": 0.5, "max_leaf_nodes": 2, "min_samples_leaf": 1},
            given=("η", "λ"),
        ),
        _fit(
            "RandomForestClassifier",
            "Find the out-of-bag error of this forest.",
            _classes(),
            {"n_estimators": 3, "random_state": 0},
            empty_columns=2,
        ),
        _fit(
            "RandomForestRegressor",
            "Find the out-of-bag error of this forest.",
            _regression(),
            {"n_estimators": 3, "random_state": 0},
            empty_columns=2,
        ),
        _fit("SelectTop", "Rank the columns by what they tell of the class.", _filter, about_ties=True, rounded=True),
        *(
            _fit(
                name,
                "Search for the best columns.",
                _selection,
                {"cv": 2},
                given=("asked about rows",),
                rounded=True,
                hides_headings=True,
            )
            for name in ("FloatingSelector", "SequentialFeatureSelector")
        ),
        _fit(
            "KernelRidge",
            "Find the dual coefficients.",
            lambda rng, level: Drawn(spread_out(rng, (2, 2, 3)[level - 1], 4), numbers(rng, (2, 2, 3)[level - 1])),
            {"alpha": 1},
            skip=("Leave",),
        ),
        _fit("Lars", "Walk the path of least angles.", _regression((1, 1, 2), 4), hides_headings=True),
        _fit(
            "LassoLars", "Walk the path of the lasso.", _regression((1, 1, 2), 4), {"alpha": 0.5}, hides_headings=True
        ),
        _fit("LinearRegression", "Fit a line by least squares.", _regression(), skip=("Look at", "Draw")),
        _fit(
            "LogisticRegression",
            "Do the first steps of Newton's method.",
            lambda rng, _level: Drawn(spread_out(rng, 4, 5), rng.choice((["a", "a", "b", "b"], ["a", "b", "a", "b"]))),
            {"C": 1},
            rounded=True,
            skip=("Go on",),
        ),
        _fit("Ridge", "Fit a line by ridge regression.", _regression(), {"alpha": 1}, skip=("Look at", "Compare")),
        _fit(
            "RidgeClassifier",
            "Classify by regression on ±1.",
            _classes(two_groups, columns=1),
            {"alpha": 1},
            skip=("Count", "Subtract", "Compare", "Look at"),
        ),
        _fit(
            "Perceptron",
            "Learn from the rows in their order until an epoch makes no mistake.",
            _classes(two_groups, (2, 2, 3)),
            {"shuffle": False},
            skip=("How many", "The line", "All"),
            hides_headings=True,
        ),
        _fit(
            "SGDClassifier",
            "Work the first epoch by hand.",
            _classes(two_groups, (2, 2, 2), columns=1),
            {"alpha": 1, "learning_rate": "constant", "eta0": 0.5, "max_iter": 2, "shuffle": False},
            silent={"tol": None},
            given=("η",),
            rounded=True,
        ),
        _fit(
            "KernelPerceptron",
            "Learn the dual coefficients from the rows in their order.",
            _classes(two_groups, (2, 2, 3)),
            {"kernel": "linear", "shuffle": False},
            skip=("How many",),
            rounded=True,
        ),
        _fit(
            "Lasso",
            "Do coordinate descent by hand.",
            _regression(),
            {"alpha": 1},
            skip=("Check", "How far", "Know", "Sweep on"),
        ),
        _fit(
            "LassoCV",
            "Leave each half of the rows out once, and choose the penalty.",
            _regression(columns=(1, 1, 1)),
            {"alphas": [1, 0.5], "cv": 2},
            largest_denominator=1000,
        ),
        _fit(
            "ElasticNet",
            "Do coordinate descent by hand.",
            _regression(),
            {"alpha": 1, "l1_ratio": 0.5},
            skip=("Check", "How far", "Know", "Sweep on"),
        ),
        _fit(
            "ClassicalMDS",
            "Find a map from the distances.",
            _corners,
            {"n_components": 1},
            directions=("z",),
            skip=("The eigenvec",),
        ),
        _fit("SammonMapping", "Do one step of Sammon's mapping.", _points((3, 3, 4)), rounded=True),
        _fit(
            "Isomap",
            "Find the map along the neighbors.",
            _on_a_line,
            {"n_neighbors": 2, "n_components": 1},
            directions=("z",),
            hides_headings=True,
            skip=("The eigenvec",),
        ),
        _fit(
            "LocallyLinearEmbedding",
            "Find the weights that make each row from its neighbors.",
            _points((4, 4, 5)),
            {"n_neighbors": 2, "n_components": 1},
            given=("x₁", "G u"),
            rounded=True,
            skip=("All weights",),
        ),
        _fit(
            "GaussianMixture",
            "Do one round of EM.",
            lambda rng, _level: Drawn(spread_out(rng, 4, 9)),
            {"n_components": 2, "random_state": 0, "reg_covar": 0.1},
            rounded=True,
            skip=("The rounds",),
        ),
        _fit(
            "GaussianNB",
            "Fit normal densities, and decide about the new row.",
            _asked_about(_classes()),
            skip=("The boundary",),
        ),
        _fit(
            "MultinomialNB",
            "Count words, and decide about the new document.",
            _multinomial,
            skip=("The boundary",),
            largest_denominator=1000,
        ),
        _fit(
            "BernoulliNB",
            "Count words that occur, and decide about the new document.",
            _bernoulli,
            skip=("The boundary",),
            largest_denominator=1000,
        ),
        _fit("CategoricalNB", "Count categories, and decide about the new row.", _categories, largest_denominator=1000),
        _fit("MixedNB", "Fit a density for each column, and decide about the new row.", _mixed, rounded=True),
        _fit("BayesClassifier", "Decide about every row by the given densities.", _given_densities, rounded=True),
        _fit(
            "KNeighborsClassifier",
            "Classify the query by its nearest neighbors.",
            _k_neighbors,
            skip=("Build", "Search"),
        ),
        _fit(
            "KNeighborsRegressor", "Predict by the nearest neighbors.", _k_neighbors_numbers, skip=("Build", "Search")
        ),
        _fit(
            "NearestCentroid",
            "Find the centroids, and decide about every row.",
            _classes(mixed_groups),
            skip=("Spread",),
        ),
        _fit(
            "RankingSVM",
            "Find the weights that put the rows in their order.",
            _ranked,
            given=("t", "b"),
            skip=("Primal", "Check"),
        ),
        _fit(
            "LinearSVC",
            "Find the plane by the conditions of the optimum.",
            _classes(two_groups, (1, 1, 2), columns=1),
            {"C": 1, "loss": "hinge"},
            skip=("Primal", "Check"),
        ),
        _fit(
            "LinearSVR",
            "Find the tube by the conditions of the optimum.",
            lambda rng, _level: Drawn(spread_out(rng, 3, 5), numbers(rng, 3, 0, 5)),
            {"C": 1, "epsilon": 0.5},
            skip=("Primal", "Who"),
        ),
        _fit(
            "SVC",
            "Find the multipliers pair by pair.",
            _classes(two_groups, (1, 1, 2), columns=1),
            {"kernel": "linear", "C": 1},
            skip=("Check", "Primal", "The same", "No pair"),
            hides_headings=True,
        ),
        _fit(
            "SVR",
            "Find the tube by the conditions of the optimum.",
            lambda rng, _level: Drawn(spread_out(rng, 3, 5), numbers(rng, 3, 0, 5)),
            {"kernel": "linear", "C": 1, "epsilon": 0.5},
            skip=("Primal", "Who"),
        ),
        _fit(
            "DecisionTreeClassifier",
            "Grow the tree by the lowest Gini impurity; for every node from the top down, left before right, "
            "write down its question. Then prune at the weakest links.",
            _classes(mixed_groups, (2, 3, 3)),
            skip=("The tree",),
            hides_headings=True,
        ),
        _fit(
            "DecisionTreeRegressor",
            "Grow the tree by the lowest squared error; for every node from the top down, left before right, "
            "write down its question. Then prune at the weakest links.",
            lambda rng, level: Drawn(spread_out(rng, (3, 4, 4)[level - 1]), numbers(rng, (3, 4, 4)[level - 1])),
            skip=("The tree",),
            hides_headings=True,
        ),
        _fit("ID3Classifier", "Grow the tree by information gain.", _weather, hides_headings=True, rounded=True),
        _topic(
            "convolution",
            "Convolve the two signals.",
            lambda rng, level: Drawn(numbers(rng, level + 1, 1, 4), numbers(rng, min(level + 1, 3), 1, 4)),
        ),
        _topic(
            "convolution layer",
            "Slide the kernel over the image.",
            lambda rng, level: Drawn(_grid(rng, level + 1, 3), _grid(rng, 2, 2, -1, 2)),
        ),
        _topic(
            "transposed convolution",
            "Spread the image by the kernel.",
            lambda rng, level: Drawn(_grid(rng, 1, min(level + 1, 3), 1, 4), _grid(rng, 1, 2, 1, 3)),
        ),
        _topic(
            "pooling",
            "Pool the image by blocks of two by two.",
            lambda rng, level: Drawn(_grid(rng, 2, 2 * min(level, 2), 0, 9)),
        ),
        _topic("roc", "Walk the ROC curve, and find the area under it.", _scored, skip=("Draw",)),
        _topic("ranking amount", "How wrong is the order of the scores?", _two_orders),
        _topic(
            "average precision",
            "Of the detections, best first, a 1 is right. Find the average precision.",
            _detections,
        ),
        _topic("non-maximum suppression", "Which boxes stay?", _rival_boxes),
        _topic(
            "total variation",
            "Denoise the signal by its total variation.",
            lambda rng, level: Drawn([0] * level + [rng.randint(4, 9)] * (level + 1), 1),
        ),
        _topic("network", "Work the network forward, and its gradients backward.", _network, skip=("Check",)),
        _topic(
            "graph", "Find the value at every node and the derivative by every input.", _expression, skip=("Check",)
        ),
        _topic("stationary points", "Find the stationary points and say what they are.", _surface, skip=("Is it",)),
        _topic("kkt", "Find all points that meet the KKT conditions.", _constrained, hides_headings=True),
        _topic("maximum margin", "Find the widest margin.", _margin, skip=("Primal", "Check")),
        _topic("svm dual", "Solve the dual problem.", _signs, skip=("Primal", "Check")),
        _topic(
            "soft threshold",
            "Shrink the numbers.",
            lambda rng, level: Drawn(numbers(rng, 2 + level, -5, 5), rng.randint(1, 3)),
        ),
        _topic(
            "iou", "How much do the two boxes have in common?", _two_boxes, accept=lambda work: work.answer["iou"] > 0
        ),
        _topic("box regression", "Write the second box by the first.", _two_boxes, rounded=True),
        _topic(
            "mean iou",
            "Compare the label map with the truth.",
            _label_maps,
        ),
        _topic(
            "psnr",
            "How near is the restored image to the true one?",
            _images,
            rounded=True,
        ),
        _topic(
            "softmax",
            "Turn the scores into probabilities, and find the loss.",
            lambda rng, level: Drawn(numbers(rng, level + 1, -1, 2), options={"target": 0}),
            rounded=True,
        ),
        _walk("GradientDescent", {"step_size": 0.25}),
        _walk("Momentum", {"step_size": 0.25, "momentum": 0.5}),
        _walk("Nesterov", {"step_size": 0.25, "momentum": 0.5}),
        _walk("Newton"),
        _walk("BFGS", hides_headings=True, rounded=True),
        _walk("ConjugateGradient", rounded=True),
        _walk("CoordinateDescent"),
        _walk("Adam", {"step_size": 0.5}, rounded=True),
        _walk("AdaGrad", {"step_size": 0.5}, rounded=True),
        _walk("RMSProp", {"step_size": 0.5}, rounded=True),
        _density(
            "Bernoulli",
            "Estimate the probability of a 1.",
            lambda rng, level: [0, 1, *(rng.randint(0, 1) for _ in range(2 + level))],
        ),
        _density("Gaussian", "Estimate mean and variance.", lambda rng, level: numbers(rng, 3 + level)),
        _density(
            "mutual_information",
            "What do the two tell of each other?",
            lambda rng, _level: _grid(rng, 2, 2, 1, 4),
            rounded=True,
        ),
    ]
)
"""Name of a method or topic on the command line -> how exercises on it are made."""


def exercise_names() -> list[str]:
    """Return what there are exercises on: the recipes, and every method with workings that has none of its own."""
    others = (entry.command_name for entry in entries().values() if entry.workings)
    return [*RECIPES, *(name for name in others if name not in RECIPES and name not in OTHER_NAMES)]


def find_recipe(name: str) -> ExerciseRecipe:
    """Return the recipe of a method; without one of its own, by what its card says it takes, to two decimals."""
    if name in RECIPES:
        return RECIPES[name]
    card: Any = find_card(next(entry.name for entry in entries().values() if entry.command_name == name))
    target, trial = card.rules_for(card.estimator(**card.trial.by_hand)).target, card.trial

    def data(rng: Random, level: int) -> Drawn:
        n, columns = min(4 + level, trial.rows), min(2, trial.columns)
        X = points(rng, n, columns, 0, 5)
        if target == NO_TARGET:
            return Drawn(X)
        return Drawn(X, numbers(rng, n) if target == NUMBERS else ["a", "b", *rng.choices("ab", k=n - 2)])

    return _fit(card.name, "Work the steps by hand.", data, trial.by_hand, rounded=True, about_ties=True)[1]


OTHER_NAMES = {
    "mlp-classifier": "network",
    "mlp-regressor": "network",
    "pruned-tree-classifier": "decision-tree-classifier",
    "pruned-tree-regressor": "decision-tree-regressor",
    "nb": "multinomial-nb",
    "naive-bayes": "multinomial-nb",
    "knn": "k-neighbors-classifier",
    "lda": "linear-discriminant-analysis",
    "qda": "quadratic-discriminant-analysis",
    "svm": "svc",
    "mds": "classical-mds",
    "em": "gaussian-mixture",
    "tree": "decision-tree-classifier",
    "id3": "id3-classifier",
    "agnes": "agglomerative-clustering",
    "adaboost": "ada-boost-classifier",
    "least-squares": "linear-regression",
    "entropy": "mutual-information",
}
"""What people say for short."""
