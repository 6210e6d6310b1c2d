"""Speed of the regression family. Sparse data come from the folder that PELLUCID_DATA names, or are made up."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.linear_model as peer
from scipy import sparse
from scipy.linalg import lstsq
from scipy.linalg.blas import dsyrk

import pellucid.linear_model as ours
from benchmarks.harness import OURS, Row


class Problem(NamedTuple):
    """Data and penalty."""

    X: Any
    y: np.ndarray
    alpha: float = 0.0
    alphas: np.ndarray | None = None


def gaussian(n: int, p: int, informative: int = 10, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    w = np.zeros(p)
    w[rng.choice(p, min(informative, p), replace=False)] = rng.standard_normal(min(informative, p))
    return Problem(X, X @ w + rng.standard_normal(n) + 3.0)


def largest_alpha(X: Any, y: np.ndarray) -> float:
    """Return the penalty from which on all lasso coefficients are 0."""
    centered = y - y.mean()
    return float(np.abs(X.T @ centered).max() / len(y))


def lasso_problem(problem: Problem, fraction: float) -> Problem:
    return problem._replace(alpha=fraction * largest_alpha(problem.X, problem.y))


def path_problem(problem: Problem, eps: float, count: int = 100) -> Problem:
    return problem._replace(alphas=largest_alpha(problem.X, problem.y) * np.logspace(0, np.log10(eps), count))


def reuters() -> Problem:
    """Return the Reuters-21578 counts if they are there, otherwise random counts of the same shape and density."""
    path = Path(os.environ.get("PELLUCID_DATA", ".")) / "text" / "reuters21578_counts.npz"
    if path.exists():
        parts = np.load(path)
        X = sparse.csr_array((parts["data"].astype(float), parts["indices"], parts["indptr"]), shape=parts["shape"])
        return Problem(X.tocsc(), (parts["y"] == 1).astype(float))
    rng = np.random.default_rng(0)
    X = sparse.random_array((8293, 18933), density=0.00248, rng=rng, format="csc")
    X.data = np.ceil(X.data * 3)
    return Problem(X, (X[:, :50].sum(axis=1) + 0.1 * rng.standard_normal(8293) > 0.3).astype(float))


def squared_error(data: Problem, model: Any) -> float:
    return float(np.sum((data.y - model.predict(data.X)) ** 2))


def ridge_objective(data: Problem, model: Any) -> float:
    return squared_error(data, model) + data.alpha * float(np.sum(model.coef_**2))


def lasso_objective(data: Problem, model: Any) -> float:
    return squared_error(data, model) / (2 * len(data.y)) + data.alpha * float(np.abs(model.coef_).sum())


def path_objective(data: Problem, coefs: np.ndarray) -> float:
    """Return the sum over the path of objectives, each relative to that at 0."""
    X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    assert data.alphas is not None
    losses = np.sum((y[:, None] - X @ coefs) ** 2, axis=0) / (2 * len(y))
    return float(np.sum(losses + data.alphas * np.abs(coefs).sum(axis=0)) / (y @ y / (2 * len(y))))


def dense_lstsq(driver: str) -> Callable[[Problem], Any]:
    def fit(data: Problem) -> Any:
        mean, y_mean = data.X.mean(axis=0), data.y.mean()
        coef = lstsq(data.X - mean, data.y - y_mean, lapack_driver=driver, overwrite_a=True, overwrite_b=True)[0]
        model = peer.LinearRegression()
        model.coef_, model.intercept_ = coef, y_mean - mean @ coef
        return model

    return fit


def specialists(alpha: str = "alpha", **names: str) -> dict[str, Callable[[Problem], Any]]:
    """Return the lasso of each specialist that is installed."""
    found: dict[str, Callable[[Problem], Any]] = {}
    for package in ("celer", "skglm"):
        if find_spec(package):
            module = __import__(package)
            kind = getattr(module, names.get(package, "Lasso"))
            found[package] = lambda data, kind=kind: kind(**{alpha: data.alpha}).fit(data.X, data.y)
    return found


def accelerated(name: str, **params: Any) -> dict[str, Callable[[Problem], Any]]:
    """Return the estimator of scikit-learn-intelex, where that is installed."""
    if not find_spec("sklearnex"):
        return {}
    from sklearnex import linear_model as fast

    return {"sklearnex": lambda data: getattr(fast, name)(**params).fit(data.X, data.y)}


def one_product(data: Problem) -> np.ndarray:
    """Return ``X'X`` by one ``dsyrk`` on all threads of BLAS."""
    return dsyrk(1.0, data.X.T)


def least_squares_rows() -> list[Row]:
    rows = []
    for n, p in ((200_000, 100), (1_000_000, 20), (150_000, 120), (800_000, 16), (3000, 1000)):
        rows.append(
            Row(
                f"LinearRegression {n:,} x {p}",
                lambda n=n, p=p: gaussian(n, p),
                {
                    OURS: lambda d: ours.LinearRegression().fit(d.X, d.y),
                    "scikit-learn": lambda d: peer.LinearRegression().fit(d.X, d.y),
                    "lstsq gelsd": dense_lstsq("gelsd"),
                    "lstsq gelsy": dense_lstsq("gelsy"),
                    **accelerated("LinearRegression"),
                },
                squared_error,
                rounds=5,
                slack=1e-12,
                machine=one_product,
            )
        )
        rows.append(
            Row(
                f"Ridge {n:,} x {p}",
                lambda n=n, p=p: gaussian(n, p)._replace(alpha=1.0),
                {
                    OURS: lambda d: ours.Ridge(1.0).fit(d.X, d.y),
                    "scikit-learn": lambda d: peer.Ridge(1.0).fit(d.X, d.y),
                    "scikit-learn svd": lambda d: peer.Ridge(1.0, solver="svd").fit(d.X, d.y),
                    "scikit-learn lsqr": lambda d: peer.Ridge(1.0, solver="lsqr", tol=1e-10).fit(d.X, d.y),
                    **accelerated("Ridge"),
                },
                ridge_objective,
                rounds=5,
                slack=1e-12,
                machine=one_product,
            )
        )
    alphas = np.logspace(-3, 5, 100)
    rows.append(
        Row(
            "RidgeCV, 100 alphas, 5,000 x 500",
            lambda: gaussian(5000, 500),
            {
                OURS: lambda d: ours.RidgeCV(alphas).fit(d.X, d.y),
                "scikit-learn": lambda d: peer.RidgeCV(alphas).fit(d.X, d.y),
                "scikit-learn svd": lambda d: peer.RidgeCV(alphas, gcv_mode="svd").fit(d.X, d.y),
            },
            lambda _, model: -model.best_score_,
            rounds=5,
        )
    )
    return rows


def lasso_row(name: str, prepare: Callable[[], Problem], **options: Any) -> Row:
    contenders = {
        OURS: lambda d: ours.Lasso(d.alpha).fit(d.X, d.y),
        "scikit-learn": lambda d: peer.Lasso(d.alpha).fit(d.X, d.y),
        **specialists(),
        **(accelerated("Lasso") if options.pop("dense", True) else {}),
    }
    return Row(name, prepare, contenders, lasso_objective, **options)


def lasso_rows() -> list[Row]:
    wide = gaussian(1000, 5000, 50)
    rows = [
        lasso_row(f"Lasso 1,000 x 5,000, alpha = {fraction:g} alpha_max", lambda f=fraction: lasso_problem(wide, f))
        for fraction in (0.1, 0.01)
    ]
    for fraction in (0.1, 0.01):
        name = f"Lasso 100,000 x 100, alpha = {fraction:g} alpha_max"
        rows.append(lasso_row(name, lambda f=fraction: lasso_problem(gaussian(100_000, 100), f)))
    for fraction in (0.1, 0.01):
        name = f"Lasso Reuters 8,293 x 18,933, alpha = {fraction:g} alpha_max"
        rows.append(lasso_row(name, lambda f=fraction: lasso_problem(reuters(), f), rounds=5, dense=False))
    return rows


def path_rows() -> list[Row]:
    rows = []
    for eps in (1e-2, 1e-3):
        contenders: dict[str, Callable[[Problem], Any]] = {
            OURS: lambda d: ours.lasso_path(d.X - d.X.mean(axis=0), d.y - d.y.mean(), alphas=d.alphas)[1],
            "scikit-learn": lambda d: peer.lasso_path(d.X - d.X.mean(axis=0), d.y - d.y.mean(), alphas=d.alphas)[1],
        }
        if find_spec("celer"):
            from celer import celer_path

            contenders["celer"] = lambda d: celer_path(
                d.X - d.X.mean(axis=0), d.y - d.y.mean(), pb="lasso", alphas=d.alphas
            )[1]
        rows.append(
            Row(
                f"lasso_path, 100 alphas to {eps:g}, 1,000 x 5,000",
                lambda e=eps: path_problem(gaussian(1000, 5000, 50), e),
                contenders,
                path_objective,
                rounds=3,
                slack=1e-5,
            )
        )
    # celer's LassoCV does not run with scikit-learn 1.9
    cv: dict[str, Callable[[Problem], Any]] = {
        OURS: lambda d: ours.LassoCV(cv=5, eps=1e-2).fit(d.X, d.y),
        "scikit-learn": lambda d: peer.LassoCV(cv=5, eps=1e-2, n_jobs=2).fit(d.X, d.y),
    }
    best_error = Row(
        "LassoCV, 5 folds, 100 alphas, 1,000 x 2,000",
        lambda: gaussian(1000, 2000, 50),
        cv,
        lambda _, model: float(model.mse_path_.mean(axis=1).min()),
        rounds=2,
        slack=1e-3,
    )
    lars = Row(
        "Lars 500 x 2,000",
        lambda: gaussian(500, 2000, 50),
        {
            OURS: lambda d: ours.Lars().fit(d.X, d.y),
            "scikit-learn": lambda d: peer.Lars().fit(d.X, d.y),
            "scikit-learn, no Gram": lambda d: peer.Lars(precompute=False).fit(d.X, d.y),
        },
        squared_error,
        rounds=3,
        slack=1e-6,
    )
    return [*rows, best_error, lars]


def rows() -> list[Row]:
    """Return every row of the family."""
    return [*least_squares_rows(), *lasso_rows(), *path_rows()]
