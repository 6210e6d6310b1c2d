"""One fit per method and variant, kept on disk for all promises that are asked of it, and when two models are the same.

The name of a kept fit holds a hash of the source of the library and of this machine's libraries: when one of them
changes, the method is fitted again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from dataclasses import is_dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone

import pellucid
from pellucid.core.partial_fit import TRAINING_STATE
from tests.public_estimators import problem_for

FITS = Path(__file__).parents[1] / "build" / "fits"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


@cache
def kept_fit(estimator):
    """Return a fitted model with its data; tests share it, so that none may change it."""
    X, y = problem_for(estimator)
    settings = repr(sorted(estimator.get_params().items(), key=str))
    if " at 0x" in settings:  # a function, which has another name in the next process
        return clone(estimator).fit(X, y), X, y
    path = FITS / _source() / f"{type(estimator).__name__}-{_digest(settings)}"
    if path.exists():
        return pickle.loads(path.read_bytes()), X, y
    model = clone(estimator).fit(X, y)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(pickle.dumps(model))
    Path(file.name).replace(path)  # whole or not at all: another worker may read it now
    return model, X, y


@cache
def _source():
    """Return a hash of all that a fit may depend on."""
    room = Path(pellucid.__file__).parent
    files = [*sorted(room.rglob("*.py")), Path(__file__).parent / "public_estimators.py"]
    texts = [file.read_bytes() for file in files]
    facts = [*map(version, LIBRARIES), os.environ.get("PELLUCID_ULPS"), os.environ.get("OPENBLAS_CORETYPE")]
    return _digest("\n".join([*map(_digest, texts), *map(str, facts)]))


def _digest(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()[:16]


def assert_same_state(one, other):
    """Assert that two models hold the same parameters and attributes, to the last bit."""
    # what a next part of the data would go on from is in no file
    stored, again = (set(vars(model)) - {TRAINING_STATE} for model in (one, other))
    assert stored == again
    for name in stored:
        assert_same(getattr(one, name), getattr(other, name))


def assert_same(one, other):
    """Assert that two values are of one kind and equal."""
    # scikit-learn numbers some terms by NumPy's integers; a file knows whole numbers
    one, other = (int(value) if isinstance(value, np.integer) else value for value in (one, other))
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
        assert one.flags.writeable == other.flags.writeable
    elif sparse.issparse(one):
        assert one.shape == other.shape
        for part in ("data", "indices", "indptr"):
            assert_same(getattr(one, part), getattr(other, part))
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, dict):
        assert_same(list(one.items()), list(other.items()))
    elif hasattr(one, "get_params") or (is_dataclass(one) and type(one).__module__.startswith("pellucid.tree")):
        assert_same_state(one, other)
    else:
        assert one == other or (one != one and other != other)
