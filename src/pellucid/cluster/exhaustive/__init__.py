"""Every way to cut a few rows into clusters."""
