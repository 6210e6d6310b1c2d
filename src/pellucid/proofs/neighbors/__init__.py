"""Proofs of neighbors."""
