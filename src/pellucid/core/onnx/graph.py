"""A graph of ONNX operators, put together by writing the formula of an answer.

A :class:`Value` is what flows along an edge: rows, a constant, or what an operator gives. Arithmetic with it adds
operators to its graph. All numbers are double; whatever is given as an array becomes a constant, and two constants with
the same content are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from pellucid.core.public_names import needs_extra
from pellucid.core.types import Array

ML = "ai.onnx.ml"
OPSETS = {"": 21, ML: 5}
TABLES_SINCE = 4
"""Version of ai.onnx.ml from which labels are looked up by double numbers."""
IR_VERSION = 10
"""Of onnx 1.17, the oldest that the extra allows."""
ROWS = "rows"
"""Name of the dimension that any number of rows may have."""
BOOL, WHOLE, DOUBLE, WORDS = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64), np.dtype(object)


Answers: TypeAlias = "dict[str, Value]"
"""What a model says about rows, by the names of the outputs: label, probabilities or scores, variable."""


class NotExportableError(ValueError):
    """A model that has no graph: one sentence says why, and what to do instead."""


class Value:
    """What flows along an edge of a graph, of shape (rows,) or (rows, columns) unless said otherwise."""

    __array_ufunc__ = None  # so that NumPy leaves ``array @ value`` to us

    def __init__(self, graph: Graph, name: str, dtype: np.dtype = DOUBLE) -> None:
        self.graph, self.name, self.dtype = graph, name, dtype

    def apply(self, operator: str, *others: Any, dtype: np.dtype | None = None, **attributes: Any) -> Value:
        """Return what an operator gives for this value and others."""
        return self.graph.apply(operator, self, *others, dtype=dtype or self.dtype, **attributes)[0]

    def _with(self, operator: str, other: Any, dtype: np.dtype | None = None) -> Value:
        return self.apply(operator, self.graph.given(other, self.dtype), dtype=dtype)

    def _after(self, operator: str, other: Any) -> Value:
        return self.graph.given(other, self.dtype)._with(operator, self)

    def __add__(self, other: Any) -> Value:
        return self._with("Add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Value:
        return self._with("Sub", other)

    def __rsub__(self, other: Any) -> Value:
        return self._after("Sub", other)

    def __mul__(self, other: Any) -> Value:
        return self._with("Mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Value:
        return self._with("Div", other)

    def __rtruediv__(self, other: Any) -> Value:
        return self._after("Div", other)

    def __matmul__(self, matrix: Array) -> Value:
        # not MatMul: onnxruntime 1.31 takes a number that its result is multiplied by for a float of 32 bits, which
        # leaves 8 digits of 16 (MatMulScaleFusion)
        columns = np.asarray(matrix, dtype=DOUBLE)
        found = self.apply("Gemm", columns.reshape(len(columns), -1))
        return found.reshape(-1) if columns.ndim == 1 else found

    def __pow__(self, other: Any) -> Value:
        return self._with("Pow", other)

    def __neg__(self) -> Value:
        return self.apply("Neg")

    def __lt__(self, other: Any) -> Value:
        return self._with("Less", other, BOOL)

    def __le__(self, other: Any) -> Value:
        return self._with("LessOrEqual", other, BOOL)

    def __gt__(self, other: Any) -> Value:
        return self._with("Greater", other, BOOL)

    def __ge__(self, other: Any) -> Value:
        return self._with("GreaterOrEqual", other, BOOL)

    def __and__(self, other: Value) -> Value:
        return self._with("And", other)

    def __or__(self, other: Value) -> Value:
        return self._with("Or", other)

    def __invert__(self) -> Value:
        return self.apply("Not")

    def equals(self, other: Any) -> Value:
        """Return where both are equal."""
        return self._with("Equal", other, BOOL)

    def is_nan(self) -> Value:
        """Return where there is no number."""
        return self.apply("IsNaN", dtype=BOOL)

    def exp(self) -> Value:
        """Return e to these powers."""
        return self.apply("Exp")

    def log(self) -> Value:
        """Return natural logarithms."""
        return self.apply("Log")

    def sqrt(self) -> Value:
        """Return square roots."""
        return self.apply("Sqrt")

    def abs(self) -> Value:
        """Return absolute values."""
        return self.apply("Abs")

    def sigmoid(self) -> Value:
        """Return 1 / (1 + exp(-x)); written out, as a fused operator may round otherwise."""
        return 1.0 / (1.0 + (-self).exp())

    def sum(self, axis: int = 1, keep: bool = True) -> Value:
        """Return sums along an axis."""
        return self.apply("ReduceSum", np.array([axis]), keepdims=int(keep))

    def max(self, axis: int = 1) -> Value:
        """Return the largest along an axis, which stays with one entry."""
        return self.apply("ReduceMax", np.array([axis]))

    def argmax(self, axis: int = 1) -> Value:
        """Return the place of the largest, the first of equal ones."""
        return self.apply("ArgMax", axis=axis, keepdims=0, dtype=WHOLE)

    def argmin(self, axis: int = 1) -> Value:
        """Return the place of the smallest, the first of equal ones."""
        return self.apply("ArgMin", axis=axis, keepdims=0, dtype=WHOLE)

    def softmax(self) -> Value:
        """Return the exponentials of each row over their sum, without overflow."""
        shares = (self - self.max()).exp()
        return shares / shares.sum()

    def where(self, true: Any, false: Any) -> Value:
        """Return one of two values, by this condition."""
        dtype = next((v.dtype for v in (true, false) if isinstance(v, Value)), DOUBLE)
        return self.apply("Where", self.graph.given(true, dtype), self.graph.given(false, dtype), dtype=dtype)

    def clip(self, low: float, high: float) -> Value:
        """Return values between two limits."""
        return self.apply("Clip", np.float64(low), np.float64(high))

    def cast(self, dtype: np.dtype) -> Value:
        """Return the same as another kind of numbers."""
        return self if dtype == self.dtype else self.apply("Cast", dtype=dtype, to=_element_type(dtype))

    def columns(self, places: Any) -> Value:
        """Return some of the columns."""
        return self.apply("Gather", np.asarray(places, dtype=np.int64), axis=1)

    def column(self, place: int) -> Value:
        """Return one of the columns, of shape (rows, 1)."""
        return self.columns([place])

    def entries_of(self, table: Any) -> Value:
        """Return the entries of a table, along its first axis, that these places name."""
        found = self.graph.given(table)
        return found.apply("Gather", self, axis=0)

    def places_in(self, known: Array, unknown: int) -> Value:
        """Return the place of each value among those known; ``unknown`` of one that is not."""
        is_words = known.dtype.kind in "OU"
        if is_words != (self.dtype == WORDS):
            raise NotExportableError(
                "words must stand in columns of their own to be exported, and a matrix has numbers only. Encode them "
                "before, or fit the table by 'pellucid fit'."
            )
        if self.graph.ml_version < TABLES_SINCE and not is_words:
            same = self.equals(known.astype(DOUBLE)).cast(WHOLE)
            return (same.max() > 0).where(same.apply("ArgMax", axis=1, keepdims=1), unknown)
        keys = known.astype(object) if is_words else known.astype(DOUBLE)
        if self.graph.ml_version < TABLES_SINCE:
            given = {"keys_strings": list(keys), "values_int64s": list(range(len(keys))), "default_int64": unknown}
            return self.apply("LabelEncoder", domain=ML, dtype=WHOLE, **given)
        tables = {"keys_tensor": keys, "values_tensor": np.arange(len(keys)), "default_tensor": np.array([unknown])}
        held = {name: self.graph.tensor(table) for name, table in tables.items()}
        return self.apply("LabelEncoder", domain=ML, dtype=WHOLE, **held)

    def reshape(self, *shape: int) -> Value:
        """Return the same in another shape."""
        return self.apply("Reshape", np.array(shape))

    def transpose(self, *order: int) -> Value:
        """Return the axes in another order."""
        return self.apply("Transpose", perm=list(order))


class Graph:
    """Operators, constants and inputs in the order in which they were written."""

    def __init__(self, ml_version: int = OPSETS[ML]) -> None:
        with needs_extra("pellucid.to_onnx"):
            import onnx.helper
            import onnx.numpy_helper
        self.helper, self.numpy_helper = onnx.helper, onnx.numpy_helper
        self.ml_version = ml_version
        self.nodes: list[Any] = []
        self.constants: dict[tuple[Any, ...], Any] = {}
        self.inputs: list[Any] = []

    def input(self, name: str, dtype: np.dtype = DOUBLE, n_columns: int = 1) -> Value:
        """Return rows that the graph is asked about."""
        shape: list[str | int | None] = [ROWS, n_columns]
        self.inputs.append(self.helper.make_tensor_value_info(name, _element_type(dtype), shape))
        return Value(self, name, dtype)

    def given(self, value: Any, dtype: np.dtype | None = None) -> Value:
        """Return a value as it is, anything else as a constant: numbers as double, unless they are whole and meant so.

        A plain Python number takes the kind of ``dtype``, that of what it is to be combined with.
        """
        if isinstance(value, Value):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, np.generic):
            value = np.asarray(value, dtype or DOUBLE)
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(DOUBLE)
        elif array.dtype.kind in "iu":
            if array.max(initial=0) > np.iinfo(WHOLE).max:
                raise NotExportableError(
                    f"whole numbers must be at most {np.iinfo(WHOLE).max:,} to stand in a graph, got {array.max():,}. "
                    "Fit to smaller labels."
                )
            array = array.astype(WHOLE if dtype is None or dtype == WHOLE else DOUBLE)
        elif array.dtype.kind in "UO":
            array = array.astype(object)
        array = np.ascontiguousarray(array).reshape(array.shape)
        content = tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self.constants:
            self.constants[key] = self.numpy_helper.from_array(array, f"constant_{len(self.constants)}")
        return Value(self, self.constants[key].name, array.dtype)

    def apply(
        self,
        operator: str,
        *inputs: Any,
        dtype: np.dtype = DOUBLE,
        dtypes: tuple[np.dtype, ...] = (),
        domain: str = "",
        **attributes: Any,
    ) -> tuple[Value, ...]:
        """Add an operator; return what it gives, one value unless ``dtypes`` names more. None is an input left out."""
        kinds = dtypes or (dtype,)
        names = ["" if value is None else self.given(value).name for value in inputs]
        given = [f"{operator}_{len(self.nodes)}{f'_{k}' if k else ''}" for k in range(len(kinds))]
        self.nodes.append(self.helper.make_node(operator, names, given, domain=domain, **attributes))
        return tuple(Value(self, name, kind) for name, kind in zip(given, kinds, strict=True))

    def tensor(self, array: Array) -> Any:
        """Return an array as an attribute of an operator."""
        return self.numpy_helper.from_array(np.asarray(array), "")

    def joined(self, values: list[Value], axis: int = 1) -> Value:
        """Return values side by side; one alone as it is."""
        return values[0] if len(values) == 1 else self.apply("Concat", *values, axis=axis, dtype=values[0].dtype)[0]

    def included(self, proto: Any, inputs: Mapping[str, Value], dtype: np.dtype) -> Value:
        """Return the output of another graph, which becomes a part of this one, with names of its own."""
        names = {name: value.name for name, value in inputs.items()}
        names |= {one.name: f"{proto.graph.name}_{one.name}" for one in proto.graph.initializer}
        for constant in proto.graph.initializer:
            held = type(constant).FromString(constant.SerializeToString())
            held.name = names[constant.name]
            self.constants[held.name,] = held
        for node in proto.graph.node:
            names |= {name: f"{proto.graph.name}_{name}" for name in node.output if name}
            held = type(node).FromString(node.SerializeToString())
            held.input[:] = [names.get(name, name) for name in node.input]
            held.output[:] = [names.get(name, name) for name in node.output]
            self.nodes.append(held)
        return Value(self, names[proto.graph.output[0].name], dtype)

    def finish(self, outputs: Mapping[str, Value], metadata: Mapping[str, str], name: str) -> Any:
        """Return the model with these outputs; what none of them depends on is left out."""
        named = [
            self.helper.make_node("Identity", [value.name], [output], name=output) for output, value in outputs.items()
        ]
        nodes = _needed([*self.nodes, *named], set(outputs))
        used = {one for node in nodes for one in node.input}
        infos = [
            self.helper.make_tensor_value_info(output, _element_type(value.dtype), None)
            for output, value in outputs.items()
        ]
        constants = [constant for constant in self.constants.values() if constant.name in used]
        graph = self.helper.make_graph(nodes, name, self.inputs, infos, constants)
        domains = {node.domain for node in nodes} | {""}
        versions = {**OPSETS, ML: self.ml_version}
        opsets = [self.helper.make_opsetid(domain, versions[domain]) for domain in sorted(domains)]
        model = self.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="pellucid")
        self.helper.set_model_props(model, dict(metadata))
        return _with_shapes(model)


def _with_shapes(model: Any) -> Any:
    """Return the model with the dimensions of its outputs, of which the first is that of the rows."""
    from onnx import shape_inference

    found = {one.name: one for one in shape_inference.infer_shapes(model).graph.output}
    for output in model.graph.output:
        output.CopyFrom(found[output.name])
        for place, size in enumerate(output.type.tensor_type.shape.dim):
            if not place or not size.HasField("dim_value"):
                size.dim_param = f"{output.name}_{place}" if place else ROWS
    return model


def _needed(nodes: list[Any], wanted: set[str]) -> list[Any]:
    """Return the operators that some outputs depend on, in their order."""
    kept, wanted = [], set(wanted)
    for node in reversed(nodes):
        if wanted & set(node.output):
            kept.append(node)
            wanted |= set(node.input)
    return kept[::-1]


def _element_type(dtype: np.dtype) -> int:
    import onnx

    kinds = {BOOL: "BOOL", WHOLE: "INT64", DOUBLE: "DOUBLE", WORDS: "STRING", np.dtype(np.float32): "FLOAT"}
    return int(onnx.TensorProto.DataType.Value(kinds[dtype]))
