"""What links the rows, by the parameters: a kernel, nearest rows, or links that are given."""

from __future__ import annotations

from typing import Any

from pellucid.kernels.choice import kernel_from
from pellucid.kernels.kernel import Kernel

NEIGHBORS, GIVEN, GIVEN_NEIGHBORS = "nearest_neighbors", "precomputed", "precomputed_nearest_neighbors"


def is_pairwise(affinity: Any) -> bool:
    """Return whether ``X`` holds affinities or distances of the rows instead of rows."""
    return isinstance(affinity, str) and affinity in (GIVEN, GIVEN_NEIGHBORS)


def uses_neighbors(affinity: Any) -> bool:
    """Return whether rows are linked with their nearest rows."""
    return isinstance(affinity, str) and affinity in (NEIGHBORS, GIVEN_NEIGHBORS)


def affinity_kernel(parameters: Any) -> Kernel:
    """Return the kernel that the parameters mean."""
    return kernel_from(
        parameters.affinity,
        gamma=parameters.gamma,
        degree=parameters.degree,
        coef0=parameters.coef0,
        params=parameters.kernel_params,
    )
