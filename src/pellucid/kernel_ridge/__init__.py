"""Ridge regression in the space of a kernel."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.kernel_ridge.kernel_ridge import KernelRidge
    from pellucid.kernel_ridge.kernel_ridge_cv import KernelRidgeCV, KernelRidgePath, kernel_ridge_path

__all__ = ["KernelRidge", "KernelRidgeCV", "KernelRidgePath", "kernel_ridge_path"]

__getattr__ = name_finder(__name__)
