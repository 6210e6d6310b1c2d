"""What is worked by hand is what torch computes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pellucid.neural_network import show_batch_norm, show_network, show_softmax, show_training_step

torch = pytest.importorskip("torch")
nn = torch.nn

ACTIVATIONS = {
    "identity": nn.Identity(),
    "relu": nn.ReLU(),
    "leaky_relu": nn.LeakyReLU(),
    "elu": nn.ELU(),
    "tanh": nn.Tanh(),
    "logistic": nn.Sigmoid(),
    "sigmoid": nn.Sigmoid(),
    "gelu": nn.GELU(),
}
LOSSES = {
    "identity": lambda scores, y: ((scores - torch.tensor(y)) ** 2).sum() / 2,
    "softmax": lambda scores, y: nn.functional.cross_entropy(scores[None], torch.tensor([y])),
    "logistic": lambda scores, y: nn.functional.binary_cross_entropy_with_logits(
        scores, torch.tensor(y, dtype=torch.float64), reduction="sum"
    ),
    "exp": lambda scores, y: (torch.exp(scores) - torch.tensor(y) * scores).sum(),
}
TARGETS = {"identity": [0.5, -1.0], "softmax": 1, "logistic": [1, 0], "exp": [2.0, 1.0]}


def compared(activation, output):
    rng = np.random.default_rng(3)
    coefs = [rng.standard_normal(shape).round(2) for shape in ((3, 4), (4, 2), (2, 2))]
    intercepts = [rng.standard_normal(size).round(2) for size in (4, 2, 2)]
    x = [0.5, -1.25, 2.0]
    work = show_network(coefs, intercepts, x, TARGETS[output], activation=activation, output=output)
    weights = [torch.tensor(W, requires_grad=True) for W in coefs]
    biases = [torch.tensor(b, requires_grad=True) for b in intercepts]
    h = torch.tensor(x, dtype=torch.float64)
    for k, (W, b) in enumerate(zip(weights, biases, strict=True)):
        h = h @ W + b
        h = ACTIVATIONS[activation](h) if k < 2 else h
    loss = LOSSES[output](h, TARGETS[output])
    loss.backward()
    return work.answer, loss.item(), weights, biases


@pytest.mark.parametrize(
    ("activation", "output"),
    [(name, "identity") for name in ACTIVATIONS] + [("tanh", name) for name in ("softmax", "logistic", "exp")],
)
def test_networks_have_the_gradients_of_torch(activation, output):
    answer, loss, weights, biases = compared(activation, output)
    for ours, peer in zip(answer["coefs"], weights, strict=True):
        np.testing.assert_allclose(np.array(ours, float), peer.grad.numpy(), rtol=1e-10, atol=1e-13)
    for ours, peer in zip(answer["intercepts"], biases, strict=True):
        np.testing.assert_allclose(np.array(ours, float), peer.grad.numpy(), rtol=1e-10, atol=1e-13)
    if output != "exp":  # torch leaves out what does not depend on the network
        assert float(answer["loss"]) == pytest.approx(loss, rel=1e-12)


def test_softmax_has_the_gradient_of_torch():
    answer = show_softmax([3, 1, 0.2], 2).answer
    scores = torch.tensor([3.0, 1.0, 0.2], dtype=torch.float64, requires_grad=True)
    loss = nn.functional.cross_entropy(scores[None], torch.tensor([2]))
    loss.backward()
    assert float(answer["loss"]) == pytest.approx(loss.item(), rel=1e-14)
    np.testing.assert_allclose(np.array(answer["gradient"], float), scores.grad.numpy(), rtol=1e-13)


def test_batch_norm_is_that_of_torch_in_both_modes():
    X, gamma, beta, new = [[1, 2], [3, 1], [5, 6]], [2, 0.5], [0, 1], [4, 4]
    answer = show_batch_norm(X, gamma, beta, new=new).answer
    layer = nn.BatchNorm1d(2, dtype=torch.float64)
    layer.weight.data, layer.bias.data = (torch.tensor(part, dtype=torch.float64) for part in (gamma, beta))
    output = layer(torch.tensor(X, dtype=torch.float64)).detach().numpy()
    np.testing.assert_allclose(np.array(answer["output"], float), output, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.array(answer["running_mean"], float), layer.running_mean.numpy(), rtol=1e-14)
    np.testing.assert_allclose(np.array(answer["running_variance"], float), layer.running_var.numpy(), rtol=1e-14)
    layer.eval()
    tested = layer(torch.tensor([new], dtype=torch.float64)).detach().numpy()[0]
    np.testing.assert_allclose(np.array(answer["test_output"], float), tested, rtol=1e-12)


@cache
def three_steps():
    return show_training_step(steps=3).answer


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("SGD", lambda theta: torch.optim.SGD([theta], lr=0.1)),
        ("Momentum", lambda theta: torch.optim.SGD([theta], lr=0.1, momentum=0.9)),
        ("Adam", lambda theta: torch.optim.Adam([theta], lr=0.1, eps=0.0)),
    ],
)
def test_training_steps_are_those_of_torch(name, method):
    theta = torch.tensor([0.0, 0.0, 1.0, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = method(theta)
    for point in three_steps()[name]:
        np.testing.assert_allclose(np.array(point, float), theta.detach().numpy(), rtol=1e-10)
        optimizer.zero_grad()
        b, c, u, w = theta
        ((u * torch.relu(2 * w + b) + c - 3) ** 2 / 2).backward()
        optimizer.step()
