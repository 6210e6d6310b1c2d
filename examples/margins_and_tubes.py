"""Margins and tubes
=================

Draws a kernel machine that separates two half moons, and the tube of a regression through a noisy wave.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from pellucid.plots import plot_decision_regions, plot_tube
from pellucid.svm import SVC, SVR

X, side = make_moons(160, noise=0.25, random_state=0)
moons = np.array(["upper", "lower"])[side]
machine = SVC(C=2.0, gamma=1.0).fit(X, moons)

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 6.0, 70))[:, None]
wave = np.sin(x[:, 0]) + 0.2 * rng.standard_normal(70)
line = SVR(C=5.0, gamma=1.0, epsilon=0.2).fit(x, wave)

figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
plot_decision_regions(machine, X, moons, ax=left)
plot_tube(line, x, wave, ax=right)
target = sys.argv[1] if len(sys.argv) > 1 else "margins_and_tubes.png"
figure.savefig(target, dpi=110)
print(f"{len(machine.support_)} of {len(X)} points hold the margin, {len(line.support_)} of {len(x)} the tube")
print(f"largest gap {machine.dual_gap_.max() / machine.objective_.max():.0e} of the objective")
