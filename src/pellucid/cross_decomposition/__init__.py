"""Cross decompositions: what two views of the same rows have in common."""

from pellucid.core.public_names import name_finder
from pellucid.cross_decomposition.cca import CCA

__all__ = ["CCA"]

__getattr__ = name_finder(__name__)
