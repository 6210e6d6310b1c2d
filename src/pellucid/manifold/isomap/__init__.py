"""Isomap: a map of the distances along the manifold."""
