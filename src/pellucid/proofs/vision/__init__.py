"""Proofs about restored images."""
