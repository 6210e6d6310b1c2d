"""The time of a fit without that of compiling its loops."""

from __future__ import annotations

from time import monotonic, sleep

from numba import njit

from pellucid.numerics.compile_time_kernels import without_compiling


def test_compiling_does_not_count_and_work_does():
    @njit
    def slow_to_compile(x):
        return sum([x**k for k in range(8)])

    begun = monotonic()
    with without_compiling() as watch:
        slow_to_compile(2.0)
        first = watch.seconds()
        sleep(0.05)
        assert watch.seconds() >= first + 0.05
    assert first < 0.5 * (monotonic() - begun)
