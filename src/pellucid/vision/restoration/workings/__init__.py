"""Restoration by hand, on small signals."""
