"""Rows that a random split treats wrongly are noticed, and other rows are not accused."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.bake_off.options import Options, row_facts
from pellucid.app.bake_off.vaulted_table import cautions_on_rows
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.understanding import choose_target, understand
from tests.app.bake_off.sample_tables import mixed_table, numeric_table


def cautions(frame, target="y", **options):
    found = choose_target(frame, target)
    rows = frame.loc[found.rows]
    columns = understand(rows, target)
    X = ColumnReader(dict(columns.kinds)).fit_transform(rows, found.values)
    wished = Options(**options)
    return " ".join(cautions_on_rows(rows, X, found, columns, wished, row_facts(rows, wished).order))


def table(n=400, seed=0, **columns):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.standard_normal(n), "b": rng.choice(["x", "y", "z"], n)})
    return frame.assign(**({"y": rng.standard_normal(n)} | columns))


def days(n=400):
    return pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d")


def test_rows_in_order_of_a_date_are_noticed():
    assert "The rows are in order of day" in cautions(table(day=days()))
    assert "fit again with --time-column day" in cautions(table(day=days()))


def test_shuffled_dates_are_not():
    assert cautions(table(day=days()).sample(frac=1, random_state=0)) == ""


def test_a_time_column_that_is_named_is_not_asked_for_again():
    assert "--time-column" not in cautions(table(day=days()), time_column="day")


def test_neighbors_with_similar_targets_are_noticed():
    walk = np.cumsum(np.random.default_rng(0).standard_normal(400))
    assert "Rows that stand next to each other have similar targets" in cautions(table(y=walk))
    classes = np.where(np.sin(np.arange(400) / 8) > 0, "up", "down")
    assert "similar targets" in cautions(table(y=classes))


def test_a_table_sorted_by_its_target_is_no_series():
    frame = table()
    assert cautions(frame.sort_values("y")) == ""
    labels = np.repeat(["k", "l", "m"], [150, 150, 100])
    drifting = table(y=labels, a=np.arange(400.0))
    assert cautions(drifting) == ""


def test_several_rows_of_one_customer_are_noticed_by_the_name_of_the_column():
    who = np.random.default_rng(1).integers(1000, 1080, 400)
    assert "fit again with --group customer_id" in cautions(table(customer_id=who))
    assert "--group" not in cautions(table(customer_id=who), group="customer_id")


def test_words_that_name_groups_are_noticed_by_similar_targets():
    rng = np.random.default_rng(1)
    who = rng.integers(0, 60, 400)
    names = np.array([f"person {i}" for i in who])
    own = rng.standard_normal(60)[who]
    assert "rows of one value have similar targets" in cautions(table(patient=names, y=own + rng.standard_normal(400)))
    assert "patient" not in cautions(table(patient=names))


def test_a_column_that_drifts_is_named():
    drifting = np.random.default_rng(2).standard_normal(400) + np.arange(400) / 100
    found = cautions(table(temperature=drifting))
    assert "The first and the second half of the rows differ in temperature." in found
    assert "--time-column" in found
    words = np.where(np.arange(400) < 200, "old", "new")
    mixed = np.where(np.random.default_rng(3).random(400) < 0.3, "old", words)
    assert "differ in model" in cautions(table(model=mixed))


def test_drift_along_a_named_time_is_found_in_shuffled_rows():
    frame = table(day=days(), temperature=np.random.default_rng(2).standard_normal(400) + np.arange(400) / 100)
    found = cautions(frame.sample(frac=1, random_state=0), time_column="day")
    assert "differ in temperature" in found


@pytest.mark.parametrize("seed", range(5))
def test_tables_without_an_order_are_not_accused(seed):
    assert cautions(table(seed=seed)) == ""
    assert cautions(mixed_table(seed=seed), "churn") == ""
    assert cautions(numeric_table(seed=seed), "price") == ""


def test_few_rows_say_nothing_about_their_order():
    assert cautions(table(40, day=days(40))) == ""
