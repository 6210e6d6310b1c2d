"""Rows on a device as blocks: the passes of methods that take rows in blocks, made where the rows are.

A block function says with ``made_on_device`` which function does its work there. A fit whose functions do not is
refused in a sentence: nothing is copied to the host behind the user's back. Proofs that have no form of their own for a
device are made on the host, to which blocks are copied one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from pellucid.core.array_api import array_namespace
from pellucid.core.arrays import RowsToSend, is_foreign, on_host
from pellucid.core.device.places import Place
from pellucid.core.labels import encode_labels
from pellucid.core.scale.row_blocks import Layout, RowBlock, RowBlocks
from pellucid.core.types import Array
from pellucid.proofs.training_data import fingerprint

S = TypeVar("S")

MOST_LABELS = 32
"""Whole numbers in a row that are looked for one by one."""
STREAMED_BYTES = 1 << 28
"""Of a block that is copied from the memory of the host: long enough for the full speed of the bus."""


@dataclass(frozen=True, eq=False)
class DeviceRows(RowBlocks):
    """Rows at one place, in one block; or rows of the host that are copied there block by block."""

    sent_to: Place | None = None
    """Where they are copied to."""
    arrived: list[Any] = field(default_factory=list)
    """Blocks of rows that stay there for the next pass, where there is room for all."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.rows[0].shape[0])

    @property
    def fingerprint(self) -> str:
        """A short name of the rows, the same that they have on the host."""
        return fingerprint(*self.given)

    @property
    def stored_in(self) -> Any:
        """Single precision for rows in it, as on the host."""
        return np.float32 if self.place.is_short else np.float64

    @cached_property
    def place(self) -> Place:
        """Where the rows are."""
        return Place.of(self.rows[0])

    @property
    def heights(self) -> tuple[int, ...]:
        """Rows of each block."""
        return tuple(stop - start for start, stop in self._ends())

    def _ends(self) -> list[tuple[int, int]]:
        X, n = self.rows[0], self.n_rows
        height = n if self.sent_to is None else max(1, STREAMED_BYTES * n // max(1, X.nbytes))
        return [(start, min(start + height, n)) for start in range(0, n, height)]

    def form_of(self, work: Callable[..., S]) -> Callable[..., S]:
        """Return the form of a block function for devices."""
        return _form_of(work)

    def beside(self, block: RowBlock) -> RowBlock:
        """Return a block with its rows there; labels in words stay."""
        place = self.sent_to or self.place
        y, weight = (_beside(block.X, part, "y", place) for part in (block.y, block.weight))
        return RowBlock(block.number, place.holding(block.X), y, weight)

    def reduce(self, work: Callable[..., S], join: Callable[[Sequence[S]], S], *given: Any) -> S:
        """Return ``join`` of what ``work`` finds in each block, by its form for devices."""
        if not self.n_rows:
            raise ValueError("X must have rows, got none (n_samples=0). Add some.")
        form = _form_of(work)
        found = [form(block, *given) for block in self.blocks()]
        return found[0] if len(found) == 1 else join(found)

    def each(
        self, work: Callable[..., S], own: Sequence[tuple[Any, ...]], order: Sequence[int] | None = None
    ) -> Iterator[S | None]:
        """Refuse: what every block leaves would come to the host."""
        raise NoDeviceFormError(work.__name__)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows, where they are or as they arrive."""
        X, y, weight = self.rows[0], self.targets[0], self.weights[0]
        if self.sent_to is None:
            yield RowBlock(0, X, y, weight)
            return
        ends = self._ends()
        is_kept = not self.arrived and has_room(X.nbytes, self.sent_to.device)
        kept, coming = list[Any](), self.arrived or arriving(X, ends, self.sent_to.device)
        for number, ((start, stop), rows) in enumerate(zip(ends, coming, strict=True)):
            kept += [rows] if is_kept else []
            beside = (None if part is None else part[start:stop] for part in (y, weight))
            yield RowBlock(number, rows, *beside)
        self.arrived.extend(kept)


class NoDeviceFormError(LookupError):
    """A block function has no form for devices."""


def _form_of(work: Callable[..., S]) -> Callable[..., S]:
    path = getattr(work, "made_on_device", "")
    if not path and work.__module__.startswith("pellucid.proofs."):
        return partial(_proved_on_host, work)
    if not path:
        raise NoDeviceFormError(work.__name__)
    module, function = path.split(":")
    return getattr(import_module(module), function)  # type: ignore[no-any-return]  # by its path


def _proved_on_host(work: Callable[..., S], block: RowBlock, *given: Any) -> S:
    y, weight = (None if part is None else on_host(part) for part in (block.y, block.weight))
    return work(RowBlock(block.number, on_host(block.X), y, weight), *given)


def refuse_device(name: str) -> Any:
    """Say that a method has no form for devices."""
    raise ValueError(
        f"X must be a NumPy array for {name}, got an array on a device, where it has no form of its own. "
        "Take pellucid's method on the host: X.cpu().numpy()."
    )


def device_rows(X: Any, y: Any, sample_weight: Any) -> DeviceRows:
    """Return rows with the target and the weights that belong to them; refuse what does not fit together."""
    rows = X.tensor if isinstance(X, RowsToSend) else X
    if rows.ndim != 2:
        raise ValueError(f"X must be a 2D array, got {rows.ndim} dimensions. Reshape your data.")
    rows = plain_rows(rows)
    place, names = Place.of(rows), X.names if isinstance(X, RowsToSend) else None
    sent_to = Place(place.library, X.device, place.dtype) if isinstance(X, RowsToSend) else None
    y, weight = (
        _beside(rows, part, what, sent_to or place) for part, what in ((y, "y"), (sample_weight, "sample_weight"))
    )
    return DeviceRows([rows], [y], [weight], Layout(int(rows.shape[1]), names), (rows, y, weight), sent_to=sent_to)


def plain_rows(X: Any) -> Any:
    """Return rows of a kind that every method can work with: without a record of derivatives, 0 and 1 as numbers."""
    if str(X.dtype).rpartition(".")[2] not in (
        "float32",
        "float64",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
    ):
        raise ValueError(f"X must hold float32, float64 or whole numbers on a device, got {X.dtype}. Convert it.")
    if not X.shape[0] or not X.shape[1]:
        raise ValueError(
            f"X must have rows and columns, got none: Found array with 0 sample(s) or 0 feature(s) "
            f"(shape={tuple(X.shape)}) while a minimum of 1 is required."
        )
    return without_truth_values(without_derivatives(X))


def without_truth_values(part: Any) -> Any:
    """Return an array in which 0 and 1 stand for truth values, of which torch takes no differences."""
    xp = array_namespace(part)
    return xp.astype(part, xp.uint8) if part.dtype == xp.bool else part


def without_derivatives(part: Any) -> Any:
    """Return a tensor that records no derivatives: none pass through a fit, and torch writes into no such tensor."""
    return part.detach() if getattr(part, "requires_grad", False) else part


def _beside(X: Any, part: Any, what: str, place: Place) -> Any:
    """Return a target, or weights, beside the rows; labels in words stay on the host."""
    if part is None:
        return None
    if not is_foreign(part):
        part = np.asarray(part)
        if part.dtype.kind in "OSU" and what == "y":
            return _as_long(X, part, what)
        if part.dtype.kind not in "biuf":
            raise ValueError(f"{what} must hold numbers, got {part.dtype}. Convert it.")
        part = place.holding(part)
    elif not place.xp.isdtype(part.dtype, ("bool", "integral", "real floating")):
        raise ValueError(f"{what} must hold real numbers or labels, got {part.dtype}. Convert it.")
    elif part.device != place.device:
        part = place.holding(on_host(part))
    if str(part.dtype).rpartition(".")[2] in ("uint16", "uint32", "uint64"):  # which torch can only store
        part = place.xp.astype(part, place.xp.int64)
    return _as_long(X, without_derivatives(part), what)


def _as_long(X: Any, part: Any, what: str) -> Any:
    if part.ndim == 0 or part.shape[0] != X.shape[0]:
        raise ValueError(
            f"{what} must have an entry for each row, got shape {tuple(part.shape)} and {X.shape[0]} rows: "
            "Found input variables with inconsistent numbers of samples."
        )
    return part


def has_room(n_bytes: int, there: Any) -> bool:
    """Return whether a device has room for so many bytes, and as many again for the work."""
    import torch

    return there.type != "cuda" or 2 * n_bytes < torch.cuda.mem_get_info(there)[0]


def arriving(X: Any, ends: Sequence[tuple[int, int]], there: Any) -> Iterator[Any]:
    """Yield parts of a tensor of the host on a device; from pinned memory the next one comes while one is worked on."""
    import torch

    if there.type != "cuda":
        yield from (X[start:stop].to(there) for start, stop in ends)
        return
    side, main = torch.cuda.Stream(there), torch.cuda.current_stream(there)

    def sent(end: tuple[int, int]) -> tuple[Any, Any]:
        with torch.cuda.stream(side):
            part = X[end[0] : end[1]].to(there, non_blocking=True)
            ready = torch.cuda.Event()
            ready.record(side)
        return part, ready

    waiting = sent(ends[0])
    for following in [*ends[1:], None]:
        part, ready = waiting
        if following is not None:
            waiting = sent(following)
        main.wait_event(ready)
        part.record_stream(main)
        yield part


def label_codes(y: Any, place: Place) -> tuple[Array, Any]:
    """Return the different labels as NumPy array, sorted, and the code of each row's at a place."""
    if isinstance(y, np.ndarray):
        classes, codes = encode_labels(y)
        return classes, place.holding(codes)
    xp = place.xp
    if xp.isdtype(y.dtype, "real floating") and not bool(xp.all(xp.isfinite(y))):
        raise ValueError("y must hold a label for each row, got NaN or infinity. Drop such rows.")
    if xp.isdtype(y.dtype, "integral"):
        low, high = int(xp.min(y)), int(xp.max(y))
        if high - low < MOST_LABELS:  # without sorting the rows
            values = xp.astype(xp.arange(high - low + 1, device=place.device) + low, y.dtype)  # int8 has no 127 + 1
            is_there = xp.stack([xp.any(y == value) for value in values])
            codes = (xp.cumulative_sum(xp.astype(is_there, xp.int64)) - 1)[xp.astype(y - low, xp.int64)]
            return on_host(values[is_there]), codes
    found = xp.unique_inverse(y)
    return on_host(found.values), found.inverse_indices
