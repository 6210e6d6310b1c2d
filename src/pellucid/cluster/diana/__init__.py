"""Divisive analysis: the widest cluster is split in two, until every row is alone."""
