"""Members of an ensemble before anybody asks them: what compiled code would be led by is looked at first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator


class WrongMemberError(ValueError):
    """A member holds something that no fit leaves."""


def check_members(members: Iterable[Any]) -> None:
    """Refuse the first member whose arrays are not what its fit leaves."""
    for place, member in enumerate(members):
        fault = member_fault(member)
        if fault:
            raise WrongMemberError(
                f"member {place} of the ensemble must be as it was fitted, but {fault}. Fit it again."
            )


def member_fault(member: Any) -> str:
    """Return which attributes of a member of ours no fit leaves, in words; nothing if there is none.

    Trees are looked at node by node, and so are the members of a member.
    """
    if isinstance(member, Pipeline):
        return next((fault for _, step in member.steps if (fault := member_fault(step))), "")
    if not isinstance(member, CertifiedEstimator):
        return ""
    for name, kind in card_of(type(member)).attributes.items():
        value = vars(member).get(name)
        inner = value if isinstance(value, (list, tuple)) else [value]
        for part in inner:
            fault = member_fault(part)
            if fault:
                return fault
        own = getattr(kind, "kind", kind)  # of one that need not be there
        if value is not None and _leads(value) and not own.fits(value):
            return f"{name} of {type(member).__name__} is not {own.says}"
    return ""


def _leads(value: Any) -> bool:
    """Return whether a value holds places that others are read at: trees and other arrays that belong together."""
    return is_dataclass(value) and bool(fields(value))
