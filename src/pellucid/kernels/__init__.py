"""Kernels: products of rows in the space that a kernel stands for."""

from pellucid.kernels.choice import gamma_from, kernel_from
from pellucid.kernels.formulas import RBF, AdditiveChi2, Chi2, Cosine, Laplacian, Linear, Polynomial, Sigmoid
from pellucid.kernels.functions import GivenKernel, MatrixFunction, RowFunction
from pellucid.kernels.kernel import Constant, Kernel, Product, Scaled, Sum
from pellucid.kernels.mercer import MercerCheck, check_mercer

__all__ = [
    "RBF",
    "AdditiveChi2",
    "Chi2",
    "Constant",
    "Cosine",
    "GivenKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "MatrixFunction",
    "MercerCheck",
    "Polynomial",
    "Product",
    "RowFunction",
    "Scaled",
    "Sigmoid",
    "Sum",
    "check_mercer",
    "gamma_from",
    "kernel_from",
]
