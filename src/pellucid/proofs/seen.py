"""What a proof sees of a model, and what it says of one that it cannot be about."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pellucid.proofs.certificate import Certificate, Claim


class Seen(SimpleNamespace):
    """Attributes or parameters as a proof sees them; one that is not there is said in a sentence."""

    def __getattr__(self, name: str) -> Any:
        raise MissingAttributeError(f"{name} must be there to verify the model, but it is missing. Fit it again.")


class MissingAttributeError(AttributeError, ValueError):
    """A proof asked for an attribute that the model does not have."""


def refusal(name: str, statement: str) -> Certificate:
    """Return the certificate of a model that no proof can be about."""
    return Certificate(
        "none", (Claim(name, statement, 1.0, 0.0, "Fit the model again."),), "It is not as it was fitted."
    )
