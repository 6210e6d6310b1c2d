"""Grouping: from a table without a target to clusters, what they are, and how far to believe them."""

from pellucid.app.clusters.group_table import group_table
from pellucid.app.clusters.result import Grouping

__all__ = ["Grouping", "group_table"]
