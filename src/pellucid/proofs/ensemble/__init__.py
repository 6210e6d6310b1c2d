"""Proofs of ensemble."""
