"""Estimators around any network of torch."""
