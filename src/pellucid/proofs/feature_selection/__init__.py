"""Proofs of feature selection."""
