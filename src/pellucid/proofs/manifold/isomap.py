"""Proof of Isomap: the links are with the nearest rows, the paths the shortest over them, the map their main axes.

Links are recomputed from all distances, lengths of paths from some rows by SciPy's Dijkstra, which shares nothing with
our search, and the eigenvectors belong to the products of the stored lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.manifold.isomap.neighbor_graph import graph_metric
from pellucid.manifold.scalar_products import ScalarProducts
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.manifold.classical_mds import rows_claim
from pellucid.proofs.manifold.neighbor_graph import last_link_claim, link_claims, path_claim
from pellucid.proofs.manifold.scalar_products import coordinate_claims, means_claim
from pellucid.proofs.matrices.missed_eigenvalues import SymmetricMatrix
from pellucid.proofs.rounding import rounding_unit
from pellucid.proofs.sampling import graded
from pellucid.proofs.training_data import TrainingData


def prove_isomap(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    shape = _shape_fault(fitted, parameters, data)
    if shape:
        return Certificate("exact", (Claim("shape", shape, 1.0, 0.0),))
    products = ScalarProducts.of(np.asarray(fitted.dist_matrix_, dtype=np.float64))
    return isomap_claims(fitted, parameters, data, products=products, is_fit=False, is_joined=False)


def isomap_claims(
    fitted: Any, parameters: Any, data: TrainingData, *, products: ScalarProducts, is_fit: bool, is_joined: bool
) -> Certificate:
    """Return what is claimed; at a fit less is looked at."""
    stored = np.dtype(fitted.embedding_.dtype)
    rounding = 0.0 if stored == np.float64 else rounding_unit(stored)
    return graded(
        "exact",
        (
            rows_claim(fitted.X_fit_, data.X),
            *link_claims(
                fitted.neighbor_graph_, parameters, graph_metric(parameters), data.X, is_fit=is_fit, is_joined=is_joined
            ),
            path_claim(fitted.dist_matrix_, fitted.neighbor_graph_, is_fit=is_fit),
            last_link_claim(fitted.dist_matrix_, fitted.neighbor_graph_, is_fit=is_fit),
            means_claim(fitted.squared_means_, products),
            *coordinate_claims(
                SymmetricMatrix(products.matrix),
                fitted,
                parameters.n_components,
                unit=products.unit,
                tol=float(parameters.tol),
                rounding=rounding,
                is_positive=False,
                is_fit=is_fit,
            ),
        ),
    )


def _shape_fault(fitted: Any, parameters: Any, data: TrainingData) -> str:
    """Return what is wrong with the shapes and kinds of the attributes, if anything is."""
    n, k = data.X.shape[0], parameters.n_components
    if fitted.embedding_.shape != (n, k) or fitted.eigenvalues_.shape != (k,):
        return f"embedding_ and eigenvalues_ are not those of {k} dimensions of {n} rows"
    graph = fitted.neighbor_graph_
    if not sparse.issparse(graph) or graph.shape != (n, n) or not np.all(graph.data >= 0.0):
        return "neighbor_graph_ holds not the lengths of links of the training rows"
    if fitted.squared_means_.shape != (n,) or fitted.dist_matrix_.shape != (n, n):
        return "squared_means_ or dist_matrix_ have not one row per training row"
    if fitted.embedding_.dtype != data.X.dtype or fitted.dist_matrix_.dtype != data.X.dtype:
        return f"embedding_ or dist_matrix_ are not of the kind of the data, {data.X.dtype}"
    return ""
