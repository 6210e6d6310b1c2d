"""Tables: read them, say how each column is understood, turn them into what a method takes."""

from pellucid.tables.errors import TableError
from pellucid.tables.reading import read_table
from pellucid.tables.target import Target, choose_target
from pellucid.tables.understanding import Columns, understand

__all__ = ["Columns", "TableError", "Target", "choose_target", "read_table", "understand"]
