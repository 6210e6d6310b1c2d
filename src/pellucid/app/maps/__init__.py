"""The map of a table: its rows in two dimensions, by the method that keeps their neighbors best."""

from pellucid.app.maps.map_table import map_table
from pellucid.app.maps.result import MappedTable, MapScore

__all__ = ["MapScore", "MappedTable", "map_table"]
