"""Locally linear embedding: every row keeps its place among its neighbors."""
