"""Proofs of probability."""
