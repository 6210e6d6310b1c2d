"""Decision trees: exact splits, replayed."""
