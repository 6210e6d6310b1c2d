"""Restored images: how good and how fast, beside scikit-image, OpenCV and, on x86, the package bm3d.

``PELLUCID_IMAGES=FOLDER python -m benchmarks restoration [--only denoise|blur|inpaint|upscale|sigma|interval|growth]``
prints the tables of quality; FOLDER holds bsd68, set12, set5, set14 and kernels. ``PELLUCID_EVERY=8`` takes every
eighth image, ``PELLUCID_METHODS=BM3D,DnCNN`` these methods. Noise is neither clipped nor rounded, and drawn from the
number of the image.
"""

from __future__ import annotations

import os
import platform
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from skimage import restoration as peer

from benchmarks.harness import OURS, Row
from pellucid.vision import restoration as ours
from pellucid.vision.restoration.choosing import candidates
from pellucid.vision.restoration.images import luminance
from pellucid.vision.restoration.operators import Operator
from pellucid.vision.restoration.restoring import settle

SIGMAS = (15, 25, 50)
BLUR_NOISE = (2.55, 7.65)
PEAK = 255.0
Denoiser = Callable[[np.ndarray, float], np.ndarray]


def pictures(name: str) -> list[np.ndarray]:
    """Return the images of a set, some of them if so wished."""
    from PIL import Image

    folder = Path(os.environ.get("PELLUCID_IMAGES", ""))
    files = sorted((folder / name).glob("*.png")) if os.environ.get("PELLUCID_IMAGES") else []
    return [np.asarray(Image.open(file)) for file in files[:: int(os.environ.get("PELLUCID_EVERY", "1"))]]


def is_wanted(name: str) -> bool:
    """Return whether a method is among those asked for; all are if none is."""
    asked = os.environ.get("PELLUCID_METHODS", "")
    return not asked or name in asked.split(",")


def noisy(image: np.ndarray, sigma: float, number: int) -> np.ndarray:
    return image + np.random.default_rng(number).normal(0.0, sigma, image.shape)


def by(method: ours.Restoration) -> Denoiser:
    return lambda y, sigma: method.solve(y, ours.Identity(), sigma, PEAK).image


def denoisers() -> dict[str, Denoiser]:
    """Return ours and the peers', each with the parameters it chooses by itself or its documentation recommends."""
    found: dict[str, Denoiser] = {name: by(getattr(ours, name)()) for name in DENOISERS if name in ours.__all__}
    found |= {
        "scikit-image wavelet": lambda y, s: peer.denoise_wavelet(
            y, sigma=s, method="BayesShrink", rescale_sigma=False
        ),
        "scikit-image NLM": lambda y, s: peer.denoise_nl_means(
            y, patch_size=5, patch_distance=6, h=0.8 * s, sigma=s, fast_mode=True
        ),
        "scikit-image TV": _best_tv,
    }
    if platform.machine() == "x86_64":
        import bm3d

        found["bm3d"] = lambda y, s: bm3d.bm3d(y, s)
    return found


DENOISERS = (
    "Tikhonov",
    "Wiener",
    "TotalVariation",
    "DCTThresholding",
    "WaveletThresholding",
    "NonLocalMeans",
    "BM3D",
    "DictionaryDenoising",
    "DnCNN",
    "BiasFreeDnCNN",
)


def _best_tv(y: np.ndarray, sigma: float) -> np.ndarray:
    """Return scikit-image's with the weight that ours chose: it has no way to choose one."""
    weight = ours.TotalVariation().solve(y, ours.Identity(), sigma, PEAK).chosen["weight"]
    return peer.denoise_tv_chambolle(y, weight=weight)


def report(console: Console, only: str) -> None:
    """Print the tables of quality."""
    if not pictures("set12"):
        console.print("PELLUCID_IMAGES must be a folder with bsd68, set12, set5, kernels to print quality.")
        return
    for name, table in TABLES.items():
        if only in name:
            console.print(table(console))


def _table(title: str, *heads: str) -> Table:
    table = Table(title=title)
    for k, head in enumerate(heads):
        table.add_column(head, justify="left" if k == 0 else "right")
    return table


def denoising(console: Console) -> Table:
    """Return mean PSNRs on BSD68 and Set12, and seconds for an image of BSD68."""
    table = _table("Denoising, mean PSNR", "method", *(f"{s} {k}" for s in ("BSD68", "Set12") for k in SIGMAS), "s")
    for name, denoise in denoisers().items():
        if not is_wanted(name):
            continue
        cells, seconds = [], []
        for folder in ("bsd68", "set12"):
            clean = pictures(folder)
            for sigma in SIGMAS:
                found = []
                for k, image in enumerate(clean):
                    y = noisy(image, sigma, k)
                    start = time.perf_counter()
                    x = denoise(y, sigma)
                    seconds += [time.perf_counter() - start] if folder == "bsd68" else []
                    found.append(ours.psnr(image.astype(float), x, peak=PEAK))
                cells.append(f"{np.mean(found):.2f}")
        table.add_row(name, *cells, f"{np.median(seconds):.2f}")
        console.print(name, *cells)
    return table


def noise_levels(_: Console) -> Table:
    """Return how far estimates of sigma are off, in percent of it."""
    table = _table("estimate_sigma on BSD68: mean and standard deviation of estimate / truth", "sigma", "ours", "peer")
    for sigma in (2, 5, 10, *SIGMAS):
        pair = [
            [estimate(noisy(image, sigma, k)) / sigma for k, image in enumerate(pictures("bsd68"))]
            for estimate in (ours.estimate_sigma, peer.estimate_sigma)
        ]
        table.add_row(str(sigma), *(f"{np.mean(one):.3f} ± {np.std(one):.3f}" for one in pair))
    return table


def intervals(_: Console) -> Table:
    """Return how often the interval of the estimated PSNR holds the true one."""
    table = _table("Estimated PSNR, BSD68, sigma 25", "method", "held, sigma known", "held, estimated", "mean error")
    for method in candidates(ours.Identity()):
        if not is_wanted(type(method).__name__):
            continue
        held: dict[bool, list[bool]] = {True: [], False: []}
        off = []
        for k, image in enumerate(pictures("bsd68")):
            y = noisy(image, 25.0, k)
            for is_known in held:
                found = ours.denoise(y, 25.0 if is_known else None, method, peak=PEAK, random_state=k)
                true = ours.psnr(image.astype(float), found.estimate, peak=PEAK)
                held[is_known].append(found.psnr.low <= true <= found.psnr.high)
                off += [found.psnr.value - true] if is_known else []
        shares = [f"{100 * np.mean(one):.0f} %" for one in held.values()]
        table.add_row(type(method).__name__, *shares, f"{np.mean(off):+.3f}")
    return table


def deblurring(console: Console) -> Table:
    """Return mean PSNRs of Set12, blurred by the kernels of Levin et al. around a ring."""
    kernels = np.load(Path(os.environ["PELLUCID_IMAGES"]) / "kernels" / "levin09_kernels.npz")
    table = _table("Deblurring, 8 Levin kernels x Set12, mean PSNR", "method", *(f"sigma {s}" for s in BLUR_NOISE))
    methods = _deblurrers()
    found: dict[str, list[list[float]]] = {name: [[] for _ in BLUR_NOISE] for name in methods}
    for place, sigma in enumerate(BLUR_NOISE):
        for number, name in enumerate(sorted(kernels.files)):
            operator = ours.Blur(kernels[name], "periodic")
            for k, image in enumerate(pictures("set12")):
                clean = image.astype(float)
                y = noisy(operator.apply(clean), sigma, 100 * number + k)
                for which, deblur in methods.items():
                    found[which][place].append(ours.psnr(clean, deblur(y, operator, sigma), peak=PEAK))
        console.print({name: round(float(np.mean(values[place])), 2) for name, values in found.items()})
    for name, values in found.items():
        table.add_row(name, *(f"{np.mean(one):.2f}" for one in values))
    return table


def _deblurrers() -> dict[str, Callable[[np.ndarray, ours.Blur, float], np.ndarray]]:
    def by_method(method: object) -> Callable[[np.ndarray, Operator, float], np.ndarray]:
        return lambda y, operator, sigma: method.solve(y, operator, sigma, PEAK).image

    found = {type(one).__name__: by_method(one) for one in (ours.Wiener(), ours.Tikhonov(), ours.TotalVariation())}
    found["PlugAndPlay(BM3D)"] = by_method(ours.PlugAndPlay(ours.BM3D()))
    if "DnCNN" in ours.__all__:
        found["PlugAndPlay(DnCNN)"] = by_method(ours.PlugAndPlay(ours.DnCNN()))
    found["scikit-image wiener, best of 7 balances"] = _best_wiener
    found["scikit-image unsupervised_wiener"] = lambda y, o, s: (  # noqa: ARG005
        PEAK * peer.unsupervised_wiener(y / PEAK, o.kernel, rng=0, clip=False)[0]
    )
    found["scikit-image richardson_lucy, 30 rounds"] = _richardson_lucy
    return found


def _richardson_lucy(y: np.ndarray, operator: ours.Blur, _sigma: float) -> np.ndarray:
    """Return scikit-image's with the image continued around the ring: it takes zeros for what lies beyond."""
    pad = max(operator.kernel.shape)
    around = np.clip(np.pad(y, pad, mode="wrap") / PEAK, 0, 1)
    return PEAK * peer.richardson_lucy(around, operator.kernel, num_iter=30)[pad:-pad, pad:-pad]


def _best_wiener(y: np.ndarray, operator: ours.Blur, sigma: float) -> np.ndarray:
    """Return what scikit-image's filter gives with the balance whose residual is as large as the noise."""
    tried = [PEAK * peer.wiener(y / PEAK, operator.kernel, 10.0**k, clip=False) for k in range(-4, 3)]
    return min(tried, key=lambda x: abs(np.std(y - operator.apply(x)) - sigma))


def inpainting(console: Console) -> Table:
    """Return mean PSNRs of Set12 with half of the pixels missing, of all pixels."""
    import cv2

    def by_opencv(y: np.ndarray, mask: ours.Mask, way: int) -> np.ndarray:
        return cv2.inpaint(np.clip(y, 0, 255).astype(np.uint8), mask.missing.astype(np.uint8), 3, way).astype(float)

    methods: dict[str, Callable[[np.ndarray, ours.Mask], np.ndarray]] = {}
    chosen = [ours.Tikhonov(), ours.TotalVariation(), ours.PlugAndPlay(ours.BM3D())]
    chosen += [ours.PlugAndPlay(ours.DnCNN())] if "DnCNN" in ours.__all__ else []
    chosen += [ours.DictionaryDenoising()] if "DictionaryDenoising" in ours.__all__ else []
    for one in chosen:
        name = type(one).__name__ + (f"({type(one.denoiser).__name__})" if hasattr(one, "denoiser") else "")
        methods[name] = lambda y, mask, one=one: one.solve(y, mask, 0.0, PEAK).image
    methods["scikit-image biharmonic"] = lambda y, mask: peer.inpaint_biharmonic(y, mask.missing)
    methods["OpenCV Telea"] = lambda y, mask: by_opencv(y, mask, cv2.INPAINT_TELEA)
    methods["OpenCV Navier-Stokes"] = lambda y, mask: by_opencv(y, mask, cv2.INPAINT_NS)
    table = _table("Inpainting, half of the pixels missing, Set12", "method", "mean PSNR", "seconds")
    for name, fill in methods.items():
        found, start = [], time.perf_counter()
        images = pictures("set12")
        for k, image in enumerate(images):
            mask = ours.Mask(np.random.default_rng(k).random(image.shape) < 0.5)
            clean = image.astype(float)
            found.append(ours.psnr(clean, fill(mask.apply(clean), mask), peak=PEAK))
        table.add_row(name, f"{np.mean(found):.2f}", f"{(time.perf_counter() - start) / len(images):.2f}")
        console.print(name, f"{np.mean(found):.2f}")
    return table


def enlarging(_: Console) -> Table:
    """Return PSNRs of the luminance, borders of ``scale`` pixels left out, as the tables of super-resolution do."""
    methods = ["Bicubic", *(["SRCNN"] if "SRCNN" in ours.__all__ else [])]
    scales = (2, 3, 4)
    table = _table(
        "Super-resolution, mean PSNR of Y", "method", *(f"{s} x{k}" for s in ("Set5", "Set14") for k in scales)
    )
    for name in methods:
        cells = []
        for folder in ("set5", "set14"):
            for scale in scales:
                found = [_enlarged_psnr(name, image, scale) for image in pictures(folder)]
                cells.append(f"{np.mean(found):.2f}")
        table.add_row(name, *cells)
    return table


def _enlarged_psnr(name: str, image: np.ndarray, scale: int) -> float:
    whole = np.clip(np.rint(luminance(image)), 0, 255)
    whole = whole[: whole.shape[0] // scale * scale, : whole.shape[1] // scale * scale]
    small = np.clip(np.rint(ours.Downscale(scale).apply(whole)), 0, 255)
    large = getattr(ours, name)().solve(small, ours.Downscale(scale), 0.0, PEAK).image
    inner = (slice(scale, -scale),) * 2
    return ours.psnr(whole[inner], np.clip(np.rint(large), 0, 255)[inner], peak=PEAK)


def growth(_: Console) -> Table:
    """Return seconds and the largest memory, in images, for images of growing size."""
    sides = (128, 256, 512, 1024)
    table = _table(
        "Growth: seconds a million pixels; memory in images of float64", "method", *map(str, sides), "memory"
    )
    base = np.tile(pictures("set12")[0], (4, 4)).astype(float)
    for name in (one for one in DENOISERS if one in ours.__all__):
        method, cells, memory = getattr(ours, name)(), [], 0.0
        for side in sides:
            y = noisy(base[:side, :side], 25.0, 0)
            settled = settle(method, method.solve(y[:128, :128], ours.Identity(), 25.0, PEAK).chosen)
            start = time.perf_counter()
            settled.solve(y, ours.Identity(), 25.0, PEAK)
            cells.append(f"{(time.perf_counter() - start) / (side**2 / 1e6):.2f}")
            if side == 512:
                tracemalloc.start()
                settled.solve(y, ours.Identity(), 25.0, PEAK)
                memory = tracemalloc.get_traced_memory()[1] / y.nbytes
                tracemalloc.stop()
        table.add_row(name, *cells, f"{memory:.1f}")
    return table


TABLES = {
    "denoise": denoising,
    "sigma": noise_levels,
    "interval": intervals,
    "blur": deblurring,
    "inpaint": inpainting,
    "upscale": enlarging,
    "growth": growth,
}


def _scene(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an image made of edges and texture, clean and noisy: speed needs no photograph."""
    i, j = np.mgrid[:side, :side] / side
    clean = 120 + 60 * np.sign(np.sin(9 * i + 4 * j)) + 30 * np.sin(60 * i * j) + 25 * (((i - 0.5) ** 2 + j**2) < 0.2)
    return clean, noisy(clean, 25.0, 0)


WEIGHT = 20.0
NLM = {"patch_size": 5, "patch_distance": 6, "h": 20.0}
THEIR_NLM = NLM | {"h": 16.0}
"""Scikit-image adds the squares of 16 pixels and divides by 25."""


def _objective_of_tv(scene: tuple[np.ndarray, np.ndarray], x: np.ndarray) -> float:
    across, down = (np.pad(np.diff(x, axis=a), [(0, int(a == 0)), (0, int(a == 1))]) for a in (1, 0))
    return float(0.5 * np.sum((x - scene[1]) ** 2) + WEIGHT * np.sum(np.hypot(across, down)))


def _loss_of_quality(scene: tuple[np.ndarray, np.ndarray], x: np.ndarray) -> float:
    return -ours.psnr(scene[0], x, peak=PEAK)


def rows() -> Iterator[Row]:
    """Yield the races."""
    import cv2

    accuracy = 0.01 / float(np.ptp(_scene(512)[1]))
    tv, nlm = by(ours.TotalVariation(weight=WEIGHT, accuracy=accuracy)), by(ours.NonLocalMeans(**NLM))
    in_bytes = np.clip(np.rint(_scene(512)[1]), 0, 255).astype(np.uint8)
    yield Row(
        "TV 512 x 512, to 0.01 gray levels; the peer to its own stop",
        lambda: _scene(512),
        {
            OURS: lambda scene: tv(scene[1], 25.0),
            "scikit-image": lambda scene: peer.denoise_tv_chambolle(scene[1], WEIGHT),
        },
        _objective_of_tv,
    )
    yield Row(
        "NLM 512 x 512",
        lambda: _scene(512),
        {
            OURS: lambda scene: nlm(scene[1], 25.0),
            "scikit-image fast": lambda scene: peer.denoise_nl_means(scene[1], **THEIR_NLM, sigma=25.0, fast_mode=True),
            "OpenCV, 8 bits": lambda _: cv2.fastNlMeansDenoising(in_bytes, None, 20.0, 5, 13).astype(float),
        },
        _loss_of_quality,
    )
    if platform.machine() == "x86_64":
        import bm3d

        ours_bm3d = by(ours.BM3D())
        yield Row(
            "BM3D 512 x 512",
            lambda: _scene(512),
            {OURS: lambda scene: ours_bm3d(scene[1], 25.0), "bm3d": lambda scene: bm3d.bm3d(scene[1], 25.0)},
            _loss_of_quality,
            slack=1e-3,
        )
