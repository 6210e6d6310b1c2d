"""Large sets that a user downloads: read from where they lie, and refused unless their SHA-256 is the known one.

They do not come with the library: they are large, and nobody has clearly licensed them to be passed on.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pellucid.core.types import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MNIST = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
"""Files of MNIST and the SHA-256 of what is in them, unpacked: they are offered packed in several ways."""

CBCL_FACES = "bc54a28d25b61375f150c7a6d75f88b7872c7197d8172582b9c3d1eaf1c2d8aa"
"""SHA-256 of the 2,429 faces of 19 x 19 bytes in rising order of their bytes: archives number them differently."""

RCV1 = {
    "lyrl2004_vectors_train.dat": "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
    "rcv1v2.topics.qrels": "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
}
"""Files of RCV1 as their authors published them, and the SHA-256 of each, packed."""

RCV1_SAMPLES = {
    "the 1,000 rows of Vowpal Wabbit's tests": "875093db0efe203d9d2f794de375ac6ecaa125d5de06e00b50e07837ff5075d0",
    "the 500 rows of Vowpal Wabbit's tests": "91386870c58384bbeefd04529e2315e4ab8005d849c2809027643d89b4756e60",
}
"""SHA-256 of samples of RCV1 in LIBSVM's format, unpacked."""

RCV1_WORDS = 47_236
"""Words that RCV1 counts."""


def read_mnist(folder: str | Path, part: str = "train") -> tuple[Array, Array]:
    """Return MNIST's digits (n, 28, 28) in bytes and which they are (n,), from a folder with its four files.

    Parameters
    ----------
    folder : str or Path
        Where the files lie, packed (``train-images-idx3-ubyte.gz``) or not.
    part : {"train", "t10k"}, default="train"
        The 60,000 digits to learn from or the 10,000 to test on.
    """
    if part not in ("train", "t10k"):
        raise ValueError(f'part must be "train" or "t10k", got {part!r}.')
    images, labels = (
        _checked(_file(folder, name), {MNIST[name]})
        for name in (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte")
    )
    # an idx file of n dimensions starts with 4 + 4 n bytes
    pixels = np.frombuffer(images, dtype=np.uint8, offset=16)
    return pixels.reshape(-1, 28, 28), np.frombuffer(labels, dtype=np.uint8, offset=8).astype(np.int64)


def read_cbcl_faces(path: str | Path) -> Array:
    """Return the 2,429 faces of MIT's CBCL to learn from, (2429, 19, 19) in bytes.

    Parameters
    ----------
    path : str or Path
        The folder of the images (``train/face`` of the archive, files ``*.pgm``), or an ``.npz`` with ``train_faces``.
    """
    path = Path(path)
    if path.is_dir():
        from PIL import Image

        images = sorted(path.glob("*.pgm"))
        if not images:
            raise ValueError(
                f"path must hold the faces as *.pgm, got no such file in {path}. Name the folder train/face."
            )
        faces = np.stack([np.asarray(Image.open(image)) for image in images])
    else:
        with np.load(path, allow_pickle=False) as stored:
            if "train_faces" not in stored:
                raise ValueError(f"path must hold train_faces, got {path.name} with {list(stored)}.")
            faces = stored["train_faces"]
    _refuse_other(hashlib.sha256(b"".join(sorted(face.tobytes() for face in faces))), {CBCL_FACES}, path)
    return faces


def read_rcv1(path: str | Path, *, topic: str = "CCAT", sha256: str | None = None) -> tuple[csr_array, Array]:
    """Return documents of RCV1 (n, 47236) as sparse weights of words, and 1 or -1: whether each is about a topic.

    Parameters
    ----------
    path : str or Path
        A folder with ``lyrl2004_vectors_train.dat.gz`` and ``rcv1v2.topics.qrels.gz`` as published with the paper, or
        one file in LIBSVM's format, whose labels are taken as they are.
    topic : str, default="CCAT"
        The topic to tell from the others, in a folder.
    sha256 : str, default=None
        What the SHA-256 of one file must be; by default that of a sample we know.
    """
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    path = Path(path)
    if path.is_dir():
        rows, topics = (_checked(_file(path, name), {known}) for name, known in RCV1.items())
        documents, y = load_svmlight_file(BytesIO(rows), n_features=RCV1_WORDS)
        lines = (line.split() for line in topics.decode("ascii").splitlines())
        about = {int(line[1]) for line in lines if line[0] == topic}
        if not about:
            raise ValueError(f"topic must be one of RCV1's, such as CCAT, ECAT, GCAT or MCAT, got {topic!r}.")
        y = np.where(np.isin(y, list(about)), 1, -1)
    else:
        stored = _checked(path, set(RCV1_SAMPLES.values()) if sha256 is None else {sha256})
        documents, y = load_svmlight_file(BytesIO(stored), n_features=RCV1_WORDS)
    return csr_array(documents), y.astype(np.int64)


def _file(folder: str | Path, name: str) -> Path:
    """Return the file of a name in a folder, packed or not."""
    places = [Path(folder) / f"{name}{packed}" for packed in (".gz", "")]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(f"folder must hold {places[0].name}, got {folder} without it. Download it there first.")


def _checked(path: Path, known: set[str]) -> bytes:
    """Return what is in a file, unpacked, if the file or what is in it has a known SHA-256."""
    stored = path.read_bytes()
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(path.suffix, bytes)
    contents = unpack(stored)
    if hashlib.sha256(stored).hexdigest() not in known:
        _refuse_other(hashlib.sha256(contents), known, path)
    return contents


def _refuse_other(found: hashlib._Hash, known: set[str], path: Path) -> None:
    if found.hexdigest() not in known:
        raise ValueError(
            f"{path} must have the SHA-256 {' or '.join(sorted(known))}, got {found.hexdigest()}. "
            "It is damaged or another set: download it again."
        )
