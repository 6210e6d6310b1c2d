"""ID3: a branch for every category."""
