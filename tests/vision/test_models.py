"""The zoo: as many weights as the papers say, under torchvision's names, and scores of the right shape."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from pellucid.vision.models import (
    FCN,
    VGG,
    AlexNet,
    CifarDenseNet,
    CifarResNet,
    ContextModule,
    DenseNet,
    DilatedNetwork,
    EfficientNetLite0,
    EfficientUNet,
    LeNet5,
    ResNet,
    ResNetFCN,
    UNet,
    WideResNet,
    layer_table,
    stages,
)
from pellucid.vision.models.efficientnet import SameConvolution, imagenet_weights
from pellucid.vision.models.fcn import bilinear_enlargement, weights_from_vgg
from pellucid.vision.models.image_network import ImageNetwork
from pellucid.vision.models.lenet import C3_INPUTS, NearestCode, PartlyConnected, Subsampling, scaled_tanh
from pellucid.vision.models.resnet import BasicBlock, PaddedShortcut
from pellucid.vision.models.unet import middle


def on_meta(architecture):
    """Build with names and shapes, but without memory."""
    with torch.device("meta"):
        return architecture.build().eval()


def n_weights(architecture):
    return sum(weight.numel() for weight in on_meta(architecture).parameters())


# by hand


def test_a_block_whose_convolutions_are_zero_passes_positive_maps_on():
    block = BasicBlock(2, 2, 1, None).eval()
    nn.init.zeros_(block.conv2.weight)
    maps = torch.rand(1, 2, 4, 4)
    assert torch.equal(block(maps), maps)


def test_the_shortcut_without_weights_takes_every_second_pixel_and_adds_empty_maps():
    maps = torch.arange(16.0).reshape(1, 1, 4, 4)
    found = PaddedShortcut(1, 3, 2)(maps)
    assert found[0, 0].tolist() == [[0.0, 2.0], [8.0, 10.0]]
    assert not found[0, 1:].any()


def test_enlargement_starts_as_interpolation():
    # a ramp 0, 1, 2, 3 enlarged twice: away from the border each new pixel is a quarter off its neighbor's place
    ramp = torch.arange(4.0).repeat(4, 1)[None, None]
    found = bilinear_enlargement(1, 2)(ramp)[0, 0, 4, 3:7]
    torch.testing.assert_close(found, torch.tensor([1.0, 1.0, 2.0, 2.0]) + torch.tensor([-0.25, 0.25, -0.25, 0.25]))


def test_enlargement_keeps_classes_apart():
    maps = torch.zeros(1, 3, 4, 4)
    maps[:, 1] = 1.0
    found = bilinear_enlargement(3, 8)(maps)
    assert not found[:, [0, 2]].any()
    torch.testing.assert_close(found[0, 1, 8:32, 8:32], torch.ones(24, 24))  # weights of neighbors sum to 1


def test_the_middle_of_five_is_the_middle_three():
    assert middle(torch.arange(25.0).reshape(1, 1, 5, 5), torch.empty(1, 1, 3, 3))[0, 0, 0].tolist() == [6.0, 7.0, 8.0]


def test_the_published_lenet_layer_by_layer():
    table = layer_table(LeNet5(form="published"), (1, 32, 32))
    weights = {name: table.loc[name, "weights"] for name in ("C1", "S2", "C3", "S4", "C5", "F6")}
    assert weights == {"C1": 156, "S2": 12, "C3": 1516, "S4": 32, "C5": 48_120, "F6": 10_164}  # the paper's figures
    assert table.loc["total", "weights"] == 60_000


def test_subsampling_is_a_scaled_sum_of_four():
    layer = Subsampling(1)
    nn.init.constant_(layer.coefficient, 0.5)
    nn.init.constant_(layer.bias, 1.0)
    found = layer(torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
    torch.testing.assert_close(found, scaled_tanh(torch.tensor([[[[6.0]]]])))
    torch.testing.assert_close(scaled_tanh(torch.tensor(1.0)), torch.tensor(1.0), atol=1e-4, rtol=0.0)


def test_partly_connected_maps_see_only_their_inputs():
    layer = PartlyConnected(C3_INPUTS, 6, 5)
    maps = torch.zeros(1, 6, 5, 5, requires_grad=True)
    layer(maps)[0, 12].sum().backward()
    assert maps.grad[0].flatten(1).any(dim=1).tolist() == [True, True, False, True, True, False]  # 0, 1, 3, 4


def test_the_nearest_code_has_the_best_score():
    layer = NearestCode(4, 2)
    layer.codes = torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0]])
    assert layer(torch.tensor([[1.0, 1.0, 1.0, 0.0]])).tolist() == [[-1.0, -5.0]]


def test_multiply_adds_by_hand():
    table = layer_table(LeNet5(), (1, 32, 32))
    # 6 maps of 28 x 28 from 25 pixels; 16 of 10 x 10 from 6 x 25; 120 from 16 x 25; 84 from 120; 10 from 84
    expected = 6 * 28 * 28 * 25 + 16 * 100 * 150 + 120 * 400 + 120 * 84 + 840
    assert table.loc["total", "multiply_adds"] == expected


# the papers


@pytest.mark.parametrize(
    ("architecture", "count"),
    [
        (LeNet5(), 61_706),
        (AlexNet(), 61_100_840),
        (VGG("A"), 132_863_336),
        (VGG("B"), 133_047_848),
        (VGG("C"), 133_638_952),
        (VGG("D"), 138_357_544),
        (VGG("E"), 143_667_240),
        (VGG("A", batch_normalization=True), 132_868_840),
        (VGG("D", batch_normalization=True), 138_365_992),
        (ResNet(18), 11_689_512),
        (ResNet(34), 21_797_672),
        (ResNet(50), 25_557_032),
        (ResNet(101), 44_549_160),
        (ResNet(152), 60_192_808),
        (DenseNet(121), 7_978_856),
        (DenseNet(161), 28_681_000),
        (DenseNet(169), 14_149_480),
        (DenseNet(201), 20_013_928),
        (EfficientNetLite0(), 4_652_008),
        (UNet(), 31_030_658),
        (ResNetFCN(50), 35_322_218),
        (ResNetFCN(101), 54_314_346),
        (ResNetFCN(50, auxiliary=False), 35_322_218 - 2_365_205),
        (ContextModule(), 64 * 21**2 + 8 * 21),
    ],
    ids=str,
)
def test_number_of_weights(architecture, count):
    assert n_weights(architecture) == count


@pytest.mark.parametrize(
    ("architecture", "millions"),
    [
        (CifarResNet(20), "0.27"),
        (CifarResNet(32), "0.46"),
        (CifarResNet(44), "0.66"),
        (CifarResNet(56), "0.85"),
        (CifarResNet(110), "1.73"),
        (WideResNet(28, 10), "36.48"),
        (WideResNet(40, 4), "8.95"),
        (WideResNet(16, 8), "10.96"),
        (CifarDenseNet(40, 12, bottleneck=False), "1.02"),
        (CifarDenseNet(100, 12, bottleneck=False), "6.98"),
        (CifarDenseNet(100, 12), "0.77"),
        (CifarDenseNet(250, 24), "15.32"),
        (CifarDenseNet(190, 40), "25.62"),
    ],
    ids=str,
)
def test_millions_of_weights_as_the_papers_give_them(architecture, millions):
    assert f"{n_weights(architecture) / 1e6:.2f}" == millions


@pytest.mark.parametrize(
    ("architecture", "billions"),
    [(AlexNet(), 0.714), (VGG("D"), 15.470), (ResNet(18), 1.814), (ResNet(50), 4.089), (DenseNet(121), 2.834)],
    ids=str,
)
def test_multiply_adds_of_an_image_of_imagenet(architecture, billions):
    assert round(layer_table(architecture, (3, 224, 224)).loc["total", "multiply_adds"] / 1e9, 3) == billions


def test_u_net_has_23_convolutions_and_cuts_off_92_pixels_on_each_side():
    table = layer_table(UNet(), (1, 572, 572))
    assert table["kind"].isin(["Conv2d", "ConvTranspose2d"]).sum() == 23
    assert table.loc["total", "output"] == "2 x 388 x 388"


def test_the_context_module_sees_67_pixels():
    module = ContextModule(classes=1).build()
    for weight in module.parameters():
        nn.init.ones_(weight)
    maps = torch.ones(1, 1, 75, 75, requires_grad=True)
    module(maps)[0, 0, 37, 37].backward()
    assert (maps.grad[0, 0, 37] != 0).sum() == 67


def test_the_large_context_module_shares_a_class_among_its_maps():
    torch.manual_seed(0)
    first = ContextModule(classes=2, form="large").build().layers[0].weight[:, :, 1, 1]
    expected = torch.tensor([[0.5, 0.0], [0.5, 0.0], [0.0, 0.5], [0.0, 0.5]])  # C / c = 2 / 4
    torch.testing.assert_close(first, expected, atol=0.01, rtol=0.0)
    assert len(first.unique()) == 5  # 1/2, and noise elsewhere


@pytest.mark.parametrize("form", ["basic", "large"])
def test_the_context_module_starts_near_the_identity(form):
    torch.manual_seed(0)
    maps = torch.rand(1, 3, 20, 20) + 0.5
    error = (ContextModule(classes=3, form=form).build()(maps) - maps).abs().max()
    assert error <= (0.0 if form == "basic" else 0.5)


# all of them


SMALL = [
    (LeNet5(7, None), (2, 28, 28)),
    (LeNet5(7, form="published"), (1, 32, 32)),
    (AlexNet(7), (3, 64, 64)),
    (VGG("A", 7, batch_normalization=True), (3, 32, 32)),
    (ResNet(18, 7, None), (1, 32, 32)),
    (ResNet(50, 7), (3, 32, 32)),
    (CifarResNet(8, 7), (3, 32, 32)),
    (WideResNet(10, 2, 7, dropout=0.1), (3, 32, 32)),
    (DenseNet(121, 7), (3, 32, 32)),
    (CifarDenseNet(22, 4, classes=7), (3, 32, 32)),
    (CifarDenseNet(13, 4, bottleneck=False, classes=7), (3, 32, 32)),
    (EfficientNetLite0(7, None), (1, 33, 64)),
    (FCN(32, 7), (3, 50, 61)),
    (FCN(16, 7), (3, 50, 61)),
    (FCN(8, 7), (3, 33, 80)),
    (UNet(7, padding="same"), (1, 32, 48)),
    (UNet(7, padding="same", batch_normalization=True), (1, 32, 48)),
    (FCN(8, 7, width=8, batch_normalization=True), (3, 33, 80)),
    (ResNetFCN(50, 7), (3, 33, 40)),
    (DilatedNetwork(7), (3, 33, 41)),
    (DilatedNetwork(7, None, stride=4, form="basic"), (1, 33, 41)),
    (EfficientUNet(7, None), (1, 33, 41)),
    (EfficientUNet(7, enlarge=2), (3, 33, 41)),
    (ContextModule(7), (7, 9, 9)),
]


PER_PIXEL = (FCN, UNet, ContextModule, ResNetFCN, DilatedNetwork, EfficientUNet)


@pytest.mark.parametrize(("architecture", "shape"), SMALL, ids=str)
def test_scores_have_the_right_shape(architecture, shape):
    module = on_meta(architecture.for_data(shape, 7))
    scores = module(torch.empty(2, *shape, device="meta"))
    per_pixel = isinstance(architecture, PER_PIXEL)
    assert tuple(scores.shape) == ((2, 7, *shape[1:]) if per_pixel else (2, 7))


@pytest.mark.parametrize(("architecture", "shape"), SMALL, ids=str)
def test_stages_cover_every_weight_once(architecture, shape):
    module = on_meta(architecture.for_data(shape, 7))
    assert isinstance(module, ImageNetwork)
    found = [id(weight) for stage in stages(module).values() for weight in stage.parameters()]
    assert sorted(found) == sorted(id(weight) for weight in module.parameters())


@pytest.mark.parametrize(
    "architecture",
    [LeNet5(), LeNet5(form="published"), CifarResNet(8), WideResNet(10, 1), CifarDenseNet(10, 4)],
    ids=str,
)
def test_a_seed_fixes_the_weights(architecture):
    modules = []
    for _ in range(2):
        torch.manual_seed(3)
        modules.append(architecture.build())
    for one, other in zip(*(module.state_dict().values() for module in modules), strict=True):
        assert torch.equal(one, other)


def test_a_frozen_stage_stays_in_test_mode():
    module = CifarResNet(8).build()
    module.layer1.requires_grad_(False)
    module.train()
    assert not module.layer1.training
    assert module.layer2.training
    module.layer1.requires_grad_(True)
    assert module.train().layer1.training


def test_stages_of_another_module_are_its_children():
    assert list(stages(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)))) == ["0", "2"]


def test_a_vgg_becomes_the_trunk_of_an_fcn():
    vgg, fcn = on_meta(VGG("D")), on_meta(FCN(16, 21))
    found = weights_from_vgg(vgg.state_dict())
    missing, unexpected = fcn.load_state_dict(found, strict=False, assign=True)
    assert not unexpected
    assert all(name.startswith(("scores.", "enlarge.")) for name in missing)


def test_a_dilated_network_sees_as_far_with_fewer_poolings():
    # a pooling left out doubles the reach of what follows, so that the last layer of the front end reaches as far
    reaches = {stride: on_meta(DilatedNetwork(stride=stride)).fc6[0].dilation[0] * stride for stride in (8, 4, 2)}
    assert reaches == {8: 32, 4: 32, 2: 32}


def test_a_stride_traded_for_dilation_leaves_the_first_pixels_scores():
    torch.manual_seed(0)
    whole, dilated = ResNet(50, 3).build().eval(), ResNetFCN(50, 3).build().eval()
    dilated.backbone.load_state_dict({name: w for name, w in whole.state_dict().items() if not name.startswith("fc.")})
    images = torch.rand(1, 3, 64, 64)
    coarse, fine = whole.features(images)[-1], dilated.backbone.features(images)[-1]
    assert tuple(fine.shape[-2:]) == (8, 8)
    torch.testing.assert_close(fine[..., ::4, ::4], coarse, rtol=1e-3, atol=1e-4)


def test_an_odd_zero_goes_below_and_right():
    layer = SameConvolution(1, 1, 3, stride=2)
    nn.init.ones_(layer.weight)
    # rows 0 1 2 3 0: windows 0-2 and 2-4; of five pixels, zeros go on both sides
    assert layer(torch.ones(1, 1, 4, 4))[0, 0].tolist() == [[9.0, 6.0], [6.0, 4.0]]
    assert layer(torch.ones(1, 1, 5, 5))[0, 0, 0].tolist() == [4.0, 6.0, 4.0]


def test_efficient_net_gives_maps_at_four_strides():
    module = on_meta(EfficientNetLite0())
    maps = module.features(torch.empty(1, 3, 180, 240, device="meta"))
    assert [tuple(one.shape[1:]) for one in maps] == [(24, 45, 60), (40, 23, 30), (112, 12, 15), (320, 6, 8)]
    assert tuple(one.shape[1] for one in maps) == module.widths


def test_weights_of_the_package_lose_their_underscores(tmp_path):
    module = EfficientNetLite0(classes=2).build()
    state = {"._".join(("", *name.split("."))).lstrip("."): weight for name, weight in module.state_dict().items()}
    torch.save(state, tmp_path / "weights.pth")
    assert "_blocks._0._bn1._weight" in state
    found = imagenet_weights(tmp_path / "weights.pth")
    assert list(found) == list(module.state_dict())


# torchvision


NAMES = {
    AlexNet(): (16, "features.0.weight", "classifier.6.bias"),
    VGG("D"): (32, "features.0.weight", "classifier.6.bias"),
    VGG("A", batch_normalization=True): (62, "features.0.weight", "classifier.6.bias"),
    ResNet(18): (122, "conv1.weight", "fc.bias"),
    ResNet(50): (320, "conv1.weight", "fc.bias"),
    DenseNet(121): (727, "features.conv0.weight", "classifier.bias"),
}
SHAPES = {
    "features.8.weight": {AlexNet(): (256, 384, 3, 3)},
    "features.28.weight": {VGG("D"): (512, 512, 3, 3)},
    "features.26.running_mean": {VGG("A", batch_normalization=True): (512,)},
    "layer2.0.downsample.1.running_var": {ResNet(18): (128,), ResNet(50): (512,)},
    "layer4.1.bn2.num_batches_tracked": {ResNet(18): (), ResNet(50): ()},
    "layer3.5.conv3.weight": {ResNet(50): (1024, 256, 1, 1)},
    "features.denseblock3.denselayer24.conv2.weight": {DenseNet(121): (32, 128, 3, 3)},
    "features.transition2.conv.weight": {DenseNet(121): (256, 512, 1, 1)},
    "features.norm5.weight": {DenseNet(121): (1024,)},
}


@pytest.mark.parametrize("architecture", NAMES, ids=str)
def test_names_are_torchvisions(architecture):
    state = on_meta(architecture).state_dict()
    count, first, last = NAMES[architecture]
    assert (len(state), next(iter(state)), list(state)[-1]) == (count, first, last)
    for name, shapes in SHAPES.items():
        if architecture in shapes:
            assert tuple(state[name].shape) == shapes[architecture]


def namesakes():
    yield from (("alexnet", AlexNet()), ("vgg11", VGG("A")), ("vgg13", VGG("B")), ("vgg16", VGG("D")))
    yield from (("vgg19", VGG("E")), ("vgg16_bn", VGG("D", batch_normalization=True)))
    yield from ((f"resnet{depth}", ResNet(depth)) for depth in (18, 34, 50, 101, 152))
    yield from ((f"densenet{depth}", DenseNet(depth)) for depth in (121, 161, 169, 201))


@pytest.mark.parametrize(("name", "architecture"), list(namesakes()))
def test_state_dicts_of_torchvision_load(name, architecture):
    peers = pytest.importorskip("torchvision.models", reason="torchvision is no dependency of ours")
    with torch.device("meta"):
        peer = peers.get_model(name, weights=None)
    ours = on_meta(architecture)
    ours.load_state_dict(peer.state_dict(), assign=True)
    assert list(ours.state_dict()) == list(peer.state_dict())


@pytest.mark.parametrize(
    ("name", "architecture", "size"),
    [("resnet18", ResNet(18), 64), ("resnet50", ResNet(50), 64), ("densenet121", DenseNet(121), 64)],
)
def test_same_scores_as_torchvision(name, architecture, size):
    peers = pytest.importorskip("torchvision.models", reason="torchvision is no dependency of ours")
    torch.manual_seed(0)
    peer, ours = peers.get_model(name, weights=None).eval(), architecture.build().eval()
    ours.load_state_dict(peer.state_dict())
    images = torch.rand(2, 3, size, size)
    torch.testing.assert_close(ours(images), peer(images), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("name", "architecture"), [("fcn_resnet50", ResNetFCN(50)), ("fcn_resnet101", ResNetFCN(101))])
def test_pixel_scores_of_torchvision(name, architecture):
    peers = pytest.importorskip("torchvision.models.segmentation", reason="torchvision is no dependency of ours")
    torch.manual_seed(0)
    peer = getattr(peers, name)(weights=None, weights_backbone=None, num_classes=21, aux_loss=True).eval()
    ours = on_meta(architecture)
    ours.load_state_dict(peer.state_dict(), assign=True)
    assert list(ours.state_dict()) == list(peer.state_dict())
    peer.load_state_dict(ours.state_dict())
    images = torch.rand(1, 3, 45, 64)
    expected = peer(images)
    torch.testing.assert_close(ours(images), expected["out"], rtol=1e-4, atol=1e-4)
    for found, head in zip(ours.both_scores(images), ("out", "aux"), strict=True):
        torch.testing.assert_close(found, expected[head], rtol=1e-4, atol=1e-4)


# errors


def unet_of(padding, height, width):
    return on_meta(UNet(width=2, padding=padding))(torch.empty(1, 1, height, width, device="meta"))


def test_the_smallest_image_of_a_u_net_gives_the_scores_of_its_middle():
    assert unet_of("valid", 188, 204).shape == (1, 2, 4, 20)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ResNet(19), r"depth must be one of \(18, 34, 50, 101, 152\), got 19"),
        (lambda: ResNet(18, classes=0), "classes must be at least 1, got 0"),
        (lambda: CifarResNet(21), r"depth must be 6 n \+ 2, such as 20.*, got 21"),
        (lambda: WideResNet(27, 10), r"depth must be 6 n \+ 4.*, got 27"),
        (lambda: WideResNet(28, 10, dropout=1.0), "dropout must be at least 0 and below 1, got 1.0"),
        (lambda: CifarDenseNet(99, 12), r"depth must be 6 n \+ 4, such as 100, got 99"),
        (lambda: VGG("F"), "configuration must be one of .*, got 'F'"),
        (lambda: LeNet5(form="old"), "form must be one of .*, got 'old'"),
        (lambda: ResNet(18, channels=None).build(), "channels and classes must be numbers .* for_data"),
        (lambda: ContextModule(None).build(), "classes must be a number .* for_data"),
        (lambda: LeNet5().for_data((784,), 10), r"shape \(channels, height, width\), got \(784,\)"),
        (lambda: LeNet5().build()(torch.empty(1, 1, 40, 40)), "at most 32 x 32, got 40 x 40"),
        (lambda: unet_of("same", 20, 16), "must be of 16, 32, 48, ... for padding='same', got 20 x 16. Pad the images"),
        (lambda: unet_of("same", 0, 16), "got 0 x 16"),
        (lambda: unet_of("valid", 188, 200), "of 188, 204, 220, ... for padding='valid', got 188 x 200"),
        (lambda: unet_of("valid", 172, 188), "got 172 x 188"),
        (lambda: layer_table(LeNet5(), (3, 32, 32)), r"one that LeNet5\(.*\) takes, got \(3, 32, 32\)"),
    ],
)
def test_impossible_settings_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_a_depth_must_be_a_whole_number():
    with pytest.raises(TypeError, match="depth must be a whole number, got 20.0"):
        CifarResNet(20.0)


def test_a_table_needs_an_architecture():
    with pytest.raises(TypeError, match=r"architecture must be one such as LeNet5\(\), got LeNet5Network"):
        layer_table(LeNet5().build(), (1, 32, 32))


def test_settings_left_open_are_filled_by_the_data():
    assert ResNet(18, None, None).for_data((1, 28, 28), 4) == ResNet(18, 4, 1)
    assert ResNet(18).for_data((1, 28, 28), 4) == ResNet(18)
    assert ContextModule(None).for_data((4, 9, 9), 4) == ContextModule(4)
