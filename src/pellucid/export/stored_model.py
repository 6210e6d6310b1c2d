"""A model inside an ONNX file: what the graph computes with is read out of the graph, the rest out of the metadata."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as safetensors_arrays
from safetensors.numpy import save as safetensors_bytes

from pellucid.core.files.container import DTYPES
from pellucid.core.files.registry import read_model, schema_of
from pellucid.core.kinds.pages import DamagedFileError, Json, ReadPage, WritePage, dump_json, parse_json
from pellucid.core.onnx.graph import Graph
from pellucid.core.types import Array

FORMAT = 1
DOCUMENT, ARRAYS = "pellucid_model", "pellucid_arrays"
NAMES = {dtype: name for name, dtype in DTYPES.items()}
MOST_BYTES = 2**32
"""Of arrays that the graph does not hold, unpacked."""


def stored(model: Any, graph: Graph) -> dict[str, str]:
    """Return the metadata from which a model is read back: a document, and the arrays that the graph does not hold."""
    page = WritePage()
    written = schema_of(model).write(model, page, "")
    held = {constant.raw_data: constant.name for constant in graph.constants.values() if constant.raw_data}
    table, rest = {}, {}
    for path, array in page.arrays.items():
        row: dict[str, Json] = {"dtype": NAMES[array.dtype.newbyteorder("<")], "shape": list(array.shape)}
        places = {"constant": held.get(_bytes(array)), "transposed": held.get(_bytes(array.T))}
        place = next(((how, name) for how, name in places.items() if name), None)
        if place is None or not array.size:
            rest[path] = np.ascontiguousarray(array).reshape(array.shape)
        table[path] = row if path in rest or place is None else row | {place[0]: place[1]}
    packed = base64.b64encode(zlib.compress(safetensors_bytes(rest))).decode()
    return {DOCUMENT: dump_json({"format": FORMAT, "model": written, "arrays": table}), ARRAYS: packed}


def _bytes(array: Array) -> bytes:
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


@dataclass(frozen=True)
class Entry:
    """What the table says of one array."""

    dtype: np.dtype
    shape: tuple[int, ...]


@dataclass(frozen=True)
class StoredArrays:
    """The arrays of a model as an opened file gives them: from the constants of the graph, or from the metadata."""

    table: Mapping[str, Json]
    constants: Mapping[str, Any]
    rest: Mapping[str, Array]

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Sizes and kinds by path; the table is checked against what is there when an array is read."""
        try:
            return {
                path: Entry(DTYPES[row["dtype"]], tuple(map(int, row["shape"]))) for path, row in self.table.items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            raise DamagedFileError(
                "table of arrays must give each a dtype and a shape. Export the model again."
            ) from None

    def read_array(self, name: str) -> Array:
        """Return an array, of the size and kind that the table says."""
        from onnx import numpy_helper

        entry, row = self.entries[name], self.table[name]
        held = self.constants.get(row.get("constant") or row.get("transposed"))
        found = self.rest.get(name) if held is None else numpy_helper.to_array(held)
        if found is None or found.dtype != entry.dtype or found.size != int(np.prod(entry.shape)):
            raise DamagedFileError(f"array {name} must have {entry.shape} entries of {entry.dtype}, but it has not.")
        shaped = found.reshape(entry.shape[::-1]).T if "transposed" in row else found.reshape(entry.shape)
        return np.array(shaped, order="C")


def read_back(proto: Any, facts: Mapping[str, str]) -> Any:
    """Return the model that the metadata and the constants of a graph describe; nothing in them is executed."""
    document = parse_json(facts[DOCUMENT], "document")
    if not isinstance(document, dict) or set(document) != {"format", "model", "arrays"} or document["format"] != FORMAT:
        raise DamagedFileError(f"document must be of format {FORMAT}. Export the model again, or update pellucid.")
    try:
        content = zlib.decompressobj().decompress(base64.b64decode(facts.get(ARRAYS, "")), MOST_BYTES)
        rest = safetensors_arrays(content)
    except (ValueError, zlib.error, SafetensorError):
        raise DamagedFileError(
            "arrays in the metadata must be packed as they were written. Copy the file again."
        ) from None
    arrays = StoredArrays(document["arrays"], {constant.name: constant for constant in proto.graph.initializer}, rest)
    page = ReadPage(container=arrays)
    model = read_model(document["model"], page)
    page.refuse_leftovers()
    return model
