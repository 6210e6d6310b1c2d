"""Proofs of svm."""
