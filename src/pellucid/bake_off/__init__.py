"""The bake-off: from a table to one chosen, certified method and what is known about it."""

from pellucid.bake_off.bake_off import bake_off
from pellucid.bake_off.result import BakeOffResult

__all__ = ["BakeOffResult", "bake_off"]
