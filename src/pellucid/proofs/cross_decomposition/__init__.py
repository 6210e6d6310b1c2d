"""Proofs of cross decomposition."""
