"""Layers and rules from which networks are built, as torch modules."""
