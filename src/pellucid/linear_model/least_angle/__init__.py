"""Least angle regression and the lasso path it follows."""
