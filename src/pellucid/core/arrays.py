"""Arrays of other libraries: from and to NumPy, on whatever device they live."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config  # type: ignore[attr-defined]  # it is passed on there

from pellucid.core.array_api import array_namespace, device, is_array_api_obj, is_cupy_array, is_torch_array
from pellucid.core.types import Array


def as_numpy(array: Any) -> Array:
    """Return the numbers as a NumPy array in double precision, without a copy if they are one already.

    Examples
    --------
    >>> as_numpy(np.array([1, 2], dtype="float32"))
    array([1., 2.])
    """
    return np.asarray(on_host(array), dtype=np.float64)


def like(values: Array, other: Any) -> Any:
    """Return the numbers as an array of the kind, precision and device of another."""
    return array_namespace(other).asarray(values, dtype=other.dtype, device=device(other))


def length(vector: Any) -> float:
    """Return the Euclidean norm of a vector of any kind."""
    return math.sqrt(float(vector @ vector))


def precision_of(array: Any) -> float:
    """Return the distance from 1 to the next number of this kind.

    Examples
    --------
    >>> precision_of(np.ones(1)) == 2.0**-52
    True
    """
    return float(array_namespace(array).finfo(array.dtype).eps)


_wanted: ContextVar[Any] = ContextVar("device on which rows of the host are worked on", default=None)


@contextmanager
def on_device(name: Any) -> Iterator[None]:
    """Fit and ask on a device of torch, whatever memory the rows are in: they are copied there in blocks.

    Rows in pinned memory (``tensor.pin_memory()``) are copied behind the work. What is found comes back as NumPy arrays
    where the rows are such, and else as tensors where they are.

    Parameters
    ----------
    name : str or torch.device
        The device, as PyTorch names it: "cuda", "cuda:1", "mps" or "cpu".

    Examples
    --------
    >>> import pellucid
    >>> from pellucid.linear_model import LinearRegression
    >>> with pellucid.on_device("cpu"):  # or "cuda"
    ...     model = LinearRegression().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.coef_
    array([1.])
    """
    import torch

    token = _wanted.set(torch.device(name))
    try:
        yield
    finally:
        _wanted.reset(token)


@contextmanager
def as_they_are() -> Iterator[None]:
    """Work on arrays where they are, inside of ``on_device`` too: small tables stand for rows that were sent."""
    token = _wanted.set(None)
    try:
        yield
    finally:
        _wanted.reset(token)


def wanted_device() -> Any:
    """Return the device that ``on_device`` names, None outside of it."""
    return _wanted.get()


def is_foreign(X: Any) -> bool:
    """Return whether an array is one of another library than NumPy, and no collection of Dask."""
    if isinstance(X, (np.ndarray, np.generic, type)):  # a class of NumPy's numbers has their namespace, too
        return False
    return is_array_api_obj(X) and not hasattr(X, "__dask_graph__")


@dataclass(frozen=True, eq=False)
class RowsToSend:
    """Rows of the host that are worked on elsewhere: a tensor, and the device it is copied to in blocks."""

    tensor: Any
    device: Any
    was_numpy: bool
    names: tuple[str, ...] | None = None
    """Of the columns of a data frame, where all have one."""

    @classmethod
    def of(cls, X: Any) -> RowsToSend:
        """Return the rows of a table of numbers, to be sent to the device that ``on_device`` names."""
        import torch

        if sparse.issparse(X):
            raise ValueError("X must be dense on a device, got a sparse matrix. Fit it on the host.")
        if is_foreign(X):
            return cls(X, wanted_device(), was_numpy=False)
        rows = np.asarray(X)
        if rows.dtype.kind == "c":
            raise ValueError(f"X must hold real numbers, got {rows.dtype}: Complex data not supported.")
        if rows.dtype.kind == "O":
            rows = rows.astype(np.float64)
        if rows.dtype.kind not in "biuf" or rows.dtype.itemsize > 8:
            raise ValueError(f"X must hold numbers to be sent to a device, got {rows.dtype}. Convert it.")
        with warnings.catch_warnings():  # a file that is only read is shared all the same: nobody writes into rows
            warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
            return cls(torch.as_tensor(readable(rows)), wanted_device(), was_numpy=True, names=_column_names(X))


def _column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of a data frame's columns as scikit-learn keeps them: all must be words."""
    names = tuple(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def readable(values: Array) -> Array:
    """Return an array that torch can read: none with lines that run backwards, or with bytes in another order."""
    if any(stride < 0 for stride in values.strides) or not values.dtype.isnative:
        return np.array(values, dtype=values.dtype.newbyteorder("="), order="C")
    return values


def is_on_device(X: Any) -> bool:
    """Return whether rows are to be worked on where they are, or where ``on_device`` says.

    Those on a GPU always are. On the processor scikit-learn's ``array_api_dispatch`` decides, as it does for
    scikit-learn's own estimators: without it a tensor is read as an array of NumPy.
    """
    if isinstance(X, RowsToSend):
        return True
    if wanted_device() is not None:
        return X is not None and not hasattr(X, "__dask_graph__")
    if not is_foreign(X):
        return False
    return bool(get_config()["array_api_dispatch"]) or "cpu" not in str(device(X)).lower()


def on_host(value: Any) -> Array:
    """Return an array as one of NumPy, in its own precision."""
    if not is_foreign(value):
        return np.asarray(value)
    if is_torch_array(value):
        return np.asarray(value.detach().cpu().numpy())
    return np.asarray(value.get() if is_cupy_array(value) else value)  # others are copied when NumPy asks


def as_tensor(part: Any) -> Any:
    """Return an array of another library than NumPy and torch as a tensor of the same memory, wherever that is."""
    if not is_foreign(part) or is_torch_array(part):
        return part
    import torch
    from torch.utils.dlpack import from_dlpack

    try:
        return from_dlpack(part)
    except (BufferError, RuntimeError, TypeError, AttributeError) as refused:
        if "cpu" in str(device(part)).lower():  # of memory that is only read there is a copy
            return torch.tensor(on_host(part))
        raise ValueError(
            f"arrays must be tensors, or lend their memory to torch by DLPack, got one of {type(part).__module__}: "
            f"{refused}. Take a tensor, or a NumPy array."
        ) from refused
