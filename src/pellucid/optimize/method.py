"""What every method looks like: state in, state out."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from pellucid.core.types import Array
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Problem
from pellucid.proofs.certificate import Certificate


class Method(Protocol):
    """One rule. It keeps nothing itself: ``step`` makes a new state from the old one and the answers of the oracle.

    A state is a named tuple that has at least the iterate, ``x``.

    Parameters
    ----------
    *args, **kwargs
        Those of a class of this kind: a protocol says what it must have, and is not made itself.
    """

    @property
    def takes_batches(self) -> bool:
        """Whether the gradient may come from a few terms only; a line search cannot work with that."""
        ...

    @property
    def takes_penalty(self) -> bool:
        """Whether it minimizes a penalty beside the smooth part."""
        ...

    @property
    def descends(self) -> bool:
        """Whether the objective never rises, on any problem, beyond rounding."""
        ...

    def start(self, oracle: Oracle, x: Array) -> Any:
        """Return the first state."""
        ...

    def step(self, oracle: Oracle, state: Any) -> Any:
        """Return the next state, or raise ``NoStep``."""
        ...


@runtime_checkable
class CertifiesItself(Protocol):
    """A method whose theory says more than the gradient at its answer does."""

    def certificate(self, problem: Problem, state: Any) -> Certificate:
        """Return the certificate of the last state."""
        ...


class NoStep(Exception):  # noqa: N818  (a reason to stop, not an error of the user)
    """The method cannot go on; the message says why, and what may help."""
