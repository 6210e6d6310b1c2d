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


SIX = np.array([[1, 2], [2, 1], [3, -1], [4, 2], [5, 0], [2, 3]])
SIX_CLASSES = [0, 1, 1, 0, 1, 0]


@pytest.mark.parametrize("library", ["pellucid", "sklearn"])
@pytest.mark.parametrize("name", ["LogisticRegression", "SVC"])
def test_a_default_tolerance_is_judged_as_a_tolerance(name, library):
    model = class_named(name, library)()
    work = show_work(model, SIX, SIX_CLASSES)
    assert "more than rounding" not in work.text()
    loose = model.set_params(tol=0.5).fit(SIX, SIX_CLASSES) if name == "LogisticRegression" else model
    if name == "LogisticRegression":
        assert "It stops once it is within its tol = 0.5. With tol = 1e−12" in " ".join(
            show_work(loose, SIX, SIX_CLASSES).text().split()
        )
    other = class_named(name, library)().fit(SIX, SIX_CLASSES[::-1])
    assert "more than rounding" in show_work(other, SIX, SIX_CLASSES).text()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ["KMeans", "KMedians"])
def test_starts_of_chance_agree_with_the_program(name, seed):
    kind = class_named(name, "pellucid")
    rows = np.random.default_rng(seed).integers(-4, 5, (8, 2))
    for state in (seed, None):
        work = show_work(kind(n_clusters=2, random_state=state), rows)
        assert "more than rounding" not in work.text()
    assert work == show_work(kind(n_clusters=2), rows)  # printed twice, one handout


def test_clusters_are_matched_before_they_are_compared():
    from pellucid.cluster import KMeans

    given = KMeans(n_clusters=2, init=[[0, 0], [9, 9]], n_init=1)
    model = KMeans(n_clusters=2, init=[[9, 9], [0, 0]], n_init=1).fit([[0, 0], [1, 0], [9, 9], [8, 9]])
    model.set_params(init=given.init)
    text = show_work(model, [[0, 0], [1, 0], [9, 9], [8, 9]]).text()
    assert "numbers the clusters in another order" in text
    assert "more than rounding" not in text
    model.set_params(init=[[0, 0], [1, 0]])
    assert "more than rounding" in show_work(model, [[0, 0], [1, 0], [9, 9], [0, 9]]).text()


def test_a_model_that_chance_decided_without_a_seed_is_told_apart():
    from pellucid.cluster import KMeans

    model = KMeans(n_clusters=2).fit([[0, 0], [1, 0], [9, 9], [8, 9]])
    assert "random_state is None" in show_work(model, [[0, 0], [1, 0], [9, 9], [0, 9]]).text()


def test_rounded_data_are_fitted_again_as_they_were_rounded():
    table_ = np.random.default_rng(0).standard_normal((5, 1))
    text = " ".join(show_work(peer.LinearRegression(), table_, [1, 2, 2, 4, 3]).text().split())
    assert "Fitted to the numbers as they are rounded above" in text
    assert "more than rounding" not in text


def test_a_minus_is_a_minus_in_words_as_well():
    from pellucid.show.document import sentence

    assert sentence("at -0.5 of x-1, 2e-07").parts == ("at −0.5 of x-1, 2e−07",)


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


DECIDING = [(name, library) for name, library in IN_BOTH if hasattr(class_named(name, library), "predict")]


@pytest.mark.parametrize(("name", "library"), DECIDING)
def test_every_predictor_shows_its_decision_about_new_rows(name, library):
    kind, trial = class_named(name, library), find_card(name).trial
    model = kind()
    for parameter, value in ({"alpha": 0.1, "tol": 1e-10} | dict(trial.by_hand)).items():
        if parameter in model.get_params():
            model.set_params(**{parameter: value})
    rows = np.array([[1, 2], [2, 1], [3, -1], [4, 2], [5, 0]])[: trial.rows, : trial.columns]
    target = target_for(kind, ["a", "b", "b", "a", "b"], [1, 3, 2, 5.5, 4])[: trial.rows]
    target = [0, 1, 1, 0, 1][: trial.rows] if name == "BayesClassifier" else target
    asked = suited(kind, np.array([[2, 2], [5, 1]])[:, : trial.columns])
    work = show_work(model, suited(kind, rows), target, new=asked)
    one_table = ("BayesClassifier", "GaussianNB")  # which decide about all rows in one step
    assert name in one_table or any(
        "new row" in made.heading.lower() or "new doc" in made.heading for made in work.steps
    )
    assert "Of the new rows it says" in work.text()
    assert "not what was found" not in work.text()
    predicted = work.answer["predicted"]
    said = model.set_params(**({"random_state": 0} if "random_state" in model.get_params() else {}))
    said = said.fit(suited(kind, rows), target).predict(asked)
    if said.dtype.kind == "f":
        np.testing.assert_allclose(np.array(predicted, dtype=float), said, atol=1e-5)
    else:
        assert [str(label) for label in predicted] == [str(label) for label in said]


def test_a_decision_that_the_model_does_not_make_is_told():
    other = peer.LinearRegression().fit(X, [5, 5, 6])
    assert "not what was found" in show_work(other, X, Y, new=[[7]]).text()


def test_new_rows_are_refused_where_they_do_not_fit():
    with pytest.raises(ValueError, match=r"new must have 1 to 6 rows of 1 features, got shape \(1, 2\)"):
        show_work(peer.LinearRegression(), X, Y, new=[[1, 2]])
    from pellucid.cluster import Diana

    with pytest.raises(TypeError, match="one that decides about new rows, got Diana. Leave new out"):
        show_work(Diana(), [[0], [1], [5]], new=[[1]])


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

    with pytest.raises(ValueError, match="at most 60 rows and 4 features"):
        show_work(Unfittable(), np.ones((61, 1)), np.ones(61))
    with pytest.raises(ValueError, match="at most 12 rows"):
        show_work(peer.Ridge(), np.ones((13, 1)), np.ones(13))


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
    "bell numbers": (4, {}),
    "box regression": ([3, 0, 5, 4], [0, 0, 4, 2], {}),
    "convolution": ([3, 1, 2], [3, 2, 1], {}),
    "convolution layer": ([[1, 2, 3], [4, 5, 6]], [[1, 0], [0, -1]], {}),
    "dropout": ([2, 4], {"p": 0.5}),
    "dual function": ("x**2", ["1 - x"], {}),
    "focal loss": (0.9, 1, {}),
    "gradient check": ("x**2*y", [1, 2], {}),
    "graph": ("(x + w) * z", {"x": -2, "w": 5, "z": -4}),
    "hessian check": ("x**2*y", [1, 2], {}),
    "iou": ([0, 0, 2, 2], [1, 1, 3, 3], {}),
    "kkt": ("x**2 + y**2", ["1 - x - y"], {}),
    "logistic gradient": ([[0], [1], [2]], [0, 0, 1], {}),
    "matching pursuit": ([[1, 0, 1], [0, 1, 1]], [3, 1], {}),
    "maximum margin": ([[0], [2]], ["a", "b"], {"C": 1}),
    "mean iou": ([[1, 1, 2, 2]], [[1, 2, 2, 2]], {}),
    "metric mds": ([[0, 3, 4], [3, 0, 5], [4, 5, 0]], [[0, 0], [2, 0], [0, 2]], {}),
    "mini-batch descent": ([[1], [3], [-1], [-2]], [1, 1, 0, 0], {"batches": [[1, 3], [2, 4]]}),
    "mini-batch k-means": ([[0], [1], [8], [9]], [[0], [9]], {"batches": [[1, 3], [0, 2]]}),
    "network": ({},),
    "non-maximum suppression": ([[0, 0, 4, 4], [0, 0, 4, 5]], [0.8, 0.9], {"threshold": 0.5}),
    "parameter counts": ("lenet5", {}),
    "pooling": ([[1, 5], [3, 4]], {}),
    "psnr": ([[100, 50]], [[103, 54]], {}),
    "ranking amount": ([1, 3, 2], [3, 2, 1], {}),
    "ridge error": ([[1], [2]], [3], {}),
    "roc": ([0.9, 0.8, 0.3, 0.1], ["yes", "no", "yes", "no"], {}),
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


def test_a_penalty_on_the_scale_of_the_notes_is_translated_and_named():
    from pellucid.linear_model import Lasso, LogisticRegression, Ridge

    # ∑ e² + λ |w| with 3 rows: λ = 3 is α = 1/2, and the slope 2 shrinks by λ / (2 Sxx) = 3/4
    work = show_work(Lasso(), X, Y, lam=3)
    assert work.answer["coef_"] == [Rational(5, 4)]
    assert "λ = 3" in work.text()
    assert "more than rounding" not in work.text()
    assert show_work(Ridge(), X, Y, lam=2).answer["coef_"] == [1]  # Sxy / (Sxx + λ) = 4 / 4
    assert "C = 1/2" in show_work(LogisticRegression(), X, [0, 0, 1], lam=2).text().replace(" / ", "/")
    with pytest.raises(TypeError, match="lam must be left out for LinearRegression"):
        show_work(peer.LinearRegression(), X, Y, lam=1)
    with pytest.raises(ValueError, match="lam must be left out for a model that is fitted"):
        show_work(Ridge().fit(X, Y), X, Y, lam=1)
    with pytest.raises(ValueError, match="lam must be above 0, got -1"):
        show_work(Ridge(), X, Y, lam=-1)


def test_costs_may_have_a_row_per_decision():
    from pellucid.naive_bayes import BayesClassifier
    from pellucid.probability import Gaussian

    def decided(**options):
        model = BayesClassifier({0: Gaussian(0, 1), 1: Gaussian(2, 1)}, priors=[0.5, 0.5], costs=[[0, 9], [1, 0]])
        return show_work(model, [[0.9], [1.5]], [0, 1], new=[[0.9], [1.5]], **options)

    # at 0.9 the densities are as e^0.1 to 1 for 0 ...: dear false alarms of 1 (rows true) keep 0, dear misses take 1
    assert decided().answer["predicted"] == [0, 0]
    assert decided(cost_rows="true").answer["predicted"] == [0, 0]
    turned = decided(cost_rows="decision")
    assert turned.answer["predicted"] == [1, 1]
    assert "a row for each decision" in turned.text()
    with pytest.raises(ValueError, match="cost_rows must be 'true' or 'decision', got 'rows'"):
        decided(cost_rows="rows")


def test_the_covariance_is_divided_by_all_rows_where_the_notes_do_so():
    from pellucid.decomposition import PCA

    points = [[0.6, 0.4], [1, 1.2], [1.6, 1.3], [2, 2.3]]
    work = show_work(PCA(), points, divisor="m")
    assert "0.455" in work.text()  # [[0.29, 0.34], [0.34, 0.455]]
    axis = [float(entry) for entry in work.answer["components_"][0]]
    assert axis == pytest.approx([0.6181, 0.7861], abs=1e-4)
    assert float(sum(work.answer["variances"])) == pytest.approx(0.745)
    assert "more than rounding" not in work.text()
    assert float(sum(show_work(PCA(), points).answer["explained_variance_"])) == pytest.approx(0.745 * 4 / 3)
    with pytest.raises(ValueError, match="divisor must be 'm' or 'm-1', got 'n'"):
        show_work(PCA(), points, divisor="n")
