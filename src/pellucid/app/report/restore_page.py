"""The page about a restored image: before and after under a slider, what was removed, and how good it is."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

import numpy as np

import pellucid
from pellucid.app.pictures import RestoredFile
from pellucid.app.report.page import Origin, page_template, versions
from pellucid.core.types import Array
from pellucid.proofs.certificate import GRADES
from pellucid.vision.restoration.operators import Blur, Downscale, Identity, Mask, bicubic_resize

MOST_SHOWN = 1600
"""Pixels along the longer side of the pictures on the page."""
SAID = {
    Identity: "its noise removed",
    Mask: "its missing pixels filled in",
    Blur: "its blur removed",
    Downscale: "enlarged",
}


def render_restoration(result: RestoredFile, origin: Origin) -> str:
    """Return the page: pictures are inside it, nothing is fetched.

    Parameters
    ----------
    result : RestoredFile
        What ``restore_image`` returned.
    origin : Origin
        Name of the image, and the command; there is no model file.
    """
    found = result.found
    before = _comparable(result.before.pixels, found.image.shape)
    removed = found.removed(result.before.pixels)
    spread = 3.0 * max(found.sigma, float(np.std(removed)), 1e-12)
    return page_template("restore_report.html").render(
        result=result,
        found=found,
        name=origin.table_name,
        done=next((said for kind, said in SAID.items() if isinstance(found.operator, kind)), "restored"),
        method=type(found.method).__name__,
        chosen=found.chosen[0],
        before=picture_address(before, found.peak),
        after=picture_address(found.image, found.peak),
        removed=picture_address((removed / spread + 1.0) * 0.5, 1.0),
        spread=spread,
        certificate=found.certificate,
        grade_meaning=GRADES[found.certificate.grade],
        command=origin.command,
        version=pellucid.__version__,
        versions=versions(),
    )


def _comparable(pixels: Array, shape: tuple[int, ...]) -> Array:
    """Return the image that came in, as large as what came out: each pixel a square of them."""
    if pixels.shape[:2] == shape[:2]:
        return pixels
    rows, columns = (np.arange(n) * m // n for n, m in zip(shape[:2], pixels.shape[:2], strict=True))
    return np.asarray(pixels[rows][:, columns])


def picture_address(image: Array, peak: float = 255.0) -> str:
    """Return an image as the address of a PNG that holds it, no larger than a page can show."""
    from PIL import Image

    shrink = min(1.0, MOST_SHOWN / max(image.shape[:2]))
    values = np.asarray(image, dtype=np.float64)
    if shrink < 1.0:
        planes = [bicubic_resize(plane, shrink) for plane in np.moveaxis(np.atleast_3d(values), 2, 0)]
        values = np.stack(planes, axis=2) if values.ndim == 3 else planes[0]
    gray = np.clip(np.rint(values * (255.0 / peak)), 0, 255).astype(np.uint8)
    content = BytesIO()
    Image.fromarray(gray[:, :, 0] if gray.ndim == 3 and gray.shape[2] == 1 else gray).save(content, format="PNG")
    return f"data:image/png;base64,{b64encode(content.getvalue()).decode()}"
