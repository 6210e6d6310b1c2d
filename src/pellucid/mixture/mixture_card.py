"""Method card of the mixture of any densities."""

from __future__ import annotations

from inspect import isclass
from typing import Any

import numpy as np

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.core.kinds.arrays import Numbers, Texts
from pellucid.core.kinds.collections import Items, Lookup
from pellucid.core.kinds.plain import Live, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import COUNT, FLAG, NONNEGATIVE, RANDOM_STATE
from pellucid.mixture.mixture import Mixture
from pellucid.probability import Density, MultivariateGaussian
from pellucid.probability.density_record import DensityRecord
from pellucid.proofs.mixture.mixture import answers_of, prove_mixture


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


CARDS = (
    MethodCard(
        Mixture,
        topics=("MIX-2",),
        prove=prove_mixture,
        asks=answers_of,
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
        input=InputRules(dtypes=None, fewest_rows=2),
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
    ),
)
