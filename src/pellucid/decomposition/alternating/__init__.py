"""Factors of a matrix with missing entries."""
