"""Drawn trees: nodes, answers, counts, and what pruning cut."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pellucid.data import load_cars_by_hand, load_iris, load_play_tennis, load_watermelons
from pellucid.plots import plot_tree
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor, ID3Classifier, prune_reduced_error


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_the_weather_tree_has_its_questions_answers_and_counts():
    # Mitchell's tree: outlook first; overcast is yes, rain asks for wind, sunny for humidity
    days = load_play_tennis()
    ax = plot_tree(ID3Classifier().fit(days.iloc[:, :4], days["play"]))
    drawn = texts(ax)
    assert {"outlook?\n5 : 9", "wind?\n2 : 3", "humidity?\n3 : 2", "yes\n0 : 4"} <= set(drawn)
    assert {"overcast", "rain", "sunny", "strong", "weak", "high", "normal"} <= set(drawn)
    assert len(drawn) == 8 + 7  # nodes and branches
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["no", "yes"]
    assert legend.get_title().get_text() == "rows of no : yes"


def test_no_two_nodes_or_answers_cover_each_other():
    melons = load_watermelons()
    for model in (
        ID3Classifier().fit(melons.iloc[:, :6], melons["good"]),
        DecisionTreeClassifier(random_state=0).fit(load_iris().iloc[:, :4], load_iris()["species"]),
    ):
        ax = plot_tree(model)
        ax.figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in ax.texts]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_children_stand_below_their_parent_and_leaves_from_left_to_right():
    cars = load_cars_by_hand()
    ax = plot_tree(DecisionTreeRegressor().fit(cars[["age", "distance"]], cars["price"]))
    at = {text.get_text(): text.get_position() for text in ax.texts}
    assert at["distance?\n6 rows"][1] == 0
    leaves = sorted(at[f"{price}\n1 row"][0] for price in (19, 17, 16, 14, 11, 10))
    assert leaves == [0, 1, 2, 3, 4, 5]
    assert "≤ 3.5" in at


def test_what_was_cut_is_dashed_and_the_rest_is_the_pruned_tree():
    iris = load_iris()
    X, y = iris.iloc[:, :4], iris["species"]
    grown = DecisionTreeClassifier(random_state=0).fit(X[::2], y[::2])
    pruned = prune_reduced_error(grown, X[1::2], y[1::2])
    for ax in (plot_tree(pruned), plot_tree(pruned, grown=grown)):
        styles = [text.get_bbox_patch().get_linestyle() for text in ax.texts if text.get_zorder() == 3]
        assert len(styles) == grown.tree_.node_count
        assert styles.count("--") == grown.tree_.node_count - pruned.tree_.node_count > 0
        assert "cut away" in [text.get_text() for text in ax.get_legend().get_texts()]
        said = [text.get_text() for text in ax.texts if text.get_zorder() == 3 and text.get_text().endswith("?)")]
        new_leaves = (pruned.grown_.n_nodes - pruned.tree_.node_count) > 0
        assert bool(said) == new_leaves
        assert all(text.split("\n")[0] in pruned.classes_ for text in said)
    other = DecisionTreeClassifier(random_state=0).fit(X[::2] * -1, y[::2])
    with pytest.raises(ValueError, match="grown must be the tree that model was cut from"):
        plot_tree(pruned, grown=other)


def test_a_deep_tree_ends_in_dots_and_a_large_one_is_refused():
    iris = load_iris()
    model = DecisionTreeClassifier(random_state=0).fit(iris.iloc[:, :4], iris["species"])
    ax = plot_tree(model, max_depth=1)
    assert sum(text.endswith("...") for text in texts(ax)) == 1
    random = np.random.default_rng(0)
    wild = DecisionTreeClassifier().fit(random.random((300, 2)), random.integers(2, size=300))
    with pytest.raises(ValueError, match="at most 60 leaves to be read, got .* Set max_depth"):
        plot_tree(wild)


def test_names_of_columns_are_checked():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    assert "x0?\n1 : 1" in texts(plot_tree(model))
    assert "size?\n1 : 1" in texts(plot_tree(model, feature_names=["size"]))
    with pytest.raises(ValueError, match=r"feature_names must be as many as columns \(1\), got 2"):
        plot_tree(model, feature_names=["a", "b"])
