"""Rows in blocks: what a Dask array or data frame is to a method, and passes over it whose sums have a fixed order.

A family gives ``work``, from a block to its statistics, and ``join``, from statistics in order to one. Blocks are
those of the data, and the tree by which they are joined depends on their number alone: how many workers or threads
there are, and which of them die, changes no bit.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np

from pellucid.core.arrays import is_on_device
from pellucid.core.threads import one_thread
from pellucid.core.types import Array
from pellucid.proofs.training_data import fingerprint, fingerprint_of_blocks

S = TypeVar("S")

JOINED = 8
"""Statistics that are joined at once: each level of the tree holds an eighth of the one below."""
AT_ONCE = 16
"""Blocks whose answers are brought here together, where all answers are kept."""


TARGET, WEIGHT = "target of pellucid", "weight of pellucid"
"""Names of columns that stand beside those of a table while it is read."""


@dataclass(frozen=True)
class Layout:
    """What every block must have: so many columns and, if it is a table, these names."""

    n_features: int
    names: tuple[str, ...] | None = None
    targets: tuple[str, ...] = ()
    """Columns of the table that are its targets, read with it; one that is called ``TARGET`` is a plain list."""
    has_weights: bool = False
    """Whether a column of it is its weights."""
    prepare: Callable[[Any], Any] | None = None
    """What makes rows of a block that may hold words; otherwise it must hold numbers."""

    def split(self, table: Any) -> tuple[Any, Any, Any]:
        """Return the features of a table, its targets and its weights."""
        target = None
        if self.targets:
            target = table[TARGET] if self.targets == (TARGET,) else table[list(self.targets)]
        weight = table[WEIGHT] if self.has_weights else None
        beside = [name for name in (*self.targets, WEIGHT) if name in table.columns]
        return table.iloc[:, : table.shape[1] - len(beside)], target, weight  # they came last; no copy is made


def made_on_device(path: str) -> Callable[[S], S]:
    """Mark a block function: ``module:function`` does the same to arrays on a device, and is imported on first use."""

    def mark(work: S) -> S:
        work.made_on_device = path  # type: ignore[attr-defined]  # a function has a dictionary
        return work

    return mark


class BlockError(ValueError):
    """A block is not what the others are; the message names it."""


@dataclass(frozen=True)
class RowBlock:
    """Rows of one block, with their target and weights where there are any."""

    number: int
    X: Array
    y: Array | None = None
    weight: Array | None = None

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True, eq=False)
class StandIn:
    """A small weighted table that stands for the rows of all blocks."""

    rows: Array
    weight: Array
    labels: Array
    """The class, or the fold, of each row."""
    known: tuple[Array, Array] | None = None
    """Mean and scatter of all columns, where nothing parts the rows: what sums over the table would only round."""


def is_in_blocks(X: Any) -> bool:
    """Return whether rows are a Dask collection, by the protocol that all of them have, or on a device.

    Neither Dask nor the library of the device is imported.
    """
    if isinstance(X, np.ndarray):
        return False
    return hasattr(type(X), "__dask_graph__") or is_on_device(X)


def refuse_blocks(estimator: Any) -> NoReturn:
    """Say that a method needs all its rows in memory, and what to take instead."""
    from pellucid.core.scale.instead import advice_for

    name = type(estimator).__name__
    advice = advice_for(name)
    sample = ", or fit it to a sample" if advice else "Fit it to a sample of them"
    raise ValueError(
        f"X must be in memory for {name}, got a Dask collection: its answer depends on more of the rows than a few "
        f"passes tell. {advice}{sample}: X.compute()."
    )


@dataclass
class Glance:
    """What the first pass over blocks tells of them, whatever it is about."""

    n_rows: int = 0
    prints: tuple[str, ...] = ()
    """Fingerprints of the blocks that have rows, in order."""


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """The blocks of some rows, as tasks that Dask has not run yet."""

    rows: Sequence[Any]
    targets: Sequence[Any]
    weights: Sequence[Any]
    layout: Layout
    given: tuple[Any, ...] = ()
    """Rows, target and weights as they came, for callbacks."""
    glance: Glance = field(default_factory=Glance)

    @property
    def n_rows(self) -> int:
        """How many rows there are, once a pass has seen them."""
        return self.glance.n_rows

    @property
    def fingerprint(self) -> str:
        """A short name of the rows, once a pass has seen them."""
        return fingerprint_of_blocks(self.glance.prints)

    @property
    def stored_in(self) -> Any:
        """The kind of float that answers are stored in; None for that of the solver."""
        return None

    @property
    def heights(self) -> tuple[int, ...]:
        """Rows of each block, where they are known without a pass."""
        return ()

    def form_of(self, work: Callable[..., S]) -> Callable[..., S]:
        """Return what does the work of a block function on these blocks."""
        return work

    def beside(self, block: RowBlock) -> RowBlock:
        """Return a block of the host's memory where the work on these blocks is done."""
        return block

    @property
    def n_features(self) -> int:
        """How many columns the rows have."""
        return self.layout.n_features

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns of a data frame."""
        return self.layout.names

    def __len__(self) -> int:
        return len(self.rows)

    def reduce(self, work: Callable[..., S], join: Callable[[Sequence[S]], S], *given: Any) -> S:
        """Return ``join`` of ``work(block, *given)`` of all blocks that have rows, in one pass.

        The tasks run on the current client of Dask, or on threads here where there is none. ``work`` and ``join`` must
        be functions that pickle can name; both run with BLAS on one thread, whose sums are the same everywhere.
        """
        from dask.delayed import delayed

        token = uuid4().hex  # a pass is one of its own, also where the same was done before

        def task(function: Callable[..., Any], *arguments: Any, name: str) -> Any:
            return delayed(function, pure=False, traverse=False)(*arguments, dask_key_name=f"{name}-{token}")

        is_first, name = not self.glance.prints, work.__name__
        function, combine = (_at_first, partial(_joined_at_first, join)) if is_first else (work, join)
        shared = delayed((work, given) if is_first else given, traverse=False)
        level = [
            task(_on_block, function, k, self.layout, *parts, shared, name=f"{name}-{k}")
            for k, parts in enumerate(zip(self.rows, self.targets, self.weights, strict=True))
        ]
        height = 0
        while len(level) > 1:
            height += 1
            groups = [level[start : start + JOINED] for start in range(0, len(level), JOINED)]
            level = [task(_joined, combine, group, name=f"join-{height}-{k}") for k, group in enumerate(groups)]
        (found,) = computed(level[0])
        if found is None:
            raise ValueError("X must have rows, got none in any block (n_samples=0). Read the files again.")
        if is_first:
            self.glance.n_rows, self.glance.prints, found = found
        return found  # type: ignore[no-any-return]  # Dask has no types

    def each(
        self, work: Callable[..., S], own: Sequence[tuple[Any, ...]], order: Sequence[int] | None = None
    ) -> Iterator[S | None]:
        """Yield ``work(block, *own[k])`` of each block in order, None of one without rows, in one pass.

        They are brought here, some blocks at a time: what is kept of them is the caller's to choose. ``order`` has
        the blocks to go over, all of them in order if it is left out.
        """
        from dask.delayed import delayed

        token = uuid4().hex
        tasks = [
            delayed(_on_block, pure=False, traverse=False)(
                work,
                k,
                self.layout,
                self.rows[k],
                self.targets[k],
                self.weights[k],
                own[k],
                dask_key_name=f"{work.__name__}-{k}-{token}",
            )
            for k in (range(len(self)) if order is None else order)
        ]
        for start in range(0, len(tasks), AT_ONCE):
            yield from computed(*tasks[start : start + AT_ONCE])


def computed(*tasks: Any) -> tuple[Any, ...]:
    """Return what tasks of Dask return; say in a sentence that its scheduler is gone, or that workers lack us."""
    from dask.base import compute

    _look_at_workers()
    try:
        return tuple(compute(*tasks))
    except CancelledError as lost:
        raise _gone(lost) from lost


def _gone(lost: BaseException) -> ConnectionError:
    return ConnectionError(
        f"the scheduler of Dask must stay there until a pass is done, but it is gone ({lost}). "
        "Connect a new client and fit again."
    )


_WORKERS_WITH_US: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
"""Client of Dask -> addresses of its workers that can load what a pass sends them."""


def _look_at_workers() -> None:
    """Refuse workers that cannot load what a pass sends them: Dask would send it again and again, without an end."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    try:
        client = distributed.get_client()
    except ValueError:
        return  # work stays here
    if client.asynchronous:
        return
    known = _WORKERS_WITH_US.setdefault(client, set())
    try:
        new = [address for address in client.scheduler_info(n_workers=-1).get("workers", ()) if address not in known]
        where: list[dict[str, Any]] = [{"workers": [one], "allow_other_workers": True} for one in new]  # one may die
        client.gather([client.submit(pickle.loads, pickle.dumps(_on_block), pure=False, **one) for one in where])
    except (CancelledError, OSError) as lost:
        raise _gone(lost) from lost
    except (ImportError, AttributeError) as missing:
        raise ImportError(
            f"workers of Dask must have pellucid as it is here, got one that says: {missing}. Install it there."
        ) from missing
    known.update(new)


def _at_first(block: RowBlock, work: Callable[..., S], given: tuple[Any, ...]) -> tuple[int, tuple[str, ...], S]:
    """Return how many rows a block has and its fingerprint, beside its statistics."""
    return len(block), (fingerprint(block.X, block.y, block.weight),), work(block, *given)


def _joined_at_first(
    join: Callable[[Sequence[S]], S], found: Sequence[tuple[int, tuple[str, ...], S]]
) -> tuple[int, tuple[str, ...], S]:
    heights, prints, statistics = zip(*found, strict=True)
    return sum(heights), tuple(text for some in prints for text in some), join(statistics)


def _on_block(
    work: Callable[..., Any], number: int, layout: Layout, X: Any, y: Any, weight: Any, given: tuple[Any, ...]
) -> Any:
    block = read_block(number, layout, X, y, weight)
    if not len(block):
        return None
    with one_thread(), np.errstate(all="ignore"):
        return work(block, *given)


def _joined(join: Callable[[Sequence[Any]], Any], found: Sequence[Any]) -> Any:
    known = [one for one in found if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    with one_thread(), np.errstate(all="ignore"):
        return join(known)


def read_block(number: int, layout: Layout, X: Any, y: Any, weight: Any) -> RowBlock:
    """Return a block as arrays; refuse one with other columns, or with fewer targets than rows."""
    n_features, names = layout.n_features, layout.names
    if layout.targets or layout.has_weights:
        X, beside, own = layout.split(X)
        y, weight = y if beside is None else beside, weight if own is None else own
    if names is not None and tuple(map(str, X.columns)) != names:
        raise BlockError(
            f"block {number} must have the columns {list(names)}, got {[str(name) for name in X.columns]}."
        )
    rows = np.asarray(X) if layout.prepare is None else layout.prepare(X)
    if rows.ndim == 0:
        raise BlockError(f"block {number} must be a dense array, got {type(X).__name__}. Make it dense.")
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise BlockError(f"block {number} must have {n_features} columns, got shape {rows.shape}.")
    if layout.prepare is None and rows.dtype.kind not in "biuf":
        if rows.dtype.kind == "c":
            raise BlockError(f"block {number} must hold real numbers, got {rows.dtype}: Complex data not supported.")
        try:
            rows = rows.astype(np.float64)
        except (TypeError, ValueError):
            raise BlockError(f"block {number} must hold numbers, got {rows.dtype}. Code words as numbers.") from None
    target, weights = (None if part is None else np.asarray(part) for part in (y, weight))
    for what, part in (("y", target), ("sample_weight", weights)):
        if part is not None and len(part) != len(rows):
            raise BlockError(
                f"block {number} must have as many entries in {what} as rows in X, got {len(part)} and {len(rows)}."
            )
    return RowBlock(number, rows, target, weights)


def row_blocks(X: Any, y: Any = None, sample_weight: Any = None, *, with_words: bool = False) -> RowBlocks:
    """Return the blocks of a Dask array or data frame, or of rows on a device, with the target and weights of each.

    Columns must hold numbers, or words too.
    """
    if is_on_device(X):
        from pellucid.core.device.device_rows import device_rows

        return device_rows(X, y, sample_weight)
    found = _plain_blocks(X, y, sample_weight)
    return replace(found, layout=replace(found.layout, prepare=np.asarray)) if with_words else found


def _plain_blocks(X: Any, y: Any, sample_weight: Any) -> RowBlocks:
    if not isinstance(getattr(X, "ndim", None), int):  # something delayed has whatever it is asked for, as a task
        raise ValueError(f"X must be a Dask array or data frame, got {type(X).__name__}. Make one of it.")
    if X.ndim == 2 and hasattr(X, "columns"):
        return _table_blocks(X, y, sample_weight)
    if X.ndim != 2:
        raise ValueError(f"X must be a 2D array, got {X.ndim} dimensions. Reshape your data.")
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    rows = [row[0] for row in X.to_delayed()]
    targets, weights = _beside(X, y, "y", len(rows)), _beside(X, sample_weight, "sample_weight", len(rows))
    return RowBlocks(rows, targets, weights, Layout(X.shape[1]), (X, y, sample_weight))


def _table_blocks(X: Any, y: Any, sample_weight: Any) -> RowBlocks:
    """Return the blocks of a data frame; targets and weights that are lazy columns too are read with it.

    Read by themselves they may come in other blocks: Dask joins small ones.
    """
    names = tuple(map(str, X.columns))
    given, targets = (X, y, sample_weight), dict[str, Any]()
    if _is_lazy_table(y):
        parts = [y[name] for name in y.columns] if y.ndim == 2 else []
        targets = {f"{TARGET} {k}": part for k, part in enumerate(parts)} or {TARGET: y}
        y = None
    weights = {WEIGHT: sample_weight} if _is_lazy_table(sample_weight) else {}
    sample_weight = None if weights else sample_weight
    table = X.assign(**targets, **weights) if targets or weights else X
    rows = list(table.to_delayed())
    layout = Layout(len(names), names, tuple(targets), bool(weights))
    beside = _beside(table, y, "y", len(rows)), _beside(table, sample_weight, "sample_weight", len(rows))
    return RowBlocks(rows, *beside, layout, given)


def _is_lazy_table(part: Any) -> bool:
    return is_in_blocks(part) and not hasattr(part, "chunks")


def _beside(X: Any, part: Any, what: str, n_blocks: int) -> list[Any]:
    """Return the pieces of a target, or of weights, that belong to the blocks of the rows."""
    if part is None:
        return [None] * n_blocks
    if not is_in_blocks(part):
        import dask.array

        if np.ndim(part) == 0:
            raise ValueError(f"{what} must have an entry for each row, got {part!r} alone. Take an array of them.")
        part = dask.array.from_array(np.asarray(part))
    if not hasattr(part, "chunks"):
        return _as_many(list(part.to_delayed()), n_blocks, what)  # of a data frame beside an array
    heights = X.chunks[0] if hasattr(X, "chunks") else (np.nan,)
    if part.chunks[0] != heights and not np.isnan([*part.chunks[0]]).any():
        if np.isnan([*heights]).any():
            heights = _counted_heights(list(np.ravel(X.to_delayed())))
        if sum(heights) != part.shape[0]:
            raise ValueError(
                f"{what} must have an entry for each row, got {part.shape[0]} and {sum(heights)} rows: "
                "Found input variables with inconsistent numbers of samples."
            )
        part = part.rechunk({0: heights})
    part = part.rechunk({1: -1}) if part.ndim == 2 and part.numblocks[1] > 1 else part
    return _as_many(list(part.to_delayed().ravel()), n_blocks, what)


def _as_many(pieces: list[Any], n_blocks: int, what: str) -> list[Any]:
    if len(pieces) != n_blocks:
        raise ValueError(f"{what} must have as many blocks as X, got {len(pieces)} and {n_blocks}. Read them together.")
    return pieces


def known_heights(X: Any, blocks: RowBlocks) -> tuple[int, ...]:
    """Return the number of rows of each block, nothing where Dask does not know it."""
    if is_on_device(X):
        return blocks.heights
    known: Any = X.chunks[0] if hasattr(X, "chunks") else (np.nan,)
    return () if np.isnan([*known]).any() else tuple(known)


def block_heights(X: Any, blocks: RowBlocks) -> tuple[int, ...]:
    """Return the number of rows of each block, which takes a pass where Dask does not know it."""
    return known_heights(X, blocks) or _counted_heights(blocks.rows)


def _counted_heights(parts: Sequence[Any]) -> tuple[int, ...]:
    from dask.delayed import delayed

    return computed(*(delayed(len)(part) for part in parts))
