"""Projections of rows on what was learned, as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.onnx.graph import Answers, Value
from pellucid.decomposition.factor_analysis.factor_model import posterior_map
from pellucid.decomposition.feature_embedding.feature_embedding import GIVEN, unit_rows
from pellucid.decomposition.kernel_pca_solvers import centered_rows, components_kernel
from pellucid.kernels.choice import is_given
from pellucid.kernels.kernels_in_onnx import products


def projection(model: Any, X: Value) -> Answers:
    """Return the products with the components."""
    return {"variable": X @ model.components_.T}


def pca(model: Any, X: Value) -> Answers:
    """Return projections of rows about the mean, in units of their deviations if they are whitened."""
    Z = (X - model.mean_) @ model.components_.T
    if model.whiten:
        Z = Z / model._deviations(np.dtype(np.float64))
    return {"variable": Z @ model.components_ if model.whiten == "zca" else Z}


def sources(model: Any, X: Value) -> Answers:
    """Return independent components."""
    return {"variable": (X - model.mean_ if model.whiten else X) @ model.components_.T}


def factors(model: Any, X: Value) -> Answers:
    """Return the expected factors."""
    return {"variable": (X - model.mean_) @ posterior_map(model.components_, model.noise_variance_)}


def kernel_pca(model: Any, X: Value) -> Answers:
    """Return the projections in the space of the kernel: products less their means, on the eigenvectors."""
    kernel, root = components_kernel(model, model.gamma_), np.sqrt(model.eigenvalues_)
    coef = (model.eigenvectors_ / np.where(root > 0.0, root, np.inf)).astype(np.float64)
    rows = np.arange(model.n_features_in_) if is_given(model.kernel) else model.X_fit_
    if centered_rows(kernel, rows) is not None:
        mean = rows.mean(axis=0, dtype=np.float64)
        return {"variable": products(kernel, X - mean, rows - mean) @ coef}
    found, total, means = products(kernel, X, rows), coef.sum(axis=0), model.kernel_means_
    own_mean = found.sum() / float(len(coef))
    return {"variable": found @ coef - own_mean * total - (means @ coef) + means.mean() * total}


def embedding(model: Any, X: Value) -> Answers:
    """Return the vectors of rows from their similarities to the known ones."""
    scaled = model.embedding_ / np.where(model.eigenvalues_ > 0.0, model.eigenvalues_, np.inf)
    if model.similarity == GIVEN:
        return {"variable": X @ scaled}
    known = model.X_fit_.toarray() if sparse.issparse(model.X_fit_) else model.X_fit_
    size = X.abs().max()
    rows = X / (size > 0.0).where(size, 1.0)
    if model.similarity == "correlation":
        rows = rows - rows.sum() / float(model.n_features_in_)
    length = (rows * rows).sum().sqrt()
    is_flat = length <= 1e-13 * float(np.sqrt(model.n_features_in_))
    units = is_flat.where(0.0, rows / is_flat.where(1.0, length))
    return {"variable": units @ unit_rows(known, model.similarity).T @ scaled}
