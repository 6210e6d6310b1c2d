"""Densities with weighted fits, estimation, information measures and the bootstrap."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder
from pellucid.probability.bernoulli import Bernoulli, Binomial
from pellucid.probability.bootstrap import BootstrapInterval, CurveBand, bootstrap, curve_band, hoeffding_interval
from pellucid.probability.categorical import Categorical, Multinomial
from pellucid.probability.channels import ChannelCapacity, RateDistortion, channel_capacity, rate_distortion
from pellucid.probability.conjugate_priors import Beta, Dirichlet, NormalInverseGamma, NormalInverseWishart
from pellucid.probability.density import Density, find_density
from pellucid.probability.estimation import Estimate, maximum_likelihood
from pellucid.probability.gaussian import Gaussian
from pellucid.probability.information import (
    conditional_entropy,
    entropy,
    joint_counts,
    joint_entropy,
    kl_divergence,
    multi_information,
    mutual_information,
)
from pellucid.probability.logistic import Logistic
from pellucid.probability.multivariate_gaussian import MultivariateGaussian

if TYPE_CHECKING:  # imported on first use: a proof is no part of what fits
    from pellucid.proofs.probability.maximum_likelihood import certify_fit

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "BootstrapInterval",
    "Categorical",
    "ChannelCapacity",
    "CurveBand",
    "Density",
    "Dirichlet",
    "Estimate",
    "Gaussian",
    "Logistic",
    "Multinomial",
    "MultivariateGaussian",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "RateDistortion",
    "bootstrap",
    "certify_fit",
    "channel_capacity",
    "conditional_entropy",
    "curve_band",
    "entropy",
    "find_density",
    "hoeffding_interval",
    "joint_counts",
    "joint_entropy",
    "kl_divergence",
    "maximum_likelihood",
    "multi_information",
    "mutual_information",
    "rate_distortion",
]

__getattr__ = name_finder(__name__)
