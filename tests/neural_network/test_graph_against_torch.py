"""Gradients of random graphs are those of torch's autograd."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.neural_network import Graph, variable
from pellucid.neural_network.graph import exp, log, maximum, relu, sigmoid, tanh, total

torch = pytest.importorskip("torch")

BINARY = {
    "add": (lambda u, v: u + v, torch.add),
    "subtract": (lambda u, v: u - v, torch.sub),
    "multiply": (lambda u, v: u * v, torch.mul),
    "divide": (lambda u, v: u / (v * v + 1), lambda u, v: u / (v * v + 1)),
    "max": (maximum, torch.maximum),
}
UNARY = {
    "negate": (lambda u: -u, torch.neg),
    "square": (lambda u: u**2, lambda u: u**2),
    "cube": (lambda u: u**3, lambda u: u**3),
    "relu": (relu, torch.relu),
    "tanh": (tanh, torch.tanh),
    "sigmoid": (sigmoid, torch.sigmoid),
    "exp": (lambda u: exp(tanh(u)), lambda u: torch.exp(torch.tanh(u))),
    "log": (lambda u: log(u * u + 1), lambda u: torch.log(u * u + 1)),
}
NUMBERS = [Fraction(k, 2) for k in range(-4, 5)]


def trees():
    leaf = st.sampled_from(["x", "y", "z"])
    return st.recursive(
        leaf,
        lambda inner: (
            st.tuples(st.sampled_from(sorted(UNARY)), inner) | st.tuples(st.sampled_from(sorted(BINARY)), inner, inner)
        ),
        max_leaves=8,
    )


def built(tree, leaves, side):
    if isinstance(tree, str):
        return leaves[tree]
    name, *parts = tree
    table = UNARY if len(parts) == 1 else BINARY
    return table[name][side](*(built(part, leaves, side) for part in parts))


@settings(max_examples=200, deadline=None)
@given(trees(), st.lists(st.sampled_from(NUMBERS), min_size=3, max_size=3))
def test_gradients_are_those_of_torch(tree, numbers):
    point = dict(zip("xyz", numbers, strict=True))
    tensors = {name: torch.tensor(float(v), dtype=torch.float64, requires_grad=True) for name, v in point.items()}
    peer = built(tree, tensors, 1)
    if not torch.isfinite(peer) or abs(peer.item()) > 1e12:
        return
    peer.backward()
    nodes = {name: variable(name) for name in "xyz"}
    graph = Graph(built(tree, nodes, 0))
    graph = graph.at(**{name: point[name] for name in graph.variables})
    assert float(graph.value) == pytest.approx(peer.item(), rel=1e-11, abs=1e-11)
    for name in graph.variables:
        assert float(graph.gradients[name]) == pytest.approx(tensors[name].grad.item(), rel=1e-8, abs=1e-8)


SHAPES = st.sampled_from([(), (3,), (1, 3), (2, 1), (2, 3)])


@settings(max_examples=60, deadline=None)
@given(SHAPES, SHAPES, st.sampled_from(sorted(BINARY)), st.integers(0, 99))
def test_shapes_that_are_stretched_get_summed_gradients(left, right, name, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(left), rng.standard_normal(right)
    X, Y = (torch.tensor(v, requires_grad=True) for v in (x, y))
    BINARY[name][1](X, Y).sum().backward()
    graph = Graph(total(BINARY[name][0](variable("x"), variable("y"))), x=x, y=y)
    np.testing.assert_allclose(graph.gradients["x"], X.grad.numpy(), rtol=1e-12)
    np.testing.assert_allclose(graph.gradients["y"], Y.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,))])
def test_products_of_matrices_and_vectors_have_the_gradients_of_torch(shapes):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape) for shape in shapes)
    A, B = (torch.tensor(v, requires_grad=True) for v in (a, b))
    torch.tanh(A @ B).sum().backward()
    graph = Graph("sum(tanh(a @ b))", a=a, b=b)
    np.testing.assert_allclose(graph.gradients["a"], A.grad.numpy(), rtol=1e-12)
    np.testing.assert_allclose(graph.gradients["b"], B.grad.numpy(), rtol=1e-12)


def test_a_network_of_matrices_has_the_gradients_of_torch():
    rng = np.random.default_rng(1)
    point = {"X": (4, 3), "W1": (3, 5), "b1": (5,), "W2": (5, 2), "b2": (2,)}
    point = {name: rng.standard_normal(shape) for name, shape in point.items()}
    graph = Graph("sum((relu(X @ W1 + b1) @ W2 + b2).T ** 2) / 8", **point)
    tensors = {name: torch.tensor(value, requires_grad=True) for name, value in point.items()}
    hidden = torch.relu(tensors["X"] @ tensors["W1"] + tensors["b1"])
    (((hidden @ tensors["W2"] + tensors["b2"]) ** 2).sum() / 8).backward()
    for name, tensor in tensors.items():
        np.testing.assert_allclose(graph.gradients[name], tensor.grad.numpy(), rtol=1e-12)
