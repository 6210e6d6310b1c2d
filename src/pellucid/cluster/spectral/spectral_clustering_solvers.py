"""Solvers of spectral clustering: the links of the rows."""

from __future__ import annotations

from typing import Any

from pellucid.cluster.spectral.affinity import GIVEN, GIVEN_NEIGHBORS, affinity_kernel, uses_neighbors
from pellucid.kernels.functions import check_products, check_symmetric
from pellucid.numerics.laplacian import symmetric_links
from pellucid.numerics.neighbor_links import neighbor_links


def links_of(parameters: Any, X: Any) -> Any:
    """Return the affinities of all rows, dense, or sparse for links with nearest rows and for given sparse ones."""
    if uses_neighbors(parameters.affinity):
        return neighbor_links(X, parameters.n_neighbors, is_given=parameters.affinity == GIVEN_NEIGHBORS)
    if isinstance(parameters.affinity, str) and parameters.affinity == GIVEN:
        return symmetric_links(X)
    links = affinity_kernel(parameters)(X)
    check_products(links)
    return check_symmetric(links)
