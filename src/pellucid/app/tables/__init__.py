"""Tables: read them, say how each column is understood, turn them into what a method takes."""

from pellucid.app.tables.reading import TableError, read_table
from pellucid.app.tables.understanding import Columns, Target, choose_target, understand

__all__ = ["Columns", "TableError", "Target", "choose_target", "read_table", "understand"]
