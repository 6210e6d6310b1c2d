"""Thresholds on coefficients: of cosines in blocks, and of orthogonal wavelets."""
