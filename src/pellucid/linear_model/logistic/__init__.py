"""Logistic regression, and discrimination by regression."""
