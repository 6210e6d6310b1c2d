"""What is in a table, before anybody asks it anything: kinds, gaps, spread, what goes together, what looks wrong."""

from pellucid.describing.described_table import ColumnFacts, DescribedTable, Together, describe_table

__all__ = ["ColumnFacts", "DescribedTable", "Together", "describe_table"]
