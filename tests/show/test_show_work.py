from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn import linear_model as peer
from sklearn.base import is_classifier
from sklearn.cluster import DBSCAN
from sympy import Rational

import pellucid
from pellucid.core.cards import all_cards, find_card
from pellucid.show import show_work
from pellucid.show.showing import TOPICS
from pellucid.show.text_layout import width

X, Y = [[0], [1], [2]], [0, 1, 4]


def test_an_unfitted_estimator_is_fitted_on_a_clone():
    model = peer.LinearRegression()
    work = pellucid.show_work(model, X, Y)
    assert not hasattr(model, "coef_")
    assert "Compare with the program" in work.text()


def test_a_model_of_other_data_is_pointed_out():
    other = peer.LinearRegression().fit(X, [5, 5, 6])
    assert "more than rounding" in show_work(other, X, Y).text()
    assert "more than rounding" not in show_work(peer.LinearRegression().fit(X, Y), X, Y).text()


def test_a_fitted_model_is_left_as_it_was():
    model = peer.LinearRegression().fit(X, Y)
    before = model.coef_.copy()
    show_work(model, X, Y)
    np.testing.assert_array_equal(model.coef_, before)


def test_a_format_gives_the_printed_page():
    assert show_work(peer.LinearRegression(), X, Y, format="html").startswith("<!DOCTYPE html>")
    assert show_work(peer.LinearRegression(), X, Y, format="text") == str(show_work(peer.LinearRegression(), X, Y))


def test_names_of_features_are_used():
    frame = pd.DataFrame({"hours_%": [0, 1, 2]})
    assert "2 hours_%" in show_work(peer.LinearRegression(), frame, Y).text()


def test_a_subclass_is_shown_as_its_ancestor():
    class Straight(peer.LinearRegression):
        pass

    assert show_work(Straight(), X, Y).answer["coef_"] == [2]


def test_cut_fractions_are_explained():
    work = show_work(peer.Ridge(alpha=0.123456), [[0.1234], [1.4321], [2.9876]], [0.3579, 1.2468, 4.9753])
    assert "The arithmetic behind them is exact" in work.text()


def class_named(name, library):
    """Return the class of that name: in our family that shows its work, or in scikit-learn's of the same name."""
    return getattr(import_module(f"{library}.{SHOWN[name].split('.')[1]}"), name)


def has_namesake(name):
    family = f"sklearn.{SHOWN[name].split('.')[1]}"
    return find_spec(family) is not None and hasattr(import_module(family), name)


SHOWN = {card.name: card.workings for card in all_cards() if card.workings}
IN_BOTH = [(name, "pellucid") for name in sorted(SHOWN)] + [
    (name, "sklearn") for name in sorted(SHOWN) if has_namesake(name) and not find_card(name).trial.unlike_peer
]


def target_for(kind, labels, numbers):
    return labels if is_classifier(kind()) else numbers


def suited(kind, table):
    """Return the numbers, or counts for estimators of counts."""
    return (2 * abs(table)) // 1 if kind().__sklearn_tags__().input_tags.positive_only else table


@pytest.mark.parametrize(("name", "library"), IN_BOTH)
def test_every_entry_works_in_every_format_and_agrees_with_the_program(name, library):
    kind, trial = class_named(name, library), find_card(name).trial
    model = kind()
    for parameter, value in ({"alpha": 0.1, "tol": 1e-10} | dict(trial.by_hand)).items():
        if parameter in model.get_params():
            model.set_params(**{parameter: value})
    rows = np.array([[1, 2], [2, 1], [3, -1], [4, 2], [5, 0]])[: trial.rows, : trial.columns]
    target = target_for(kind, [0, 1, 1, 0, 1], [1, 3, 2, 5.5, 4])[: trial.rows]
    work = show_work(model, suited(kind, rows), target)
    assert "more than rounding" not in work.text()
    for format_ in ("text", "markdown", "latex", "html"):
        assert len(work.printed(format_)) > 1000


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_the_largest_data_allowed_still_fit_eighty_columns(name):
    rng, trial = np.random.default_rng(1), find_card(name).trial
    names = ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]
    frame = pd.DataFrame(rng.standard_normal((trial.rows, 4)).round(3), columns=names).iloc[:, : trial.columns]
    kind = class_named(name, "sklearn" if has_namesake(name) and not trial.unlike_peer else "pellucid")
    target = target_for(kind, np.arange(trial.rows) % trial.classes, rng.standard_normal(trial.rows).round(3))
    text = show_work(kind(**trial.by_hand), suited(kind, frame), target).text()
    assert max(map(width, text.splitlines())) <= 80


def test_sympy_is_not_imported_before_work_is_shown():
    code = "import sys, pellucid, pellucid.show; assert not {'sympy', 'matplotlib', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_refuses_an_estimator_without_workings():
    with pytest.raises(TypeError, match=r"estimator must be an instance of one of .*LinearRegression.*, got DBSCAN"):
        show_work(DBSCAN(), X)
    with pytest.raises(TypeError, match="got the class LinearRegression"):
        show_work(peer.LinearRegression, X, Y)


def test_refuses_too_much_data_before_it_fits():
    class Unfittable(peer.LinearRegression):
        def fit(self, X, y):
            raise AssertionError("fitted")

    with pytest.raises(ValueError, match="at most 12 rows"):
        show_work(Unfittable(), np.ones((20, 1)), np.ones(20))


def test_densities_and_measures_show_their_work():
    from pellucid.probability import Bernoulli, Beta, Gaussian, mutual_information

    coin = show_work(Bernoulli, [1, 1, 0, 1], Beta(2, 2))
    assert coin.answer["p"] == Rational(2, 3)
    assert coin.steps[-1].heading == "Compare with the program"
    assert show_work(Gaussian(0, 1), [1, 2, 6]).answer["variance"] == Rational(14, 3)  # an object stands for its class
    assert "I(X; Y)" in show_work(mutual_information, [[2, 1], [1, 4]], format="text")


def test_methods_show_their_work():
    from pellucid.optimize import Newton

    assert show_work(Newton(), "x**2 + 3*y**2", [1, 1]).answer["x"][-1] == [0, 0]


TOPICS_TRIED = {
    "anchor matching": ([[0, 0, 4, 4], [2, 0, 6, 4]], [[0, 0, 4, 5]], {}),
    "average precision": ([1, 0, 1], 2, {}),
    "batch norm": ([[1], [3]], {"epsilon": 3}),
    "box regression": ([3, 0, 5, 4], [0, 0, 4, 2], {}),
    "convolution": ([3, 1, 2], [3, 2, 1], {}),
    "convolution layer": ([[1, 2, 3], [4, 5, 6]], [[1, 0], [0, -1]], {}),
    "dropout": ([2, 4], {"p": 0.5}),
    "focal loss": (0.9, 1, {}),
    "graph": ("(x + w) * z", {"x": -2, "w": 5, "z": -4}),
    "iou": ([0, 0, 2, 2], [1, 1, 3, 3], {}),
    "kkt": ("x**2 + y**2", ["1 - x - y"], {}),
    "matching pursuit": ([[1, 0, 1], [0, 1, 1]], [3, 1], {}),
    "maximum margin": ([[0], [2]], ["a", "b"], {"C": 1}),
    "mean iou": ([[1, 1, 2, 2]], [[1, 2, 2, 2]], {}),
    "network": ({},),
    "non-maximum suppression": ([[0, 0, 4, 4], [0, 0, 4, 5]], [0.8, 0.9], {"threshold": 0.5}),
    "parameter counts": ("lenet5", {}),
    "pooling": ([[1, 5], [3, 4]], {}),
    "psnr": ([[100, 50]], [[103, 54]], {}),
    "roi align": ([[0, 1], [2, 3]], [0, 0, 1, 1], {"cell": (0, 1)}),
    "soft threshold": ([3, -1, 2], 1, {}),
    "softmax": ([0, 0, 0, 0], {"target": 1}),
    "stationary points": ("x**2 - y**2", {}),
    "sure": ([3, -1, 2], 1, {}),
    "svm dual": ([[0], [2]], [-1, 1], {}),
    "total variation": ([0, 0, 6, 6], 2, {}),
    "training step": ({"steps": 1},),
    "transposed convolution": ([[1, 2]], [[1, 3]], {"stride": 1}),
    "wiener": ([4, 0, 0, 0], [3, 1, 1, 1], {}),
    "zero initialization": ({},),
}


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_shown_by_its_name(topic):
    *given, options = TOPICS_TRIED[topic]
    assert len(show_work(topic, *given, **options).text()) > 300


def test_an_unknown_topic_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match="topic must be .*, got 'softened'; soft threshold, softmax and "):
        show_work("softened", [1, 2])


def test_formulas_graphs_new_rows_and_more_steps_are_reached():
    from pellucid.naive_bayes import MultinomialNB
    from pellucid.neural_network import Graph
    from pellucid.optimize import Formula, GradientDescent

    assert "saddle" in show_work(Formula("x**2 - y**2")).text()
    assert show_work(Graph("(x + y) * z", x=-2, y=5, z=-4)).answer["value"] == -12
    work = show_work(MultinomialNB(), [[2, 0], [1, 1], [0, 1]], ["a", "a", "b"], new=[[0, 2]])
    assert work.answer["predicted"] == ["b"]
    assert len(show_work(GradientDescent(step_size=0.25), "x**2", [1], steps=2).answer["x"]) == 3
