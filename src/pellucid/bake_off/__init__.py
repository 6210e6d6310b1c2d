"""The bake-off: from a table to one chosen, certified method and what is known about it."""

from pellucid.bake_off.result import BakeOff
from pellucid.bake_off.running import bake_off

__all__ = ["BakeOff", "bake_off"]
