import copy
import math
import pickle

import numpy as np
import pytest

import pellucid
from pellucid import Trace


def two_rows():
    trace = Trace()
    trace.add(iteration=1, objective=4.0, gap=1.0)
    trace.add(iteration=2, objective=3.0, step=0.5)
    return trace


def test_columns_start_with_iteration_and_objective_and_missing_values_are_nan():
    trace = two_rows()
    assert trace.columns == ("iteration", "objective", "gap", "step")
    np.testing.assert_array_equal(trace["gap"], [1.0, math.nan])
    assert len(trace) == 2
    assert [row["objective"] for row in trace] == [4.0, 3.0]


def test_frame_and_columns_round_trip():
    trace = two_rows()
    again = Trace.from_columns({name: trace[name].tolist() for name in trace.columns})
    assert again == trace
    assert again != Trace()
    assert trace.frame().shape == (2, 4)


def test_a_method_without_an_objective_has_no_such_column():
    trace = Trace()
    trace.add(iteration=1, changed=3)
    assert trace.columns == ("iteration", "changed")
    assert repr(trace) == "Trace(1 row: iteration, changed)"


def test_repr_says_how_the_objective_went():
    assert repr(two_rows()) == "Trace(2 rows: iteration, objective, gap, step; objective 4 -> 3)"
    assert repr(Trace()) == "Trace(0 rows)"


def test_a_notebook_shows_the_first_and_the_last_rows():
    trace = Trace()
    for i in range(100):
        trace.add(iteration=i, objective=1.0 / (i + 1))
    shown = trace._repr_html_()
    assert "Trace: 100 rows" in shown
    assert shown.count("<tr") == 14  # the names, six rows, dots, six rows
    assert "0.01" in shown
    assert Trace()._repr_html_() == "<div><b>Trace: 0 rows</b></div>"


def test_states_are_kept_only_while_recording():
    trace, state = Trace(), np.zeros(2)
    trace.keep(w=state)
    with pellucid.record():
        trace.keep(w=state)
        state[0] = 1.0  # the trace has a copy
        trace.keep(w=state)
    trace.keep(w=state)
    assert [kept["w"][0] for kept in trace.states] == [0.0, 1.0]


def test_traces_of_several_targets_are_joined():
    joined = Trace.joined([two_rows(), two_rows()])
    np.testing.assert_array_equal(joined["iteration"], [1, 2, 1, 2])
    np.testing.assert_array_equal(Trace.joined([two_rows()] * 2, renumber=True)["iteration"], [1, 2, 3, 4])
    assert joined.columns == two_rows().columns


def test_copies_and_pickles():
    trace = two_rows()
    assert pickle.loads(pickle.dumps(trace)) == trace == copy.deepcopy(trace)


def test_refuses_unknown_columns_and_ragged_ones():
    with pytest.raises(KeyError, match="column must be one of .*'nothing'"):
        two_rows()["nothing"]
    with pytest.raises(ValueError, match="must start with"):
        Trace.from_columns({"objective": [1.0], "iteration": [1.0]})  # iteration comes first
    with pytest.raises(ValueError, match="equal lengths"):
        Trace.from_columns({"iteration": [1.0], "objective": [1.0, 2.0]})
