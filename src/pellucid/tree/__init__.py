"""Trees: rules learned one split at a time."""

from pellucid.core.public_names import name_finder

__all__: list[str] = []

__getattr__ = name_finder(__name__)
