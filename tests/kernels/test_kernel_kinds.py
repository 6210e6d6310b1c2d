"""Kernel objects as parameters: saved, loaded, cloned, refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone

import pellucid
from pellucid.core.kinds.pages import NotSaveableError, SchemaError
from pellucid.kernels import (
    RBF,
    AdditiveChi2,
    Chi2,
    Cosine,
    GivenKernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    kernel_from,
)
from pellucid.kernels.kernel_kinds import DEEPEST, KernelObject, kernel_kind
from pellucid.linear_model import KernelPerceptron

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = [0, 1, 1, 0]
KERNELS = [
    2 * RBF(0.5) + Polynomial(3),
    (RBF(0.1) + 1) * Linear() * 3,
    Polynomial(1.5, 2.0, 0.25),
    Laplacian(0.1) + Sigmoid(0.2, -1.0),
    Cosine() + Chi2(0.3) + AdditiveChi2(),
    GivenKernel(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_what_is_written_is_read_again(kernel):
    kind = KernelObject()
    assert kind.fits(kernel)
    node = json.loads(json.dumps(kind.write(kernel, None, "kernel")))
    assert kind.matches(node, None, "kernel")
    assert kind.read(node, None, "kernel") == kernel


def test_a_model_with_a_kernel_object_is_saved_loaded_and_cloned(tmp_path):
    kernel = 2 * RBF(0.5) + Polynomial(3, 1.0)
    model = KernelPerceptron(kernel).fit(X, y)
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    assert again.kernel == clone(model).kernel == kernel
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert not pellucid.verify(again, X, y).failed


def test_a_function_has_no_place_in_a_file(tmp_path):

    for kernel in (lambda a, b: float(a @ b), RBF() + kernel_from(lambda a, b: float(a @ b))):
        model = KernelPerceptron(kernel, max_iter=2).fit(X, y)
        with pytest.raises(NotSaveableError, match="kernel of pellucid.kernels to be saved"):
            pellucid.save(model, tmp_path / "model.safetensors")


def nested(levels):
    node = {"kernel": {"name": "Linear"}}
    for _ in range(levels):
        node = {"kernel": {"name": "Scaled", "factor": 2.0, "parts": [node]}}
    return node


@pytest.mark.parametrize(
    "node",
    [
        {"kernel": {"name": "os.system", "parts": []}},
        {"kernel": {"name": "RowFunction", "function": 1}},
        {"kernel": {"name": "RBF"}},
        {"kernel": {"name": "RBF", "gamma": -1.0}},
        {"kernel": {"name": "RBF", "gamma": "0.5"}},
        {"kernel": {"name": "RBF", "gamma": 0.5, "sigma": 1.0}},
        {"kernel": {"name": "Sum", "parts": []}},
        {"kernel": {"name": "Sum", "parts": [{"kernel": {"name": "Linear"}}]}},
        {"kernel": {"name": "Sum", "parts": [1, 2]}},
        {"kernel": {"name": "Scaled", "factor": -2.0, "parts": [{"kernel": {"name": "Linear"}}]}},
        {"kernel": {"name": "Scaled", "factor": 2.0, "parts": [{"kernel": {"name": "Linear"}}] * 2}},
        {"kernel": {"name": "Product", "parts": [{"kernel": {"name": "Linear"}}] * 101}},
        nested(DEEPEST + 1),
    ],
    ids=str,
)
def test_refuses_files_that_name_no_kernel(node):
    with pytest.raises(SchemaError, match="kernel must"):
        KernelObject().read(node, None, "kernel")


def test_refuses_kernels_too_deep_to_be_read_again():
    kernel = Linear()
    for _ in range(DEEPEST):
        kernel = (kernel + 1) * Linear()
    assert not KernelObject().fits(kernel)
    assert kernel_kind().fits(kernel)
    assert not kernel_kind().fits(3)
