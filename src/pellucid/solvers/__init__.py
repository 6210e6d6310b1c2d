"""Computations that several families need."""
