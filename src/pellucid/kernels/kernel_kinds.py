"""The kind of kernel objects: what the parameter ``kernel`` may be, and how it stands in a file."""

# ruff: noqa: D102  (the methods of a kind are described once, in Kind)

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage
from pellucid.core.kinds.plain import Kind, Live, Number, OneOf, read_as, tagged
from pellucid.kernels.choice import KERNEL_NAMES
from pellucid.kernels.formulas import RBF, AdditiveChi2, Chi2, Cosine, Laplacian, Linear, Polynomial, Sigmoid
from pellucid.kernels.functions import GivenKernel
from pellucid.kernels.kernel import Constant, Kernel, Product, Scaled, Sum

PLAIN: dict[str, type[Kernel]] = {
    kind.__name__: kind
    for kind in (Linear, Polynomial, RBF, Laplacian, Sigmoid, Cosine, Chi2, AdditiveChi2, Constant, GivenKernel)
}
JOINED: dict[str, type[Sum] | type[Product]] = {"Sum": Sum, "Product": Product}
DEEPEST = 16
"""Levels of kernels within kernels that a file may hold."""
MOST = 100
"""Kernels that one is made of, on one level."""


class KernelObject(Kind):
    """A kernel made of those that the library has; the file says its name, and the closed list above its class."""

    says = "a kernel of pellucid.kernels"

    def fits(self, value: Any) -> bool:
        return isinstance(value, Kernel) and _is_storable(value, DEEPEST)

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        name = type(value).__name__
        if isinstance(value, Scaled):
            body: dict[str, Json] = {"factor": value.factor, "parts": [self.write(value.kernel, page, path)]}
        elif isinstance(value, (Sum, Product)):
            body = {"parts": [self.write(part, page, path) for part in value.parts]}
        else:
            body = {field.name: getattr(value, field.name) for field in fields(value)}  # type: ignore[arg-type]
        return {"kernel": {"name": name, **body}}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        body = tagged(node, "kernel")
        return isinstance(body, dict) and isinstance(body.get("name"), str)

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        return self._read(node, page, path, DEEPEST)

    def _read(self, node: Json, page: ReadPage, path: str, depth: int) -> Kernel:
        if depth == 0 or not self.matches(node, page, path):
            raise SchemaError(f"{path} must be {self.says}, of at most {DEEPEST} levels.")
        body = dict(node["kernel"])
        name = body.pop("name")
        try:
            if name in PLAIN:
                _expect(body, {field.name for field in fields(PLAIN[name])}, path)  # type: ignore[arg-type]
                return PLAIN[name](**{key: read_as(Number(), value, page, path) for key, value in body.items()})
            return self._read_joined(name, body, page, path, depth)
        except SchemaError:
            raise
        except (TypeError, ValueError) as error:
            raise SchemaError(f"{path} must be {self.says}: {error}") from error

    def _read_joined(self, name: str, body: dict[str, Json], page: ReadPage, path: str, depth: int) -> Kernel:
        if name not in (*JOINED, "Scaled"):
            raise SchemaError(f"{path} must be one of {(*PLAIN, *JOINED, 'Scaled')}, got {name!r}.")
        _expect(body, {"factor", "parts"} if name == "Scaled" else {"parts"}, path)
        if not isinstance(body["parts"], list) or not 1 <= len(body["parts"]) <= MOST:
            raise SchemaError(f"{path} must have a list of kernels, at most {MOST}.")
        parts = tuple(self._read(part, page, path, depth - 1) for part in body["parts"])
        if name in JOINED:
            return JOINED[name](parts)
        if len(parts) != 1:
            raise SchemaError(f"{path} must have a factor of one kernel, got {len(parts)} kernels.")
        return Scaled(read_as(Number(), body["factor"], page, path), parts[0])


def _is_storable(kernel: Kernel, depth: int) -> bool:
    """Return whether no function is in it, and no more levels than a file may hold."""
    if depth == 0:
        return False
    if isinstance(kernel, (Scaled, Sum, Product)):
        return len(kernel.parts) <= MOST and all(_is_storable(part, depth - 1) for part in kernel.parts)
    return PLAIN.get(type(kernel).__name__) is type(kernel)


def _expect(body: dict[str, Json], names: set[str], path: str) -> None:
    if set(body) != names:
        raise SchemaError(f"{path} must have the fields {sorted(names)}, got {sorted(body)}.")


def kernel_kind(names: tuple[str, ...] = KERNEL_NAMES, *, function: str = "a function of two rows") -> Kind:
    """Return what a parameter ``kernel`` may be: one of the names, a kernel object, or a function, never in a file."""
    return OneOf(names) | KernelObject() | Live(function)
