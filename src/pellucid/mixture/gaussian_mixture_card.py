"""Method card of the Gaussian mixture."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Nothing, OneOf, Real, Whole
from pellucid.core.kinds.usual import A_LIST, COUNT, FLAG, NONNEGATIVE, NUMBER, RANDOM_STATE, VERBOSE
from pellucid.mixture.gaussian_mixture import GaussianMixture
from pellucid.proofs.mixture.gaussian_mixture import answers_of, prove_gaussian_mixture

NUMBERS = ("float64", "float32", *WHOLES)
GIVEN = Numbers(None, NUMBERS) | Items(NUMBER | Items(NUMBER | Items(NUMBER))) | A_LIST
SPREAD = Numbers(None, ("float64",))

CARDS = (
    MethodCard(
        GaussianMixture,
        topics=("MIX-1",),
        prove=prove_gaussian_mixture,
        workings="pellucid.mixture.gaussian_mixture_workings:gaussian_mixture_workings",
        asks=answers_of,
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
        input=InputRules(fewest_rows=2),
        variants=(
            {"n_components": 2, "tol": 1e-4, "max_iter": 1000},
            {"n_components": 3, "covariance_type": "tied", "init_params": "k-means++", "max_iter": 1000},
            {"n_components": 2, "covariance_type": "diag", "init_params": "random", "max_iter": 1000, "tol": 1e-5},
            {"n_components": 2, "covariance_type": "spherical", "init_params": "random_from_data", "n_init": 3},
            {"n_components": 2, "covariance_type": "diag", "weights_init": [0.3, 0.7], "max_iter": 1000},
        ),
        unproved={"converged_": "why the fit stopped; the claim 'gain' says whether it had converged"},
        squares=frozenset({"covariances_", "precisions_", "precisions_cholesky_"}),
    ),
)
