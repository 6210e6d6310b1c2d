"""Proofs of decomposition."""
