"""Columns, and sums of columns, that know the target."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.bake_off import bake_off
from pellucid.app.bake_off.leakage import find_relations


def rides(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "fare": rng.uniform(3, 60, n).round(2),
            "tolls": np.where(rng.random(n) < 0.2, 5.76, 0.0),
            "distance": rng.uniform(0, 20, n).round(2),
            "days": 17_000.0 + rng.integers(0, 30, n),
        }
    )
    tip = (frame["fare"] * rng.uniform(0, 0.3, n)).round(2).to_numpy()
    return frame.assign(total=(frame["fare"] + frame["tolls"] + tip).round(2)), tip


def test_a_difference_of_columns_is_found_by_its_formula():  # by hand
    (found,) = find_relations(*rides(), seed=0)
    assert found.formula == "total - fare - tolls"
    assert (found.share, found.n_rows, found.n_remainders) == (1.0, 400, 1)


def test_any_weights_and_a_constant_are_found_though_some_rows_are_otherwise():
    frame, _ = rides()
    y = (3.0 + 2.0 * frame["fare"] - 0.25 * frame["distance"]).to_numpy()
    (found,) = find_relations(frame, np.where(np.arange(400) % 50 == 0, y + 9.0, y), seed=0)
    assert found.formula == "2 fare + 3 - 0.25 distance"
    assert found.share == pytest.approx(0.98)


def test_gaps_do_no_harm():
    frame, tip = rides()
    frame.loc[::7, "distance"] = np.nan
    frame.loc[3::11, "total"] = np.nan
    (found,) = find_relations(frame, tip, seed=0)
    assert found.formula == "total - fare - tolls"
    assert found.n_rows == int(frame["total"].notna().sum())


def test_a_few_fees_may_be_left():
    frame, tip = rides()
    fees = np.random.default_rng(1).choice([0.8, 3.3, 1.3], 400)
    (found,) = find_relations(frame.assign(total=(frame["total"] + fees).round(2)), tip, seed=0)
    assert (found.formula, found.n_remainders) == ("total - fare - tolls", 3)


@pytest.mark.parametrize("noise", [0.3, 5.0])
def test_a_target_that_is_nearly_a_sum_is_none(noise):
    for seed in range(5):
        frame, tip = rides(seed=seed)
        assert not find_relations(frame, tip + np.random.default_rng(seed).normal(0, noise, 400).round(2), seed=0)
    whole = np.random.default_rng(0).integers(0, 5, 400).astype(float)
    assert not find_relations(frame, whole, seed=0)
    assert not find_relations(frame.head(20), tip[:20], seed=0)  # too few rows to tell


def test_the_caution_names_the_formula():
    frame, tip = rides(150)
    result = bake_off(frame.assign(tip=tip), "tip", only=["ridge"], folds=2)
    (said,) = [caution for caution in result.cautions if "leave it out and fit again" in caution]
    assert said.startswith(
        "tip is total - fare - tolls in all of 120 rows. If one of these columns is only known after tip"
    )
