"""The path of the lasso
=====================

Draws the lasso path of the diabetes data with the penalty that cross-validation chooses.
"""

import sys

import numpy as np
from sklearn.preprocessing import StandardScaler

from pellucid.data import load_diabetes
from pellucid.linear_model import LassoCV, lasso_path
from pellucid.plots import plot_coefficient_path

data = load_diabetes()
names = [name for name in data.columns if name != "progression"]
X, y = StandardScaler().fit_transform(data[names]), data["progression"].to_numpy(dtype=float)

model = LassoCV(cv=5).fit(X, y)
alphas, coefs, gaps = lasso_path(X, y - y.mean(), alphas=100)
axes = plot_coefficient_path(alphas, coefs, names=names, chosen=model.alpha_)
axes.set_title("Lasso path, diabetes")
target = sys.argv[1] if len(sys.argv) > 1 else "lasso_path.png"
axes.figure.savefig(target, dpi=150, bbox_inches="tight")
kept = np.count_nonzero(model.coef_)
print(f"alpha {model.alpha_:.3g} keeps {kept} of {len(names)} features; largest gap {gaps.max():.0e}")
