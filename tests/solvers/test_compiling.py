"""Kept code is compiled again when any file that it comes from changes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

from pellucid.solvers import compiling_kernels
from pellucid.solvers.compiling_kernels import is_kept, kept, stamp_of
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


def tripled():
    """A loop that no process has compiled yet."""

    @kept
    def tripled(x):
        return 3 * x

    return tripled


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def files_in(folder):
    return sorted(folder.rglob("*.nbc"))


def test_kept_code_is_read_and_not_compiled(folder):
    first, again = tripled(), tripled()
    assert not is_kept(first)
    first(1.5)
    assert is_kept(again)
    assert again(1.5) == 4.5
    assert sum(again.compiled.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("spoil", [lambda _: b"", lambda data: data[:-100], lambda data: os.urandom(len(data))])
def test_a_spoiled_file_is_compiled_again_and_replaced(folder, spoil):
    tripled()(1.5)
    (file,) = files_in(folder)
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))
    again = tripled()
    assert not is_kept(again)
    assert again(1.5) == 4.5
    assert is_kept(again)


def test_code_for_other_arguments_is_never_run(folder):
    tripled()(1.5)
    (floats,) = files_in(folder)
    tripled()(np.arange(3.0))
    (arrays,) = set(files_in(folder)) - {floats}
    arrays.write_bytes(floats.read_bytes())
    assert list(tripled()(np.arange(3.0))) == [0.0, 3.0, 6.0]


def test_code_of_another_source_is_not_read(folder, monkeypatch):
    tripled()(1.5)
    monkeypatch.setattr(compiling_kernels, "stamp_of", lambda _path: "changed")
    assert not is_kept(tripled())


def test_without_a_folder_loops_are_compiled_each_time(tmp_path, monkeypatch):
    from numba.core.caching import CacheImpl, UserProvidedCacheLocator

    (tmp_path / "a file").touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "a file" / "below it"))
    monkeypatch.setattr(CacheImpl, "_locator_classes", [UserProvidedCacheLocator])
    loop = tripled()
    assert loop(1.5) == 4.5
    assert not is_kept(loop)


@pytest.mark.parametrize("name", ["open", "replace"])
def test_on_a_full_disk_loops_are_compiled_each_time(folder, monkeypatch, name):
    loop = tripled()
    assert not is_kept(loop)

    def full(*_given, **_named):
        raise OSError(errno.ENOSPC, "No space left on device")

    from numba.core import caching

    monkeypatch.setattr(*((caching, "open", full) if name == "open" else (caching.os, "replace", full)), raising=False)
    assert loop(1.5) == 4.5
    assert not is_kept(loop)
    assert not list(folder.rglob("*.tmp.*"))


def test_processes_that_compile_at_once_do_not_disturb_each_other(tmp_path):
    code = """
import sys, numpy as np
from pellucid.tree.decision_tree.growth_kernels import keep_orders
orders, place = np.array([[2, 0, 1]], sys.argv[1]), np.array([1, 0, 2], np.uint32)
kept = np.zeros((1, 3), np.uint32)
keep_orders(orders, place, kept)
print(kept.tolist(), sum(keep_orders.compiled.stats.cache_hits.values()))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def start(kind):
        return subprocess.Popen([sys.executable, "-c", code, kind], env=environment, stdout=subprocess.PIPE, text=True)

    for hits in (None, "1"):
        for process in [start(kind) for kind in ("uint32", "uint32", "int64")]:
            said = process.communicate()[0].split()
            assert said[:3] == ["[[2,", "1,", "0]]"]
            assert hits in (None, said[-1])


def test_compiling_that_was_killed_leaves_nothing_that_is_wrong(folder):
    tripled()(1.5)
    (file,) = files_in(folder)
    whole = file.read_bytes()
    file.rename(file.with_name(f"{file.name}.tmp.0123"))  # killed before the file had its name
    assert tripled()(1.5) == 4.5
    assert len(files_in(folder)) == 1
    assert len(file.read_bytes()) == len(whole)
