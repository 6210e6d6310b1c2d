"""Bagging over any estimator."""
