"""Bridge regression: penalties between and below the lasso and ridge."""
