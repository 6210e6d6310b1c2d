"""Clusters of a table: what they are, in words; odd tables; what cannot be done."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.clusters import Grouping, group_table
from pellucid.app.clusters import methods as grouping_methods
from pellucid.app.clusters.methods import METHODS, ClusterMethodScore, best_method
from pellucid.app.clusters.profiles import Difference, Profile
from pellucid.app.clusters.result import draw_map
from pellucid.app.serving.application import answers
from pellucid.app.tables import TableError

TEXTS = ("the cat sat on the warm mat", "stocks fell on fears of inflation", "rain and wind all over the coast today")


def customers(n=120, seed=0):
    """Return a table of two kinds of customers, with gaps and a column that says nothing."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    table = pd.DataFrame(
        {
            "age": np.where(kind, 62.0, 28.0) + 3.0 * rng.standard_normal(n),
            "income": np.where(kind, 80_000.0, 30_000.0) + 4000.0 * rng.standard_normal(n),
            "channel": np.where(kind ^ (rng.random(n) < 0.05), "shop", "web"),
            "noise": rng.standard_normal(n),
            "same": 1,
        }
    )
    table.loc[::11, "age"] = np.nan
    table.loc[::13, "channel"] = None
    return table, kind


@pytest.fixture(scope="module")
def grouping() -> Grouping:
    return group_table(customers()[0])


# what is found


def test_two_kinds_of_customers_are_two_clusters(grouping):
    _, kind = customers()
    assert grouping.k == 2
    assert not grouping.alarm
    agree = np.mean(grouping.labels == kind)
    assert max(agree, 1.0 - agree) == 1.0
    assert grouping.certificate.holds


def test_profiles_say_what_sets_a_cluster_apart(grouping):
    older = max(grouping.profiles, key=lambda profile: grouping.table["age"][grouping.labels == profile.label].mean())
    assert older.sentence.startswith(f"Cluster {older.label} (50 %): ")
    assert "higher age (62" in older.sentence
    assert "higher income (" in older.sentence
    assert "channel" in older.sentence
    assert "noise" not in older.sentence
    assert grouping.table["age"][older.typical] > 50 or np.isnan(grouping.table["age"][older.typical])


def test_what_is_left_out_and_small_is_said(grouping):
    assert any("same (it never changes)" in caution for caution in grouping.cautions)
    assert {score.method.name for score in grouping.scores} == {method.name for method in METHODS}
    assert list(grouping.frame()["method"]) == [method.name for method in METHODS]
    assert repr(grouping).startswith("Grouping: 2 clusters by k-means")


def test_the_model_assigns_new_rows_and_is_proved_from_a_file(grouping, tmp_path):
    table, _ = customers()
    pellucid.save(grouping.model, tmp_path / "clusters.safetensors")
    model = pellucid.load(tmp_path / "clusters.safetensors")
    np.testing.assert_array_equal(model.predict(table), grouping.labels)
    assert model.predict(table[:1].assign(age=[np.nan], channel=["never seen"]))[0] == grouping.labels[0]
    assert pellucid.verify(model, table).holds


def test_the_model_answers_over_http(grouping):
    table, _ = customers()
    assert [one["prediction"] for one in answers(grouping.model, table[:3], 0.9)] == grouping.labels[:3].tolist()


def test_the_same_seed_gives_the_same_clusters(grouping):
    again = group_table(customers()[0])
    np.testing.assert_array_equal(again.labels, grouping.labels)


def test_a_number_that_was_asked_for_is_kept():
    found = group_table(customers()[0], 3)
    assert (found.k, found.was_asked, found.choice) == (3, True, None)


def test_rows_without_structure_raise_an_alarm():
    table = pd.DataFrame(np.random.default_rng(0).uniform(size=(150, 2)), columns=["a", "b"])
    found = group_table(table)
    assert found.alarm.startswith("No clusters were found: the gap statistic")
    assert 2 <= found.k <= 4


def test_the_work_is_told_step_by_step():
    said = []
    group_table(customers(60)[0], listen=lambda *what: said.append(what))
    assert said[0][0] == "choosing the number of clusters"
    assert {name for name, _, _ in said} >= {method.name for method in METHODS}


# odd tables


def test_one_column_of_numbers():
    found = group_table(pd.DataFrame({"x": [0.0, 0.1, 0.2, 0.3, 9.0, 9.1, 9.2, 9.3]}))
    assert found.k == 2
    assert found.table_map.shares == (1.0, 0.0)


def test_texts_are_clustered_by_their_words():
    table = pd.DataFrame({"text": [f"{TEXTS[i % 3]} number {i}" for i in range(45)]})
    found = group_table(table)
    assert found.k == 3
    assert any("text has 'cat'" in profile.sentence for profile in found.profiles)


def test_three_rows_are_enough_and_said_to_be_few():
    found = group_table(pd.DataFrame({"x": [1.0, 2.0, 9.0], "w": ["a", "b", "b"]}))
    assert any("There are only 3 rows" in caution for caution in found.cautions)


def test_two_different_rows_are_two_clusters():
    found = group_table(pd.DataFrame({"x": [1, 1, 1, 2, 2], "y": ["a", "a", "a", "b", "b"]}))
    assert found.k == 2


def test_dates_and_yes_and_no_are_described():
    n = 60
    late = np.arange(n) >= n // 2
    table = pd.DataFrame(
        {
            "when": np.where(late, "2023-05-01", "2019-05-01"),
            "paid": np.where(late, "yes", "no"),
            "size": np.where(late, 10.0, 1.0) + np.random.default_rng(0).random(n),
        }
    )
    sentences = " ".join(profile.sentence for profile in group_table(table, 2).profiles)
    assert "higher when year (2023, all 2021)" in sentences
    assert "paid = yes (100 %, all 50 %)" in sentences


# pieces


def test_differences_are_written_as_people_do():
    assert Difference("price", "", 12345.6, 9000.0, 0.5).sentence == "higher price (12,346, all 9000)"
    assert Difference("age", "", 20.04, 40.0, -1.2).sentence == "much lower age (20, all 40)"
    assert Difference("sex", "F", 0.8, 0.3, 1.1).sentence == "much more often sex = F (80 %, all 30 %)"
    assert (
        Difference("note", "has 'cat'", 0.004, 0.3, -0.7).sentence == "less often note has 'cat' (below 1 %, all 30 %)"
    )


def test_a_cluster_like_all_others_is_called_that():
    profile = Profile(3, 7, 0.5, (Difference("age", "", 40.0, 40.1, -0.01),), 0.1, 0)
    assert profile.sentence == "Cluster 3 (50 %): much like the rows as a whole."


def test_k_means_is_kept_unless_another_method_that_assigns_rows_is_clearly_better():
    def score(place, silhouette, assigns):
        method = grouping_methods.ClusterMethod(str(place), METHODS[0].make, assigns)
        return ClusterMethodScore(method, silhouette, 1.0, 0.0, 5, 1.0, 0.1)

    first, unable, near, better = score(0, 0.5, True), score(1, 0.9, False), score(2, 0.51, True), score(3, 0.6, True)
    assert best_method([first, unable, near], 9) is first
    assert best_method([first, unable, near, better], 9) is better
    slow = replace(better, method=replace(better.method, most_rows=8))
    assert best_method([first, unable, near, slow], 9) is first
    nothing = [score(0, np.nan, True)]
    assert best_method(nothing, 9) is nothing[0]


@pytest.mark.parametrize("name", ["k-medoids", "Gaussian mixture"])
def test_every_method_that_assigns_rows_can_become_the_model(name, monkeypatch, tmp_path):
    only = next(method for method in METHODS if method.name == name)
    monkeypatch.setattr(grouping_methods, "METHODS", (only,))
    table, kind = customers()
    found = group_table(table, 2)
    assert found.chosen.method is only
    agree = np.mean(found.labels == kind)
    assert max(agree, 1.0 - agree) > 0.95
    pellucid.save(found.model, tmp_path / "clusters.safetensors")
    model = pellucid.load(tmp_path / "clusters.safetensors")
    np.testing.assert_array_equal(model.predict(table), found.labels)
    assert pellucid.verify(model, table).holds


def test_a_method_that_fails_is_named_with_its_reason(monkeypatch):
    def refuse(_k, _n, _seed):
        raise ValueError("links must be there.")

    broken = grouping_methods.ClusterMethod("broken", refuse, False)
    monkeypatch.setattr(grouping_methods, "METHODS", (METHODS[0], broken))
    found = group_table(customers(40)[0], 2)
    assert found.scores[1].failure == "links must be there."
    assert found.chosen.method.name == "k-means"


def test_the_map_shows_the_main_directions():
    rng = np.random.default_rng(0)
    X = np.column_stack([0.1 * rng.standard_normal(50), 5.0 * rng.standard_normal(50), rng.standard_normal(50)])
    found = draw_map(X, ["a", "b", "c"])
    assert [columns[0] for columns in found.columns] == ["b", "c"]
    assert found.shares[0] > 0.9
    np.testing.assert_allclose(np.abs(np.corrcoef(found.places[:, 0], X[:, 1])[0, 1]), 1.0, atol=1e-3)


# errors


@pytest.mark.parametrize(
    ("table", "settings", "sentence"),
    [
        (pd.DataFrame({"x": [1.0, 2.0]}), {}, "table must have at least 3 rows"),
        (pd.DataFrame({"x": [1.0] * 4}), {}, "table must have a column to learn from, got none .x: it never changes"),
        (pd.DataFrame({"x": [1.0, 2.0, 3.0]}), {"k": 5}, "k must be at most the number of rows, got 5 for 3 rows"),
        (
            pd.DataFrame({"x": [1.0, 1.0, 3.0]}),
            {"k": 3},
            "table must have 3 different rows for as many clusters, got 2",
        ),
        (pd.DataFrame({"x": [1.0, 2.0, 3.0]}), {"drop": ["z"]}, "drop and keep must name columns of the table"),
    ],
)
def test_refuses_what_has_no_clusters(table, settings, sentence):
    with pytest.raises(TableError, match=sentence):
        group_table(table, **settings)


def test_a_column_that_looks_like_an_id_is_kept_if_asked():
    table = pd.DataFrame({"id": np.arange(40), "x": np.r_[np.zeros(20), np.ones(20)] + 0.01 * np.arange(40)})
    assert "id" not in group_table(table, 2).columns.kinds
    assert "id" in group_table(table, 2, keep=["id"]).columns.kinds
