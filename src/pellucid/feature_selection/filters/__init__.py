"""Filters: columns ranked by what they say about the target, without a model."""
