"""The imitated machines: their list, their environment, and what they say of a test that fails on one of them."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.machines import Machine, kernels_in_use, kernels_of_architecture, machines, numerical_tests, run_tests
from tests.ulps import moved

PICKY = """
import os

def test_right():
    assert True

def test_only_one_machine_passes():
    assert "PICKY" not in os.environ
"""


def test_machines_differ_in_name_and_environment_and_run_the_kernels_asked_for():
    found = list(machines())
    assert len({machine.name for machine in found}) == len(found)
    assert all(machine.environment for machine in found)
    with_kernels = [name for machine in found if (name := machine.environment.get("OPENBLAS_CORETYPE"))]
    assert set(with_kernels) <= set(kernels_of_architecture())
    if with_kernels:
        assert kernels_in_use(with_kernels[0]) not in (None, kernels_in_use())


def test_every_family_is_tested():
    names = {os.path.basename(path) for path in numerical_tests()}  # noqa: PTH119  (paths are texts there)
    assert {"linear_model", "solvers", "svm", "test_every_estimator.py"} <= names
    assert not {"app", "plots", "test_readme.py", "test_machines.py"} & names


@pytest.mark.parametrize(("changes", "n_failed"), [({}, 0), ({"PICKY": "1"}, 1)])
def test_a_test_that_fails_on_one_machine_is_named(tmp_path, changes, n_failed):
    path = tmp_path / "test_picky.py"
    path.write_text(PICKY)
    outcome = run_tests(Machine("picky", changes), [str(path)], "0")
    assert outcome.passed == 2 - n_failed
    assert [name.split("::")[-1] for name in outcome.failed] == ["test_only_one_machine_passes"] * n_failed


def test_a_run_that_tests_nothing_has_failed(tmp_path):
    assert run_tests(Machine("none", {}), [str(tmp_path / "missing.py")], "0").failed


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_last_bits_move_by_one_unit_towards_0_and_always_the_same(dtype):
    values = np.linspace(-3.0, 3.0, 1000).astype(dtype)
    changed = moved(values, 1)
    units = (np.abs(values) - np.abs(changed)) / np.spacing(np.abs(changed))
    assert changed.dtype == dtype
    assert set(units) == {0.0, 1.0}
    assert 0.4 < units.mean() < 0.6
    np.testing.assert_array_equal(moved(values, 1), changed)
    assert np.any(moved(values, 2) != changed)
    np.testing.assert_array_equal(moved(np.arange(3), 1), np.arange(3))
    np.testing.assert_array_equal(moved(np.zeros(5), 1), 0.0)


def test_generators_of_a_whole_process_can_be_changed():
    script = """
import numpy as np
from tests.ulps import change_last_bits
draw = lambda: (np.random.default_rng(0).standard_normal(99), np.random.RandomState(0).uniform(size=99))
before = draw()
change_last_bits(1)
for old, new, again in zip(before, draw(), draw()):
    assert np.any(old != new) and np.all(new == again)
    np.testing.assert_allclose(new, old, rtol=1e-15)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
