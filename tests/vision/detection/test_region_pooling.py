"""RoI align and RoI pool: by hand, by plain loops, and as torchvision's."""

import math

import pytest

torch = pytest.importorskip("torch")

from pellucid.vision.detection.networks.region_pooling import numbered, pool_levels, roi_align, roi_pool  # noqa: E402


def plain_align(maps, box, size, scale, samples=2):
    """Read four neighbors at each sample, as the paper says."""
    image, left, top, right, bottom = box.tolist()
    left, top, right, bottom = (scale * value for value in (left, top, right, bottom))
    width, height = max(right - left, 1.0), max(bottom - top, 1.0)
    found = torch.zeros(maps.shape[1], size, size, dtype=maps.dtype)
    for row in range(size):
        for column in range(size):
            for i in range(samples):
                for j in range(samples):
                    y = top + height * (row + (i + 0.5) / samples) / size
                    x = left + width * (column + (j + 0.5) / samples) / size
                    found[:, row, column] += plain_value(maps[int(image)], y, x) / samples**2
    return found


def plain_value(maps, y, x):
    rows, columns = maps.shape[1:]
    if not (-1 <= y <= rows and -1 <= x <= columns):
        return torch.zeros(len(maps), dtype=maps.dtype)
    y, x = min(max(y, 0.0), rows - 1), min(max(x, 0.0), columns - 1)
    above, left = math.floor(y), math.floor(x)
    below, right = min(above + 1, rows - 1), min(left + 1, columns - 1)
    dy, dx = y - above, x - left
    upper = (1 - dx) * maps[:, above, left] + dx * maps[:, above, right]
    return (1 - dy) * upper + dy * ((1 - dx) * maps[:, below, left] + dx * maps[:, below, right])


def plain_pool(maps, box, size, scale):
    image, *corners = box.tolist()
    left, top, right, bottom = (round(scale * value) for value in corners)
    width, height = max(right - left + 1, 1), max(bottom - top + 1, 1)
    found = torch.zeros(maps.shape[1], size, size, dtype=maps.dtype)
    for row in range(size):
        for column in range(size):
            y = [
                min(max(top + edge, 0), maps.shape[2])
                for edge in (row * height // size, -(-(row + 1) * height // size))
            ]
            x = [
                min(max(left + edge, 0), maps.shape[3])
                for edge in (column * width // size, -(-(column + 1) * width // size))
            ]
            window = maps[int(image), :, y[0] : y[1], x[0] : x[1]]
            if window.numel():
                found[:, row, column] = window.amax(dim=(1, 2))
    return found


@pytest.fixture
def regions():
    generator = torch.Generator().manual_seed(0)
    maps = torch.randn(2, 3, 11, 14, generator=generator, dtype=torch.float64)
    corners = torch.rand(40, 2, generator=generator, dtype=torch.float64) * 100 - 10
    sides = torch.rand(40, 2, generator=generator, dtype=torch.float64) * 60
    image = torch.arange(40, dtype=torch.float64)[:, None] % 2
    return maps, torch.cat((image, corners, corners + sides), dim=1)


def test_align_is_the_mean_of_bilinear_samples(regions):
    maps, boxes = regions
    found = roi_align(maps, boxes, 3, 0.125)
    wanted = torch.stack([plain_align(maps, box, 3, 0.125) for box in boxes])
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


def test_pool_is_the_largest_value_of_each_bin(regions):
    maps, boxes = regions
    whole = boxes.clone()
    whole[:, 1:] = (whole[:, 1:] / 8).round() * 8  # halves are rounded in two ways
    found = roi_pool(maps, whole, 3, 0.125)
    assert torch.equal(found, torch.stack([plain_pool(maps, box, 3, 0.125) for box in whole]))


@pytest.mark.parametrize("pool", [roi_align, roi_pool])
def test_gradients_are_those_of_differences(pool, regions):
    maps, boxes = regions
    maps = maps[:, :1, :5, :5].clone().requires_grad_()
    inside = boxes[:4].clone()
    inside[:, 1:] = inside[:, 1:].clamp(0, 40)
    assert torch.autograd.gradcheck(lambda values: pool(values, inside, 2, 0.125), (maps,))


def test_no_region_gives_none(regions):
    maps, _ = regions
    assert roi_align(maps, torch.zeros(0, 5), 7).shape == (0, 3, 7, 7)
    assert roi_pool(maps, torch.zeros(0, 5), 7).shape == (0, 3, 7, 7)


def test_a_region_is_read_from_the_level_of_its_size():
    levels = [torch.full((1, 1, 64 // 2**k, 64 // 2**k), float(k)) for k in range(4)]
    boxes = torch.tensor([[0.0, 0.0, s, s] for s in (56.0, 112.0, 224.0, 448.0)])
    found = pool_levels(levels, [boxes], 2, (4, 8, 16, 32))
    assert found[:, 0, 0, 0].tolist() == [0.0, 1.0, 2.0, 0.0 + 3.0]


def test_boxes_are_numbered_by_their_image():
    table = numbered([torch.zeros(2, 4), torch.ones(1, 4)])
    assert table[:, 0].tolist() == [0.0, 0.0, 1.0]


def test_like_torchvision(regions):
    ops = pytest.importorskip("torchvision.ops", exc_type=(ImportError, RuntimeError))
    maps, boxes = (part.float() for part in regions)
    torch.testing.assert_close(roi_align(maps, boxes, 7, 0.125), ops.roi_align(maps, boxes, 7, 0.125, 2))
    assert torch.equal(roi_pool(maps, boxes, 7, 0.125), ops.roi_pool(maps, boxes, 7, 0.125))
