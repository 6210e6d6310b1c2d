"""Ridge regression and classification."""
