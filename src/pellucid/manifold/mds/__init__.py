"""Metric and non-metric multidimensional scaling: a map of least stress."""
