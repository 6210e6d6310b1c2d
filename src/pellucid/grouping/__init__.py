"""Grouping: from a table without a target to clusters, what they are, and how far to believe them."""

from pellucid.grouping.group_table import group_table
from pellucid.grouping.result import Grouping

__all__ = ["Grouping", "group_table"]
