"""Proofs of cluster."""
