"""Rows that do not fit into memory: passes over blocks of them, and the small tables that stand for them."""
