"""Truncated SVD: the leading directions of rows that are not centered."""
