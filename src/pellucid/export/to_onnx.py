"""to_onnx: the answers of a fitted model as one ONNX file that other programs run."""

from __future__ import annotations

import os
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import pellucid
from pellucid.core.atomic import write_whole
from pellucid.core.device.places import to_host
from pellucid.core.kinds.pages import NotSaveableError
from pellucid.core.onnx.answers import answers, inputs_of
from pellucid.core.onnx.graph import Graph, NotExportableError
from pellucid.core.types import Data
from pellucid.export.measuring import measured
from pellucid.export.stored_model import stored

MOST_BYTES = 2**31 - 1
"""Of one file of protocol buffers."""


def to_onnx(model: Any, X: Data = None, *, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a fitted model as an ``onnx.ModelProto`` in double precision, of standard operators.

    Classifiers give ``label`` and ``probabilities`` (or ``scores``), regressors and transformers ``variable``,
    clusterings ``label``. The input is the matrix ``X``; a model of ``pellucid fit`` has one input for each column of
    its table, words as strings (a gap is an empty one), numbers as double (a gap is NaN).

    The metadata hold the fingerprint of the training data, the verdict of the certificate, what was measured on ``X``,
    and what :func:`pellucid.export.from_onnx` reads the model back from.

    Parameters
    ----------
    model : estimator
        A fitted estimator of pellucid, or a pipeline that model files know. A method that answers about no new rows is
        refused, in one sentence, by a :class:`pellucid.export.NotExportableError`.
    X : array-like or data frame, default=None
        Rows on which onnxruntime is compared with the model: labels must be the same. None measures nothing.
    path : path, default=None
        A file to write, whole or not at all.

    Examples
    --------
    >>> import pellucid
    >>> from pellucid.linear_model import Ridge
    >>> model = Ridge(alpha=2.0).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    >>> [output.name for output in pellucid.to_onnx(model).graph.output]
    ['variable']
    """
    check_is_fitted(model)
    model = to_host(model) if "backend_" in vars(model) else model
    proto = written(model)
    for key, value in _facts(model, proto).items():
        proto.metadata_props.add(key=key, value=value)
    if proto.ByteSize() > MOST_BYTES:
        raise NotExportableError(f"graph must take at most {MOST_BYTES:,} bytes, got {proto.ByteSize():,}.")
    note = measured(proto, model, X) if X is not None else "not measured: no rows were given"
    proto.metadata_props.add(key="difference", value=note)
    if path is not None:
        write_whole(path, proto.SerializeToString(deterministic=True))
    return proto


def written(model: Any) -> Any:
    """Return the answers of a model as a graph, without metadata."""
    graph = Graph()
    return graph.finish(answers(model, inputs_of(model, graph)), {}, type(model).__name__)


def evidence_of(model: Any) -> dict[str, str]:
    """Return what the metadata say of the training data and of the proof."""
    last = model[-1] if isinstance(model, Pipeline) else model
    certificate = getattr(last, "certificate_", None)
    return {
        "fingerprint": getattr(model[0] if isinstance(model, Pipeline) else model, "data_fingerprint_", ""),
        "certificate": "none" if certificate is None else certificate.verdict,
    }


def _facts(model: Any, proto: Any) -> dict[str, str]:
    """Return what stands in the metadata beside what was measured."""
    facts = {"written_by": f"pellucid {pellucid.__version__}", **evidence_of(model)}
    try:
        return facts | stored(model, proto.graph.initializer)
    except NotSaveableError as refusal:
        return facts | {"not_readable": str(refusal)}
