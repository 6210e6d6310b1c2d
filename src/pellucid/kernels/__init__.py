"""Kernels: products of rows in the space that a kernel stands for."""

from pellucid.kernels.kernel import (
    FunctionKernel,
    GivenKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    ShiftedKernel,
    SigmoidKernel,
    kernel_from,
)

__all__ = [
    "FunctionKernel",
    "GivenKernel",
    "Kernel",
    "LaplacianKernel",
    "LinearKernel",
    "PolynomialKernel",
    "RBFKernel",
    "ShiftedKernel",
    "SigmoidKernel",
    "kernel_from",
]
