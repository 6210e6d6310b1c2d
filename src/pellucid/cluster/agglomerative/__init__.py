"""Agglomerative clustering: the nearest two clusters become one, until one is left."""
