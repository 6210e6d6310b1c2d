"""How the loops that grow trees are compiled.

They allocate nothing, so their arrays need no reference counts: without these a tree of 50,000 rows and 50 columns
grows in two thirds of the time, and the loops compile in half of it.
"""

from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
compiled: Any = njit(**OPTIONS)

inlined: Any = njit(**OPTIONS, forceinline=True)
"""For what is called once, or in the innermost loop: passing arrays on takes longer than scanning few rows."""
