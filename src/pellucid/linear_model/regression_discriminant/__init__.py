"""Discrimination by regression of sigmoid outputs."""
