"""from_onnx: the model that a file of to_onnx was made from, if the graph in it is still that model's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pellucid.core.kinds.pages import DamagedFileError, NotAModelFileError
from pellucid.core.public_names import needs_extra
from pellucid.export.stored_model import DOCUMENT, read_back
from pellucid.export.to_onnx import MOST_BYTES, evidence_of, written

NOT_OURS = "file must be written by pellucid.to_onnx, which keeps the model beside its graph"


def from_onnx(path: str | os.PathLike[str]) -> Any:
    """Return the model that ``pellucid.to_onnx`` wrote to a file.

    The numbers that the graph computes with are read out of the graph. Then the model is written as a graph once more:
    where that is not the graph in the file, operator by operator and number by number, the file was altered, and it is
    refused. So what is proved of the model is proved of the graph.

    Parameters
    ----------
    path : str or path
        Where that file is; one that something else wrote is refused.

    Examples
    --------
    >>> import pellucid, tempfile
    >>> from pellucid.linear_model import Ridge
    >>> from pellucid.export import from_onnx
    >>> X, y = [[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pellucid.to_onnx(Ridge(alpha=2.0).fit(X, y), path=f"{folder}/ridge.onnx")
    ...     again = from_onnx(f"{folder}/ridge.onnx")
    >>> pellucid.verify(again, X, y).holds
    True
    """
    with needs_extra("pellucid.export.from_onnx"):
        import onnx
    from google.protobuf.message import DecodeError

    file = Path(path)
    if file.stat().st_size > MOST_BYTES:
        raise NotAModelFileError(f"file must take at most {MOST_BYTES:,} bytes, got {file.stat().st_size:,}.")
    try:
        proto = onnx.load_model_from_string(file.read_bytes())
    except DecodeError:
        raise NotAModelFileError(f"{NOT_OURS}, got {file.name}, which is no ONNX file.") from None
    facts = {pair.key: pair.value for pair in proto.metadata_props}
    if DOCUMENT not in facts:
        raise NotAModelFileError(f"{NOT_OURS}. {facts.get('not_readable', 'This one does not hold it.')}")
    model = read_back(proto, facts)
    _refuse_another(proto, facts, model)
    return model


def _refuse_another(proto: Any, facts: Mapping[str, str], model: Any) -> None:
    """Refuse a file that is not, operators and their versions included, what this model is written as."""
    try:
        again = written(model)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        # each part of the model was as the registry allows, but they do not go together
        raise DamagedFileError("model in the file must have a graph, but it has none: it was altered.") from error
    said = proto.SerializeToString(deterministic=True)
    again.metadata_props.extend(proto.metadata_props)
    if again.SerializeToString(deterministic=True) != said:
        raise DamagedFileError("graph must be that of the model in the file, but it is another: it was altered.")
    wrong = [key for key, value in evidence_of(model).items() if facts.get(key) != value]
    if wrong:
        raise DamagedFileError(f"{wrong[0]} in the metadata must be that of the model in the file: it was altered.")
