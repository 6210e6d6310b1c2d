"""Imports go one way, and importing the package is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pellucid

ROOT = Path(pellucid.__file__).parent
SHELVES = {  # a room may import from rooms of a lower shelf, and from itself
    "core": 0,
    "numerics": 1,
    "data": 1,
    "tables": 1,
    "workings": 1,
    "losses": 1.5,
    "kernels": 1.5,
    "optimize": 2,
    "probability": 3,
    "linear_model": 4,
    "discriminant_analysis": 4,
    "naive_bayes": 4,
    "neighbors": 4,
    "model_selection": 4,
    "svm": 4,
    "ranking": 4,
    "files": 5,
    "plots": 5,
    "bake_off": 5,
    "report": 6,
    "cli": 7,
}
LIGHT_ROOMS = {"core", "numerics"}


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, *, top_level_only=False):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_come_from_lower_shelves(path):
    room = path.relative_to(ROOT).parts[0]
    if room.endswith(".py"):
        return
    for name in imports_of(path, top_level_only=True):
        if not name.startswith("pellucid."):
            continue
        other = name.split(".")[1]
        if other in SHELVES and other != room:
            assert SHELVES[other] < SHELVES[room], f"{module_name(path)} imports {name}"


@pytest.mark.parametrize("path", [p for p in MODULES if p.stem.endswith("_proof")], ids=lambda p: p.stem)
def test_proofs_import_no_solver_and_no_kernel(path):
    for name in imports_of(path):
        assert not name.endswith(("_solvers", "_kernels", "_solver")), f"{path.stem} imports {name}"
        assert name.split(".")[0] != "numba"


@pytest.mark.parametrize("path", [p for p in MODULES if p.stem.endswith("_workings")], ids=lambda p: p.stem)
def test_workings_import_no_solver_and_no_kernel(path):
    for name in imports_of(path):
        assert not name.endswith(("_solvers", "_kernels", "_solver")), f"{path.stem} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_numba_is_imported_by_kernels_only(path):
    if not path.stem.endswith("_kernels"):
        assert "numba" not in {name.split(".")[0] for name in imports_of(path)}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_extras_are_imported_on_use_only(path):
    extras = {"torch", "cvxpy", "dask", "onnx"}
    assert not extras & {name.split(".")[0] for name in imports_of(path, top_level_only=True)}


def loaded_after(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"numpy", "sklearn", "numba", "torch", "matplotlib", "sympy", "pandas", "scipy"}
    assert not heavy & loaded_after("import pellucid")


def test_linear_regression_needs_no_compiler_and_no_algebra():
    loaded = loaded_after("from pellucid.linear_model import LinearRegression")
    assert not {"torch", "matplotlib", "sympy"} & loaded


@pytest.mark.parametrize("room", ["optimize", "probability"])
def test_foundations_load_no_algebra_no_pictures_and_no_extras(room):
    assert not {"torch", "cvxpy", "matplotlib", "sympy", "numba"} & loaded_after(f"import pellucid.{room}")


def test_public_surface_is_what_it_says():
    for name in pellucid.__all__:
        assert getattr(pellucid, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = pellucid.nothing
