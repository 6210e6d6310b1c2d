"""A model of a table: a pipeline that also knows how far off it was, and what the table it learned from looked like."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.app.table_model.seen_table import Drift, SeenTable, find_drift
    from pellucid.app.table_model.table_model import TableModel

__all__ = ["Drift", "SeenTable", "TableModel", "find_drift"]

__getattr__ = name_finder(__name__)
