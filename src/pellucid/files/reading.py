"""load: a model from a file that may be damaged or hostile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pellucid.files.container import MAX_FILE_BYTES, open_container
from pellucid.files.nesting import read_model
from pellucid.files.writing import FORMAT
from pellucid.kinds.errors import NewerFormatError, SchemaError
from pellucid.kinds.pages import ReadPage
from pellucid.kinds.strict_json import Json, parse_json

DOCUMENT_FIELDS = {"sha256", "format", "written_by", "model"}


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_FILE_BYTES) -> Any:
    """Return the model that ``pellucid.save`` wrote to ``path``.

    Nothing in the file is executed, and nothing is allocated before its size, kind and place have been checked.
    A file that is not a whole, unaltered model file raises a :class:`pellucid.files.ModelFileError`.

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
        page = ReadPage(container=container)
        model = read_model(document["model"], page)
        page.refuse_leftovers()
    if document["model"]["attributes"] is None:
        raise SchemaError("model must be fitted, but the file holds no fitted attributes.")
    return model


def _checked_document(document: Json) -> dict[str, Json]:
    if not isinstance(document, dict) or type(document.get("format")) is not int:
        raise SchemaError("document must be an object with a format number.")
    if document["format"] > FORMAT:
        raise NewerFormatError(f"format must be at most {FORMAT}, got {document['format']}. Update pellucid.")
    if document["format"] < 1 or set(document) != DOCUMENT_FIELDS or not isinstance(document["written_by"], str):
        raise SchemaError(f"document must have the fields {sorted(DOCUMENT_FIELDS)} and no more.")
    return document
