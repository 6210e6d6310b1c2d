"""Kept code is compiled again when any file that it comes from changes."""

from __future__ import annotations

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
