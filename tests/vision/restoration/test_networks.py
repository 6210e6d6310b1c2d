"""Networks as architectures and as methods of restoration."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.ndimage import correlate

import pellucid
from pellucid.proofs.vision.networks import DIGESTS, digest
from pellucid.vision.restoration import (
    SRCNN,
    BiasFreeDnCNN,
    Blur,
    DeconvolutionNetwork,
    DnCNN,
    Downscale,
    Identity,
    bicubic_resize,
    denoise,
    filter_behind,
    psnr,
    upscale,
    verify_table,
)
from pellucid.vision.restoration.networks import (
    DeconvolutionArchitecture,
    DnCNNNetwork,
    SRCNNNetwork,
    disk_kernel,
    fused,
    gaussian_kernel,
)
from pellucid.vision.restoration.networks.deconvolution_network import inverse_kernel, start_from_inverse
from pellucid.vision.restoration.networks.network_runs import tiles
from pellucid.vision.restoration.networks.shipped import WEIGHTS, evidence_of, record_of_shipped
from pellucid.vision.restoration.networks.tables import shipped_table

METHODS = (DnCNN, BiasFreeDnCNN, SRCNN, DeconvolutionNetwork)


def picture(height=40, width=50, seed=0):
    """Return a made image: a bright disk on a ramp, with noise."""
    rows, columns = np.mgrid[:height, :width]
    clean = 60.0 + 2.0 * columns + 80.0 * ((rows - height / 2) ** 2 + (columns - width / 2) ** 2 < 100)
    return clean, clean + 15.0 * np.random.default_rng(seed).standard_normal(clean.shape)


def small(bias=True, depth=3, width=4, seed=0):
    torch.manual_seed(seed)
    module = DnCNNNetwork(depth, width, bias=bias).build()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape))
    return module.eval()


# by hand


def test_a_network_of_one_tap_per_layer_is_what_it_is_by_hand():
    module = DnCNNNetwork(depth=2, width=1).build()
    with torch.no_grad():
        for layer, tap, bias in zip(module.convolutions, (2.0, 0.5), (-3.0, 1.0), strict=True):
            layer.weight.zero_()
            layer.weight[0, 0, 1, 1] = tap
            layer.bias.fill_(bias)
    # y - (relu(2 y - 3) / 2 + 1): 5 -> 5 - 4.5, 1 -> 1 - 1
    found = DnCNN(weights=module).solve(np.array([[5.0, 1.0]]), Identity(), 1.0, 1.0).image
    np.testing.assert_allclose(found, [[0.5, 0.0]], atol=1e-6)


def test_beyond_the_borders_of_a_denoiser_stand_zeros():
    module = DnCNNNetwork(depth=2, width=1, bias=False).build()
    with torch.no_grad():
        for layer in module.convolutions:
            layer.weight.fill_(1.0)
    # layer 1 of [1, 1]: [2, 2]; layer 2: [4, 4]; 1 - 4 = -3
    found = DnCNN(weights=module).solve(np.ones((1, 2)), Identity(), 1.0, 1.0).image
    np.testing.assert_allclose(found, [[-3.0, -3.0]])


def test_the_counts_of_weights_are_those_of_the_papers():
    counts = [sum(w.numel() for w in net.build().parameters()) for net in (DnCNNNetwork(bias=False), SRCNNNetwork())]
    assert counts == [664_704, 57_184 + 64 + 32 + 1]


def test_a_disk_has_area_one_and_a_gaussian_is_symmetric():
    for kernel in (disk_kernel(5.0), gaussian_kernel(2.0, 17)):
        assert kernel.sum() == pytest.approx(1.0)
        np.testing.assert_array_equal(kernel, kernel[::-1])
        np.testing.assert_array_equal(kernel, kernel.T)


# properties


@pytest.mark.parametrize("bias", [True, False])
def test_a_fused_network_answers_as_the_normalized_one(bias):
    torch.manual_seed(0)
    module = DnCNNNetwork(depth=4, width=5, bias=bias, normalized=True).build().train()
    images = torch.rand(6, 1, 12, 12)
    for _ in range(5):
        module(images)  # statistics move
    module.eval()
    plain = fused(module)
    assert not plain.architecture.normalized
    torch.testing.assert_close(plain(images), module(images), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "network",
    [DnCNNNetwork(3, 4), DnCNNNetwork(3, 4, bias=False), SRCNNNetwork((3, 1, 3), (4, 2), 3)]
    + [DeconvolutionArchitecture(3, 2, 5, 2, 3)],
)
def test_a_network_comes_back_from_its_file(network, tmp_path):
    module = network.build().eval()
    pellucid.save(module, tmp_path / "network.safetensors")
    again = pellucid.load(tmp_path / "network.safetensors")
    assert again.architecture == network
    images = torch.rand(1, 1, 24, 24)
    assert torch.equal(again(images), module(images))


def test_tiles_cover_a_plane_once():
    seen = np.zeros((70, 33), dtype=int)
    for rows, columns in tiles(seen.shape, 16):
        seen[rows, columns] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (5, 1), (37, 41)])
def test_tiles_change_no_answer(shape, monkeypatch):
    y = np.random.default_rng(0).uniform(0, 255, shape)
    blur = Blur(gaussian_kernel(1.0, 3), "periodic")
    torch.manual_seed(0)
    deconvolver = DeconvolutionArchitecture(3, 2, 5, 2, 3).build()
    start_from_inverse(deconvolver, blur.kernel)
    enlarger = SRCNNNetwork((3, 1, 3), (4, 2), 2).build()
    runs = [
        (DnCNN(weights=small()), Identity()),
        (SRCNN(weights=enlarger), Downscale(2)),
        (DeconvolutionNetwork(weights=deconvolver), blur),
    ]
    whole = [method.solve(y, operator, 5.0, 255.0).image for method, operator in runs]
    monkeypatch.setattr("pellucid.vision.restoration.networks.network_runs.LEAST_TILE", 7)
    for (method, operator), image in zip(runs, whole, strict=True):
        assert image.shape == operator.restored_shape(shape)
        np.testing.assert_allclose(method.solve(y, operator, 5.0, 255.0).image, image, atol=1e-3)


@pytest.mark.parametrize("factor", [1e-6, 1 / 255, 3.0, 1e9])
def test_units_of_the_image_do_not_matter(factor):
    _, y = picture()
    method = DnCNN(weights=small())
    once = method.solve(y, Identity(), 15.0, 255.0).image
    scaled = method.solve(factor * y, Identity(), factor * 15.0, factor * 255.0).image
    np.testing.assert_allclose(scaled, factor * once, rtol=1e-4, atol=factor * 1e-3)


@pytest.mark.parametrize("factor", [0.01, 7.0])
def test_a_network_without_biases_scales_with_its_image(factor):
    _, y = picture()
    method = BiasFreeDnCNN(weights=small(bias=False))
    found = [method.solve(a * y, Identity(), 15.0, 255.0).image / a for a in (1.0, factor)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-3)


def test_without_noise_a_denoiser_gives_the_image_back():
    _, y = picture()
    assert np.array_equal(DnCNN().solve(y, Identity(), 0.0, 255.0).image, y)


def test_the_same_bits_come_from_one_thread_and_two():
    _, y = picture(80, 90)
    before, found = torch.get_num_threads(), []
    for count in (1, 2):
        torch.set_num_threads(count)
        found.append(DnCNN(weights=small(width=16)).solve(y, Identity(), 15.0, 255.0).image)
    torch.set_num_threads(before)
    assert np.array_equal(*found)


def test_the_deconvolution_network_starts_as_the_inverse_of_its_blur():
    kernel = gaussian_kernel(1.0, 7)
    module = DeconvolutionArchitecture(7, 8, 31, 2, 2).build()
    start_from_inverse(module, kernel)
    with torch.no_grad():
        for layer in module.convolutions:
            layer.weight.zero_()
    clean, _ = picture()
    y = Blur(kernel).apply(clean)
    found = DeconvolutionNetwork(weights=module).solve(y, Blur(kernel), 0.0, 255.0).image
    wanted = correlate(y, inverse_kernel(kernel, 31)[::-1, ::-1], mode="reflect")
    np.testing.assert_allclose(found, wanted, atol=0.02)
    assert psnr(clean, found, peak=255) > psnr(clean, y, peak=255) + 2.5


def test_the_filter_behind_a_pixel_adds_up_to_it():
    _, y = picture()
    method = BiasFreeDnCNN(weights=small(bias=False))
    image = method.solve(y, Identity(), 15.0, 255.0).image
    for pixel in ((0, 0), (20, 33), (39, 49)):
        found = filter_behind(method, y, pixel, peak=255.0)
        assert found.certificate.holds
        assert np.sum(found.weights * y[found.rows, found.columns]) == pytest.approx(image[pixel], abs=1e-3)


# what ships


def test_shipped_weights_are_small_and_their_digests_are_in_the_proof():
    for method in METHODS:
        for name, file in method.files.items():
            assert (WEIGHTS / f"{file}.safetensors").stat().st_size <= 3_000_000
            assert digest(evidence_of(method(weights=name).module())) == DIGESTS[method.__name__, name]


def test_the_record_of_weights_says_how_they_were_made():
    for method in METHODS:
        for file in method.files.values():
            record = record_of_shipped(file)
            assert record["images"] == "train400"
            assert {"seed", "steps", "minutes", "card", "torch", "table"} <= set(record)
            assert record["minutes"] <= 10


def test_shipped_tables_are_above_what_others_publish():
    assert shipped_table(DnCNN())["bsd68 sigma 25"] > 29.0
    assert shipped_table(SRCNN())["set5 x2"] > 36.3
    assert shipped_table(BiasFreeDnCNN())["bsd68 sigma 90"] > shipped_table(DnCNN("0-10"))["bsd68 sigma 90"] + 10


def test_shipped_networks_denoise_and_enlarge_a_photograph():
    sklearn = pytest.importorskip("sklearn.datasets")
    clean = sklearn.load_sample_image("flower.jpg")[180:252, 250:334].mean(axis=2)
    noisy = clean + 25.0 * np.random.default_rng(0).standard_normal(clean.shape)
    found = denoise(noisy, 25.0, DnCNN(), estimate_psnr=False)
    assert psnr(clean, found.estimate, peak=255) > psnr(clean, noisy, peak=255) + 3.5
    reduced = Downscale(3).apply(clean)
    found = upscale(reduced, 3, method=SRCNN())
    assert psnr(clean, found.estimate, peak=255) > psnr(clean, bicubic_resize(reduced, 3), peak=255) + 0.3


def test_a_table_is_measured_again_and_found_wrong_on_other_images(tmp_path):
    from PIL import Image

    (tmp_path / "set5").mkdir()
    clean, _ = picture(48, 48)
    Image.fromarray(np.clip(clean, 0, 255).astype(np.uint8)).save(tmp_path / "set5" / "made.png")
    certificate = verify_table(SRCNN("x2"), tmp_path)
    assert [claim.name for claim in certificate.claims] == ["set5 x2"]
    assert not certificate.holds


# errors


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: DnCNN(weights="0-99").module(), r"weights must be one of \('0-55', '0-10'\).*no such file"),
        (lambda: DnCNN(weights=SRCNNNetwork().build()).module(), "weights must be those of a DnCNNNetwork"),
        (lambda: BiasFreeDnCNN(weights=small()).module(), "without biases"),
        (lambda: DnCNN(device="abacus"), "device must be"),
        (lambda: SRCNN().solve(np.ones((4, 4)), Downscale(5), 0.0, 1.0), r"scale must be 2, 3 or 4.*Bicubic"),
        (
            lambda: SRCNN("x2").solve(np.ones((4, 4)), Downscale(3), 0.0, 1.0),
            "trained for the scale 3, got those for 2",
        ),
        (
            lambda: DeconvolutionNetwork().solve(np.ones((9, 9)), Blur(gaussian_kernel(2.0, 11)), 0.0, 1.0),
            "kernel must be the one that the network was trained for.*TotalVariation",
        ),
        (lambda: SRCNNNetwork((9, 4, 5)), "sizes must be odd"),
        (lambda: filter_behind(BiasFreeDnCNN(), np.ones((4, 4)), (4, 0)), "pixel must be a row and a column"),
        (lambda: verify_table(SRCNN(), "nowhere"), "rows must be some of"),
        (lambda: shipped_table(DnCNN(weights=small())), "weights must be shipped"),
    ],
)
def test_wrong_input_gets_a_sentence(wrong, said):
    with pytest.raises(ValueError, match=said):
        wrong()


def test_a_damaged_file_gets_a_sentence(tmp_path):
    path = tmp_path / "weights.safetensors"
    content = bytearray((WEIGHTS / "srcnn_x2.safetensors").read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"weights must be a file of pellucid.save.*altered"):
        SRCNN(weights=str(path)).module()


def test_a_network_with_biases_has_no_filter():
    with pytest.raises(TypeError, match="BiasFreeDnCNN, got DnCNN"):
        filter_behind(DnCNN(), np.ones((4, 4)), (0, 0))
