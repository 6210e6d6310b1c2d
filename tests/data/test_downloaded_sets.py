"""Sets that users download: read where the hash is right, refused where one byte is not."""

import gzip
import hashlib

import numpy as np
import pytest
from PIL import Image

from pellucid.data import downloaded_sets, read_cbcl_faces, read_mnist, read_rcv1


def digest(contents):
    return hashlib.sha256(contents).hexdigest()


@pytest.fixture
def mnist(tmp_path, monkeypatch):
    """Write two digits in MNIST's files, one packed and one not, and make their hashes the known ones."""
    images = bytes(16) + (np.arange(2 * 28 * 28) % 251).astype(np.uint8).tobytes()
    labels = bytes(8) + bytes([3, 9])
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(images, mtime=5))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(labels)
    known = {"t10k-images-idx3-ubyte": digest(images), "t10k-labels-idx1-ubyte": digest(labels)}
    monkeypatch.setattr(downloaded_sets, "MNIST", known)
    return tmp_path


def test_mnist_is_read_packed_or_not(mnist):
    images, labels = read_mnist(mnist, "t10k")
    assert images.shape == (2, 28, 28)
    assert images[1, 0, 0] == 28 * 28 % 251
    assert labels.tolist() == [3, 9]


def test_one_changed_byte_is_refused(mnist):
    (mnist / "t10k-labels-idx1-ubyte").write_bytes(bytes(8) + bytes([3, 8]))
    with pytest.raises(ValueError, match="t10k-labels-idx1-ubyte must have the SHA-256 .*download it again"):
        read_mnist(mnist, "t10k")


def test_a_missing_file_and_a_wrong_part_get_a_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder must hold train-images-idx3-ubyte\.gz"):
        read_mnist(tmp_path)
    with pytest.raises(ValueError, match='part must be "train" or "t10k", got \'test\''):
        read_mnist(tmp_path, "test")


def test_the_known_hashes_are_those_of_sixty_and_ten_thousand_digits():
    assert {len(known) for known in downloaded_sets.MNIST.values()} == {64}
    assert sorted(downloaded_sets.MNIST) == sorted(
        f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")
    )


def test_faces_are_read_from_images_and_arrays_in_any_order(tmp_path, monkeypatch):
    faces = np.random.default_rng(0).integers(0, 256, (3, 19, 19), dtype=np.uint8)
    monkeypatch.setattr(downloaded_sets, "CBCL_FACES", digest(b"".join(sorted(face.tobytes() for face in faces))))
    folder = tmp_path / "face"
    folder.mkdir()
    for place, face in enumerate(faces):
        Image.fromarray(face).save(folder / f"face{place:05}.pgm")
    np.savez(tmp_path / "faces.npz", train_faces=faces[::-1])
    np.testing.assert_array_equal(read_cbcl_faces(folder), faces)
    np.testing.assert_array_equal(read_cbcl_faces(tmp_path / "faces.npz"), faces[::-1])
    Image.fromarray(faces[0] // 2).save(folder / "face00000.pgm")
    with pytest.raises(ValueError, match="must have the SHA-256"):
        read_cbcl_faces(folder)


def test_a_folder_without_faces_gets_a_sentence(tmp_path):
    np.savez(tmp_path / "other.npz", faces=np.zeros(3))
    with pytest.raises(ValueError, match=r"path must hold train_faces, got other\.npz with \['faces'\]"):
        read_cbcl_faces(tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"got no such file in .*Name the folder train/face"):
        read_cbcl_faces(tmp_path)


def test_rcv1_is_read_as_published(tmp_path, monkeypatch):
    rows, topics = b"2286  1:0.5 47236:0.25\n2287  3:1.0\n", b"E11 2286 1\nCCAT 2287 1\n"
    known = {}
    for name, contents in (("lyrl2004_vectors_train.dat", rows), ("rcv1v2.topics.qrels", topics)):
        packed = gzip.compress(contents, mtime=0)
        (tmp_path / f"{name}.gz").write_bytes(packed)
        known[name] = digest(packed)
    monkeypatch.setattr(downloaded_sets, "RCV1", known)
    X, y = read_rcv1(tmp_path)
    assert X.shape == (2, 47_236)
    assert (X[0, 0], X[0, 47_235], X[1, 2]) == (0.5, 0.25, 1.0)
    assert y.tolist() == [-1, 1]
    assert read_rcv1(tmp_path, topic="E11")[1].tolist() == [1, -1]
    with pytest.raises(ValueError, match="topic must be one of RCV1's, such as CCAT.*got 'SPORT'"):
        read_rcv1(tmp_path, topic="SPORT")


def test_a_file_of_rcv1_needs_its_hash(tmp_path):
    place = tmp_path / "rcv1.libsvm"
    place.write_bytes(b"-1 2:0.5\n1 1:0.25\n")
    with pytest.raises(ValueError, match="rcv1.libsvm must have the SHA-256"):
        read_rcv1(place)
    X, y = read_rcv1(place, sha256=digest(place.read_bytes()))
    assert (X[0, 1], y.tolist()) == (0.5, [-1, 1])
