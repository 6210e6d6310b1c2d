"""Proofs of kernel ridge."""
