"""Nonnegative factors of a matrix."""
