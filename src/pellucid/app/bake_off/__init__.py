"""The bake-off: from a table to one chosen, certified method and what is known about it."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.app.bake_off.files_job import bake_off_files
    from pellucid.app.bake_off.procedure import bake_off
    from pellucid.app.bake_off.result import BakeOffResult

__all__ = ["BakeOffResult", "bake_off", "bake_off_files"]

__getattr__ = name_finder(__name__)
