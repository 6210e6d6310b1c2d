"""Least squares: linear regression, its inference and its workings."""
