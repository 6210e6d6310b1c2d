"""Mixtures: rows drawn from one of several densities, nobody knows which."""

from pellucid.core.public_names import name_finder
from pellucid.mixture.gaussian_mixture import GaussianMixture
from pellucid.mixture.mixture import Mixture

__all__ = ["GaussianMixture", "Mixture"]

__getattr__ = name_finder(__name__)
