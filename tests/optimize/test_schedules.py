"""Schedules: values by hand, limits, and settings that are refused."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pellucid.optimize import ConstantStep, CosineDecay, InverseRoot, InverseTime, LinearDecay, StepDecay
from pellucid.optimize.schedules import as_schedule

ALL = [ConstantStep(0.5), InverseTime(0.5), InverseRoot(0.5), StepDecay(0.5), LinearDecay(0.5), CosineDecay(0.5)]


@pytest.mark.parametrize("schedule", ALL, ids=lambda s: type(s).__name__)
def test_every_schedule_starts_at_its_initial_value_and_never_rises(schedule):
    values = [schedule(t) for t in range(300)]
    assert values[0] == 0.5
    assert all(later <= earlier for earlier, later in pairwise(values))
    assert min(values) >= 0


def test_values_by_hand():
    assert InverseTime(1.0, decay=2.0)(3) == pytest.approx(1 / 7)
    assert InverseRoot(1.0)(3) == 0.5
    assert StepDecay(8.0, factor=0.5, every=3)(7) == 2.0
    assert LinearDecay(1.0, final=0.5, length=10)(5) == 0.75
    assert LinearDecay(1.0, final=0.5, length=10)(50) == 0.5
    assert CosineDecay(1.0, final=0.5, length=10)(5) == pytest.approx(0.75)
    assert CosineDecay(1.0, final=0.5, length=10)(11) == 0.5


def test_numbers_and_functions_are_schedules():
    assert as_schedule(0.25)(7) == 0.25
    assert as_schedule(lambda t: t + 1.0)(7) == 8.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantStep(0), "initial must be above 0, got 0"),
        (lambda: InverseTime(1.0, decay=-1), "decay must be above 0, got -1"),
        (lambda: StepDecay(1.0, factor=2.0), "factor must be between 0 and 1, got 2.0"),
        (lambda: LinearDecay(1.0, length=0), "length must be at least 1, got 0"),
        (lambda: CosineDecay(1.0, final=-1.0), "final must be at least 0, got -1.0"),
        (lambda: as_schedule(float("nan")), "step_size must be above 0, got nan"),
    ],
)
def test_bad_settings_get_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
