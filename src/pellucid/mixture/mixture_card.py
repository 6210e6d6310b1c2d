"""Method cards of mixtures: of Gaussians, and of any densities."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isclass
from typing import Any

import numpy as np

from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import PASSES, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers, Texts
from pellucid.core.kinds.collections import Items, Lookup
from pellucid.core.kinds.plain import Live, Nothing, OneOf, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import A_LIST, COUNT, FLAG, NONNEGATIVE, NUMBER, RANDOM_STATE, VERBOSE
from pellucid.mixture.gaussian_mixture import GaussianMixture
from pellucid.mixture.mixture import Mixture
from pellucid.probability import Bernoulli, Binomial, Categorical, Density, Gaussian, MultivariateGaussian
from pellucid.probability.density_record import DensityRecord
from pellucid.proofs.sampling import drawn
from pellucid.proofs.training_data import TrainingData

ROWS_ASKED = 1000
"""Rows whose responsibilities a proof asks the model for."""


def _answers(model: Any, data: TrainingData) -> dict[str, Any]:
    """Return what the model says about some rows."""
    asked = drawn(data.X.shape[0], ROWS_ASKED)
    said = model._responsibilities(data.X[asked])
    return {"asked": asked, "responsibilities": said[1] if isinstance(said, tuple) else said}


def _is_own(value: Any) -> bool:
    return isclass(value) or isinstance(value, (dict, list, tuple))


def _check(estimator: Any) -> None:
    """Refuse lists of what is no density, and a number of components that is not theirs."""
    given = estimator.densities
    if not isinstance(given, (list, tuple)):
        return
    for density in given:
        if isclass(density) or not isinstance(density, Density):
            raise TypeError(
                f"densities must be densities to start from, one for each component, got {density!r}. For one density "
                "in each column give a dict."
            )
    if len(given) != estimator.n_components:
        raise ValueError(
            f"n_components must be the number of given densities, {len(given)}, got {estimator.n_components}."
        )


IN_BLOCKS = ("auto", "gaussian", "bernoulli", "binomial", "categorical", Gaussian, Bernoulli, Binomial, Categorical)
"""Densities of columns that sums and counts tell."""
ROWS_IN_BLOCKS = ("multivariate_gaussian", MultivariateGaussian)


def _rules(estimator: Any) -> InputRules:
    wanted = estimator.densities
    if isinstance(wanted, (list, tuple)):
        are_told = all(type(density) in ROWS_IN_BLOCKS for density in wanted)
    elif isinstance(wanted, Mapping):
        are_told = all(entry in IN_BLOCKS for entry in wanted.values())
    else:
        are_told = wanted in IN_BLOCKS or wanted in ROWS_IN_BLOCKS
    return InputRules(dtypes=None, fewest_rows=2, blocks=PASSES if are_told else "")


NUMBERS = ("float64", "float32", *WHOLES)
GIVEN = Numbers(None, NUMBERS) | Items(NUMBER | Items(NUMBER | Items(NUMBER))) | A_LIST
SPREAD = Numbers(None, ("float64",))

CARDS = (
    MethodCard(
        Mixture,
        topics=("MIX-2",),
        onnx="pellucid.mixture.mixtures_in_onnx:any_density",
        asks=_answers,
        check=_check,
        free={"order": "the order of the components, which follows the start"},
        parameters={
            "densities": Text()
            | Items(DensityRecord())
            | Lookup(Text())
            | Live("a density class, densities to start from, or a dict from columns to densities", _is_own),
            "n_components": Whole(low=1),
            "var_smoothing": NONNEGATIVE,
            "n_init": Whole(low=1),
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "random_state": RANDOM_STATE,
        },
        attributes={
            "feature_names_in_": Optional(Texts("n_features")),  # densities may be asked for by name
            "weights_": Numbers(("n_components",), ("float64",), low=0.0),
            "densities_": Items(Items(DensityRecord()), "n_components"),
            "by_column_": FLAG,
            "converged_": FLAG,
            "n_iter_": COUNT,
            "lower_bound_": Real(),
            "lower_bounds_": Items(Real()),
            "log_likelihood_": Real(),
        },
        input=_rules,
        passes="pellucid.mixture.mixture_passes:mixture_in_passes",
        variants=(
            {"densities": "multivariate_gaussian", "max_iter": 1000},
            {"densities": {1: "logistic"}, "n_components": 2, "max_iter": 1000},
            {
                "densities": [
                    MultivariateGaussian(np.zeros(4), np.eye(4)),
                    MultivariateGaussian(np.full(4, 2.0), np.eye(4)),
                ],
                "max_iter": 1000,
            },
        ),
        unproved={
            "converged_": "why the fit stopped; the claim 'gain' says whether it had converged",
            "n_iter_": WORK_DONE,
        },
        take_for="groups in columns of different kinds, numbers and words together, with probabilities",
        references=(
            (
                "Dempster, Laird and Rubin, Maximum likelihood from incomplete data via the EM algorithm, "
                "JRSS B 39 (1977)"
            ),
        ),
    ),
    MethodCard(
        GaussianMixture,
        topics=("MIX-1",),
        workings="pellucid.mixture.gaussian_mixture_workings:gaussian_mixture_workings",
        asks=_answers,
        free={"order": "the order of the components, which follows the start"},
        parameters={
            "n_components": Whole(low=1),
            "covariance_type": OneOf(("full", "tied", "diag", "spherical")),
            "tol": NONNEGATIVE,
            "reg_covar": NONNEGATIVE,
            "max_iter": COUNT,
            "n_init": Whole(low=1),
            "init_params": OneOf(("kmeans", "k-means++", "random", "random_from_data")),
            "weights_init": Nothing() | GIVEN,
            "means_init": Nothing() | GIVEN,
            "precisions_init": Nothing() | GIVEN,
            "random_state": RANDOM_STATE,
            "warm_start": FLAG,
            "verbose": VERBOSE,
            "verbose_interval": Whole(low=1),
        },
        attributes={
            "weights_": Numbers(("n_components",), ("float64",), low=0.0),
            "means_": Numbers(("n_components", "n_features"), ("float64",)),
            "covariances_": SPREAD,
            "precisions_cholesky_": SPREAD,
            "precisions_": SPREAD,
            "converged_": FLAG,
            "n_iter_": COUNT,
            "lower_bound_": Real(finite=False),
            "lower_bounds_": Items(Real(finite=False)),
            "log_likelihood_": Real(),
        },
        input=InputRules(fewest_rows=2, blocks=PASSES),
        passes="pellucid.mixture.gaussian_mixture_passes:mixture_in_passes",
        device="pellucid.mixture.mixture_on_device:fit_on_device",
        onnx="pellucid.mixture.mixtures_in_onnx:gaussian",
        variants=(
            {"n_components": 2, "tol": 1e-4, "max_iter": 1000},
            {"n_components": 3, "covariance_type": "tied", "init_params": "k-means++", "max_iter": 1000},
            {"n_components": 2, "covariance_type": "diag", "init_params": "random", "max_iter": 1000, "tol": 1e-5},
            {"n_components": 2, "covariance_type": "spherical", "init_params": "random_from_data", "n_init": 3},
            {"n_components": 2, "covariance_type": "diag", "weights_init": [0.3, 0.7], "max_iter": 1000},
        ),
        unproved={"converged_": "why the fit stopped; the claim 'gain' says whether it had converged"},
        squares=frozenset({"covariances_", "precisions_", "precisions_cholesky_"}),
        trial=Trial(
            own_floats=dict.fromkeys(
                ("covariances_", "means_", "precisions_", "precisions_cholesky_", "weights_"),
                "digits that its proof needs",
            ),
            by_hand={"n_components": 2, "random_state": 0, "reg_covar": 0.1},
            rows=10,
            columns=2,
            unlike_peer="it starts elsewhere",
        ),
        meaning="one more step of the method changes nothing worth mentioning; another start may still end in a "
        "likelier mixture",
        take_for="groups that are clouds of any shape and overlap, a density of the rows, or samples like them",
        references=(
            (
                "Dempster, Laird and Rubin, Maximum likelihood from incomplete data via the EM algorithm, "
                "JRSS B 39 (1977)"
            ),
            "McLachlan and Peel, Finite Mixture Models, Wiley 2000",
        ),
    ),
)
