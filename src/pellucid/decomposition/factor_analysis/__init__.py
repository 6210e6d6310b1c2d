"""Factor analysis."""
