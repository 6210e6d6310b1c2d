"""Proofs of kernels."""
