"""Boosted trees on binned features."""
