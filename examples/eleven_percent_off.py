"""Eleven percent off
==================

Fits logistic regression with the default settings of both libraries and asks how far the coefficients are off.
"""

import warnings

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression as PeerRegression
from sklearn.preprocessing import StandardScaler

from pellucid.linear_model import LogisticRegression

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
C = 100.0


def minimum():
    """Return the minimum to rounding, by Newton's method written out."""
    A, w = np.column_stack([X, np.ones(len(X))]), np.zeros(X.shape[1] + 1)
    ridge = np.append(np.ones(X.shape[1]), 0.0) / C
    for _ in range(50):
        p = expit(A @ w)
        w -= np.linalg.solve(A.T @ ((p * (1 - p))[:, None] * A) + np.diag(ridge), A.T @ (p - y) + ridge * w)
    return w[:-1]


right = minimum()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    peer = PeerRegression(C=C).fit(X, y)
off = np.linalg.norm(peer.coef_[0] - right) / np.linalg.norm(right)
print(f"scikit-learn: coefficients {100 * off:.2g} % off, {len(caught)} warnings")
model = LogisticRegression(C=C).fit(X, y)
off = np.linalg.norm(model.coef_[0] - right) / np.linalg.norm(right)
print(f"pellucid:     coefficients {100 * off:.2g} % off")
print(model.certificate_)
