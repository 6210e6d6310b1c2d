"""``pellucid restore``: image files of every kind, what is written, and what is refused."""

import numpy as np
import png
import pytest
import tifffile
from PIL import Image
from skimage import data

from pellucid.app.cli.application import run
from pellucid.app.pictures import ImageFile, image_bytes, read_image
from pellucid.app.pictures.image_files import ImageFileError

GRAY = data.camera()[100:148, 200:264]
COLOR = data.astronaut()[100:148, 200:264]
NOISE = np.random.default_rng(0)


def noisy(image, sigma=15.0):
    return np.clip(np.rint(image + NOISE.normal(0, sigma, image.shape)), 0, 255).astype(np.uint8)


KINDS = {
    "gray.png": noisy(GRAY),
    "color.png": noisy(COLOR),
    "color.jpg": noisy(COLOR),
    "gray.tif": noisy(GRAY),
    "deep.png": noisy(GRAY).astype(np.uint16) * 257,
    "deep_color.png": noisy(COLOR).astype(np.uint16) * 257,
    "deep.tif": noisy(COLOR).astype(np.uint16) * 257,
    "float.tif": noisy(GRAY).astype(np.float32) / 255,
    "with_opacity.png": np.dstack([noisy(COLOR), GRAY]),
}


def write(folder, name):
    kind = {"png": "PNG", "jpg": "JPEG", "tif": "TIFF"}[name.rpartition(".")[2]]
    pixels = KINDS[name]
    opacity = pixels[:, :, 3] if pixels.shape[2:] == (4,) else None
    file = folder / name
    file.write_bytes(image_bytes(ImageFile(pixels[:, :, :3] if opacity is not None else pixels, kind, opacity)))
    return file


@pytest.mark.parametrize("name", KINDS)
def test_what_is_written_is_read_again(tmp_path, name):
    read = read_image(write(tmp_path, name))
    wanted = KINDS[name]
    assert read.pixels.dtype == wanted.dtype
    if read.opacity is not None:
        assert np.array_equal(read.opacity, wanted[:, :, 3])
        wanted = wanted[:, :, :3]
    if not name.endswith("jpg"):
        assert np.array_equal(read.pixels, wanted)


def test_other_programs_read_sixteen_bits(tmp_path):
    assert np.array_equal(tifffile.imread(write(tmp_path, "deep.tif")), KINDS["deep.tif"])
    with write(tmp_path, "deep_color.png").open("rb") as file:
        width, height, rows, info = png.Reader(file=file).asDirect()
        assert (width, height, info["bitdepth"]) == (64, 48, 16)
        assert np.array_equal(np.vstack(list(rows)).reshape(48, 64, 3), KINDS["deep_color.png"])


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_is_restored_in_its_kind(tmp_path, name, capsys):
    file = write(tmp_path, name)
    assert run(["restore", str(file), "--method", "wiener", "--out", str(tmp_path / "out")]) == 0
    before, after = read_image(file), read_image(tmp_path / "out" / name)
    assert (after.pixels.dtype, after.pixels.shape, after.kind) == (
        before.pixels.dtype,
        before.pixels.shape,
        before.kind,
    )
    assert (before.opacity is None) == (after.opacity is None)
    assert not np.array_equal(before.pixels, after.pixels)
    page = (tmp_path / "out" / "restored.html").read_text(encoding="utf-8")
    assert "Certificate" in page or "certificate" in page
    assert "estimated PSNR" in page
    said = capsys.readouterr().out
    assert "holds" in said
    assert "PSNR" in said


def test_the_best_by_its_own_estimate_is_taken(tmp_path, capsys):
    file = write(tmp_path, "gray.png")
    assert run(["restore", str(file), "--sigma", "15", "--time", "40s", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "(chosen)" in said
    assert "Tikhonov" in said
    assert "chosen" in (tmp_path / "out" / "restored.html").read_text(encoding="utf-8")


def test_a_kernel_a_mask_and_a_scale_say_what_happened(tmp_path):
    file = write(tmp_path, "gray.png")
    out = str(tmp_path / "out")
    Image.fromarray(np.full((3, 3), 200, dtype=np.uint8)).save(tmp_path / "kernel.png")
    np.save(tmp_path / "kernel.npy", np.full((3, 3), 1 / 9))
    for kernel in ("kernel.png", "kernel.npy"):
        options = ["--kernel", str(tmp_path / kernel), "--sigma", "5", "--method", "wiener"]
        assert run(["restore", str(file), *options, "--out", out]) == 0
    mask = np.zeros(GRAY.shape, dtype=np.uint8)
    mask[10:14] = 255
    Image.fromarray(mask).save(tmp_path / "mask.png")
    assert run(["restore", str(file), "--mask", str(tmp_path / "mask.png"), "--method", "tikhonov", "--out", out]) == 0
    assert run(["restore", str(file), "--scale", "2", "--method", "bicubic", "--out", out]) == 0
    assert read_image(tmp_path / "out" / "gray.png").pixels.shape == (96, 128)


# errors


def refused(capsys, *arguments):
    assert run(["restore", *map(str, arguments)]) == 2
    return capsys.readouterr().err


def test_bad_input_gets_a_sentence_and_no_file(tmp_path, capsys):
    file, out = write(tmp_path, "gray.png"), tmp_path / "out"
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"this is no image")
    small = tmp_path / "small.png"
    Image.fromarray(np.zeros((3, 3), dtype=np.uint8)).save(small)
    np.save(tmp_path / "heavy.npy", np.ones((3, 3)))
    holes = tmp_path / "holes.tif"
    tifffile.imwrite(holes, np.full((9, 9), np.nan, dtype=np.float32))
    end = ["--out", out]
    assert "image must be a file, got" in refused(capsys, tmp_path / "nowhere.png", *end)
    assert "image must be a PNG, JPEG or TIFF file, got table.csv" in refused(capsys, tmp_path / "table.csv", *end)
    assert "broken.png, which cannot be read" in refused(capsys, broken, *end)
    assert "mask must have the size of the image, 48 x 64, got 3 x 3" in refused(capsys, file, "--mask", small, *end)
    assert "kernel must have a pixel that is not black" in refused(capsys, file, "--kernel", small, *end)
    assert "kernel must sum to 1, got 9" in refused(capsys, file, "--kernel", tmp_path / "heavy.npy", *end)
    assert "image must hold finite numbers, got 81" in refused(capsys, holes, "--sigma", "1", *end)
    assert "kernel and mask must not be given together" in refused(
        capsys, file, "--kernel", tmp_path / "heavy.npy", "--mask", small, *end
    )
    assert "method must be a name that is known, got 'magic'; " in refused(capsys, file, "--method", "magic", *end)
    assert "method must be one that can invert Identity, got Bicubic" in refused(
        capsys, file, "--method", "bicubic", *end
    )
    assert "out must be another folder" in refused(capsys, file, "--method", "tikhonov", "--out", tmp_path)
    assert not out.exists()
    assert np.array_equal(read_image(file).pixels, KINDS["gray.png"])


def test_arrays_that_are_no_picture_are_refused(tmp_path):
    stack = tmp_path / "stack.tif"
    tifffile.imwrite(stack, np.zeros((5, 4, 4, 3), dtype=np.uint8), photometric="rgb")
    with pytest.raises(ImageFileError, match="image must be one gray or color picture"):
        read_image(stack)
