"""Proofs of neural network."""
