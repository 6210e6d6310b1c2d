"""The time of a fit without that of compiling its loops."""

from __future__ import annotations

from time import monotonic, sleep

from numba import njit

from pellucid.app.bake_off.compile_time_kernels import Stopwatch, compiling_clock


def test_compiling_does_not_count_and_work_does():
    @njit
    def slow_to_compile(x):
        return sum([x**k for k in range(8)])

    begun = monotonic()
    watch, before = Stopwatch(), compiling_clock().seconds()
    slow_to_compile(2.0)
    first, taken = watch.seconds(), monotonic() - begun
    assert first < 0.5 * taken
    assert 0.5 * taken < compiling_clock().seconds() - before <= taken
    sleep(0.05)
    assert watch.seconds() >= first + 0.05
