"""Proofs of manifold."""
