"""Kinds of values: what a parameter or fitted attribute may be, how a wrong one is refused, how it stands in a file."""
