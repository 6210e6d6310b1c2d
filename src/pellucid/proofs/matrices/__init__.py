"""Proofs of matrices."""
