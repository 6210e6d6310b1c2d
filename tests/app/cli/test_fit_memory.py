"""``pellucid fit --memory`` keeps the peak of its process below what was given."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pellucid.app.cli.application import run
from tests.app.bake_off.sample_tables import numeric_table

MEASURED = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "pellucid", *sys.argv[1:]], capture_output=True, text=True)
unit = 1 if sys.platform == "darwin" else 1024
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit)
print(done.stderr, file=sys.stderr)
"""
GIVEN = 900e6


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """Return a table whose target follows steps: the method that finds them needs 500 columns for its 20."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((120_000, 20)), columns=[f"c{place}" for place in range(20)])
    frame["y"] = np.sign(frame["c0"]) + np.sign(frame["c1"] - 0.5) + 0.1 * rng.standard_normal(len(frame))
    path = tmp_path_factory.mktemp("steps") / "steps.parquet"
    frame.to_parquet(path)
    return path


def peak_of(*arguments):
    command = [sys.executable, "-c", MEASURED, *(str(one) for one in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, peak = done.stdout.split()
    assert code == "0", done.stderr
    return float(peak)


def test_the_peak_of_the_process_stays_below_what_was_given(steps, tmp_path):
    arguments = ["fit", steps, "--target", "y", "--only", "ridge", "--only", "ridge with steps", "--recipe", "split"]
    limited = peak_of(*arguments, "--time", "20s", "--out", tmp_path / "limited", "--memory", "900MB")
    page = (tmp_path / "limited" / "report.html").read_text()
    assert limited < GIVEN
    assert "ridge with steps (with 120,000 rows it would take more memory than was given)" in page


@pytest.mark.parametrize("size", ["much", "-1GB", "0MB", "2", "5 KB", ""])
def test_a_size_that_is_none_is_refused(size, tmp_path, capsys):
    numeric_table().to_csv(tmp_path / "houses.csv", index=False)
    assert run(["fit", str(tmp_path / "houses.csv"), "--target", "price", f"--memory={size}"]) == 2
    assert f"memory must be a size above 0 such as 500MB or 2GB, got {size!r}." in capsys.readouterr().err


def test_less_than_the_program_takes_is_refused(tmp_path, capsys):
    numeric_table().to_csv(tmp_path / "houses.csv", index=False)
    assert run(["fit", str(tmp_path / "houses.csv"), "--target", "price", "--memory", "20MB"]) == 2
    assert "that the program and the table take, got 20 MB. Give more." in capsys.readouterr().err
