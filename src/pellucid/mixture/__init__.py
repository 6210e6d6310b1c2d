"""Mixtures: rows drawn from one of several densities, nobody knows which."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.mixture.gaussian_mixture import GaussianMixture
    from pellucid.mixture.mixture import Mixture

__all__ = ["GaussianMixture", "Mixture"]

__getattr__ = name_finder(__name__)
