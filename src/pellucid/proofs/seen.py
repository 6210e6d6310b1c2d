"""What a proof sees of a model, and what it says of one that it cannot be about."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from pellucid.proofs.certificate import Certificate, Claim


class Seen(SimpleNamespace):
    """Attributes or parameters as a proof sees them; one that is not there is said in a sentence."""

    def __getattr__(self, name: str) -> Any:
        raise MissingAttributeError(f"{name} must be there to verify the model, but it is missing. Fit it again.")


class MissingAttributeError(AttributeError, ValueError):
    """A proof asked for an attribute that the model does not have."""


def misshapen(
    grade: str, fitted: Any, also: Mapping[str, Any] | None = None, /, **shapes: tuple[int, ...]
) -> Certificate | None:
    """Return the certificate of attributes of other shapes, or wrong as ``also`` says; None if all are right."""
    wrong = [name for name, shape in shapes.items() if getattr(fitted, name).shape != shape]
    wrong += [name for name, is_right in (also or {}).items() if not is_right]
    said = f"not of the shapes and kinds that data and parameters ask for: {', '.join(wrong)}"
    return Certificate(grade, (Claim("shape", said, float(len(wrong)), 0.0),)) if wrong else None


def refusal(name: str, statement: str) -> Certificate:
    """Return the certificate of a model that no proof can be about."""
    return Certificate(
        "none", (Claim(name, statement, 1.0, 0.0, "Fit the model again."),), "It is not as it was fitted."
    )
