"""Kernel machines: SVC and SVR."""
