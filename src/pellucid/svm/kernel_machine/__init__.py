"""Machines over kernels: the dual problem behind SVC and SVR, its solver, and the rows of products it asks for."""
