"""Kernel machines on a device: the machines in memory, to the tolerance that both prove."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.core.arrays import on_host
from pellucid.kernels import RBF
from pellucid.svm import SVC, SVR
from pellucid.svm.kernel_machine.kernel_sums import blocks_of
from pellucid.svm.kernel_machine.machine_on_device import ProductsOnDevice
from pellucid.svm.kernel_machine.product_rows import ProductRows
from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")

OPTIONS = ({}, {"kernel": "poly", "coef0": 1.0}, {"C": 50.0, "class_weight": "balanced"})


def there(array):
    if array is None or array.dtype.kind == "U":
        return array
    return torch.as_tensor(array, device=DEVICE)


def problem(n, dtype=np.float64):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, n)
    return (1.2 * rng.standard_normal((3, 6))[codes] + rng.standard_normal((n, 6))).astype(dtype), codes


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "poly", "coef0": 1.0}, {"C": 50.0, "class_weight": "balanced"}], ids=str
)
@pytest.mark.parametrize(("n", "dtype"), [(300, np.float64), (2500, np.float64), (2500, np.float32)])
@pytest.mark.parametrize("labels", ["three", "two", "words"])
def test_machines_are_those_in_memory(options, n, dtype, labels):
    X, codes = problem(n, dtype)
    y = {"three": codes, "two": codes % 2, "words": np.array(["a", "b", "c"])[codes]}[labels]
    weight = np.random.default_rng(1).integers(0, 3, n).astype(float) if labels == "two" else None
    here = SVC(**options).fit(X, y, sample_weight=weight)
    found = SVC(**options).fit(there(X), there(y), sample_weight=there(weight))
    np.testing.assert_allclose(on_host(found.objective_), here.objective_, rtol=1e-3)
    assert np.all(on_host(found.dual_gap_) <= 1e-3 * on_host(found.objective_))
    scores, labels_there = found.decision_function(there(X[:200])), on_host(found.predict(there(X[:200])))
    np.testing.assert_allclose(on_host(scores), here.decision_function(X[:200]), atol=0.05)
    assert np.mean(labels_there != here.predict(X[:200])) <= 0.01
    np.testing.assert_array_equal(labels_there, pellucid.to_host(found).predict(X[:200]))
    assert [claim.name for claim in found.certificate_.claims] == [claim.name for claim in here.certificate_.claims]
    assert found.certificate_.holds
    assert pellucid.verify(found, X, y, sample_weight=weight).holds


def test_regression_is_that_in_memory():
    X, _ = problem(1500)
    y = np.sin(X[:, 0])
    here, found = SVR(C=3.0).fit(X, y), SVR(C=3.0).fit(there(X), there(y))
    np.testing.assert_allclose(on_host(found.predict(there(X))), here.predict(X), atol=0.02)
    assert found.certificate_.holds
    assert pellucid.verify(found, X, y).holds


def test_products_are_those_that_are_kept_in_memory():
    X, _ = problem(700)
    rng = np.random.default_rng(2)
    blocks = blocks_of(RBF(0.2), X, room=1e7)
    here = ProductRows(blocks, 700, size=1e7, least=64, dtype=np.dtype(np.float32))
    found = ProductsOnDevice(RBF(0.2), there(X), np.dtype(np.float32))
    for keep in (np.ones(700, dtype=bool), rng.random(700) < 0.6):
        here.narrow(keep)
        found.narrow(keep)
        places = np.sort(rng.choice(keep.sum(), 50, replace=False))
        change, slots = rng.standard_normal(50), [one.take(places) for one in (here, found)]
        tables = [one.among(own, places, 64) for one, own in zip((here, found), slots, strict=True)]
        np.testing.assert_allclose(tables[1], tables[0], atol=1e-5)
        gradients = [np.zeros(keep.sum()) for _ in range(2)]
        for one, own, gradient in zip((here, found), slots, gradients, strict=True):
            one.add_to(gradient, own, change)
        np.testing.assert_allclose(gradients[1], gradients[0], atol=1e-4)


@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")
@pytest.mark.parametrize("name", ["dual_coef_", "intercept_", "support_vectors_"])
def test_a_changed_attribute_is_noticed(name):
    X, y = problem(800)
    found = SVC().fit(there(X), there(y))
    setattr(found, name, getattr(found, name) * 1.1)
    assert not pellucid.verify(found, X, y).holds


def test_refuses_what_it_does_not_do_on_a_device():
    X, y = problem(300)
    for options, said in (
        ({"kernel": "linear"}, "kernel must not be linear"),
        ({"kernel": "laplacian"}, "kernel must be linear, poly, rbf"),
        ({"kernel": "precomputed"}, "SVC with products in place of rows"),
        ({"probability": True}, "SVC.probability=True."),
    ):
        with pytest.raises(ValueError, match=said):
            SVC(**options).fit(there(X), there(y))
    with pytest.raises(ValueError, match="The number of classes has to be greater than one"):
        SVC().fit(there(X), there(np.zeros(300, dtype=int)))
