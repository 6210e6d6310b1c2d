"""Search for features by cross-validated scores of an estimator."""
