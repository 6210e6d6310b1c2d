"""save: a fitted model into one file that cannot run code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from safetensors.numpy import save as safetensors_bytes

import pellucid
from pellucid.core.atomic import write_whole
from pellucid.core.files.container import (
    DOCUMENT_KEY,
    MAX_FILE_BYTES,
    UNSEALED,
    check_header,
    header_of,
    open_container,
    seal,
)
from pellucid.core.files.registry import read_fitted, schema_of
from pellucid.core.kinds.pages import (
    Json,
    NewerFormatError,
    NotSaveableError,
    ReadPage,
    SchemaError,
    WritePage,
    dump_json,
    parse_json,
)

FORMAT = 1


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model of the registry to ``path``: whole or not at all.

    Parameters
    ----------
    model : estimator
        An estimator of pellucid, a scikit-learn Pipeline of registered transformers that ends in one, or a network that
        knows its ``architecture`` (else a pair of architecture and module).
    path : path
        The file; an existing one is replaced.

    Examples
    --------
    >>> import pellucid, tempfile
    >>> from pellucid.linear_model import Ridge
    >>> model = Ridge(alpha=2.0).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pellucid.save(model, f"{folder}/ridge.safetensors")
    ...     again = pellucid.load(f"{folder}/ridge.safetensors")
    >>> bool(again.predict([[2.0]]) == model.predict([[2.0]]))
    True
    """
    write_whole(path, model_bytes(model))


def model_bytes(model: Any) -> bytes:
    """Return the content of the file of a fitted model."""
    schema = schema_of(model)
    schema.check_fitted(model)
    page = WritePage()
    document = {
        "sha256": UNSEALED,  # first, where the reader looks for it
        "format": FORMAT,
        "written_by": f"pellucid {pellucid.__version__}",
        "model": schema.write(model, page, ""),
    }
    try:
        content = safetensors_bytes(page.arrays, metadata={DOCUMENT_KEY: dump_json(document)})
    except UnicodeEncodeError as error:
        where = error.object[max(0, error.start - 20) : error.end]
        raise NotSaveableError(f"names must be valid Unicode to be saved, got {where!r}. Rename it.") from None
    check_header(header_of(content), NotSaveableError)
    return seal(content)


DOCUMENT_FIELDS = {"sha256", "format", "written_by", "model"}


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_FILE_BYTES) -> Any:
    """Return the model that ``pellucid.save`` wrote to ``path``.

    Nothing in the file is executed, and nothing is allocated before its size, kind and place have been checked.
    A file that is not a whole, unaltered model file raises a ``pellucid.core.files.ModelFileError``.

    Parameters
    ----------
    path : path
        The file.
    max_bytes : int, default=2**32
        Largest file to read.
    """
    with Path(path).open("rb") as file:
        container = open_container(file, max_bytes)
        document = _checked_document(parse_json(container.document, "document"))
        return read_fitted(document["model"], ReadPage(container=container))


def _checked_document(document: Json) -> dict[str, Json]:
    if not isinstance(document, dict) or type(document.get("format")) is not int:
        raise SchemaError("document must be an object with a format number.")
    if document["format"] > FORMAT:
        raise NewerFormatError(f"format must be at most {FORMAT}, got {document['format']}. Update pellucid.")
    if document["format"] < 1 or set(document) != DOCUMENT_FIELDS or not isinstance(document["written_by"], str):
        raise SchemaError(f"document must have the fields {sorted(DOCUMENT_FIELDS)} and no more.")
    return document
