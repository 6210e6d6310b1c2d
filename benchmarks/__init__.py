"""Speed against the peers: ``python -m benchmarks [FAMILY]``."""
