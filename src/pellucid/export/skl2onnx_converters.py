"""Our estimators inside the pipelines of skl2onnx: every method with a graph has a converter there."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor

from pellucid.core.cards import all_cards
from pellucid.core.onnx.answers import answers
from pellucid.core.onnx.graph import BOOL, DOUBLE, ML, WHOLE, WORDS, Graph, NotExportableError, Value
from pellucid.core.public_names import needs_extra

OUTPUT_TYPES = {
    DOUBLE: "DoubleTensorType",
    WHOLE: "Int64TensorType",
    WORDS: "StringTensorType",
    BOOL: "BooleanTensorType",
}
OPSETS_THERE = {"": 21, ML: 3}
"""The newest that skl2onnx 1.20 writes, for ``target_opset``."""
INPUT_KINDS: dict[str, np.dtype] = {
    "FloatTensorType": np.dtype(np.float32),
    "Int64TensorType": WHOLE,
    "DoubleTensorType": DOUBLE,
}


def register_skl2onnx() -> None:
    """Make skl2onnx know every estimator of ours that has a graph: call it once, before ``convert_sklearn``.

    Give ``convert_sklearn`` inputs of kind ``DoubleTensorType``, else rows are rounded before we see them, and
    ``target_opset=21``.
    """
    with needs_extra("pellucid.export.register_skl2onnx"):
        from skl2onnx import update_registered_converter
    for card in all_cards():
        if card.onnx and " " not in card.onnx:
            update_registered_converter(
                card.estimator, f"Pellucid{card.name}", _keep_shapes, _convert, parser=_parse, overwrite=True
            )


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Declare the outputs that our graph has."""
    from skl2onnx.common import data_types

    operator = scope.declare_local_operator(f"Pellucid{type(model).__name__}", model)
    operator.inputs.extend(inputs)
    del custom_parsers
    for name, value in _written(model, inputs)[1].items():
        kind = getattr(data_types, OUTPUT_TYPES[value.dtype])
        is_flat = name == "label" or (name == "variable" and is_regressor(model))
        operator.outputs.append(scope.declare_local_variable(name, kind([None] if is_flat else [None, None])))
    return list(operator.outputs)


def _keep_shapes(operator: Any) -> None:
    """Leave the outputs as they were declared: their shapes are found when the graph runs."""
    del operator


def _written(model: Any, inputs: list[Any]) -> tuple[Graph, dict[str, Value]]:
    graph = Graph(ml_version=OPSETS_THERE[ML])
    rows = [graph.input(f"rows_{k}", _kind_of(one)).cast(DOUBLE) for k, one in enumerate(inputs)]
    return graph, answers(model, graph.joined(rows))


def _kind_of(variable: Any) -> np.dtype:
    name = type(variable.type).__name__
    if name not in INPUT_KINDS:
        raise NotExportableError(f"inputs must be one of {tuple(INPUT_KINDS)}, got {name}. Encode them before.")
    return INPUT_KINDS[name]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Put our operators and constants into their graph, under names that are new there."""
    graph, given = _written(operator.raw_operator, operator.inputs)
    proto = graph.finish(given, {}, "inner")
    names = {f"rows_{k}": one.full_name for k, one in enumerate(operator.inputs)}
    names |= {name: one.full_name for name, one in zip(given, operator.outputs, strict=True)}
    for constant in proto.graph.initializer:
        names[constant.name] = constant.name = scope.get_unique_variable_name(f"pellucid_{constant.name}")
        container.initializers.append(constant)
    for node in proto.graph.node:
        for name in node.output:
            names.setdefault(name, scope.get_unique_variable_name(f"pellucid_{name}"))
        node.input[:] = [names[name] if name else "" for name in node.input]
        node.output[:] = [names[name] for name in node.output]
        node.name = scope.get_unique_operator_name("pellucid")
        container.nodes.append(node)
        container.node_domain_version_pair_sets.add((node.domain, OPSETS_THERE[node.domain]))
