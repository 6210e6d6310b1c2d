"""Pellucid: machine learning that shows its work and proves its answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pellucid.core.public_names import PassedOnPackages, name_finder

__version__ = "0.1.0"

_HOMES = {
    "Certificate": "pellucid.core.certificate",
    "Claim": "pellucid.core.certificate",
    "Solution": "pellucid.core.solution",
    "Trace": "pellucid.core.trace",
    "UncertifiedWarning": "pellucid.core.certificate",
    "load": "pellucid.files",
    "record": "pellucid.core.recording",
    "save": "pellucid.files",
    "show_work": "pellucid.workings",
    "verify": "pellucid.core.verification",
}

__all__ = sorted([*_HOMES, "__version__"])

if TYPE_CHECKING:
    from pellucid.core.certificate import Certificate, Claim, UncertifiedWarning
    from pellucid.core.recording import record
    from pellucid.core.solution import Solution
    from pellucid.core.trace import Trace
    from pellucid.core.verification import verify
    from pellucid.files import load, save
    from pellucid.workings import show_work


sys.meta_path.append(PassedOnPackages())
__getattr__ = name_finder(__name__, _HOMES)  # on first use, so that ``import pellucid`` stays quick


def __dir__() -> list[str]:
    return __all__
