"""Pellucid: machine learning that shows its work and proves its answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pellucid.core.public_names import PassedOnPackages, name_finder

__version__ = "0.2.0"

__all__ = [
    "Certificate",
    "Claim",
    "Solution",
    "Trace",
    "UncertifiedWarning",
    "__version__",
    "exercise",
    "load",
    "on_device",
    "record",
    "save",
    "show_work",
    "to_host",
    "to_onnx",
    "verify",
]

if TYPE_CHECKING:
    from pellucid.core.arrays import on_device
    from pellucid.core.device.places import to_host
    from pellucid.core.files import load, save
    from pellucid.core.fit import Solution
    from pellucid.core.trace import Trace, record
    from pellucid.core.user_warnings import UncertifiedWarning
    from pellucid.core.verification import verify
    from pellucid.exercises import exercise
    from pellucid.export.to_onnx import to_onnx
    from pellucid.proofs.certificate import Certificate, Claim
    from pellucid.show import show_work


sys.meta_path.append(PassedOnPackages())
__getattr__ = name_finder(__name__)  # on first use, so that ``import pellucid`` stays quick


def __dir__() -> list[str]:
    return __all__
