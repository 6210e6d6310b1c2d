"""Trees: rules learned one split at a time."""

from pellucid.core.public_names import name_finder
from pellucid.tree.id3_classifier import ID3Classifier

__all__ = ["ID3Classifier"]

__getattr__ = name_finder(__name__)
