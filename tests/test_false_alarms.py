"""A small part of the sweep for false alarms, and that it tells its verdicts apart."""

from __future__ import annotations

import pytest

from tests.false_alarms import ALARMS, HELD, SLOW, Case, Judge, cases, judge

QUICK_CASES = [
    case for case in cases(quick=True) if case.set == "iris" and case.preparation in ("raw", "float32", "weighted")
]


@pytest.mark.parametrize("case", QUICK_CASES, ids=str)
def test_ordinary_data_raise_no_alarm(case):
    verdict = judge(case)
    assert verdict.kind not in ALARMS, verdict


def test_a_slow_fit_is_named_and_stops_nothing():
    hurried = Judge(limit=1e-4)
    case = Case("LinearRegression", 0, "iris", "raw")
    assert [hurried(case).kind, hurried(case).kind] == [SLOW, SLOW]
    assert Judge(limit=60.0)(case).kind == HELD
