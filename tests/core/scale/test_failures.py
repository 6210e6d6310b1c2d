"""What happens to a fit when a scheduler, a worker or the library on it is gone: sentences, no waiting, same bits."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("distributed", reason="the extra 'scale' is not installed")

HEAD = """
    import os, signal, subprocess, sys, threading, time, warnings
    from pathlib import Path
    import dask, dask.array as da, numpy as np
    from distributed import Client, LocalCluster
    from pellucid.core.scale import row_blocks
    from pellucid.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from pellucid.linear_model import LinearRegression
    from pellucid.tree import DecisionTreeRegressor

    ORDER = Path("somebody dies")

    def slow(block):
        time.sleep(0.1)
        try:
            ORDER.unlink()  # whoever finds it there dies, in the middle of a pass
        except FileNotFoundError:
            return block
        os.kill(os.getpid(), signal.SIGKILL)

    rows = da.random.default_rng(0).normal(size=(8_000, 4), chunks=(1_000, 4)).map_blocks(slow, dtype=float)
    target = rows @ np.arange(4.0) + 1.0
"""


def printed_by(tmp_path, script):
    file = tmp_path / "failing.py"
    file.write_text(textwrap.dedent(HEAD) + textwrap.dedent(script))
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, timeout=240, check=False, cwd=tmp_path
    )
    return done.stdout + done.stderr[-2000:]


SCHEDULER = """
    if __name__ == "__main__":
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
        scheduler = subprocess.Popen([*start, "--scheduler-file", "address.json"], **quiet)
        start = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", "address.json"]
        worker = subprocess.Popen([*start, "--no-nanny", "--nthreads", "1", "--no-dashboard"], **quiet)
        while not os.path.exists("address.json"):
            time.sleep(0.1)
        client = Client(scheduler_file="address.json")
        client.wait_for_workers(1)
        threading.Timer(0.6, scheduler.kill).start()
        model = LinearRegression()
        began = time.monotonic()
        try:
            model.fit(rows, target)
        except ConnectionError as gone:
            print(gone, "after", round(time.monotonic() - began), "s")
        print("attributes:", [name for name in vars(model) if name.endswith("_")])
        worker.kill()
        sys.stdout.flush()
        os._exit(0)  # the client would try for half a minute to find the scheduler again
"""


def test_a_scheduler_that_is_gone_is_told_at_once_and_nothing_looks_fitted(tmp_path):
    printed = printed_by(tmp_path, SCHEDULER)
    assert "the scheduler of Dask must stay there until a pass is done, but it is gone" in printed
    assert "attributes: []" in printed


VERSIONS = """
    if __name__ == "__main__":
        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                import distributed.versions
                known = distributed.versions._version_cached
                distributed.versions._version_cached = lambda name: "1.0.0" if name == "distributed" else known(name)
                client = Client(cluster)
            print("told:", *(str(one.message) for one in told))
            print("fitted:", (LinearRegression().fit(rows, target).coef_.round(6) + 0.0).tolist())

            def forget(*names):
                for name in names:
                    sys.modules[name] = None

            client.run(forget, "pellucid.core.scale.moments", "pellucid.core.scale.row_blocks")
            row_blocks._WORKERS_WITH_US.clear()  # as if they were new
            model = LinearRegression()
            try:
                model.fit(rows, target)
            except ImportError as missing:
                print("missing:", missing)
            print("attributes:", [name for name in vars(model) if name.endswith("_")])
            client.close()
"""


def test_what_dask_says_of_other_versions_and_of_workers_without_the_library_reaches_the_user(tmp_path):
    printed = printed_by(tmp_path, VERSIONS)
    assert "Mismatched versions found" in printed
    assert "fitted: [0.0, 1.0, 2.0, 3.0]" in printed
    assert "missing: workers of Dask must have pellucid as it is here, got one that says: import of" in printed
    assert "attributes: []" in printed


TREES = """
    MODEL = A_MODEL
    if __name__ == "__main__":
        def trees():
            model = MODEL.fit(rows, target)
            assert model.certificate_.holds
            return [getattr(model.trees_, name).tobytes() for name in ("threshold", "value", "n_node_samples")]

        with dask.config.set(scheduler="threads", num_workers=2):
            expected = trees()
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            ORDER.touch()
            assert trees() == expected
            assert not ORDER.exists(), "nobody died"
            print("same bits")
            sys.stdout.flush()
            os._exit(0)  # the one that starts again need not be waited for
"""


@pytest.mark.parametrize(
    "model",
    [
        "HistGradientBoostingRegressor(max_iter=3, early_stopping=False, random_state=0)",
        "DecisionTreeRegressor(max_depth=6)",
        "RandomForestRegressor(3, random_state=0, max_depth=6)",
    ],
)
def test_trees_survive_the_death_of_a_worker_with_the_same_bits(tmp_path, model):
    printed = printed_by(tmp_path, TREES.replace("A_MODEL", model))
    assert "same bits" in printed, printed
