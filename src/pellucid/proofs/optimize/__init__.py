"""Proofs of optimize."""
