"""Sammon mapping: a map of least weighted stress, in which short distances count more."""
