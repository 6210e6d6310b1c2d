"""A polynomial of degree ten
==========================

Fits a polynomial of degree 10 and asks how many digits of its coefficients are right.
"""

import warnings
from fractions import Fraction

import numpy as np
from sklearn.linear_model import LinearRegression as PeerRegression

import pellucid
from pellucid.linear_model import LinearRegression

t = np.linspace(1, 3, 40)
powers = np.vander(t, 11)[:, :-1]
y = np.sin(5 * t)


def exact_coefficients():
    """Solve the normal equations of the very same floats in exact fractions."""
    rows = [[Fraction(v) for v in (*row, 1.0)] for row in powers]
    target = [Fraction(v) for v in y]
    p = len(rows[0])
    table = [
        [sum(r[j] * r[k] for r in rows) for k in range(p)] + [sum(r[j] * v for r, v in zip(rows, target, strict=True))]
        for j in range(p)
    ]
    for j in range(p):
        pivot = next(i for i in range(j, p) if table[i][j] != 0)
        table[j], table[pivot] = table[pivot], table[j]
        table[j] = [v / table[j][j] for v in table[j]]
        for i in range(p):
            if i != j:
                table[i] = [a - table[i][j] * b for a, b in zip(table[i], table[j], strict=True)]
    return np.array([float(row[-1]) for row in table[:-1]])


true = exact_coefficients()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    models = {
        "pellucid": LinearRegression(),
        "scikit-learn": PeerRegression(),
        "scikit-learn, tol=0": PeerRegression(tol=0.0),
    }
    for name, model in models.items():
        error = np.abs(model.fit(powers, y).coef_ - true).max() / np.abs(true).max()
        print(f"{name:<20} largest relative error {error:.0e}")
print(models["pellucid"].certificate_["coefficients"])
print("verified:", pellucid.verify(models["pellucid"], powers, y).holds)
