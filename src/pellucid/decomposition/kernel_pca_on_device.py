"""Kernel PCA of rows on a device: centered products and their eigenvectors in float64 there."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.cards import card_of
from pellucid.core.fit import Fit
from pellucid.core.random_state import fixed_seed
from pellucid.decomposition.kernel_pca_solvers import CenteredProducts, components_kernel, find_components
from pellucid.kernels.choice import gamma_from
from pellucid.kernels.formulas import Linear
from pellucid.kernels.functions import check_products
from pellucid.kernels.kernel import Kernel
from pellucid.kernels.products_on_device import check_kernel_there, products_there
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData


def fit_on_device(estimator: Any, data: Any, _watch: Any) -> Fit:
    """Return the leading eigenvectors of the centered products."""
    if estimator.fit_inverse_transform:
        raise ValueError(
            "fit_inverse_transform must be False for arrays on a device, got True. Copy the data to the host."
        )
    gamma = gamma_from(estimator.gamma, data.X)
    kernel = components_kernel(estimator, gamma)
    check_kernel_there(kernel)
    found = find_components(_centered(kernel, data.X), estimator, fixed_seed(estimator.random_state))
    attributes = {**found.attributes, "gamma_": gamma, "X_fit_": on_host(data.given[0])}
    certificate = card_of(type(estimator)).prove(Seen(**attributes), estimator, TrainingData(data.X))
    return Fit(attributes, found.trace, found.stopped, certificate)


fit_on_device.way = "products, eigenvectors and the proof in float64 there, small matrices on the host"  # type: ignore[attr-defined]


def _centered(kernel: Kernel, X: Any) -> CenteredProducts:
    """Return the products about their mean; rows of a linear kernel are centered, so that an offset costs no digits."""
    rows = X.double()
    if isinstance(kernel, Linear):
        mean = rows.mean(dim=0)
        apart = rows - mean
        apart -= apart.mean(dim=0)  # what rounding left of an offset
        matrix, means = apart @ apart.T, on_host(rows @ mean)
        check_products(means)
        check_products(on_host(matrix.diagonal()))
        return CenteredProducts(matrix, means, is_positive=True)
    matrix = rows.new_empty((len(rows), len(rows)))
    for part, products in products_there(kernel, X, X):
        matrix[part] = products
    means = matrix.mean(dim=0)
    check_products(on_host(means))  # one product that is not finite makes its mean so
    matrix.sub_(means[:, None]).sub_(means - means.mean())
    return CenteredProducts(matrix, on_host(means), is_positive=kernel.positive)


def transform(model: Any, X: Any) -> Any:
    """Return the projections of rows: their centered products with the training rows, times the eigenvectors."""
    import torch

    kernel = components_kernel(model, float(model.gamma_))
    check_kernel_there(kernel)
    others, root = model.X_fit_.double(), model.eigenvalues_.sqrt()
    scaled = model.eigenvectors_ / root.where(root > 0.0, np.inf)
    if isinstance(kernel, Linear):
        mean = others.mean(dim=0)
        return ((X.double() - mean) @ ((others - mean).T @ scaled)).to(X.dtype)
    total, means = scaled.sum(dim=0), model.kernel_means_
    shift, found = means.mean() * total - means @ scaled, list[Any]()
    for _, products in products_there(kernel, X, others):
        found.append(products @ scaled - products.mean(dim=1, keepdim=True) * total + shift)
    return torch.cat(found).to(X.dtype)
