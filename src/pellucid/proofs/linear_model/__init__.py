"""Proofs of linear model."""
