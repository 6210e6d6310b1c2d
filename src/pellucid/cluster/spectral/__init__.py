"""Spectral clustering: rows joined by many and strong links belong together."""
