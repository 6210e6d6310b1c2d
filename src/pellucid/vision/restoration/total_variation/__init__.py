"""Total variation: denoising with a duality gap, and the same behind an operator."""
