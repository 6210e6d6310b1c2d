"""What is in a table, before anybody asks it anything: kinds, gaps, spread, what goes together, what looks wrong."""

from pellucid.app.describing.described_table import ColumnFacts, DescribedTable, Together, describe_table
from pellucid.app.describing.table_in_short import TableInShort, table_in_short

__all__ = ["ColumnFacts", "DescribedTable", "TableInShort", "Together", "describe_table", "table_in_short"]
