"""save: a fitted model into one file that cannot run code."""

from __future__ import annotations

import os
from typing import Any

from safetensors.numpy import save as safetensors_bytes

import pellucid
from pellucid.core.atomic import write_whole
from pellucid.files.container import DOCUMENT_KEY, UNSEALED, check_header, header_of, seal
from pellucid.files.registry import schema_of
from pellucid.kinds.errors import NotSaveableError
from pellucid.kinds.pages import WritePage
from pellucid.kinds.strict_json import dump_json

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
