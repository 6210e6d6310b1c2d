"""A saved model as its proof sees it: names, parameters and fitted numbers, read without the library that wrote them.

A model file is a safetensors file. Its metadata hold one JSON document, in which each value says what it is:
``{"array": "C"}`` stands in the table of arrays under its path, ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``
and ``{"record": {...}}`` hold others, ``["float32", 0.5]`` is a float of that type. Nothing in it can run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.seen import Seen

FLOATS = {"float": float, "float32": np.float32, "float64": np.float64}
MODEL = {"class", "parameters", "attributes", "output"}
EVIDENCE = frozenset({"certificate_", "trace_", "fit_parameters_"})
"""What the fit says of itself: a proof does not look at it."""


class UnreadableModelError(ValueError):
    """A file that is no model of ours."""


@dataclass(frozen=True)
class StoredModel:
    """One estimator of a file."""

    name: str
    parameters: Seen
    attributes: Seen


def read_model(path: str | Path) -> StoredModel:
    """Return the model in a file."""
    try:
        with safe_open(str(path), framework="np") as file:
            document = json.loads((file.metadata() or {})["pellucid"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (it is no dict)
        found = _Reader(arrays).value(document["model"], "")
    except (KeyError, TypeError, ValueError, SafetensorError) as error:
        raise UnreadableModelError(f"{path} must be a file of pellucid.save, but it is not: {error}.") from error
    if not isinstance(found, StoredModel):
        raise UnreadableModelError(f"{path} must hold a fitted model, but it holds something else.")
    return found


@dataclass(frozen=True)
class _Reader:
    arrays: dict[str, Array]

    def value(self, node: Any, path: str) -> Any:
        """Return the value that a part of the document stands for."""
        if isinstance(node, list):
            if len(node) == 2 and isinstance(node[0], str) and node[0] in FLOATS:
                return FLOATS[node[0]](node[1])
            return tuple(self.value(item, f"{path}.{i}") for i, item in enumerate(node))
        if not isinstance(node, dict):
            return node
        if set(node) == MODEL:
            parts = (self.fields(node[part] or {}, path) for part in ("parameters", "attributes"))
            return StoredModel(str(node["class"]), *(Seen(**part) for part in parts))
        if set(node) == {"name", "record"}:
            return _named(node["name"], self.fields(node["record"], path))
        ((tag, content),) = node.items()
        return self.tagged(tag, content, path)

    def fields(self, nodes: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the values of an object's parts, without what a fit says of itself."""
        prefix = f"{path}." if path else ""
        return {name: self.value(node, prefix + name) for name, node in nodes.items() if name not in EVIDENCE}

    def tagged(self, tag: str, content: Any, path: str) -> Any:
        """Return the value of an object with one part, whose name says what it is."""
        if tag == "array":
            return np.ascontiguousarray(self.arrays[path]) if self.arrays[path].ndim else self.arrays[path]
        if tag in ("object", "str"):
            return np.array(content, dtype=object if tag == "object" else str).reshape(len(content))
        if tag in ("list", "tuple"):
            items = [self.value(item, f"{path}.{i}") for i, item in enumerate(content)]
            return items if tag == "list" else tuple(items)
        if tag == "dict":
            return {self.value(key, path): self.value(item, f"{path}.{i}") for i, (key, item) in enumerate(content)}
        if tag in ("csr_array", "csr_matrix"):
            data, indices, ends = (self.arrays[f"{path}.{part}"] for part in ("data", "indices", "indptr"))
            return sparse.csr_array((data, indices, ends), shape=(len(ends) - 1, content["columns"]))
        if tag == "density":
            return _named(content[0].title().replace("_", ""), self.fields(content[1], path))
        if tag == "kernel":
            parts = [self.value(part, path) for part in content.get("parts", ())]
            own = {name: value for name, value in content.items() if name not in ("name", "parts")}
            return _named(content["name"], own | ({"parts": tuple(parts), "kernel": parts[0]} if parts else {}))
        return Seen(**self.fields(content, path))


def _named(name: Any, fields: dict[str, Any]) -> Seen:
    """Return an object that a proof knows by the name of its class: a kernel, a density."""
    found: Seen = type(str(name), (Seen,), {})(**fields)
    return found
