"""Cross decompositions: what two views of the same rows have in common."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.cross_decomposition.cca import CCA

__all__ = ["CCA"]

__getattr__ = name_finder(__name__)
