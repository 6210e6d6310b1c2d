"""The names of a package: ours, some of them imported on first use; and scikit-learn's, passed on or pointed to.

Change the word ``sklearn`` to ``pellucid``, and what claims nothing about an answer is there: splitters, searches,
metrics, pipelines, transformers of columns, pictures, data sets. It is scikit-learn's own, the same object. What learns
an answer (a predictor, a clustering, an outlier detector, a decomposition, a choice of columns) is ours, with a
certificate, or it is not here, and a sentence says where to find scikit-learn's.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

PASSED_ON = (
    "base",
    "calibration",
    "callback",
    "compose",
    "datasets",
    "exceptions",
    "experimental",
    "feature_extraction",
    "feature_selection",
    "frozen",
    "gaussian_process.kernels",
    "impute",
    "inspection",
    "kernel_approximation",
    "metrics",
    "model_selection",
    "multiclass",
    "multioutput",
    "pipeline",
    "preprocessing",
    "random_projection",
    "utils",
)
"""Packages of scikit-learn that are passed on whole, with what is in them: what they fit, if anything, is a
transformation of columns, or somebody else's model that they hold. Names of ours come first."""

ALSO_PASSED_ON: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "": frozenset({"clone", "config_context", "get_config", "set_config", "show_versions"}),
        "manifold": frozenset({"trustworthiness"}),
        "neighbors": frozenset({"VALID_METRICS", "VALID_METRICS_SPARSE"}),
        "svm": frozenset({"l1_min_c"}),
        "tree": frozenset({"export_graphviz", "export_text", "plot_tree"}),
    }
)
"""Names that are passed on from packages whose other names learn answers: scores of columns, printers, constants."""


def name_finder(package: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    It imports on first use what the package imports for type checkers only (``if TYPE_CHECKING:``), the modules of the
    package, and the names that scikit-learn's package of the same name passes on. Of another name of scikit-learn's it
    says where to find it.
    """
    names = vars(sys.modules[package])
    names.setdefault("__dir__", lambda: sorted({*names, *names.get("__all__", ())}))

    def find(name: str) -> Any:
        homes = {} if name.startswith("__") else homes_of(package)
        if name in homes:
            with needs_extra(f"{package}.{name}"):
                value = getattr(import_module(homes[name]), name)
        elif not name.startswith("_") and _exists(f"{package}.{name}"):
            value = import_module(f"{package}.{name}")
        elif is_passed_on(package, name):
            value = getattr(import_module(_peer(package)), name)
        else:
            _refuse(package, name)
        setattr(sys.modules[package], name, value)
        return value

    return find


@cache
def homes_of(package: str) -> Mapping[str, str]:
    """Return the names that a package imports on first use, each with the module it is in."""
    file = getattr(sys.modules[package], "__file__", None)
    tree = ast.parse(Path(file).read_text(encoding="utf-8") if file else "")
    blocks = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imports = (one for block in blocks for one in block.body if isinstance(one, ast.ImportFrom) and one.module)
    return {alias.name: str(one.module) for one in imports for alias in one.names}


def is_passed_on(package: str, name: str) -> bool:
    """Return whether a name of scikit-learn's package stands for the same in ours."""
    room = package.removeprefix("pellucid").lstrip(".")
    return _has(_peer(package), name) if _is_whole(room) else name in ALSO_PASSED_ON.get(room, ())


def _is_whole(room: str) -> bool:
    """Return whether a package, or one around it, is passed on whole."""
    return any(f"{room}.".startswith(f"{passed}.") for passed in PASSED_ON)


def _refuse(package: str, name: str) -> NoReturn:
    """Raise the error that says where to find a name, if there is such a place."""
    sentence = _where_to_find(package, name)
    if sentence is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
    # `from package import name` asks through the import machinery, which would put its own sentence in the place
    # of an AttributeError
    if sys._getframe(2).f_globals.get("__name__") == "importlib._bootstrap":
        raise ImportError(sentence, name=package)
    raise AttributeError(sentence, name=name, obj=sys.modules[package])


def _where_to_find(package: str, name: str) -> str | None:
    """Return the sentence that points to scikit-learn, or None if it has no such name either."""
    peer = _peer(package)
    if name.startswith("_") or not _exists(peer) or not _has(peer, name):
        return None
    return f"{package} has no {name}; scikit-learn's works beside ours: from {peer} import {name}"


def _peer(package: str) -> str:
    return package.replace("pellucid", "sklearn", 1)


def _has(peer: str, name: str) -> bool:
    """Return whether a module of scikit-learn has a name, and not only because it needs somebody else's."""
    module = import_module(peer)
    value = vars(module).get(name)
    is_theirs = str(getattr(value, "__module__", "")).startswith("sklearn.")
    is_constant = name.isupper() and isinstance(value, (str, int, float, tuple, frozenset, dict))
    return is_theirs or is_constant or name in getattr(module, "__all__", ())


def _exists(module: str) -> bool:
    """Return whether there is such a module; where the one around it is none, the search itself fails."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


class PassedOnPackages:
    """Finds packages that only scikit-learn has: ``pellucid.metrics`` stands for ``sklearn.metrics``.

    It is asked last, so that packages of ours come first. It is a finder and a loader by its methods: the base classes
    in ``importlib.abc`` would double the time that ``import pellucid`` takes.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to make a package of ours if scikit-learn has one of that name and we have none."""
        if not fullname.startswith("pellucid.") or not _exists(_peer(fullname)):
            return None
        room = fullname.removeprefix("pellucid.")
        is_public = room in import_module("sklearn").__all__  # it may only tell where to find what it has
        loader = cast("Loader", self)
        return ModuleSpec(fullname, loader, is_package=True) if _is_whole(room) or is_public else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the package its names: they are looked up when they are asked for."""
        peer = import_module(_peer(module.__name__))
        module.__doc__ = peer.__doc__
        names = [name for name in getattr(peer, "__all__", vars(peer)) if is_passed_on(module.__name__, name)]
        module.__all__ = names  # type: ignore[attr-defined]
        module.__dir__ = lambda: names  # type: ignore[method-assign]
        module.__getattr__ = name_finder(module.__name__)  # type: ignore[method-assign]


EXTRAS = {
    "torch": ("PyTorch", "deep"),
    "onnx": ("onnx", "onnx"),
    "skl2onnx": ("skl2onnx", "dev"),
    "starlette": ("Starlette", "serve"),
    "uvicorn": ("uvicorn", "serve"),
}
"""Package -> what people call it, and the extra that brings it."""


def names_without(package: str, names: list[str], needing: Collection[str]) -> list[str]:
    """Return what ``from room import *`` brings: all names, or those that do not need a package that is missing."""
    return names if find_spec(package) else [name for name in names if name not in needing]


def is_installed(extra: str) -> bool:
    """Return whether the packages of an extra are there; none is asked for by ""."""
    return all(find_spec(package) for package, (_, name) in EXTRAS.items() if name == extra)


@contextmanager
def needs_extra(what: str) -> Iterator[None]:
    """Turn a failed import of an extra, in this block, into one sentence that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in EXTRAS:
            raise
        name, extra = EXTRAS[package]
        raise ImportError(
            f"{what} needs {name}, which is not installed. Install it: pip install 'pellucid[{extra}]'.", name=package
        ) from error
