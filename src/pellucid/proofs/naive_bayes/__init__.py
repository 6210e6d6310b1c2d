"""Proofs of naive bayes."""
