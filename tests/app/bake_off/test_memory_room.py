"""Methods that would not fit into the memory given are left out, or learn from fewer rows."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.bake_off import bake_off, memory_room, procedure
from pellucid.app.bake_off.contestants import CLASSIFIERS, REGRESSORS
from pellucid.app.bake_off.memory_room import MemoryRoom, room_within
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import Columns
from tests.app.bake_off.sample_tables import numeric_table

METHODS = {one.name: one for one in REGRESSORS}


def table_of(n_rows, n_columns=20):
    names = [f"c{place}" for place in range(n_columns)]
    frame = pd.DataFrame(np.zeros((n_rows, n_columns)), columns=names)
    return Columns(dict.fromkeys(names, "number"), {}), frame, np.zeros(n_rows)


def rows_for(room, name, n_rows=50_000):
    return MemoryRoom(room).rows_for(METHODS[name], *table_of(n_rows))


def test_kernel_ridge_keeps_two_numbers_for_each_pair_of_rows():
    # 0.7 of 4.8e9 bytes for 2.1 * 8 n^2 bytes, and 800 for each row: n = (sqrt(800^2 + 4 * 16.8 * 3.36e9) - 800) / 33.6
    expected = (np.sqrt(800.0**2 + 4 * 16.8 * 0.7 * 4.8e9) - 800.0) / (2 * 16.8)
    assert rows_for(4.8e9, "kernel ridge") == int(expected)


def test_what_takes_more_memory_has_fewer_rows():
    rows = [rows_for(2e8, name) for name in ("boosted trees", "lasso", "ridge with steps", "random forest")]
    assert rows == sorted(rows, reverse=True)
    assert rows[0] == 50_000
    assert rows[-1] < 10_000
    assert rows_for(1e12, "random forest") == 50_000


@pytest.mark.parametrize("name", sorted(METHODS))
def test_more_room_is_never_for_fewer_rows(name):
    rows = [rows_for(room, name) for room in (1e6, 1e7, 1e8, 1e9, 1e10)]
    assert rows == sorted(rows)


def test_methods_that_do_not_fit_are_named_with_the_reason():
    kept, left_out, most = MemoryRoom(2e8).divide(REGRESSORS, *table_of(50_000))
    assert most == 50_000
    assert "boosted trees" in [one.name for one in kept]
    assert dict(left_out)["random forest"] == "with 50,000 rows it would take more memory than was given"


def test_if_none_fits_with_all_rows_those_stay_that_fit_with_the_most():
    kept, left_out, most = MemoryRoom(1e7).divide(REGRESSORS, *table_of(50_000))
    assert 1000 <= most < 50_000
    assert {"mean", "boosted trees"} <= {one.name for one in kept}
    assert "random forest" in dict(left_out)


def test_many_classes_make_a_forest_larger():
    columns, frame, _ = table_of(50_000)
    forest = next(one for one in CLASSIFIERS if one.name == "random forest")
    two, many = (np.arange(50_000) % n_classes for n_classes in (2, 50))
    room = MemoryRoom(2e8)
    assert room.rows_for(forest, columns, frame, many) < room.rows_for(forest, columns, frame, two)


def test_a_model_short_of_memory_learns_from_fewer_rows_and_says_so(monkeypatch):
    table = numeric_table(400)
    monkeypatch.setattr(memory_room, "FEWEST_ROWS", 100)
    # ridge: 2.5 + 2.5 copies of 16 bytes for each row, so 150 rows take 12 kB
    monkeypatch.setattr(procedure, "room_within", lambda *_: MemoryRoom(150 * 80.0 / memory_room.FIT_SHARE))
    result = bake_off(table, "price", folds=2, only=["ridge", "lasso"])
    assert result.n_fitted == 150
    assert result.chosen.pace.rows == 150
    assert any("The model learned from 150 of the 400 rows" in caution for caution in result.cautions)
    assert any(one.name == "lasso" and "more memory than was given" in one.reason for one in result.untried)
    assert result.curve == "It would take more memory than was given."
    assert pellucid.verify(result.model, table, table["price"]).holds


def test_too_little_for_the_program_itself_is_refused(monkeypatch):
    frame = numeric_table()
    monkeypatch.setattr(memory_room, "memory_in_use", lambda: 3e8)
    monkeypatch.setattr(memory_room, "LOADED_LATER", 2e8)
    with pytest.raises(TableError, match=r"memory must be more than the 500 MB .* take, got 400 MB. Give more."):
        room_within(4e8, frame)
    assert room_within(1e9, frame).room == pytest.approx(5e8, rel=1e-3)
    assert room_within(None, frame).room > 0.0
    with pytest.raises(ValueError, match="memory must be above 0, got 0"):
        bake_off(frame, "price", memory=0)


def test_too_little_for_a_thousand_rows_is_refused():
    with pytest.raises(TableError, match="memory must suffice to fit a method to 1,000 rows"):
        MemoryRoom(1e5).divide(REGRESSORS, *table_of(50_000))
