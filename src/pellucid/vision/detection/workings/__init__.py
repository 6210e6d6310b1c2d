"""Detection by hand, on a few boxes."""
