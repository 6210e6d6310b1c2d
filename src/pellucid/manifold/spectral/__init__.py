"""Laplacian eigenmaps: rows that are linked stay together."""
