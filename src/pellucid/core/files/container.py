"""The outside of a model file: header, table of arrays, checksum. Nothing here knows what a model is.

A safetensors file is an 8-byte little-endian length, a JSON header of that length and the bytes of the arrays. Our
document is the only entry of the header's metadata. The checksum in it is the SHA-256 of the whole file, its own 64
digits read as zeros, so that no bit of the file can change unseen.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np

from pellucid.core.kinds.pages import (
    MAX_DIMENSIONS,
    DamagedFileError,
    Json,
    ModelFileError,
    NotAModelFileError,
    describe,
    parse_json,
)
from pellucid.core.types import Array

MAX_FILE_BYTES = 2**32
MAX_HEADER_BYTES = 2**23
MAX_BRACKETS = 2**18
"""Opening brackets in a header: each becomes an object of a hundred bytes and more when it is parsed."""

LENGTH_BYTES = 8
CHUNK_BYTES = 2**20
DOCUMENT_KEY = "pellucid"
DTYPES = {
    "BOOL": np.dtype(bool),
    "I8": np.dtype(np.int8),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype(np.uint8),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
"""The safetensors dtypes that a model may use."""

UNSEALED = "0" * 64
_CHECKSUM = re.compile(r'\A\{"sha256":"([0-9a-f]{64})",')
_CHECKSUM_IN_HEADER = rb"{\"sha256\":\""


@dataclass(frozen=True)
class ArrayPlace:
    """Where one array stands in the file."""

    dtype: np.dtype
    shape: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Container:
    """A file whose outside has been checked: its document as text and its table of arrays."""

    file: BufferedReader
    document: str
    entries: Mapping[str, ArrayPlace]

    def read_array(self, name: str) -> Array:
        """Return a fresh array. The entry has been checked against the length of the file."""
        entry = self.entries[name]
        array = np.empty(entry.shape, entry.dtype)
        raw = array.reshape(-1).view(np.uint8)
        self.file.seek(entry.offset)
        if self.file.readinto(raw.data) != raw.size:
            raise DamagedFileError(f"array {name} must have {array.size} entries, but the file ends inside it.")
        if entry.dtype == bool and raw.max(initial=0) > 1:
            raise DamagedFileError(f"array {name} must hold only 0 and 1, being of kind bool.")
        return array


def seal(content: bytes) -> bytes:
    """Put the checksum into the bytes of an unsealed file."""
    placeholder = _CHECKSUM_IN_HEADER + UNSEALED.encode()
    return content.replace(placeholder, _CHECKSUM_IN_HEADER + hashlib.sha256(content).hexdigest().encode(), 1)


def check_header(header: bytes, error: type[ModelFileError]) -> None:
    """Refuse a header that is too long or too intricate to be parsed in a moment. Save asks, too."""
    if len(header) > MAX_HEADER_BYTES:
        raise error(f"names and settings must take at most {MAX_HEADER_BYTES} bytes, got {len(header)}. Shorten them.")
    brackets = header.count(b"[") + header.count(b"{")
    if brackets > MAX_BRACKETS:
        raise error(f"header must have at most {MAX_BRACKETS} opening brackets, got {brackets}. Record fewer states.")


def header_of(content: bytes) -> bytes:
    """Return the header of a file in memory."""
    return content[LENGTH_BYTES : LENGTH_BYTES + int.from_bytes(content[:LENGTH_BYTES], "little")]


def open_container(file: BufferedReader, max_bytes: int = MAX_FILE_BYTES) -> Container:
    """Check sizes, header, table and checksum, in this order, before anything is allocated for the arrays."""
    size = os.fstat(file.fileno()).st_size
    if size > max_bytes:
        raise NotAModelFileError(f"file must be at most {max_bytes} bytes, got {size}. Pass a larger max_bytes.")
    header = _read_header(file, size)
    check_header(header, NotAModelFileError)
    table = parse_json(_decode(header), "header")
    if not isinstance(table, dict):
        raise NotAModelFileError("header must be a JSON object.")
    document = _document_of(table.pop("__metadata__", None))
    entries = _entries_of(table, start=LENGTH_BYTES + len(header), stop=size)
    _check_seal(file, header, document)
    return Container(file, document, entries)


def _read_header(file: BufferedReader, size: int) -> bytes:
    file.seek(0)
    length = int.from_bytes(file.read(LENGTH_BYTES), "little")
    if size < LENGTH_BYTES + 2 or length < 2 or length > MAX_HEADER_BYTES:
        raise NotAModelFileError(
            f"file must be a model of pellucid, a safetensors file, got {Path(str(file.name)).name}, {size:,} bytes of "
            "something else. If it is a table, name the model first and the table after it."
        )
    if LENGTH_BYTES + length > size:
        raise DamagedFileError(f"header must have {length} bytes, but the file has only {size}. Copy it again.")
    return file.read(length)


def _decode(header: bytes) -> str:
    try:
        return header.decode("utf-8")
    except UnicodeDecodeError:
        raise NotAModelFileError("header must be UTF-8 text, but it is not.") from None


def _document_of(metadata: Json) -> str:
    if not isinstance(metadata, dict) or set(metadata) != {DOCUMENT_KEY} or not isinstance(metadata[DOCUMENT_KEY], str):
        raise NotAModelFileError(
            f"metadata must hold one text named {DOCUMENT_KEY!r}, but it does not. Only files of pellucid.save load."
        )
    return metadata[DOCUMENT_KEY]


def _entries_of(table: dict[str, Json], start: int, stop: int) -> dict[str, ArrayPlace]:
    """Return the table of arrays, which must cover the rest of the file without a gap or an overlap."""
    spans = {name: _checked_entry(name, row, start) for name, row in table.items()}
    position = start
    for name, (entry, end) in sorted(spans.items(), key=lambda item: (item[1][0].offset, item[1][1])):
        if entry.offset != position:
            raise NotAModelFileError(f"array {name} must start at byte {position}, got {entry.offset}.")
        position = end
    if position != stop:
        raise DamagedFileError(f"file must end at byte {position}, got {stop} bytes. Copy it again.")
    return {name: entry for name, (entry, _) in spans.items()}


def _checked_entry(name: str, row: Json, start: int) -> tuple[ArrayPlace, int]:
    """Return the entry and the byte after its last."""
    if not isinstance(row, dict) or set(row) != {"dtype", "shape", "data_offsets"}:
        raise NotAModelFileError(f"array {name[:80]!r} must have a dtype, a shape and data_offsets, and no more.")
    dtype, shape, offsets = row["dtype"], row["shape"], row["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise NotAModelFileError(f"dtype of array {name[:80]!r} must be one of {tuple(DTYPES)}, got {describe(dtype)}.")
    if not are_sizes(shape) or len(shape) > MAX_DIMENSIONS or not are_sizes(offsets) or len(offsets) != 2:
        raise NotAModelFileError(f"shape and data_offsets of array {name[:80]!r} must be short lists of sizes.")
    length = math.prod(shape) * DTYPES[dtype].itemsize  # Python's whole numbers do not overflow
    if offsets[1] - offsets[0] != length:
        raise NotAModelFileError(f"array {name[:80]!r} must take {length} bytes, got data_offsets {offsets}.")
    return ArrayPlace(DTYPES[dtype], tuple(shape), start + offsets[0]), start + offsets[1]


def are_sizes(values: Json) -> bool:
    """Return whether a value is a list of whole numbers that may be sizes or places."""
    return isinstance(values, list) and all(type(value) is int and 0 <= value <= MAX_FILE_BYTES for value in values)


def _check_seal(file: BufferedReader, header: bytes, document: str) -> None:
    found = _CHECKSUM.match(document)
    sealed = _CHECKSUM_IN_HEADER + (found[1].encode() if found else b"")
    if found is None or header.count(sealed) != 1:
        raise NotAModelFileError("document must start with its checksum, but it does not.")
    digest = hashlib.sha256(len(header).to_bytes(LENGTH_BYTES, "little"))
    digest.update(header.replace(sealed, _CHECKSUM_IN_HEADER + UNSEALED.encode()))
    file.seek(LENGTH_BYTES + len(header))
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    if digest.hexdigest() != found[1]:
        raise DamagedFileError("checksum must match the content, but it does not: the file was altered. Copy it again.")
