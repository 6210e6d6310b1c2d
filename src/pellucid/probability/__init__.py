"""Densities with weighted fits, estimation, information measures and the bootstrap."""

from pellucid.probability.bernoulli import Bernoulli
from pellucid.probability.beta import Beta
from pellucid.probability.binomial import Binomial
from pellucid.probability.bootstrap import BootstrapInterval, bootstrap
from pellucid.probability.categorical import Categorical
from pellucid.probability.channel_capacity import ChannelCapacity, channel_capacity
from pellucid.probability.curve_band import CurveBand, curve_band
from pellucid.probability.density import Density, find_density
from pellucid.probability.dirichlet import Dirichlet
from pellucid.probability.estimation import Estimate, maximum_likelihood
from pellucid.probability.gaussian import Gaussian
from pellucid.probability.hoeffding import hoeffding_interval
from pellucid.probability.information import (
    conditional_entropy,
    entropy,
    joint_entropy,
    kl_divergence,
    multi_information,
    mutual_information,
)
from pellucid.probability.joint_counts import joint_counts
from pellucid.probability.logistic import Logistic
from pellucid.probability.multinomial import Multinomial
from pellucid.probability.multivariate_gaussian import MultivariateGaussian
from pellucid.probability.normal_inverse_gamma import NormalInverseGamma
from pellucid.probability.normal_inverse_wishart import NormalInverseWishart
from pellucid.probability.rate_distortion import RateDistortion, rate_distortion
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
