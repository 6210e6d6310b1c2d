"""Reading a network is closed: what is not known is refused, and what was read is compared with what is computed."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations

from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.neural_network import certified_radius, verify_radius
from pellucid.neural_network.robustness import certified_radius as home
from pellucid.neural_network.robustness import reading
from pellucid.proofs.neural_network.network_steps import RectifierStep
from tests.neural_network.networks import dense, inputs


class Written(nn.Module):
    """A line from 4 numbers to 4, what the test writes in between, a line to 3 scores."""

    def __init__(self, between, **parts):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last, self.between = nn.Linear(4, 4), nn.Linear(4, 3), between
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x):
        return self.last(self.between(self, self.first(x)))


def changed(x, change):
    """Return a tensor after a change of it."""
    change(x)
    return x


# by hand


def test_a_rectifier_in_place_on_a_slice_is_refused():
    # scores (2, relu(x)): at x = 0.5 class 0 leads until x reaches 2, so the radius is 1.5. With the rectifier unseen
    # the second score would be x, and with a weight of -1 below 0 for all larger x: "proved" without limit
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.line, self.scores = nn.Linear(1, 2), nn.Linear(2, 2)
            with torch.no_grad():
                for parameter, values in zip(
                    self.parameters(), ([[1.0], [-1.0]], [0.0, 0.0], [[0.0, 0.0], [1.0, 1.0]], [2.0, 0.0]), strict=True
                ):
                    parameter.copy_(torch.tensor(values))

        def forward(self, x):
            hidden = self.line(x)
            hidden[:, 1:].relu_()
            return self.scores(hidden)

    # hidden (x, relu(-x)), scores (2, x + relu(-x)) = (2, relu(x)); unseen: (2, x - x) = (2, 0), for ever class 0
    with pytest.raises(ValueError, match="a tensor after a part or another view of it was changed in place"):
        certified_radius(Network(), [[0.5]])


def test_a_whole_tensor_may_be_rectified_in_place_and_residuals_added():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.first, self.second, self.last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 3)

        def forward(self, x):
            kept = self.first(x).relu_()
            hidden = self.second(kept)
            hidden += kept
            hidden *= 0.5
            return self.last(functional.leaky_relu(hidden, 0.1, inplace=True))

    module, X = Block(), inputs(5, 4)
    network = reading.read_network(module, (4,))
    assert [step.slope for step in network.steps if isinstance(step, RectifierStep)] == [0.0, 0.1]
    assert certified_radius(module, X).certificate.holds


def test_the_first_layer_used_twice_and_tied_weights_are_read_as_often_as_they_compute():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(2)
            self.line = nn.Linear(4, 4)

        def forward(self, x):
            hidden = torch.relu(self.line(torch.relu(self.line(x))))
            return functional.linear(hidden, self.line.weight.T)[:, :3]

    module, X = Tied(), inputs(6, 4)
    weight, bias = module.line.weight.detach().double(), module.line.bias.detach().double()
    steps = reading.read_network(module, (4,)).steps
    products = [step.weight for step in steps if hasattr(step, "weight")]
    for product, expected in zip(products, (weight, weight, weight.T), strict=True):
        np.testing.assert_array_equal(product, expected.numpy())
    np.testing.assert_array_equal(steps[1].shift, bias.numpy())
    assert certified_radius(module, X).certificate.holds


def test_parametrized_weights_are_read_as_they_are_computed():
    module = parametrizations.weight_norm(nn.Linear(4, 3))
    step = reading.read_network(module, (4,)).steps[-1]
    np.testing.assert_allclose(step.weight, module.weight.detach().numpy(), rtol=1e-6)


# refused

CHANGES_IN_PLACE = {
    "another slice": lambda _, x: changed(x, lambda x: x[:, :2].mul_(2.0)),
    "setitem": lambda _, x: changed(x, lambda x: x.__setitem__((slice(None), 0), 0.0)),
    "setitem of itself": lambda _, x: changed(x, lambda x: x.__setitem__((slice(None), 0), x[:, 1])),
    "a view that is added to": lambda _, x: changed(x, lambda x: x.view(-1, 2, 2).add_(x.view(-1, 2, 2))),
    "its transpose": lambda _, x: changed(x, lambda x: x.unsqueeze(2).transpose(1, 2).relu_()),
    "clamp": lambda _, x: x.clamp_(min=0.0),
    "zero": lambda _, x: x.zero_(),
    "fill a part": lambda _, x: changed(x, lambda x: x[:, 0].fill_(1.0)),
    "copy into another": lambda _, x: torch.zeros(len(x), 4).copy_(x),
    "out": lambda _, x: torch.relu(torch.ops.aten.relu.out(x, out=torch.empty(len(x), 4))),
    "out of itself": lambda _, x: changed(x, lambda x: torch.add(x, x, out=x)),
    "a constant that takes it up": lambda _, x: torch.ones(len(x), 4).mul_(x),
    "data": lambda _, x: changed(x, lambda x: setattr(x, "data", torch.relu(x))),
    "a new shape in place": lambda _, x: x.unsqueeze_(1).squeeze_(1),
}


@pytest.mark.parametrize("name", CHANGES_IN_PLACE)
def test_changes_in_place_that_are_not_known_are_refused(name):
    with pytest.raises(ValueError, match=r"^(the )?module"):
        certified_radius(Written(CHANGES_IN_PLACE[name]), inputs(3, 4))


def test_a_module_that_changes_its_input_is_refused():
    class Changing(nn.Sequential):
        def forward(self, x):
            return super().forward(x.relu_())

    with pytest.raises(ValueError, match="module must not change its input as it computes, got relu_"):
        certified_radius(Changing(nn.Linear(4, 3)), inputs(3, 4))


LOOKS_AT_VALUES = {
    "a branch": lambda _, x: torch.relu(x) if (x > 0).all() else x,
    "a branch by a number": lambda _, x: torch.relu(x) if float(x[0, 0]) > 0 else x,
    "a branch by NumPy": lambda _, x: torch.relu(x) if x.detach().numpy().sum() > 1e6 else x,
    "a branch by a list": lambda _, x: torch.relu(x) if x.tolist()[0][0] > 1e6 else x,
    "a branch by an array": lambda _, x: torch.relu(x) if np.asarray(x)[0, 0] > 1e6 else x,
    "where": lambda _, x: torch.where(x > 0, x, 0.0),
    "places of the maxima": lambda _, x: (
        x * functional.max_pool2d(x.view(-1, 1, 2, 2), 1, return_indices=True)[1].view(-1, 4)
    ),
    "weights made of it": lambda self, x: x @ x.T @ x,
    "the constant's side": lambda _, x: torch.ones(len(x), len(x)) @ x,
    "a bias made of it": lambda _, x: torch.addmm(x, torch.ones(len(x), 4), torch.ones(4, 4)),
    "another precision": lambda _, x: x.half().float(),
    "the batch": lambda _, x: x * len(x),
    "another namespace": lambda _, x: functional.gelu(x),
    "several parts": lambda _, x: torch.cat(x.split(2, 1), 1),
}


@pytest.mark.parametrize("name", LOOKS_AT_VALUES)
def test_what_depends_on_values_in_ways_that_are_not_known_is_refused(name):
    with pytest.raises(ValueError, match=r"^(the )?module"):
        certified_radius(Written(LOOKS_AT_VALUES[name]), inputs(3, 4))


@pytest.mark.parametrize(
    ("between", "sentence"),
    [
        (lambda _, x: functional.dropout(x, 0.5, training=True), "got empty_like|random numbers"),
        (lambda _, x: x * torch.rand(4), "module must not draw random numbers as it predicts, got rand"),
        (lambda _, x: x * float(np.random.default_rng().random()), "must compute the same each time"),
    ],
)
def test_chance_is_refused(between, sentence):
    with pytest.raises(ValueError, match=sentence):
        certified_radius(Written(between), inputs(3, 4))


def test_dropout_in_training_mode_is_read_as_it_predicts():
    module, X = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.ReLU(), nn.Linear(4, 3)), inputs(5, 4)
    radii = certified_radius(module.train(), X).radii
    assert module.training
    np.testing.assert_array_equal(radii, certified_radius(module.eval(), X).radii)


def count_calls(self, x):
    self.calls += 1
    return x


def replace_buffer(self, x):
    self.shift = self.shift * 1.0
    return x


@pytest.mark.parametrize(
    ("between", "sentence"),
    [
        (count_calls, "module must not change itself as it computes, but calls is another one afterwards"),
        (replace_buffer, "module must not change itself as it computes, but shift is another one afterwards"),
        (lambda self, x: (self.shift.add_(1.0), x)[1], "module must not change itself as it computes, got add_"),
        (lambda self, x: (self.shift.data.mul_(0.9), x)[1], "module must not change itself as it computes, got mul_"),
        (lambda self, x: (self.first.weight.detach().zero_(), x)[1], "module must not change itself as it computes"),
    ],
)
def test_a_module_that_changes_itself_is_refused(between, sentence):
    with pytest.raises(ValueError, match=sentence):
        certified_radius(Written(between, calls=0, shift=nn.Buffer(torch.zeros(4))), inputs(3, 4))


@pytest.mark.parametrize(
    "register",
    [
        lambda layer: layer.register_forward_hook(lambda _layer, _args, output: -output),
        lambda layer: layer.register_forward_pre_hook(lambda _layer, args: (-args[0],)),
        lambda layer: layer.register_full_backward_hook(lambda *_: None),
        lambda layer: layer.register_full_backward_pre_hook(lambda *_: None),
    ],
)
def test_hooks_are_refused(register):
    module = dense()
    handle = register(module[2])
    with pytest.raises(ValueError, match=r"module must have no hooks, got \w+_hooks of 2\. Remove them"):
        certified_radius(module, inputs(3, 4))
    handle.remove()
    assert certified_radius(module, inputs(3, 4)).certificate.holds


def test_hooks_of_all_modules_are_refused():
    handle = nn.modules.module.register_module_forward_hook(lambda _layer, _args, output: output)
    try:
        with pytest.raises(ValueError, match="torch must have no hooks for all modules"):
            certified_radius(dense(), inputs(3, 4))
    finally:
        handle.remove()


def test_a_module_that_cannot_be_differentiated_cannot_be_attacked():
    module = dense()
    module.forward = torch.no_grad()(module.forward)
    with pytest.raises(ValueError, match="module must let torch differentiate its scores"):
        certified_radius(module, inputs(3, 4))


# what is read is compared with what is computed


STATE = {"is_rectified": False}


def far_from_zero(_, x):
    """Rectify where numbers are read behind torch's back: by a state that the module does not own."""
    return torch.relu(x) if STATE["is_rectified"] else x


@pytest.mark.parametrize("arithmetic", ["module", "exact"])
def test_a_module_that_computes_otherwise_than_it_was_read_gets_no_radius(monkeypatch, arithmetic):
    def read_then_change(*arguments):
        network = reading.read_network(*arguments)
        monkeypatch.setitem(STATE, "is_rectified", True)
        return network

    monkeypatch.setattr(home, "read_network", read_then_change)
    module, X = Written(far_from_zero), inputs(4, 4)
    with pytest.raises(ValueError, match="module must do what was read of it, or no radius is claimed, got"):
        certified_radius(module, X, arithmetic=arithmetic)


def unseen_rectifiers(*arguments):
    """Read a network as one that forgets its rectifiers: right at the inputs if these open all of them."""
    network = reading.read_network(*arguments)
    steps = [
        RectifierStep(step.sources, step.shape, 1.0) if isinstance(step, RectifierStep) else step
        for step in network.steps
    ]
    return type(network)(tuple(steps), network.module_precision)


def shut_beyond(limit):
    """A network with scores (2, relu(x)) and an input where the rectifier is open: class 0 until x is 2."""
    module = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 2))
    with torch.no_grad():
        values = ([[1.0], [-1.0]], [0.0, limit], [[0.0, 0.0], [1.0, 1.0]], [limit + 2.0, 0.0])
        for parameter, value in zip(module.parameters(), values, strict=True):
            parameter.copy_(torch.tensor(value))
    return module


@pytest.mark.parametrize("norm", ["inf", 2])
def test_scores_within_the_radius_show_what_the_inputs_do_not(monkeypatch, norm):
    # x + relu(1 - x) is 1 up to x = 1, and at x = 0.5 both rectifiers are open: without them the second score is 1
    # for ever, and class 0 with score 3 is never left; in truth x = 3 does
    module = shut_beyond(1.0)
    with monkeypatch.context() as patched:
        patched.setattr(home, "read_network", unseen_rectifiers)
        with pytest.raises(ValueError, match=r"no radius is claimed, got (scores within the radius|attack)"):
            certified_radius(module, [[0.5]], norm=norm)
        with pytest.warns(UncertifiedWarning) as warned:
            certificate = verify_radius(module, [[0.5]], [1e4], norm=norm)
        assert certificate["margin at the radius"].holds
        assert certificate["nominal scores"].holds
        assert not certificate["scores within the radius"].holds
        assert not certificate["attack"].holds
        assert len(warned) == 2
    assert certified_radius(module, [[0.5]], norm=norm).radii[0] <= 2.5


def test_verify_tries_other_points_each_time_unless_told():
    module, X = dense(), inputs(4, 4)
    radii = certified_radius(module, X).radii
    first, again, other = (verify_radius(module, X, radii, random_state=seed) for seed in (0, 0, 1))
    assert first == again
    assert first["scores within the radius"].value != other["scores within the radius"].value


# what the tests of reading are worth


def lazy_aliases(recorder, changed):
    """Forget nothing when a part of a tensor is changed."""


@pytest.mark.parametrize(
    ("target", "broken", "between"),
    [
        ("_Recorder._forget_aliases", lazy_aliases, lambda _, x: changed(x, lambda x: x[:, :2].relu_())),
        ("_refuse_hooks", lambda module: None, None),
        ("_own_state", lambda module: iter(()), count_calls),
        ("BATCHES", (3, 3), LOOKS_AT_VALUES["the batch"]),
    ],
)
def test_each_guard_is_what_refuses(monkeypatch, target, broken, between):
    module = Written(between or (lambda _, x: x), calls=0)
    if between is None:
        module.first.register_forward_hook(lambda *_: None)
    with pytest.raises(ValueError, match=r"^(the )?module"):
        reading.read_network(module, (4,))
    monkeypatch.setattr(f"pellucid.neural_network.robustness.reading.{target}", broken)
    reading.read_network(module, (4,))
