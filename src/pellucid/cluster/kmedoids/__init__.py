"""Partitioning around medoids: clusters around rows."""
