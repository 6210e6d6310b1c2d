"""Ideas as plays: what no single fit shows."""

from typing import Any

IDEAS: tuple[Any, ...] = ()
