"""The singular value decomposition as an object."""
