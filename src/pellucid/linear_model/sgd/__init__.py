"""Classifiers that learn from one row after the other: perceptrons and stochastic gradients."""
