"""The names of a package: some imported on first use, some of scikit-learn's that we do not have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from pellucid.core.extras import needs_extra

NOTHING: Mapping[str, str] = MappingProxyType({})


def name_finder(package: str, homes: Mapping[str, str] = NOTHING) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    It imports the names in ``homes`` (name -> module) on first use. Of a name that only scikit-learn's package of the
    same name has, it says where to find it.
    """

    def find(name: str) -> Any:
        if name in homes:
            with needs_extra(f"{package}.{name}"):
                value = getattr(import_module(homes[name]), name)
            setattr(sys.modules[package], name, value)
            return value
        sentence = _where_to_find(package, name)
        if sentence is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # `from package import name` asks through the import machinery, which would put its own sentence in the place
        # of an AttributeError
        if sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap":
            raise ImportError(sentence, name=package)
        raise AttributeError(sentence, name=name, obj=sys.modules[package])

    return find


def _where_to_find(package: str, name: str) -> str | None:
    """Return the sentence that points to scikit-learn, or None if it has no such name either."""
    if name.startswith("_") or find_spec(f"{package}.{name}") is not None:  # a module of ours, about to be imported
        return None
    peer = package.replace("pellucid", "sklearn", 1)
    if not _exists(peer) or name not in getattr(import_module(peer), "__all__", ()):
        return None
    return f"{package} has no {name}; scikit-learn's works beside ours: from {peer} import {name}"


def _exists(package: str) -> bool:
    """Return whether there is such a package; where the one around it is missing, too, the search itself fails."""
    parent = package.rpartition(".")[0]
    return (not parent or _exists(parent)) and find_spec(package) is not None
