"""The best tree of a depth, proved."""
