"""Multilayer perceptrons: dense layers, learned by backpropagation."""
