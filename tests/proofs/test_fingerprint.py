import numpy as np
from scipy import sparse

from pellucid.proofs.training_data import fingerprint


def test_equal_data_have_equal_fingerprints_whatever_their_layout():
    X = np.arange(12.0).reshape(4, 3)
    assert fingerprint(X, None) == fingerprint(np.asfortranarray(X), None)
    assert fingerprint(X) == fingerprint(X.astype(np.float32))


def test_other_data_have_other_fingerprints():
    X = np.arange(12.0).reshape(4, 3)
    others = [X + 1, X[:3], X.T, X[::-1], sparse.csr_array(X)]
    assert len({fingerprint(X), *(fingerprint(other) for other in others)}) == 6
    assert fingerprint(X, None) != fingerprint(X, X[:, 0])


def test_large_data_are_sampled_across_all_columns():
    X = np.zeros((100_000, 64))
    marks = set()
    for j in range(64):
        Y = X.copy()
        Y[:, j] = 1.0
        marks.add(fingerprint(Y))
    assert len(marks) == 64


def test_labels_have_fingerprints_too():
    one, other = np.array(["a", "b", "b"]), np.array(["a", "b", "c"])
    assert fingerprint(one) == fingerprint(one.astype(object)) != fingerprint(other)
