"""Blends: the weighted mean of several methods."""
