"""NumPy memmaps larger than memory allows for: the same rows as Dask blocks, which are read from the file."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.budget import memory_left
from pellucid.core.types import Array

MOST_MAPPED = 0.25
"""Part of the memory that is left, from which on a memmap is read in blocks: fits in memory take copies."""
BLOCK_BYTES = 1 << 25


@dataclass(frozen=True)
class MappedFile:
    """Where the numbers of a memmap lie: every worker opens the file by itself, so that no number is sent."""

    path: str
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    position: int
    """Byte of the file at which the first number stands."""

    @classmethod
    def of(cls, mapped: np.memmap) -> MappedFile:
        """Return where a memmap lies, or a part of one."""
        start = mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY  # as NumPy maps it, of a part too
        pages = np.frombuffer(mapped._mmap, dtype=np.uint8)  # type: ignore[attr-defined]  # NumPy's own name
        position = start + mapped.ctypes.data - pages.ctypes.data
        return cls(str(mapped.filename), mapped.dtype, mapped.shape, mapped.strides, position)

    def rows(self, start: int, stop: int) -> Array:
        """Return some rows, as they lie in the file."""
        pages = np.memmap(self.path, dtype=np.uint8, mode="r")
        shape, position = (stop - start, *self.shape[1:]), self.position + start * self.strides[0]
        return np.ndarray(shape, self.dtype, buffer=pages.data, offset=position, strides=self.strides)


def is_too_large(X: Any) -> bool:
    """Return whether rows are a memmap of a file that a fit should not read whole."""
    is_mapped = isinstance(X, np.memmap) and X.ndim == 2 and getattr(X, "_mmap", None) is not None
    return is_mapped and X.filename is not None and len(X) > 1 and X.nbytes > MOST_MAPPED * memory_left()


def in_blocks(mapped: np.memmap) -> Any:
    """Return the rows of a memmap as a Dask array; say in a sentence that Dask is missing."""
    try:
        import dask.array
        from dask.delayed import delayed
    except ImportError:
        raise ImportError(
            f"X must fit into memory without Dask, got a memmap of {mapped.nbytes / 1e9:.2g} GB. "
            "Install pellucid[scale], which reads it in blocks."
        ) from None
    file, n = MappedFile.of(mapped), len(mapped)
    height = max(1, BLOCK_BYTES * n // mapped.nbytes)
    ends = [(start, min(start + height, n)) for start in range(0, n, height)]
    read = delayed(MappedFile.rows, pure=False)
    parts = [
        dask.array.from_delayed(read(file, *end), (end[1] - end[0], *mapped.shape[1:]), mapped.dtype) for end in ends
    ]
    return dask.array.concatenate(parts, axis=0)
