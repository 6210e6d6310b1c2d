"""Proofs of ranking."""
