"""Names that scikit-learn has and we do not: passed on, or a sentence says where to find them, in every package."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest
import sklearn
from sklearn.utils.discovery import all_estimators

import pellucid
from pellucid.core.public_names import homes_of, is_passed_on
from tests.test_imports import loaded_after

FAMILIES = [
    info.name
    for info in pkgutil.iter_modules(pellucid.__path__)
    if info.ispkg and find_spec(f"sklearn.{info.name}") is not None
]


PACKAGES = ["pellucid", *(info.name for info in pkgutil.walk_packages(pellucid.__path__, "pellucid.") if info.ispkg)]
EXPERIMENTS = {"HalvingGridSearchCV", "HalvingRandomSearchCV", "IterativeImputer"}
"""Names that scikit-learn has only after something of ``experimental`` was imported."""


def their_names():
    """Yield each public name of scikit-learn that is not ours, with its package."""
    for family in sorted({*sklearn.__all__, "base", "utils"}):
        if find_spec(f"sklearn.{family}") is None:
            continue
        ours, theirs = import_module(f"pellucid.{family}"), import_module(f"sklearn.{family}")
        own = set(ours.__all__) if family in FAMILIES else set()
        modules = {info.name for info in pkgutil.iter_modules(getattr(theirs, "__path__", ()))}
        yield from ((family, name) for name in sorted({*getattr(theirs, "__all__", ())} - own - modules - EXPERIMENTS))


PASSED = [(family, name) for family, name in their_names() if is_passed_on(f"pellucid.{family}", name)]
REFUSED = [pair for pair in their_names() if pair not in PASSED]
MODULES = ["datasets", "metrics.cluster", "metrics.pairwise", "feature_extraction.text", "feature_extraction.image"]
MODULES += ["utils.validation", "utils.extmath", "utils.fixes", "gaussian_process.kernels", "calibration"]


def test_every_family_that_scikit_learn_has_too_is_looked_at():
    assert {"cluster", "linear_model", "model_selection", "naive_bayes", "neighbors", "svm"} <= set(FAMILIES)


def test_a_name_that_only_scikit_learn_has_says_where_it_is_asked_for_in_any_way():
    for family, name in REFUSED:
        package, beside = import_module(f"pellucid.{family}"), f"from sklearn.{family} import {name}"
        sentence = f"pellucid.{family} has no {name}; scikit-learn's works beside ours: {beside}"
        with pytest.raises(AttributeError) as asked:
            getattr(package, name)
        assert str(asked.value) == sentence
        with pytest.raises(ImportError) as imported:
            exec(f"from pellucid.{family} import {name}", {})
        assert str(imported.value) == sentence
        assert not hasattr(package, name)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_name_that_nobody_has_gets_pythons_own_sentence(family):
    with pytest.raises(AttributeError, match=f"module 'pellucid.{family}' has no attribute 'Nonsense'"):
        _ = import_module(f"pellucid.{family}").Nonsense
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec(f"from pellucid.{family} import Nonsense", {})


def test_a_module_of_ours_is_imported_though_scikit_learn_has_something_of_its_name():
    from pellucid import linear_model
    from pellucid.linear_model import linear_kinds

    assert linear_kinds.__name__ == f"{linear_model.__name__}.linear_kinds"


def test_a_name_that_claims_nothing_about_an_answer_is_scikit_learns_own():
    for family, name in PASSED:
        found = {}
        exec(f"from pellucid.{family} import {name}", found)
        assert found[name] is getattr(import_module(f"sklearn.{family}"), name)


HOLDERS = (
    "CalibratedClassifierCV ClassifierChain FixedThresholdClassifier MultiOutputClassifier MultiOutputRegressor "
    "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier RegressorChain TransformedTargetRegressor "
    "TunedThresholdClassifierCV"
)
"""Predictors that hold somebody else's answer."""


@pytest.mark.parametrize("kind", ["classifier", "regressor", "cluster"])
def test_no_class_that_learns_an_answer_by_itself_is_passed_on(kind):
    for name, estimator in all_estimators(type_filter=kind):
        package = estimator.__module__.split(".")[1]
        assert name in HOLDERS.split() or not is_passed_on(f"pellucid.{package}", name), name


def test_the_other_families_are_known_too():
    assert {("ensemble", "IsolationForest"), ("decomposition", "SparsePCA"), ("covariance", "OAS")} <= set(REFUSED)
    assert {("cluster", "HDBSCAN"), ("cluster", "DBSCAN")} <= set(REFUSED)
    assert {("pipeline", "Pipeline"), ("model_selection", "GridSearchCV"), ("metrics", "f1_score")} <= set(PASSED)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_of_scikit_learn_can_be_imported_in_every_way(module):
    ours, theirs = import_module(f"pellucid.{module}"), import_module(f"sklearn.{module}")
    assert ours.__doc__ == theirs.__doc__
    for name in ours.__all__:
        assert getattr(ours, name) is getattr(theirs, name)
    around, _, name = f"pellucid.{module}".rpartition(".")
    found = {}
    exec(f"import pellucid.{module}; from {around} import {name}; from pellucid.{module} import *", found)
    assert found[name] is ours
    assert set(ours.__all__) <= set(found)
    assert set(ours.__all__) == set(dir(ours))


def test_names_of_the_package_itself_are_passed_on():
    assert pellucid.clone is sklearn.clone
    assert pellucid.set_config is sklearn.set_config
    assert pellucid.__version__ != sklearn.__version__


def test_passed_on_names_are_looked_up_late_and_found_without_an_import():
    loaded = loaded_after("import pellucid; assert 'sklearn' not in sys.modules; pellucid.metrics.r2_score")
    assert "sklearn.metrics" in loaded
    assert "sklearn.datasets" not in loaded


def test_a_module_that_nobody_has_is_not_found():
    for name in ("pellucid.nothing", "pellucid.metrics.nothing", "pellucid.tests", "pellucid.metrics.pairwise.np"):
        with pytest.raises(ModuleNotFoundError, match=f"No module named '{name}'"):
            import_module(name)
    with pytest.raises(ImportError, match="cannot import name 'np'"):
        exec("from pellucid.kernel_approximation import np", {})


def test_importing_the_package_again_installs_one_finder():
    assert sum(type(finder).__name__ == "PassedOnPackages" for finder in sys.meta_path) == 1


def test_a_name_with_a_home_is_imported_once():
    from pellucid import svm

    assert svm.show_maximum_margin is vars(svm)["show_maximum_margin"]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_that_is_imported_on_first_use_is_also_a_module(package):
    # whoever imports the module would find it in the place of the name from then on
    modules = {info.name for info in pkgutil.iter_modules(import_module(package).__path__)}
    assert not modules & set(homes_of(package))


def test_a_package_lists_names_before_they_are_imported():
    code = "import pellucid.svm, sys; assert 'SVC' in dir(pellucid.svm); assert 'numba' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
