"""Trees that lose the branches that do not pay."""
