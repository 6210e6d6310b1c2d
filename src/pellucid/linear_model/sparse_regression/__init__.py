"""The lasso and the elastic net, their paths and their cross-validation."""
