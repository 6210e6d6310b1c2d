"""LinearSVR: its solver, proof and workings."""
