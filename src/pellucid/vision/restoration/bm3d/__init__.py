"""BM3D: blocks that look alike are filtered together."""
