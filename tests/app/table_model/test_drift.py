"""Drift is found where it is, and not where it is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pellucid.app.table_model import SeenTable, find_drift
from pellucid.app.table_model.seen_table import MOST_WORDS


def table(n_rows, seed, *, shift=0.0, words=("a", "b", "c"), gaps=0.1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "normal": rng.normal(loc=shift, size=n_rows),
            "skewed": np.where(rng.uniform(size=n_rows) < gaps, np.nan, rng.exponential(size=n_rows)),
            "flag": (rng.uniform(size=n_rows) < 0.3).astype(float),
            "count": rng.poisson(2.0, size=n_rows).astype(float),
            "word": pd.Series(rng.choice(words, size=n_rows), dtype=object),
            "rare": pd.Series([f"w{int(k)}" for k in rng.geometric(0.1, size=n_rows)], dtype=object),
        }
    )


def drifted(seen, new, **options):
    return [drift.column for drift in find_drift(seen, new, **options) if drift.is_drifted]


@pytest.mark.parametrize("sizes", [(5000, 5000), (300, 5000), (5000, 60), (40, 40), (20_000, 5)])
def test_the_same_source_has_not_drifted(sizes):
    alarms = [drifted(SeenTable.of(table(sizes[0], seed)), table(sizes[1], 1000 + seed)) for seed in range(40)]
    assert sum(map(len, alarms)) <= 1


def test_each_change_is_named():
    seen = SeenTable.of(table(3000, 0))
    assert drifted(seen, table(3000, 1, shift=0.5)) == ["normal"]
    assert drifted(seen, table(3000, 1, words=("a", "a", "b", "c"))) == ["word"]
    assert drifted(seen, table(3000, 1, gaps=0.4)) == ["skewed"]
    flipped = table(3000, 1).assign(flag=lambda frame: 1.0 - frame["flag"])
    assert drifted(seen, flipped) == ["flag"]


def test_words_never_seen_are_counted():
    seen = SeenTable.of(table(3000, 0))
    found = {drift.column: drift for drift in find_drift(seen, table(1000, 1, words=("a", "b", "c", "new")))}
    assert found["word"].unseen == pytest.approx(0.25, abs=0.05)
    assert found["word"].is_drifted


def test_a_change_below_the_threshold_is_no_drift_however_sure():
    seen = SeenTable.of(table(50_000, 0))
    new = table(50_000, 1, shift=0.1)
    assert drifted(seen, new) == []
    assert drifted(seen, new, threshold=0.01) == ["normal"]


def test_the_distance_is_that_of_the_shares():
    seen = SeenTable.of(pd.DataFrame({"x": np.repeat([0.0, 1.0], [600, 400])}))
    (found,) = find_drift(seen, pd.DataFrame({"x": np.repeat([0.0, 1.0], [300, 700])}))
    assert found.distance == pytest.approx(0.3, abs=0.011)
    seen = SeenTable.of(pd.DataFrame({"x": ["a"] * 6 + ["b"] * 4}))
    (found,) = find_drift(seen, pd.DataFrame({"x": ["a"] * 3 + ["b"] * 7}))
    assert found.distance == pytest.approx(0.3)


def test_more_words_than_are_kept_are_no_alarm():
    words = pd.DataFrame({"x": [f"w{i % (2 * MOST_WORDS)}" for i in range(8 * MOST_WORDS)]})
    (found,) = find_drift(SeenTable.of(words), words.sample(frac=0.5, random_state=0))
    assert not found.is_drifted
    assert found.unseen == 0.0


def test_empty_and_gap_only_columns():
    gaps = pd.DataFrame({"x": np.full(50, np.nan), "y": pd.Series([None] * 50, dtype=object)})
    assert drifted(SeenTable.of(gaps), gaps) == []
    assert drifted(SeenTable.of(table(100, 0)), table(0, 0)) == []
