"""Proofs of mixture."""
