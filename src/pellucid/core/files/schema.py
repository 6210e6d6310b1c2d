"""Schema: what a file says about one class of estimators, and how such an estimator is written and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pellucid.core.device.places import to_host
from pellucid.core.estimator import compute_the_rest
from pellucid.core.kinds.pages import Json, NotSaveableError, ReadPage, SchemaError, WritePage, describe
from pellucid.core.kinds.plain import Kind, Nothing, OneOf, Optional, Text, read_as
from pellucid.core.partial_fit import TRAINING_STATE

NOT_STORED = frozenset({"_skl_callbacks", TRAINING_STATE})
"""Set by the caller for one session, no part of the model."""

OUTPUT_CONFIG = "_sklearn_output_config"
OUTPUT = Nothing() | OneOf(("default", "pandas", "polars"))
MOST_SHOWN = 100
PARTS = {"class", "parameters", "attributes", "output"}


def _nothing_to_rebuild(model: Any) -> None:  # noqa: ARG001  (the signature of every rebuild)
    return None


@dataclass(frozen=True)
class Schema:
    """The closed description of one class: every parameter and every fitted attribute with its kind.

    Attributes that scikit-learn keeps under private names are listed as ``rebuilt``: they are not stored, ``rebuild``
    sets them again from the stored ones.
    """

    name: str
    module: str
    parameters: Mapping[str, Kind]
    attributes: Mapping[str, Kind | Optional]
    rebuilt: frozenset[str] = field(default=frozenset())
    rebuild: Callable[[Any], None] = _nothing_to_rebuild

    def find_class(self) -> type:
        """Import the class. The module is ours to name, never the file's."""
        found: type = getattr(import_module(self.module), self.name)
        return found

    def describes(self, model: Any) -> bool:
        """Return whether the model is of this very class; a subclass is another class."""
        return type(model).__name__ == self.name and type(model) is self.find_class()

    def check_fitted(self, model: Any) -> None:
        """Refuse a model that has learned nothing yet, and one that reads what it needs from elsewhere."""
        check_is_fitted(model)
        for value in vars(model).values():
            if hasattr(type(value), "not_saveable"):
                raise NotSaveableError(value.not_saveable)

    def take_apart(self, model: Any) -> tuple[Mapping[str, Any], Mapping[str, Any], Any]:
        """Return the parameters, the attributes to store, and the kind of frames that it was told to return."""
        compute_the_rest(model)
        model = to_host(model)
        parameters = model.get_params(deep=False)
        values = vars(model)
        left_out = {*parameters, "backend_"}  # where it was fitted is no part of the answer
        stored = {name: value for name, value in values.items() if name not in left_out and self._is_stored(name)}
        return parameters, stored, values.get(OUTPUT_CONFIG, {}).get("transform")

    def assemble(self, parameters: Mapping[str, Any], attributes: Mapping[str, Any] | None, output: Any) -> Any:
        """Return the model that has these parts; without attributes it is not fitted."""
        model = self.find_class()(**parameters)
        if output is not None:
            setattr(model, OUTPUT_CONFIG, {"transform": output})
        if attributes is not None:
            for name, value in attributes.items():
                setattr(model, name, value)
            self.rebuild(model)
        return model

    def write(self, model: Any, page: WritePage, path: str) -> Json:
        """Return the estimator as JSON; refuse whatever has no place in this schema."""
        parameters, stored, output = self.take_apart(model)
        _refuse_unknown(self.name, set(parameters), set(self.parameters), "parameter")
        _refuse_unknown(self.name, set(stored), set(self.attributes), "attribute")
        return {
            "class": self.name,
            "parameters": {
                name: _write_value(self.name, kind, parameters[name], page, _join(path, name))
                for name, kind in self.parameters.items()
            },
            "attributes": self._write_attributes(stored, page, path) if stored or not self.attributes else None,
            "output": output,
        }

    def read(self, node: Mapping[str, Json], page: ReadPage, path: str) -> Any:
        """Return the estimator that the JSON describes."""
        nodes = _object(node["parameters"], f"{self.name}.parameters")
        _require_exactly(self.name, set(nodes), set(self.parameters), set(), "parameter")
        parameters = {k: read_as(kind, nodes[k], page, _join(path, k)) for k, kind in self.parameters.items()}
        output = read_as(OUTPUT, node["output"], page, f"{self.name}.output")
        found = node["attributes"]
        attributes = None if found is None else self._read_attributes(found, page, path)
        return self.assemble(parameters, attributes, output)

    def _write_attributes(self, stored: Mapping[str, Any], page: WritePage, path: str) -> dict[str, Json]:
        _require_exactly(self.name, set(stored), *self._required_and_optional(), "attribute", NotSaveableError)
        return {
            name: _write_value(self.name, _kind_of(kind), stored[name], page, _join(path, name))
            for name, kind in self.attributes.items()
            if name in stored
        }

    def _read_attributes(self, found: Json, page: ReadPage, path: str) -> dict[str, Any]:
        nodes = _object(found, f"{self.name}.attributes")
        _require_exactly(self.name, set(nodes), *self._required_and_optional(), "attribute")
        return {
            name: read_as(_kind_of(kind), nodes[name], page, _join(path, name))
            for name, kind in self.attributes.items()
            if name in nodes
        }

    def _required_and_optional(self) -> tuple[set[str], set[str]]:
        optional = {name for name, kind in self.attributes.items() if isinstance(kind, Optional)}
        return set(self.attributes) - optional, optional

    def _is_stored(self, name: str) -> bool:
        return name not in self.rebuilt and name not in NOT_STORED and name != OUTPUT_CONFIG


def class_name_of(node: Json, page: ReadPage, path: str) -> str:
    """Return the registry name in a node that has the parts of an estimator."""
    if not isinstance(node, dict) or set(node) != PARTS:
        raise SchemaError(f"{path or 'model'} must have the parts {sorted(PARTS)}, got {describe(node)}.")
    name: str = read_as(Text(), node["class"], page, _join(path, "class"))
    return name


def _write_value(owner: str, kind: Kind, value: Any, page: WritePage, path: str) -> Json:
    if not kind.fits(value):
        raise NotSaveableError(
            f"{path} of {owner} must be {kind.says} to be saved, got {_shorten(value)}. "
            "Set it so before fitting: a file that cannot run code stores nothing else."
        )
    return kind.write(value, page, path)


def _shorten(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _kind_of(kind: Kind | Optional) -> Kind:
    return kind.kind if isinstance(kind, Optional) else kind


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _object(node: Json, path: str) -> dict[str, Json]:
    if not isinstance(node, dict):
        raise SchemaError(f"{path} must be an object, got {describe(node)}.")
    return node


def _refuse_unknown(owner: str, found: set[str], known: set[str], what: str) -> None:
    unknown = sorted(found - known)
    if unknown:
        raise NotSaveableError(f"{what} {unknown[0]} of {owner} must be in the registry to be saved, and is not.")


def _require_exactly(
    owner: str,
    found: set[str],
    required: set[str],
    optional: set[str],
    what: str,
    error: type[ValueError] = SchemaError,
) -> None:
    unknown, missing = sorted(found - required - optional), sorted(required - found)
    if unknown:
        raise error(f"{what}s of {owner} must be known, got {unknown[0][:80]!r}.")
    if missing:
        raise error(f"{what}s of {owner} must include {missing[0]!r}, but it is missing.")
