"""Proofs of discriminant analysis."""
