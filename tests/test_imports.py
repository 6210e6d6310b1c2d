"""Imports go one way, and importing the package is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pandas as pd
import pytest

import pellucid
from pellucid.core.cards import all_cards
from pellucid.linear_model import LogisticRegression

ROOT = Path(pellucid.__file__).parent

BASE = {"core", "core.kinds", "proofs", "plots.drawing"}
FOUNDATIONS = BASE | {"solvers", "losses", "kernels", "show"}
FAMILY = FOUNDATIONS | {"probability", "optimize"}
TABLES = {"app.tables", "app.table_model"}
JOBS = {"app.bake_off", "app.clusters", "app.maps", "app.describing", "app.explaining", "app.pictures"}
MAY_IMPORT = {  # room -> the other rooms it may import from, anywhere in a file
    "proofs": set(),
    "plots.drawing": set(),
    "core": {"plots.drawing", "proofs"},
    "core.kinds": {"core", "proofs"},
    "core.files": BASE,
    "data": {"core"},
    "solvers": {"core", "proofs"},
    "show": BASE,
    "exercises": {"core", "show"},
    "export": {"core", "core.kinds", "core.files"},
    "losses": BASE | {"solvers", "show"},
    "kernels": BASE | {"solvers", "show"},
    "optimize": FOUNDATIONS,
    "probability": FOUNDATIONS | {"optimize"},
    "cluster": FAMILY,
    "cross_decomposition": FAMILY,
    "decomposition": FAMILY,
    "discriminant_analysis": FAMILY,
    "feature_selection": FAMILY | {"core.files", "linear_model"},  # a search keeps the model it asks: a line by itself
    "kernel_ridge": FAMILY,
    "linear_model": FAMILY,
    "manifold": FAMILY | {"decomposition", "neighbors"},
    "mixture": FAMILY | {"cluster"},
    "model_selection": FAMILY,
    "naive_bayes": FAMILY,
    "neighbors": FAMILY,
    "neural_network": FAMILY | {"core.files"},  # checkpoints
    "ranking": FAMILY,
    "svm": FAMILY,
    "tree": FAMILY,
    "vision": FAMILY | {"neural_network", "core.files", "data"},
    "ensemble": FAMILY | {"tree", "core.files"},  # a bag of models is saved as its members are
    "plots": {"core", "plots.drawing", "kernels", "losses", "model_selection", "cluster", "manifold", "vision"}
    | {"tree", "neural_network"},
    "app.tables": BASE | {"data"},
    "app.table_model": BASE | {"core.files", "app.tables"},
    "app.bake_off": FAMILY
    | TABLES
    | {"model_selection", "discriminant_analysis", "linear_model", "naive_bayes", "neighbors", "svm", "kernel_ridge"}
    | {"tree", "ensemble", "decomposition", "neural_network"},
    "app.clusters": {"core", "proofs", "cluster", "mixture"} | TABLES,
    "app.maps": {"core", "proofs", "decomposition", "manifold", "app.tables"},
    "app.pictures": {"core", "vision"},
    "app.describing": {"core"} | TABLES,
    "app.explaining": {"core", "app.bake_off"} | TABLES,
    "app.report": {"core", "plots.drawing", "plots", "proofs", "model_selection", "vision", "app.tables"} | JOBS,
    "app.serving": {"core"} | TABLES,
    "app.playing": FOUNDATIONS
    | {"plots", "optimize", "data", "tree", "cluster", "linear_model", "model_selection", "neural_network", "vision"}
    | {"exercises", "app.serving", "app.tables"},
    "app.cli": {
        "core",
        "core.files",
        "catalogue",
        "show",
        "exercises",
        "export",
        "optimize",
        "probability",
        "proofs",
        "vision",
        "app.report",
        "app.serving",
        "app.playing",
    }
    | TABLES
    | JOBS,
}
ON_TORCH = (
    "vision",
    *(f"neural_network/{room}" for room in ("modules", "robustness", "training", "uncertainty")),
)
"""Folders whose files may import torch at their top: they are reached through names that are imported on first use."""

NOT_IN_WORKINGS = ("_solvers", "_solver", "_kernels", "_card")
"""Endings of modules that no workings may reach, by whatever way."""

TRUSTED = {"numpy", "scipy", "safetensors", "pellucid"}
"""What the trusted base may import beside the standard library; of ours, only itself."""

SHARED = {
    "pellucid.proofs.arrays": "the name of an array",
    "pellucid.proofs.certificate": "what a claim is",
    "pellucid.proofs.index": "where the proof of a method is found",
    "pellucid.proofs.rounding": "how much of a residual is rounding",
    "pellucid.proofs.sampling": "what a sample proves, in words",
    "pellucid.proofs.seen": "a model as namespaces of numbers",
    "pellucid.proofs.training_data": "the rows as a record, and their fingerprint",
    "pellucid.proofs.neural_network.network_steps": "a network as a list of plain steps: the problem, not its answer",
}
"""The only modules of the trusted base that a fit may reach, each with what it is: records and words."""


CERTIFIERS = {
    "pellucid.optimize.certifying": "the verb ``certify``, by which ``minimize`` judges its answer",
    "pellucid.optimize.constrained.kkt_certificate": "the same for problems with constraints",
    "pellucid.optimize.constrained": "the same for cone programs, by the names of the package",
    "pellucid.optimize.constrained.cvxpy_solver": "the same for cone programs",
    "pellucid.probability": "its name ``certify_fit`` judges a density, whoever fitted it",
    "pellucid.probability.channels": "capacities and rates with their gaps",
    "pellucid.probability.estimation": "estimates; it also stops by the decrement that its proof measures",
    "pellucid.cluster.exhaustive": "the best of all partitions, counted again",
    "pellucid.neural_network.robustness.certified_radius": "a radius is what is proved: its search asks the proof",
    "pellucid.vision.restoration.restoring": "the verb ``restore``, which proves its answer",
    "pellucid.core.scale.block_proofs": "``verify`` on rows in blocks: the pass of the proofs over them",
}
"""What attaches a proof to an answer where there is no estimator, as a card does where there is one."""


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def import_nodes(path):
    """Return the imports at the top of a file, and those anywhere in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.Import, ast.ImportFrom)
    top = [node for node in tree.body if isinstance(node, kinds)]
    run = [node for node in tree.body if path.stem == "__init__" or not is_for_types(node)]  # a package's come on use
    return top, [node for part in run for node in ast.walk(part) if isinstance(node, kinds)]


def is_for_types(node):
    """Return whether a statement is there for mypy alone: nothing under it is ever run."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def packages_imported(path, *, top_level_only=False):
    """Return the packages, ours or others', that a file imports from."""
    top, anywhere = import_nodes(path)
    names = set()
    for node in top if top_level_only else anywhere:
        names |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else {node.module or ""}
    return {name.split(".")[0] for name in names}


MODULES = sorted(ROOT.rglob("*.py"))


def room_of(name):
    """Return the room of a module: the innermost folder of the graph that it is in, or else what it stands in."""
    parts = name.split(".")[1:]
    inner = ".".join(parts[:2])
    return inner if inner in MAY_IMPORT else parts[0]


ROOMS = sorted({room_of(module_name(path)) for path in MODULES if path != ROOT / "__init__.py"})
every_room = pytest.mark.parametrize("room", ROOMS)
OURS = {module_name(path): path for path in MODULES}
ESTIMATOR_MODULES = {card.estimator.__module__ for card in all_cards()}


def modules_in(room):
    return [path for path in MODULES if path != ROOT / "__init__.py" and room_of(module_name(path)) == room]


@cache
def our_imports(path):
    """Return the modules of the library that a file imports anywhere, names imported from packages resolved."""
    found = set()
    for node in import_nodes(path)[1]:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                below if (below := f"{node.module}.{alias.name}") in OURS else node.module for alias in node.names
            }
    return {name for name in found if name in OURS}


def reached_from(path, stop=lambda name: False):
    """Yield every module that a file reaches through imports, each with the way there; not those to stop at."""
    waiting, seen = [(name,) for name in our_imports(path)], set()
    while waiting:
        way = waiting.pop()
        if way[-1] in seen or stop(way[-1]):
            continue
        seen.add(way[-1])
        yield way
        waiting += [(*way, name) for name in our_imports(OURS[way[-1]])]


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_import_only_what_the_graph_allows(room):
    for path in modules_in(room):
        others = {room_of(name) for name in our_imports(path) if name.count(".")} - {room}
        assert others <= MAY_IMPORT[room], module_name(path)


def test_the_graph_names_every_room():
    assert {room for room in ROOMS if (ROOT / room.replace(".", "/")).is_dir()} - {"app"} == set(MAY_IMPORT)


def test_the_graph_has_no_circle():
    assert tuple(TopologicalSorter(MAY_IMPORT).static_order())


def test_the_trusted_base_imports_numpy_scipy_and_itself():
    for path in modules_in("proofs"):
        assert packages_imported(path) - set(sys.stdlib_module_names) <= TRUSTED, module_name(path)
        assert {name.split(".")[1] for name in our_imports(path)} <= {"proofs"}, module_name(path)


def test_no_fit_reaches_the_mathematics_of_a_proof():
    homes = {OURS[name] for name in ESTIMATOR_MODULES}
    for path in homes:
        for way in reached_from(path, stop=lambda name: name.endswith("_card") or name in CERTIFIERS):
            assert not way[-1].startswith("pellucid.proofs.") or way[-1] in SHARED, way


def test_workings_reach_no_solver_no_kernel_and_no_estimator():
    for path in MODULES:
        for way in reached_from(path) if path.stem.endswith("_workings") else ():
            assert not way[-1].endswith(NOT_IN_WORKINGS), way
            assert way[-1] not in ESTIMATOR_MODULES, way


@every_room
def test_numba_is_imported_by_kernels_only(room):
    others = [path for path in modules_in(room) if not path.stem.endswith("_kernels")]
    assert not [module_name(path) for path in others if "numba" in packages_imported(path)]


@every_room
def test_extras_are_imported_on_use_only(room):
    for path in modules_in(room):
        extras = {"torch", "cvxpy", "dask", "onnx", "uvicorn"}
        is_on_torch = path.relative_to(ROOT).as_posix().startswith(tuple(f"{folder}/" for folder in ON_TORCH))
        extras -= {"torch"} if is_on_torch and path.stem != "__init__" and not path.stem.endswith("_card") else set()
        assert not extras & packages_imported(path, top_level_only=True), module_name(path)


def test_every_file_is_in_a_room():
    assert sorted([ROOT / "__init__.py", *(path for room in ROOMS for path in modules_in(room))]) == MODULES


def loaded_after(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"numpy", "sklearn", "numba", "torch", "matplotlib", "sympy", "pandas", "scipy"}
    assert not heavy & loaded_after("import pellucid")


def test_linear_regression_needs_no_compiler_and_no_algebra():
    loaded = loaded_after("from pellucid.linear_model import LinearRegression")
    assert not {"torch", "matplotlib", "sympy", "numba"} & loaded


def test_foundations_load_no_algebra_no_pictures_and_no_extras():
    loaded = loaded_after("import pellucid.optimize, pellucid.probability")
    assert not {"torch", "cvxpy", "matplotlib", "sympy", "numba"} & loaded


def test_networks_bring_torch_when_one_is_built_and_not_before():
    cards = "from pellucid.core.cards import all_cards; list(all_cards())"
    assert "torch" not in loaded_after(f"import pellucid.neural_network, pellucid.vision; {cards}")


def modules_of_command(*arguments):
    """Return the modules that a command has loaded when it is done, by their whole names."""
    code = "import atexit, sys; from pellucid.app.cli import main; "
    code += "atexit.register(lambda: sys.stderr.write(' '.join(sys.modules))); main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split()), done.stdout


def families_of(modules):
    return {name.split(".")[1] for name in modules if name.startswith("pellucid.")} & set(FAMILIES)


FAMILIES = [card.estimator.__module__.split(".")[1] for card in all_cards()]
STATISTICS = "scipy.stats._stats_py"


WAITING = {STATISTICS, "scipy.optimize._optimize", "scipy.spatial._kdtree", "asyncio.events", "sklearn.linear_model"}
WAITING |= {"torch", "matplotlib", "jinja2", "pellucid.app.bake_off.contestants"}
ROWS = ROOT / "data" / "breast_cancer.csv"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Return the file of a model that ``pellucid fit`` wrote."""
    folder = tmp_path_factory.mktemp("fitted")
    options = ["--target", "diagnosis", "--only", "logistic regression", "--out", folder]
    modules_of_command("fit", ROWS, *options)
    return folder / "model.safetensors"


@pytest.mark.parametrize(
    ("verb", "arguments", "may"),
    [
        ("predict", ["MODEL", ROWS], set()),
        ("explain", ["MODEL", ROWS], set()),
        ("verify", ["MODEL", ROWS, "--target", "diagnosis"], {"scipy.optimize._optimize", "scipy.spatial._kdtree"}),
        ("exercise", ["nb"], {"sympy", "pandas.core"}),
        ("show-work", ["[3,1,2]", "[3,2,1]", "--method", "convolution"], {"sympy", "pandas.core"}),
        ("catalogue", [], set()),
        ("--help", [], set()),
    ],
)
def test_verbs_import_what_they_need_and_nothing_else(verb, arguments, may, fitted):
    loaded, _ = modules_of_command(verb, *[fitted if one == "MODEL" else one for one in arguments])
    heavy = WAITING | {"numba", "sympy"} | (set() if "MODEL" in arguments else {"pandas.core"})
    assert (heavy - may) & loaded == set()


def test_packages_that_wait_have_the_same_names_as_others():
    code = "import sys; from pellucid.app.cli import postponed; from importlib import import_module; "
    code += "postponed.postpone_packages(); packages = [import_module(name) for name in sorted(postponed.BY_NAME)]; "
    code += (
        "found = [{name: getattr(package, name) for name in postponed._homes_in(package)} for package in packages]; "
    )
    code += "assert all(package.__all__ for package in packages); "
    code += (
        "assert all(getattr(p, name) is value for p, names in zip(packages, found) for name, value in names.items())"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_answers_of_a_linear_model_need_no_statistics_no_compiler_and_no_other_family(tmp_path):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    model = LogisticRegression().fit(frame, [0, 0, 1, 1])
    pellucid.save(model, tmp_path / "model.safetensors")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    modules, printed = modules_of_command("predict", tmp_path / "model.safetensors", tmp_path / "rows.csv")
    assert printed.split() == ["prediction", *map(str, model.predict(frame))]
    assert not {STATISTICS, "numba", "torch", "matplotlib", "sympy"} & modules
    assert families_of(modules) == {"linear_model"}


def test_the_catalogue_imports_no_method():
    modules, printed = modules_of_command("catalogue")
    assert "LogisticRegression" in printed
    assert not {"numpy", "sklearn", "scipy"} & modules
    assert not families_of(modules)


def test_statistics_that_are_asked_for_are_those_of_scipy(tmp_path):
    code = "import sys; from pellucid.app.cli.postponed import postpone_packages; postpone_packages(); "
    code += "import scipy.stats; assert 'norm' not in vars(scipy.stats); before = scipy.stats; "
    code += "from scipy.stats.mstats import mquantiles; from scipy.stats import norm; "
    code += "assert before.norm is norm; assert before is sys.modules['scipy.stats']; assert before.mstats"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_surface_is_what_it_says():
    for name in pellucid.__all__:
        assert getattr(pellucid, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = pellucid.nothing
