"""Proofs of tree."""
