r"""Products in the short numbers of tensor cores, with a bound of their error, on the device of the rows.

Rows are centered, brought near 1 by a power of two and rounded to 11 bits (TF32) here, not by the hardware: so the
products themselves are exact in float32, what the rounding of a row took away is measured, not assumed, and the same
code runs on a processor without tensor cores. Sums of :math:`r` such products err by at most :math:`\gamma` times the
sum of their sizes, :math:`\gamma = (r + 8)\,2^{-22}`: four times what float32 needs, as tensor cores cut off digits
where other hardware rounds. A squared length is three short numbers, 33 bits, in columns of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.pairwise_blocks import SAMPLED_ROWS, Sample

LARGEST_SQUARE = 1e12
"""Rows whose squared length, in the unit of the sample, is larger are left to differences."""
NEXT_TO_NOTHING = 1e-13
"""What underflow, and the rounding of rows next to the center, can add up to in that unit, and more."""
FARTHEST = 1e38
"""Stands for infinity, which has no three short parts."""
UNIT = 2.0**-22
WIDTH = 8
"""Tensor cores want columns in multiples of this."""


@contextmanager
def tensor_cores() -> Iterator[None]:
    """Let products of float32 run in TF32; the user's own setting comes back afterwards."""
    import torch

    matmul = torch.backends.cuda.matmul
    name, wanted = ("fp32_precision", "tf32") if hasattr(matmul, "fp32_precision") else ("allow_tf32", True)
    before = getattr(matmul, name)
    setattr(matmul, name, wanted)
    try:
        yield
    finally:
        setattr(matmul, name, before)


def short(values: Any) -> Any:
    """Return numbers rounded to 11 bits, as float32."""
    import torch

    bits = values.to(torch.float32).contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def in_three(values: Any) -> list[Any]:
    """Return float64 numbers as sums of three short ones."""
    parts = []
    for _ in range(3):
        parts.append(short(values))
        values = values - parts[-1]
    return parts


def sample_of(X: Any) -> Sample:
    """Return some rows of a tensor, the same as of an array in memory."""
    return Sample(X[:: max(1, len(X) // SAMPLED_ROWS)].cpu().numpy())


def room_for(device: Any, part: float = 0.125, most: float = 2.0**33, on_host: float = 2.0**26) -> int:
    """Return the bytes that a table may take on a device: a part of what is free."""
    import torch

    if device.type != "cuda":
        return int(on_host)
    return int(min(most, part * torch.cuda.mem_get_info(device)[0]))


@dataclass(frozen=True, eq=False)
class ShortRows:
    """Rows as tensor cores take them, and what is known of them in float64, all in the unit of the sample."""

    short: Any
    squares: Any
    """Squared lengths before rounding."""
    lost: Any
    """Lengths of what rounding took away."""

    @classmethod
    def of(cls, rows: Any, center: Any, unit: float, dtype: Any) -> ShortRows:
        """Return the rows less the center; in float64 nothing is rounded away."""
        import torch

        centered = (rows.to(torch.float64) - center) * unit
        squares = (centered * centered).sum(dim=1)
        if dtype == torch.float64:
            return cls(centered, squares, torch.zeros_like(squares))
        rounded = short(centered)
        centered -= rounded
        return cls(rounded, squares, (centered * centered).sum(dim=1).sqrt())


def sum_error(n_columns: int, dtype: Any) -> float:
    """Return what a sum of products in this dtype loses, as a part of the sum of their sizes."""
    import torch

    return (n_columns + 8) * (EPSILON if dtype == torch.float64 else UNIT)
