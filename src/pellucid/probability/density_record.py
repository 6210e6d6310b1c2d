"""The kind of a density: the name of one of ours and its parameters."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from pellucid.core.kinds.arrays import WHOLES, Numbers, Texts
from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage, describe
from pellucid.core.kinds.plain import Either, Kind, Real, Whole, read_as, tagged
from pellucid.probability.density import DENSITIES, find_density

PARAMETER = Either((Whole(), Real(), Numbers(None, ("bool", *WHOLES, "float64")), Texts()))


class DensityRecord(Kind):
    """A density of ``pellucid.probability``; its constructor checks the parameters again when it is read."""

    says = "a density of pellucid.probability"

    def fits(self, value: Any) -> bool:
        return _name_of(value) is not None and all(map(PARAMETER.fits, _parameters(value).values()))

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        inner = page.inner()  # two densities of one model may have different sizes
        parameters = {name: PARAMETER.write(part, inner, f"{path}.{name}") for name, part in _parameters(value).items()}
        return {"density": [_name_of(value), parameters]}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        content = tagged(node, "density")
        return isinstance(content, list) and len(content) == 2 and isinstance(content[1], dict)

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        name, parameters = node["density"]
        if not isinstance(name, str) or name not in DENSITIES:
            raise SchemaError(f"{path} must name one of the densities {sorted(DENSITIES)}, got {describe(name)}.")
        kind: Any = find_density(name)
        if set(parameters) != {field.name for field in fields(kind)}:
            raise SchemaError(f"{path} must have the parameters of {kind.__name__}, got {sorted(parameters)}.")
        inner = page.inner()
        found = {key: read_as(PARAMETER, part, inner, f"{path}.{key}") for key, part in parameters.items()}
        try:
            return kind(**found)
        except (TypeError, ValueError) as error:
            raise SchemaError(f"{path} must be {self.says}: {error}") from None


def _parameters(density: Any) -> dict[str, Any]:
    found = {field.name: getattr(density, field.name) for field in fields(density)}
    # parameters are kept read-only, and a file gives back arrays that can be written
    return {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in found.items()}


def _name_of(value: Any) -> str | None:
    """Return the name under which a density is known, None for anything else; a subclass is something else."""
    path = f"{type(value).__module__}:{type(value).__qualname__}"
    return next((name for name, known in DENSITIES.items() if known == path), None)
