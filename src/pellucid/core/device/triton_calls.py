"""Calls of loops that Triton compiles for a card; where it is missing, plain torch does the same work."""

from __future__ import annotations

import subprocess
from typing import Any

from pellucid.core.array_api import is_torch_array

UNUSABLE = (ImportError, OSError, RuntimeError, subprocess.SubprocessError)
"""What Triton raises where it, its compiler or a driver is missing."""


def triton_for(names: dict[str, Any]) -> Any:
    """Return Triton, with its language as ``tl`` among the names of a file; None where it is missing.

    Versions before 3.4 look for the language there only, and not where a loop is written.
    """
    try:
        import triton
        import triton.language
    except ImportError:
        return None
    names["tl"] = triton.language
    return triton


def is_on_card(*tables: Any) -> bool:
    """Return whether all are tensors on a card, whose loops Triton can compile."""
    return all(is_torch_array(table) and table.device.type == "cuda" for table in tables)


def run_loop(loop: Any, programs: tuple[int, ...], *given: Any, **constants: Any) -> bool:
    """Run a compiled loop on the device of its first tensor; return whether that could be done."""
    import torch

    try:
        with torch.cuda.device(given[0].device):
            loop[programs](*given, **constants)
    except UNUSABLE:
        return False
    except Exception as error:
        if not type(error).__module__.startswith("triton."):
            raise
        return False  # a version that cannot compile it, or a card whose processors have too little memory of their own
    return True
