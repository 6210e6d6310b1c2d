"""Predictions over HTTP: JSON for programs, a page for people. Needs the extra ``serve``."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

if TYPE_CHECKING:
    from pellucid.app.serving.application import serving_application

__all__ = ["serving_application"]

__getattr__ = name_finder(__name__)
__all__ = names_without("starlette", __all__, __all__)
