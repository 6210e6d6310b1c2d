"""Packages of others that the command imports when something in them is asked for.

Scikit-learn's base class imports pandas, SciPy's statistics and more for functions that are hardly ever called, and one
preprocessor brings all the others: most of the time that a verb took. The process is the command's own: nobody else
wonders about a package that is there and empty. Code of ours that is to wait as well asks for attributes: it says
``from scipy import optimize``, then ``optimize.minimize(...)``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

WHOLE = frozenset(
    {"asyncio", "numpy.f2py", "numpy.testing", "pandas"}
    | {f"scipy.{name}" for name in ("fft", "interpolate", "optimize", "spatial", "special", "stats")}
)
"""Packages that are imported whole as soon as anything in them is asked for: their modules rely on an order."""

BY_NAME = frozenset(
    {
        f"sklearn.{name}"
        for name in ("callback", "compose", "feature_extraction", "impute", "metrics", "model_selection")
    }
    | {"sklearn.neighbors", "sklearn.preprocessing"}
)
"""Packages that only collect names: one that is asked for brings the module it is in, and not the others."""

ASKED = frozenset({"__all__", "__path__", "__version__"})
"""Names of Python's own that ask for a package; by the others, somebody looks through all modules."""


def postpone_packages() -> None:
    """Import these packages, from now on, when they are used."""
    sys.meta_path.insert(0, cast("Any", _Postponed))


class _Postponed:
    """Finds these packages, and loads each at first without running its file."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how to make a package, if it is one of these."""
        spec = PathFinder.find_spec(name, path, target) if name in WHOLE | BY_NAME else None
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Loader", cls(spec.loader))
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the package what finds its names."""
        here, names, lock, path = module.__name__, vars(module), RLock(), module.__path__
        names["__spec__"].loader = names["__loader__"] = self.loader
        homes = _homes_in(module) if here in BY_NAME else {}
        if not homes:
            del names["__path__"]  # who wants a module in it asks for this first
        waiting = [self.loader]

        def find(name: str) -> Any:
            if homes and name not in homes and PathFinder.find_spec(f"{here}.{name}", path):
                homes[name] = f"{here}.{name}"
            if name in homes:
                home = import_module(homes[name])
                return names.setdefault(name, getattr(home, name, home))
            if not name.startswith("__") or name in ASKED:
                with lock:
                    if waiting:
                        names["__path__"] = path
                        waiting.pop().exec_module(module)
            if name in names:
                return names[name]
            if names["__getattr__"] is not find:  # the package has a finder of its own
                return names["__getattr__"](name)
            raise AttributeError(f"module {here!r} has no attribute {name!r}", name=name, obj=module)

        names["__getattr__"] = find


def _homes_in(package: ModuleType) -> dict[str, str]:
    """Return the names that the file of a package imports from its modules, and these modules, each with its module."""
    homes, here = {}, package.__name__
    for node in ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            home = str(node.module)
            for alias in node.names if f"{home}.".startswith(f"{here}.") else ():
                homes[alias.name] = f"{here}.{alias.name}" if home == here else home
    return homes
