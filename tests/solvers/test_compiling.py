"""Kept code is compiled again when any file that it comes from changes."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pellucid.solvers import compiling_kernels
from pellucid.solvers.compiling_kernels import kept, stamp_of
from pellucid.tree.decision_tree import growth_kernels


@pytest.fixture
def room(tmp_path, monkeypatch):
    room = tmp_path / "pellucid"
    room.mkdir()
    (room / "outer_kernels.py").write_text("from pellucid.inner_kernels import loop\nfrom pellucid import sizes")
    (room / "inner_kernels.py").write_text("from pellucid.layout import SIZE")
    (room / "layout.py").write_text("SIZE = 1")
    (room / "sizes.py").write_text("WIDTH = 1")
    (room / "other.py").write_text("A = 1")
    monkeypatch.setattr(compiling_kernels, "ROOM", room)
    return room


@pytest.mark.parametrize("name", ["outer_kernels", "inner_kernels", "layout", "sizes"])
def test_the_stamp_follows_every_file_behind(room, name):
    before = stamp_of(room / "outer_kernels.py")
    file = room / f"{name}.py"
    file.write_text(f"{file.read_text()}\nMORE = 2")
    assert stamp_of(room / "outer_kernels.py") != before


def test_other_files_do_not_matter(room):
    before = stamp_of(room / "outer_kernels.py")
    (room / "other.py").write_text("A = 2")
    assert stamp_of(room / "outer_kernels.py") == before


def test_a_loop_is_compiled_once_by_whichever_thread_comes_first():
    @kept
    def doubled(x):
        return 2 * x

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(doubled, [1.5] * 40)) == [3.0] * 40
    assert len(doubled.compiled.signatures) == 1
    assert doubled.py_func(2) == 4
    assert doubled.__name__ == "doubled"


def test_calls_go_to_compiled_code_without_a_detour():
    @kept
    def halved(x):
        return x / 2

    @kept
    def kept_whole(x):
        return x

    assert halved(3.0) == 1.5
    assert type(halved).__call__ is halved.compiled
    assert type(halved) is not type(kept_whole)


def test_kernels_are_stamped():
    path = Path(growth_kernels.__file__)
    assert growth_kernels.grow.compiled._cache._cache_file._source_stamp[1] == stamp_of(path)
    assert stamp_of(path) != stamp_of(Path(compiling_kernels.__file__))


SUMS_OF_FORCES = """
import hashlib
import numpy as np
from pellucid.manifold.tsne.tsne_kernels import drive_apart, repel
if {is_original_first}:
    drive_apart.compiled.compile("(float32[::1], float32[::1], float32, float32, float32)")
columns, forces = np.random.default_rng(0).standard_normal((2, 60)).astype(np.float32), np.empty((60, 2))
total = repel(columns, np.ones(1, np.float32), 0, 60, np.empty(60, np.float32), forces)
print(total.hex(), hashlib.sha256(forces.tobytes()).hexdigest())
"""


def test_code_gives_the_same_bits_compiled_and_read_from_disk(tmp_path):
    # a sum in any order inside of a loop: the copy in the loop is optimized twice, and sums in another order
    said = []
    for is_original_first in (False, False, True):
        code = SUMS_OF_FORCES.format(is_original_first=is_original_first)
        found = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(found.stdout)
    assert len(set(said)) == 1
