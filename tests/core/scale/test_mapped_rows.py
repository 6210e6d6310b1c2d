"""NumPy memmaps: those that are too large for memory are read in blocks, and the fit is the same."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pellucid
from pellucid.cluster import KMeans
from pellucid.core.scale import mapped_rows
from pellucid.core.scale.mapped_rows import MappedFile, in_blocks
from pellucid.ensemble import HistGradientBoostingRegressor
from pellucid.linear_model import Lasso
from pellucid.svm import SVR

pytest.importorskip("dask", reason="the extra 'scale' is not installed")

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(3000, 4)).astype(np.float32)
TARGET = ROWS @ [1.0, 0.0, -2.0, 0.5] + rng.normal(size=3000)


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(mapped_rows, "memory_left", lambda: 4.0 * ROWS.nbytes - 1.0)
    monkeypatch.setattr(mapped_rows, "BLOCK_BYTES", 10_000)


@pytest.mark.parametrize("part", [np.s_[:], np.s_[17:], np.s_[5:2900:3], np.s_[::-1], np.s_[:, 1:3], np.s_[40:, ::-2]])
def test_a_memmap_and_every_part_of_one_is_read_from_its_file(mapped, part, monkeypatch):
    monkeypatch.setattr(mapped_rows, "BLOCK_BYTES", 10_000)
    lazy = in_blocks(mapped[part])
    assert lazy.numblocks[0] > 1
    np.testing.assert_array_equal(lazy.compute(), ROWS[part])


def test_files_by_columns_and_with_a_head_are_read_too(tmp_path):
    file = tmp_path / "raw"
    with file.open("wb") as raw:
        raw.write(b"x" * 70_001)
        raw.write(np.asfortranarray(ROWS).T.tobytes())
    mapped = np.memmap(file, dtype=np.float32, mode="r", offset=70_001, shape=ROWS.shape, order="F")
    np.testing.assert_array_equal(MappedFile.of(mapped).rows(7, 2000), ROWS[7:2000])
    np.testing.assert_array_equal(MappedFile.of(mapped[3:]).rows(0, 90), ROWS[3:93])


def test_a_large_one_is_fitted_and_verified_in_blocks(mapped, little_memory):
    in_blocks_too, in_memory = Lasso(alpha=0.1).fit(mapped, TARGET), Lasso(alpha=0.1).fit(ROWS.astype(float), TARGET)
    assert in_blocks_too.data_fingerprint_ != Lasso(alpha=0.1).fit(ROWS, TARGET).data_fingerprint_
    np.testing.assert_allclose(in_blocks_too.coef_, in_memory.coef_, rtol=1e-9)
    assert pellucid.verify(in_blocks_too, mapped, TARGET).holds
    assert Lasso(alpha=0.1).fit(X=mapped, y=TARGET).coef_.tobytes() == in_blocks_too.coef_.tobytes()
    trees = HistGradientBoostingRegressor(max_iter=2, random_state=0)
    np.testing.assert_array_equal(trees.fit(mapped, TARGET).predict(ROWS), trees.fit(ROWS, TARGET).predict(ROWS))
    assert not hasattr(KMeans(3, random_state=0).fit(mapped), "labels_")  # by passes


def test_a_small_one_and_methods_without_blocks_are_fitted_as_ever(mapped, little_memory, monkeypatch):
    SVR().fit(mapped[:50], TARGET[:50])
    monkeypatch.setattr(mapped_rows, "memory_left", lambda: 4.0 * ROWS.nbytes)
    monkeypatch.setattr(mapped_rows, "in_blocks", None)
    assert Lasso(alpha=0.1).fit(mapped, TARGET).coef_.tobytes() == Lasso(alpha=0.1).fit(ROWS, TARGET).coef_.tobytes()


def test_without_dask_a_large_one_is_refused_in_a_sentence(mapped, little_memory, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    model = Lasso(alpha=0.1)
    with pytest.raises(ImportError, match=r"got a memmap of 4.8e-05 GB. Install pellucid\[scale\]"):
        model.fit(mapped, TARGET)
    assert not hasattr(model, "coef_")


LIMITED = """
    import resource, sys
    import dask, numpy as np
    from pellucid.core.scale import mapped_rows
    from pellucid.linear_model import LinearRegression

    rows = np.lib.format.open_memmap("rows.npy", mode="w+", dtype=np.float64, shape=(4_000_000, 20))  # 640 MB
    target = np.empty(len(rows))
    rng = np.random.default_rng(0)
    for start in range(0, len(rows), 100_000):
        part = slice(start, start + 100_000)
        rows[part] = rng.normal(size=(100_000, 20))
        target[part] = rows[part, 0] - 2.0 * rows[part, 3]
    mapped_rows.memory_left = lambda: 1e9
    LinearRegression().fit(rows[:1_700_000], target[:1_700_000])
    used = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (used + 300_000_000, used + 300_000_000))
    with dask.config.set(scheduler="threads", num_workers=2):
        model = LinearRegression().fit(rows, target)
    print("fitted", model.coef_.round(9).tolist())
    try:
        np.array(rows)
    except MemoryError:
        print("too large to hold")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
def test_a_fit_copies_a_few_blocks_only(tmp_path):
    (tmp_path / "limited.py").write_text(textwrap.dedent(LIMITED))
    done = subprocess.run(
        [sys.executable, "limited.py"], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert "fitted [1.0" in done.stdout, done.stderr[-2000:]
    assert "too large to hold" in done.stdout
