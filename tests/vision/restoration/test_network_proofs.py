"""The proof of a network's image holds for what the network made, and for nothing else."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import pellucid
from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision import networks as proofs
from pellucid.proofs.vision.measurement import Measurement, SeenOperator
from pellucid.vision.restoration import (
    SRCNN,
    BiasFreeDnCNN,
    Blur,
    DeconvolutionNetwork,
    DnCNN,
    Downscale,
    Identity,
    denoise,
)
from pellucid.vision.restoration.networks import DeconvolutionArchitecture, DnCNNNetwork, SRCNNNetwork, gaussian_kernel
from pellucid.vision.restoration.networks.deconvolution_network import start_from_inverse

KERNEL = gaussian_kernel(1.0, 5)


def drawn_weights(network, seed=0):
    torch.manual_seed(seed)
    module = network.build().eval()
    with torch.no_grad():
        for layer in module.convolutions:
            for parameter in layer.parameters():
                parameter.copy_(0.25 * torch.randn(parameter.shape))
    return module


def deconvolver():
    module = drawn_weights(DeconvolutionArchitecture(5, 3, 9, 2, 3))
    start_from_inverse(module, KERNEL)
    return module


CASES = {
    "DnCNN": (lambda: DnCNN(drawn_weights(DnCNNNetwork(4, 5))), Identity()),
    "BiasFreeDnCNN": (lambda: BiasFreeDnCNN(drawn_weights(DnCNNNetwork(4, 5, bias=False))), Identity()),
    "SRCNN": (lambda: SRCNN(drawn_weights(SRCNNNetwork((5, 1, 3), (4, 3), 3))), Downscale(3)),
    "reflect": (lambda: DeconvolutionNetwork(deconvolver()), Blur(KERNEL, "reflect")),
    "periodic": (lambda: DeconvolutionNetwork(deconvolver()), Blur(KERNEL, "periodic")),
    "valid": (lambda: DeconvolutionNetwork(deconvolver()), Blur(KERNEL, "valid")),
}
cases = pytest.mark.parametrize("case", CASES)


def noisy(shape=(19, 23), seed=0):
    return 100.0 + 20.0 * np.random.default_rng(seed).standard_normal(shape)


def solved(case, y, sigma=5.0, peak=255.0):
    """Return a method, its image and evidence, and what was measured as the proof sees it."""
    make, operator = CASES[case]
    method = make()
    answer = method.solve(y, operator, sigma, peak)
    parts = dict(vars(operator))
    data = Measurement(y, sigma, peak, SeenOperator(operator.name, parts, answer.image.shape))
    return method, {"image": answer.image, **answer.evidence}, data


def judged(method, fitted, data, **changes):
    with drawing(0), np.errstate(all="ignore"):
        parameters = Seen(weights=method.weights, device="cpu")
        return proofs.PROVES[type(method).__name__](Seen(**{**fitted, **changes}), parameters, data)


IMAGES = {
    "noise": noisy(),
    "one pixel": np.array([[40.0]]),
    "one row": noisy((1, 17)),
    "constant": np.full((12, 12), 77.7),
    "black": np.zeros((9, 9)),
    "ramp": np.add.outer(np.arange(20.0), np.arange(20.0)),
    "float32": noisy().astype(np.float32).astype(np.float64),
    "negative": -noisy(),
    "far too bright": 1e4 * noisy(),
}


# properties


@cases
@pytest.mark.parametrize("image", IMAGES)
def test_it_does_not_cry_wolf(case, image):
    assert judged(*solved(case, IMAGES[image])).holds


@cases
@pytest.mark.parametrize("factor", [1e-9, 1 / 255, 1e9])
def test_it_holds_in_all_units(case, factor):
    assert judged(*solved(case, factor * noisy(), factor * 5.0, factor * 255.0)).holds


def test_without_noise_the_image_must_be_the_one_measured():
    method, fitted, data = solved("DnCNN", noisy(), sigma=0.0)
    assert judged(method, fitted, data).holds
    assert not judged(method, fitted, data, image=fitted["image"] + 1e-9).holds


def test_plain_sums_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    maps, weight = rng.standard_normal((2, 6, 7)), rng.standard_normal((3, 2, 3, 2))
    found = proofs._products(maps, weight)
    assert found.shape == (3, 4, 6)
    assert found[2, 1, 4] == pytest.approx(np.sum(weight[2] * maps[:, 1:4, 4:6]))


def test_a_restored_image_is_proved_by_the_verb(tmp_path):
    y = noisy()
    pellucid.save(drawn_weights(DnCNNNetwork(3, 4)), tmp_path / "own.safetensors")
    for method in (DnCNN(drawn_weights(DnCNNNetwork(3, 4))), DnCNN(str(tmp_path / "own.safetensors"))):
        found = denoise(y, 20.0, method, peak=255.0)
        assert found.certificate.holds
        assert pellucid.verify(found, y).holds


def test_a_color_image_is_proved_plane_by_plane():
    y = np.clip(noisy((10, 11, 3)), 0, 255).astype(np.uint8)
    found = denoise(y, 10.0, DnCNN(drawn_weights(DnCNNNetwork(3, 4))))
    assert found.image.shape == y.shape
    assert pellucid.verify(found, y).holds


# attacks


def shifted(image):
    image = image.copy()
    image[:8, :8] += 0.05
    return image


ATTACKS = {
    "a region a little brighter": shifted,
    "rows shuffled": lambda image: np.random.default_rng(1).permutation(image),
    "mirrored": lambda image: image[::-1].copy(),
    "brighter": lambda image: image * 1.001,
    "nan": lambda image: np.where(np.arange(image.size).reshape(image.shape) == 3, np.nan, image),
    "huge": lambda image: np.where(np.arange(image.size).reshape(image.shape) == 3, 1e200, image),
    "what was measured": lambda image: noisy(image.shape),
}


@cases
@pytest.mark.parametrize("attack", ATTACKS)
def test_it_objects_to_a_changed_image(case, attack):
    method, fitted, data = solved(case, noisy())
    assert not judged(method, fitted, data, image=ATTACKS[attack](fitted["image"])).holds


@cases
def test_it_objects_to_changed_weights(case):
    method, fitted, data = solved(case, noisy())
    for name, value in fitted.items():
        if name != "image":
            other = value.copy()
            other.flat[0] = np.nextafter(other.flat[0], np.float32(9))
            assert not judged(method, fitted, data, **{name: other}).holds, name
            assert not judged(method, {k: v for k, v in fitted.items() if k != name}, data).holds, name


@cases
def test_it_objects_to_other_weights_than_were_asked_for(case):
    method, fitted, data = solved(case, noisy())
    for other in ("0-55", "x2", "disk", "auto", "nowhere", None, method.module().convolutions):
        asked = SimpleNamespace(weights=other)
        if type(method).__name__ == "SRCNN" and other == "auto":
            continue  # scale 3 has weights of its own: below
        with drawing(0):
            found = proofs.PROVES[type(method).__name__](Seen(**fitted), Seen(**vars(asked)), data)
        assert not found.holds


def test_it_objects_to_made_weights_under_a_shipped_name():
    _, fitted, data = solved("SRCNN", noisy())
    with drawing(0):
        assert not proofs.prove_srcnn(Seen(**fitted), Seen(weights="auto"), data).holds


@cases
def test_it_objects_to_another_measured_image_or_peak(case):
    method, fitted, data = solved(case, noisy())
    for other in (
        Measurement(data.y[::-1], 5.0, 255.0, data.operator),
        Measurement(data.y, 5.0, 254.0, data.operator),
    ):
        if case == "BiasFreeDnCNN" and other.peak == 254.0:
            continue  # in its case no unit matters
        assert not judged(method, fitted, other).holds


@pytest.mark.parametrize("case", ["reflect", "periodic"])
def test_it_objects_to_another_kernel_or_border(case):
    method, fitted, data = solved(case, noisy())
    parts = dict(data.operator.parts)
    border = "periodic" if case == "reflect" else "reflect"
    for other in ({**parts, "kernel": gaussian_kernel(1.1, 5)}, {**parts, "border": border}):
        changed = Measurement(data.y, 5.0, 255.0, SeenOperator("Blur", other, data.operator.shape))
        assert not judged(method, fitted, changed).holds


def test_a_bias_among_the_weights_of_a_bias_free_network_is_seen():
    method, fitted, data = solved("BiasFreeDnCNN", noisy())
    found = judged(method, fitted, data, convolutions_0_bias=np.ones(5, np.float32))
    assert not found["biases"].holds


def test_a_filter_that_does_not_add_up_is_seen():
    weights, seen = np.full((3, 3), 1 / 9), np.arange(9.0).reshape(3, 3)
    assert proofs.prove_filter(weights, seen, 4.0).holds
    assert not proofs.prove_filter(weights, seen, 4.001).holds
    assert not proofs.prove_filter(weights * np.nan, seen, 4.0).holds


def test_a_table_with_another_number_is_seen():
    measured = {"set5 x2": 36.652, "set5 x3": 30.0}
    first, second = proofs.table_claims({"set5 x2": 36.65, "set5 x3": 32.6}, measured)
    assert first.holds
    assert not second.holds
    assert not proofs.table_claims({}, {"set5 x2": 36.6})[0].holds
