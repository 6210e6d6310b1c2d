"""A model inside an ONNX file: what the graph computes with is read out of the graph, the rest out of the metadata."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as safetensors_arrays
from safetensors.numpy import save as safetensors_bytes

from pellucid.core.files.container import DTYPES, are_sizes, check_header
from pellucid.core.files.registry import read_fitted, schema_of
from pellucid.core.kinds.pages import (
    MAX_DIMENSIONS,
    DamagedFileError,
    Json,
    NotAModelFileError,
    NotSaveableError,
    ReadPage,
    WritePage,
    dump_json,
    parse_json,
)
from pellucid.core.types import Array

FORMAT = 1
DOCUMENT, ARRAYS = "pellucid_model", "pellucid_arrays"
NAMES = {dtype: name for name, dtype in DTYPES.items()}
MOST_TIMES = 16
"""How many times as large as their packed bytes the arrays in the metadata may be: a small file takes little memory."""


def stored(model: Any, constants: Iterable[Any]) -> dict[str, str]:
    """Return the metadata from which a model is read back: a document, and the arrays that no constant of a graph is.

    A constant is named for one array, so that what is read is never much larger than the file.
    """
    from onnx.helper import np_dtype_to_tensor_dtype

    page = WritePage()
    written = schema_of(model).write(model, page, "")
    held = {(constant.data_type, constant.raw_data): constant.name for constant in constants if constant.raw_data}
    table, rest = {}, {}
    for path, array in page.arrays.items():
        row: dict[str, Json] = {"dtype": NAMES[array.dtype.newbyteorder("<")], "shape": list(array.shape)}
        ways = (("constant", array), ("transposed", array.T))
        keys = ((way, (np_dtype_to_tensor_dtype(array.dtype), _bytes(turned))) for way, turned in ways)
        place = next(((way, held.pop(key)) for way, key in keys if key in held), None)
        if place is None:
            rest[path] = np.ascontiguousarray(array).reshape(array.shape)
        table[path] = row if place is None else row | {place[0]: place[1]}
    document = dump_json({"format": FORMAT, "model": written, "arrays": table})
    check_header(document.encode(), NotSaveableError)
    return {DOCUMENT: document, ARRAYS: base64.b64encode(_packed(safetensors_bytes(rest))).decode()}


def _bytes(array: Array) -> bytes:
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _packed(content: bytes) -> bytes:
    """Return bytes compressed, or as they are where that would make them smaller than a reader lets through."""
    small = zlib.compress(content)
    return small if len(content) <= MOST_TIMES * len(small) else zlib.compress(content, 0)


@dataclass(frozen=True)
class Entry:
    """What the table says of one array."""

    dtype: np.dtype
    shape: tuple[int, ...]
    constant: str | None
    """Name of the constant of the graph that holds it; without one it stands in the metadata."""
    is_transposed: bool


@dataclass(frozen=True)
class StoredArrays:
    """The arrays of a model as an opened file gives them: from the constants of the graph, or from the metadata."""

    entries: Mapping[str, Entry]
    constants: Mapping[str, Any]
    rest: Mapping[str, Array]

    def read_array(self, name: str) -> Array:
        """Return an array, of the size and kind that the table says."""
        entry = self.entries[name]
        if entry.constant is None:
            found = self.rest.get(name)
            if found is None or found.dtype != entry.dtype or found.shape != entry.shape:
                raise _wrong(name, entry)
            return np.array(found, order="C")
        content = _content(self.constants.get(entry.constant), entry.dtype)
        if content is None or len(content) != math.prod(entry.shape) * entry.dtype.itemsize:
            raise _wrong(name, entry)
        if entry.dtype == bool and content.strip(b"\0\1"):
            raise DamagedFileError(f"array {name} must hold only 0 and 1, being of kind bool.")
        flat = np.frombuffer(content, entry.dtype)
        shaped = flat.reshape(entry.shape[::-1]).T if entry.is_transposed else flat.reshape(entry.shape)
        return np.array(shaped, order="C")


def _content(constant: Any, dtype: np.dtype) -> bytes | None:
    """Return the bytes of a constant of this kind that stand in the file; those of another file are never read."""
    from onnx.helper import np_dtype_to_tensor_dtype

    if constant is None or constant.data_type != np_dtype_to_tensor_dtype(dtype) or constant.external_data:
        return None
    return bytes(constant.raw_data)


def _wrong(name: str, entry: Entry) -> DamagedFileError:
    size = math.prod(entry.shape)
    return DamagedFileError(f"array {name} must have {size} entries of {entry.dtype}, but it has not.")


def read_back(proto: Any, facts: Mapping[str, str]) -> Any:
    """Return the model that the metadata and the constants of a graph describe; nothing in them is executed."""
    check_header(facts[DOCUMENT].encode(), NotAModelFileError)
    document = parse_json(facts[DOCUMENT], "document")
    if not isinstance(document, dict) or set(document) != {"format", "model", "arrays"} or document["format"] != FORMAT:
        raise DamagedFileError(f"document must be of format {FORMAT}. Export the model again, or update pellucid.")
    constants = {constant.name: constant for constant in proto.graph.initializer}
    page = ReadPage(container=StoredArrays(_entries(document["arrays"]), constants, _unpacked(facts.get(ARRAYS, ""))))
    return read_fitted(document["model"], page)


def _entries(table: Json) -> dict[str, Entry]:
    """Return what the table says, after a check: known kinds, short shapes, a constant for one array at most."""
    try:
        found = {path: _entry(row) for path, row in table.items()}
        named = [entry.constant for entry in found.values() if entry.constant is not None]
        if len(set(named)) == len(named):
            return found
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    raise DamagedFileError(
        "table of arrays must give each a dtype, a shape and a constant of its own. Export the model again."
    )


def _entry(row: Json) -> Entry:
    dtype, shape = DTYPES[row["dtype"]], row["shape"]
    if not are_sizes(shape) or len(shape) > MAX_DIMENSIONS or len(row.keys() - {"dtype", "shape"}) > 1:
        raise ValueError
    return Entry(dtype, tuple(shape), row.get("constant", row.get("transposed")), "transposed" in row)


def _unpacked(packed: str) -> dict[str, Array]:
    """Return the arrays in the metadata; bytes that grow more than ours ever do are refused, not unpacked."""
    try:
        small = base64.b64decode(packed, validate=True)
        reader = zlib.decompressobj()
        content = reader.decompress(small, MOST_TIMES * len(small) + 1)  # 0 would mean any number
        if not reader.eof:
            raise ValueError
        return dict(safetensors_arrays(content))
    except (ValueError, TypeError, KeyError, zlib.error, SafetensorError):
        raise DamagedFileError(
            "arrays in the metadata must be packed as they were written. Copy the file again."
        ) from None
