"""Random test data with some last bits changed: what another rounding would have made of them.

``PELLUCID_ULPS=1`` (or another number, for other bits) switches it on for a run of the tests. About half of the numbers
move by one unit in the last place towards 0; which ones follows from the number itself, so that the same seed still
gives the same data.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

MIXERS = {8: np.uint64(0x9E3779B97F4A7C15), 4: np.uint32(0x9E3779B1)}  # odd numbers that spread bits upwards

DRAWS = ("standard_normal", "normal", "uniform", "random", "laplace", "logistic", "standard_cauchy", "standard_t")
OLD_DRAWS = (*DRAWS, "randn", "rand", "random_sample")


def moved(drawn: Any, key: int) -> Any:
    """Return the floats with about half of them moved by a unit in the last place towards 0."""
    values = np.atleast_1d(np.asarray(drawn))
    if values.dtype.kind != "f" or values.dtype.itemsize not in MIXERS:
        return drawn
    mixer = MIXERS[values.dtype.itemsize]
    bits = np.ascontiguousarray(values).view(mixer.dtype) + mixer.dtype.type(key)
    with np.errstate(over="ignore"):
        is_moved = (bits * mixer) >> mixer.dtype.type(8 * values.dtype.itemsize - 1) == 1
    changed = np.where(is_moved, np.nextafter(values, np.zeros_like(values)), values)
    return (
        changed if np.ndim(drawn) else changed.dtype.type(changed[0]) if hasattr(drawn, "dtype") else float(changed[0])
    )


def change_last_bits(key: int) -> None:
    """Make the generators of NumPy draw such numbers, from now on, for the whole process."""
    Generator = _drawing(np.random.Generator, DRAWS, key)
    default_rng = np.random.default_rng

    @wraps(default_rng)
    def changed_rng(seed: Any = None) -> Any:
        return seed if isinstance(seed, np.random.Generator) else Generator(default_rng(seed).bit_generator)

    np.random.default_rng = changed_rng
    np.random.RandomState = _drawing(np.random.RandomState, OLD_DRAWS, key)


def _drawing(kind: Any, draws: tuple[str, ...], key: int) -> Any:
    """Return a subclass whose draws are moved."""

    def changed(name: str) -> Any:
        draw = getattr(kind, name)

        @wraps(draw)
        def method(self: Any, *args: Any, **options: Any) -> Any:
            return moved(draw(self, *args, **options), key)

        return method

    class AnyKind(type):
        def __instancecheck__(cls, one: Any) -> bool:
            return isinstance(one, kind)  # also those made before

    return AnyKind(kind.__name__, (kind,), {name: changed(name) for name in draws if hasattr(kind, name)})
