"""The page in the browser, live: a server on this machine whose fits run in processes of their own. Needs ``serve``."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

if TYPE_CHECKING:
    from pellucid.app.playing.server.application import playing_application

__all__ = ["playing_application"]

__getattr__ = name_finder(__name__)
__all__ = names_without("starlette", __all__, __all__)
