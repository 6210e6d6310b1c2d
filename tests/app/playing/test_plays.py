"""Plays: all that can be played is found by name, takes data as a page tells them, and refuses others in a sentence."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest

from pellucid.app.playing import find_play, load_set, play_names, read_data, read_recording
from pellucid.app.playing.recording import LARGEST
from pellucid.cluster import KMeans
from pellucid.core.cards import all_cards

TABLE = {
    "t": pd.DataFrame(
        {"a": [1.0, 2.0, np.nan, 4.0], "b": [4, 3, 2, 1], "word": ["x", "y", "x", "y"], "side": ["l", "r", "l", "r"]}
    )
}
GROUPS = ("Regression", "Classification", "Clusters", "Maps", "Optimization", "Ideas")
QUICK = {"max_iter": 5, "n_estimators": 5}
"""Enough to see that a play plays."""


@pytest.mark.parametrize("play", play_names(), ids=lambda play: play.name)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_every_play_plays_its_first_data(play):
    first = {**play.first, "rows": 60} if "set" in play.first else play.first
    quick = {name: value for name, value in QUICK.items() if name in play.domains and play.domains[name].fits(value)}
    done: list[int] = []

    def report(n: int, label: str, _seconds: float) -> None:
        if not label.startswith("drawing"):  # frames are drawn anew where there was no room for all
            done.append(n)

    performance = play.perform(read_data(first), quick, report)
    recording = performance.recording
    assert recording.size <= LARGEST
    assert read_recording(recording.text()) == recording
    assert done == sorted(done)
    for control in play.controls():
        assert control["meaning"], control["name"]
        json.dumps(control, allow_nan=False)
    if performance.model is not None:
        assert performance.prove(performance.model).holds == recording.certificate["holds"]
        assert tuple(performance.redraw(performance.model))[-1].kind == recording.frames[-1].layers[-1].kind


def test_names_are_found_once_and_groups_follow_each_other():
    names = [play.name for play in play_names()]
    assert len(set(names)) == len(names)
    groups = list(dict.fromkeys(play.group for play in play_names()))
    assert groups == [
        g for g in ("Regression", "Classification", "Clusters", "Maps", "Optimization", "Ideas") if g in groups
    ]
    with pytest.raises(ValueError, match="play must be a name that is known, got 'KMean'; KMeans"):
        find_play("KMean")


def test_what_cannot_be_drawn_is_left_out_by_what_its_card_says():
    left_out = {card.name for card in all_cards()} - {play.name for play in play_names()}
    assert left_out == {
        "BasisExpansion", "CCA", "CategoricalNB", "FloatingSelector", "MRMR", "MultinomialNB", "RankingSVM",
        "SelectTop", "SequentialFeatureSelector", "BernoulliNB",
    }  # fmt: skip


def test_a_changed_center_is_objected_to_and_drawn_where_it_is():
    performance = find_play("KMeans").perform(read_data({"set": "blobs"}), {"n_clusters": 3})
    changed = copy.deepcopy(performance.model)
    changed.cluster_centers_[0] = [9.0, 9.0]
    assert performance.prove(performance.model).holds
    assert not performance.prove(changed).holds
    star = performance.redraw(changed)[-1]
    assert (star.x[0], star.y[0]) == (9, 9)


def test_a_moved_minimum_is_objected_to():
    performance = find_play("newton").perform(read_data({"formula": "x**2 + 3*y**2", "start": [2, 1]}))
    assert performance.prove(performance.model).holds
    changed = copy.deepcopy(performance.model)
    changed.x[0] = [0.5, 0.0]
    assert not performance.prove(changed).holds
    assert performance.prove(changed).claims[0].value == pytest.approx(1.0)  # the slope of x**2 at 1/2
    star = performance.redraw(changed)[-1]
    assert (star.x, star.y) == ((0.5,), (0,))


def test_fitted_numbers_are_those_of_the_model():
    recording = find_play("KMeans").record(read_data({"set": "blobs"}), {"n_clusters": 3, "random_state": 0})
    fitted = {one["name"]: one for one in recording.fitted}
    centers = KMeans(3, random_state=0).fit(load_set("blobs")[0]).cluster_centers_
    assert fitted["cluster_centers_"]["shape"] == (3, 2)
    np.testing.assert_allclose(np.reshape(fitted["cluster_centers_"]["values"], (3, 2)), centers, rtol=1e-4)
    assert fitted["cluster_centers_"]["labels"][:2] == ("1: x", "1: y")
    assert "n_iter_" not in fitted


def test_sets_keep_only_the_columns_asked_for():
    data = read_data({"set": "iris", "columns": ["petal_width", "sepal_length"]})
    X, _, names = load_set("iris")
    assert data.names == ("petal_width", "sepal_length")
    np.testing.assert_array_equal(data.X, np.asarray(X)[:, [names.index(name) for name in data.names]])


def test_tables_leave_out_words_and_rows_with_gaps():
    data = read_data({"table": "t", "target": "side"}, tables=TABLE)
    assert data.names == ("a", "b")
    np.testing.assert_array_equal(data.X, [[1, 4], [2, 3], [4, 1]])
    assert list(data.y) == ["l", "r", "r"]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "data must name one of set, table"),
        ([1], "data must name one of set, table"),
        ({"set": "moons", "table": "t"}, "data must name one of"),
        ({"set": "moons", "row": 3}, "must have columns, rows, seed beside it, got row"),
        ({"set": "moons", "rows": "many"}, "rows must be a whole number"),
        ({"set": "moons", "seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"set": "moons", "columns": ["z"]}, "column must be a name that is known, got 'z'"),
        ({"table": "u"}, "table must be one that was read before, got 'u'"),
        ({"table": "t", "columns": ["word"]}, "columns must be numbers, got words in word"),
        ({"table": "t", "target": "sides"}, "target must be a name that is known, got 'sides'; side"),
        ({"points": [[1, 2], [3]]}, "points must be pairs of numbers"),
        ({"points": [[1, None]]}, "points must be pairs of finite numbers"),
        ({"points": [[1, 2]], "target": ["a", "b"]}, "a label for each of the 1 points"),
        ({"formula": 3}, "formula must be a text"),
        ({"image": "none"}, "image must be a name that is known"),
    ],
)
def test_data_that_are_none_get_a_sentence(told, message):
    with pytest.raises((ValueError, TypeError), match=message):
        read_data(told, tables=TABLE)


@pytest.mark.parametrize(
    ("play", "told", "parameters", "message"),
    [
        ("KMeans", {"formula": "x", "start": [0, 0]}, {}, "data must be rows, got formula"),
        ("SVC", {"points": [[0, 0], [1, 1]]}, {}, "must have a target of classes, got none"),
        ("Ridge", {"set": "iris"}, {}, "must be numbers for a regression, got words"),
        ("KMeans", {"set": "play_tennis"}, {}, "got words in outlook"),
        ("KMeans", {"set": "blobs"}, {"n_clusters": 0}, "n_clusters must be at least 1, got 0"),
        ("KMeans", {"set": "blobs"}, {"clusters": 2}, "parameter must be a name that is known, got 'clusters'"),
        ("momentum", {"formula": "x*y", "start": [0, 0]}, {"momentum": 1.5}, "momentum must be .*below 1, got 1.5"),
    ],
)
def test_what_a_play_cannot_take_gets_a_sentence(play, told, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        find_play(play).perform(read_data(told), parameters)


def test_a_regression_on_rows_drawn_by_hand_predicts_y_from_x():
    points = [[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]]
    performance = find_play("LinearRegression").perform(read_data({"points": points}))
    assert performance.recording.data["columns"] == ("x",)
    assert performance.recording.axes["y"]["label"] == "y"
    assert performance.model.coef_ == pytest.approx([2.0])  # y = 1 + 2 x
