"""What every estimator shares: trace, certificate, solution, estimator base, input checks, threads."""
