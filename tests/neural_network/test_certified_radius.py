"""Certified radii: exact where they can be worked out, never attacked with success, refused when made larger."""

from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.neural_network import attack, certified_radius, verify_radius
from pellucid.neural_network.robustness import certified_radius as home
from pellucid.neural_network.robustness import radius_solvers
from pellucid.proofs.neural_network import robustness
from tests.neural_network.networks import convolutional, dense, inputs, predicted, residual

NORMS = ("inf", 2)
ZOO = {
    "dense": (lambda: dense(), (4,)),
    "deep": (lambda: dense(1, hidden=(7, 6, 5)), (4,)),
    "leaky": (lambda: dense(2, activation="leaky_relu"), (4,)),
    "maxout": (lambda: dense(3, activation="maxout", pieces=3, initialization="xavier"), (4,)),
    "normalized": (lambda: dense(4, batch_normalization=True, dropout=0.5), (4,)),
    "one output": (lambda: dense(6, outputs=1), (4,)),
    "averages": (lambda: convolutional(), (2, 9, 8)),
    "residual": (lambda: residual(), (2, 6, 6)),
    "maxima": (lambda: convolutional(1, nn.MaxPool2d(3, stride=2, padding=1)), (2, 9, 8)),
}
each_network = pytest.mark.parametrize("name", ZOO)
each_norm = pytest.mark.parametrize("norm", NORMS)


def made(name, n=12):
    build, shape = ZOO[name]
    return build(), inputs(n, *shape)


def classes(module, X):
    with torch.no_grad():
        scores = module(torch.as_tensor(X))
    return ((scores > 0).long().squeeze(1) if scores.shape[1] == 1 else scores.argmax(1)).numpy()


# by hand


@pytest.mark.parametrize(("norm", "dual"), [("inf", 1), (2, 2)])
def test_a_linear_network_has_its_exact_radius(norm, dual):
    # the margin to class j is (w_c - w_j) x + b_c - b_j, and within r it falls by r times the dual norm of w_c - w_j
    module, X = dense(0, inputs=6, outputs=4, hidden=()), inputs(9, 6)
    W, b = (parameter.detach().double().numpy() for parameter in module.parameters())
    scores = X.double().numpy() @ W.T + b
    order = scores.argmax(1)
    exact = []
    for row, c in enumerate(order):
        others = [j for j in range(4) if j != c]
        exact.append(min((scores[row, c] - scores[row, j]) / np.linalg.norm(W[c] - W[j], dual) for j in others))
    found = certified_radius(module, X, norm=norm, arithmetic="exact", tol=1e-8)
    np.testing.assert_array_equal(found.classes, order)
    np.testing.assert_allclose(found.radii, exact, rtol=2e-8)
    assert (found.radii < exact).all()


def test_one_rectifier_worked_by_hand():
    # score = relu(x) - 1 at x = 3: positive until x falls to 1, so the radius is 2; the rectifier is open only
    # below 0, so that linear bounds are exact
    module = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1))
    with torch.no_grad():
        for layer, bias in ((module[0], 0.0), (module[2], -1.0)):
            layer.weight.fill_(1.0)
            layer.bias.fill_(bias)
    found = certified_radius(module, [[3.0], [-1.0]], arithmetic="exact", tol=1e-7)
    assert found.classes.tolist() == [1, 0]
    # from -1 up to 1 + r: relu <= line through (-1 - r, 0) and (r - 1, r - 1); it reaches 1 at r = 2, exactly
    np.testing.assert_allclose(found.radii, [2.0, 2.0], rtol=1e-6)


def test_the_lower_slope_of_an_open_rectifier_is_1_if_the_upper_part_is_longer():
    # margin relu(x) + 0.1 at x = 1, r = 1.05: slope 1 gives 1 - 1.05 + 0.1 > 0, slope 0 gives 0.1 > 0; at r = 3 only
    # slope 0 (area rule) keeps it: the radius is unlimited
    module = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1))
    with torch.no_grad():
        for layer, bias in ((module[0], 0.0), (module[2], 0.1)):
            layer.weight.fill_(1.0)
            layer.bias.fill_(bias)
    for radius in (1.05, 3.0, 1e6):
        # between them there is a stretch where the slope of the smaller area is not the better one
        assert verify_radius(module, [[1.0]], [radius], arithmetic="exact").holds


def test_what_the_modules_rounding_could_change_is_not_claimed():
    # 100 products of 1000 cancel but for 1: exactly, 0.01 more or less of each input decides; in float32, sums of
    # numbers that large may be off by more than 1
    module = nn.Linear(100, 1)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([1.0, -1.0]).repeat(50)[None])
        module.bias.fill_(1.0)
    X = np.full((1, 100), 1000.0)
    np.testing.assert_allclose(certified_radius(module, X, arithmetic="exact", tol=1e-6).radii, 0.01, rtol=1e-5)
    assert certified_radius(module, X, arithmetic="module").radii == 0
    assert certified_radius(module.double(), X, arithmetic="module").radii > 0.0099


# properties


@each_norm
@each_network
def test_no_attack_succeeds_within_the_radius_and_some_do_beyond(name, norm):
    module, X = made(name)
    found = certified_radius(module, X, norm=norm)
    assert found.certificate.grade == "bounded"
    assert found.certificate.holds
    assert (found.radii > 0).mean() > 0.7
    np.testing.assert_array_equal(found.classes, classes(module, X))
    near = attack(module, X, radius=found.radii, norm=norm, steps=20, restarts=5)
    changes = (near.astype(float) - X.numpy()).reshape(len(X), -1)
    assert (np.linalg.norm(changes, np.inf if norm == "inf" else 2, axis=1) <= found.radii).all()
    np.testing.assert_array_equal(classes(module, near), found.classes)
    far = attack(module, X, radius=found.radii * 30 + 1, norm=norm, steps=20, restarts=5)
    assert (classes(module, far) != found.classes).mean() > 0.5


@pytest.mark.parametrize("seed", range(5))
def test_all_corners_and_many_points_of_the_box_keep_the_class(seed):
    module, X = dense(seed, inputs=3), inputs(6, 3, seed=seed)
    found = certified_radius(module, X)
    corners = torch.tensor(list(product((-1.0, 0.0, 1.0), repeat=3)))
    points = torch.cat([corners, torch.rand(2000, 3) * 2 - 1])
    for row, radius, own in zip(X, found.radii, found.classes, strict=True):
        assert (classes(module, row + points * float(radius)) == own).all()


@each_norm
@each_network
def test_linear_bounds_reach_at_least_as_far_as_intervals(name, norm):
    module, X = made(name)
    linear, interval = (certified_radius(module, X, norm=norm, method=kind).radii for kind in ("linear", "interval"))
    assert (linear >= interval * (1 - 0.02)).all()
    has_open_signs = home.read_network(module, tuple(X.shape[1:])).narrowed()
    assert linear.mean() >= (1.01 if has_open_signs else 1.0) * interval.mean()


@each_network
def test_exact_arithmetic_reaches_at_least_as_far_as_the_modules_own(name):
    module, X = made(name)
    exact, own = (certified_radius(module, X, arithmetic=kind, tol=1e-5).radii for kind in ("exact", "module"))
    assert (exact >= own * (1 - 1e-3)).all()  # slopes chosen for a slightly larger ball may be slightly better


def test_larger_weights_make_smaller_radii():
    module, X = dense(0, hidden=(8,)), inputs(8, 4)
    radii = [certified_radius(module, X, arithmetic="exact", tol=1e-4).radii]
    with torch.no_grad():
        for _ in range(2):
            module[0].weight.mul_(2.0)
            module.eval()
            # the same inputs at half the scale have the same hidden layer, and half the radius
            X = X / 2
            radii.append(certified_radius(module, X, arithmetic="exact", tol=1e-4).radii)
    np.testing.assert_allclose(radii[1], radii[0] / 2, rtol=3e-4)
    np.testing.assert_allclose(radii[2], radii[0] / 4, rtol=3e-4)


@each_norm
def test_a_module_in_float64_and_its_float32_twin_have_nearly_the_same_radii(norm):
    module, X = dense(), inputs(6, 4)
    single = certified_radius(module, X, norm=norm, tol=1e-5).radii
    double = certified_radius(module.double(), X, norm=norm, tol=1e-5).radii
    np.testing.assert_allclose(single, double, rtol=1e-3)
    assert (single <= double * (1 + 1e-4)).all()


@each_network
def test_verify_proves_the_radii_again_and_refuses_larger_ones(name):
    module, X = made(name)
    found = certified_radius(module, X)
    assert verify_radius(module, X, found.radii).holds
    row = int(np.argmax(found.radii))
    larger = found.radii.copy()
    larger[row] *= 1.05
    with pytest.warns(UncertifiedWarning):
        assert not verify_radius(module, X, larger)["margin at the radius"].holds


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.1, 1e200])
def test_senseless_radii_are_never_proved(wrong):
    module, X = made("dense")
    radii = certified_radius(module, X).radii
    radii[0] = wrong
    with pytest.warns(UncertifiedWarning):
        assert not verify_radius(module, X, radii)["margin at the radius"].holds


def test_verify_refuses_radii_of_another_network_or_of_other_rows():
    module, X = made("dense")
    radii = certified_radius(module, X).radii
    with pytest.warns(UncertifiedWarning):
        assert not verify_radius(dense(7), X, radii).holds
    with pytest.warns(UncertifiedWarning):
        assert not verify_radius(module, X.flip(0), radii).holds


def test_the_proof_refuses_other_classes_than_those_predicted():
    module, X = made("dense")
    radii = certified_radius(module, X).radii
    network, rows, scores = home._read(module, X)
    settings = {"trials": home._tried(module, X, radii, np.inf), "norm": np.inf, "arithmetic": "module"}
    assert robustness.prove_radii(network, rows, scores, radii, **settings).holds
    swapped = scores[:, [1, 2, 0]]
    assert not robustness.prove_radii(network, rows, swapped, radii, **settings).holds


@pytest.mark.parametrize("wrong", [np.nan, 1e200, 1e308])
def test_nothing_is_proved_about_a_network_with_senseless_weights(wrong):
    module, X = made("dense")
    module.double()
    radii = certified_radius(module, X).radii
    with torch.no_grad():
        module[2].weight[0, 0] = wrong
    with pytest.warns(UncertifiedWarning):
        assert not verify_radius(module, X, radii).holds


def test_one_row_alone_has_the_radius_it_has_among_others():
    module, X = made("averages", 5)
    together = certified_radius(module, X).radii
    alone = [certified_radius(module, row[None]).radii[0] for row in X]
    np.testing.assert_allclose(alone, together, rtol=0.02)


def test_many_rows_in_little_memory_are_the_same(monkeypatch):
    module, X = made("deep", 20)
    whole = certified_radius(module, X)
    monkeypatch.setattr("pellucid.neural_network.robustness.linear_bounds.MEMORY", 1)
    monkeypatch.setattr("pellucid.proofs.neural_network.proved_bounds.TOGETHER", 2)
    monkeypatch.setattr(home, "ROWS", 3)
    np.testing.assert_allclose(certified_radius(module, X).radii, whole.radii, rtol=0.02)


def test_a_row_on_the_border_of_two_classes_has_radius_0():
    module = dense(0, inputs=2, outputs=2, hidden=())
    with torch.no_grad():
        module[0].weight.copy_(torch.eye(2))
        module[0].bias.zero_()
    found = certified_radius(module, [[1.0, 1.0]])
    assert found.radii.tolist() == [0.0]
    assert found.certificate.grade == "none"
    assert found.certificate.reason == "No row has a radius above 0."


def test_a_search_that_hopes_for_too_much_is_put_right_by_the_proof(monkeypatch):
    module, X = made("dense")
    honest = certified_radius(module, X)

    def greedy(bounds, n_rows, tol):
        return radius_solvers.largest_radii(bounds, n_rows, tol) * 1.05

    monkeypatch.setattr(home, "largest_radii", greedy)
    found = certified_radius(module, X)
    assert found.certificate.holds
    assert (found.radii <= honest.radii * 1.03).all()
    assert verify_radius(module, X, found.radii).holds


def test_the_nominal_claim_sees_a_network_that_was_read_wrongly(monkeypatch):
    module, X = made("dense")
    other = home.read_network(dense(9), (4,))
    monkeypatch.setattr(home, "read_network", lambda *_: other)
    with pytest.raises(ValueError, match="module must do what was read of it, or no radius is claimed, got nominal"):
        certified_radius(module, X)


def test_an_estimator_is_read_by_its_module_and_names_its_classes():
    class Fitted:
        module_ = dense()
        classes_ = np.array(["ant", "bee", "cat"])

    X = inputs(5, 4)
    found = certified_radius(Fitted(), X)
    np.testing.assert_array_equal(found.classes, Fitted.classes_[predicted(Fitted.module_, X)])


def test_modes_of_the_layers_are_left_alone():
    module, X = made("normalized")
    module.train()
    module[1].eval()
    modes = [layer.training for layer in module.modules()]
    first = certified_radius(module, X)
    attack(module, X, radius=0.1)
    assert [layer.training for layer in module.modules()] == modes
    np.testing.assert_array_equal(first.radii, certified_radius(module.eval(), X).radii)


def test_certified_accuracy_counts_right_rows_with_a_large_enough_radius():
    found = home.CertifiedRadii(np.array([0.1, 0.2, 0.3]), np.array([0, 1, 1]), 2.0, None)
    np.testing.assert_allclose(found.certified_accuracy([0, 1, 0], [0.0, 0.15, 0.25]), [2 / 3, 1 / 3, 0])


def test_the_search_finds_where_any_falling_function_proves_itself():
    roots = torch.tensor([0.0, 1e-9, 0.3, 7.0, 1e8], dtype=torch.float64)
    for shape in (lambda t: 2 - t, lambda t: 2 - t**3, lambda t: 2 - t.sqrt(), lambda t: 2 - torch.exp(20 * (t - 1))):

        class Falling:
            def provable(self, rows, radii, shape=shape):
                return torch.where(roots[rows] > 0, roots[rows] * shape(radii / roots[rows]), -1.0)

            estimated = provable

        found = radius_solvers.largest_radii(Falling(), 5, 1e-3)
        assert (found <= roots).all()
        np.testing.assert_allclose(found, roots, rtol=1.1e-3)


# errors


@pytest.mark.parametrize(
    ("layer", "sentence"),
    [
        (nn.Sigmoid(), r"steps whose bounds are known, got sigmoid\. Known are linear maps"),
        (nn.Softmax(1), "got _softmax"),
        (nn.LeakyReLU(1.5), "leaky_relu .* cannot be read: its slope is 1.5, and slopes between 0 and 1 are known"),
    ],
)
def test_a_step_without_bounds_is_named(layer, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        certified_radius(nn.Sequential(nn.Linear(4, 3), layer), inputs(2, 4))


def test_what_a_module_computes_counts_not_what_it_looks_like():
    class Half(nn.Sequential):
        def forward(self, x):
            return 0.5 * super().forward(x[:, 1:])

    module, X = Half(*dense(0, inputs=3)).eval(), inputs(6, 4)
    found = certified_radius(module, X)
    assert found.certificate.holds
    np.testing.assert_allclose(found.radii, certified_radius(dense(0, inputs=3), X[:, 1:]).radii, rtol=0.02)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda x: x + x.roll(1, 0), "got roll"),
        (lambda x: x.reshape(1, -1), r"module must keep rows apart, got view that makes \(1, 12\) of a batch"),
        (lambda x: x * x, "the module.s mul cannot be read: its other arguments must be constant"),
    ],
)
def test_a_module_that_mixes_rows_or_multiplies_them_is_refused(change, sentence):
    class Changed(nn.Module):
        def __init__(self):
            super().__init__()
            self.line = nn.Linear(4, 3)

        def forward(self, x):
            x = change(x)
            return self.line(x if x.shape[1] == 4 else x.reshape(-1, 4))

    with pytest.raises((TypeError, ValueError), match=sentence):
        certified_radius(Changed(), inputs(3, 4))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([[1.0, np.nan, 0.0, 0.0]], "X must be finite, got NaN or infinity"),
        ([[1.0, 1e60, 0.0, 0.0]], "X must be finite, got NaN or infinity"),
        ([1.0, 2.0], r"X must be numbers of shape \(n_samples, ...\), got shape \(2,\)"),
        ([["a", "b"]], "X must be numbers"),
        ([[1.0, 2.0]], r"X must have the shape that the module takes, got \(1, 2\)"),
    ],
)
def test_bad_inputs_are_refused(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        certified_radius(dense(), X)


def test_bad_settings_are_refused():
    module, X = made("dense", 2)
    for settings, sentence in (
        ({"norm": 1}, "norm must be 'inf' or 2, got 1"),
        ({"method": "magic"}, "method must be one of"),
        ({"arithmetic": "decimal"}, "arithmetic must be one of"),
        ({"tol": 0.0}, "tol must be between"),
    ):
        with pytest.raises(ValueError, match=sentence):
            certified_radius(module, X, **settings)
    with pytest.raises(ValueError, match="radii must be one number for each of 2 rows"):
        verify_radius(module, X, [0.1])
    with pytest.raises(TypeError, match="model must be a torch module or a fitted network with module_, got str"):
        certified_radius("network", X)
    with pytest.raises(ValueError, match="one score per class"):
        certified_radius(nn.Conv2d(2, 2, 1), inputs(1, 2, 3, 3))
