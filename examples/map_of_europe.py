"""A map of Europe from nothing but distances, and the map's own errors.

Writes map_of_europe.png and shepard.png into the current folder.
"""

import matplotlib

matplotlib.use("Agg")
import numpy as np

import pellucid
from pellucid.data import load_capitals_of_europe
from pellucid.manifold import ClassicalMDS
from pellucid.plots import plot_embedding, plot_shepard

capitals = load_capitals_of_europe().set_index("capital")
distances = capitals.iloc[:, 2:].to_numpy(dtype=float)
model = ClassicalMDS(n_components=2, metric="precomputed").fit(distances)

print(model.quality())
print(f"share of negative eigenvalues: {model.negative_share():.4f}")
assert pellucid.verify(model, distances).holds

# The distances do not say where north is: turn the map so that it agrees with the coordinates, for the eye only.
north_east = capitals[["longitude", "latitude"]].to_numpy()
left, _, right = np.linalg.svd((north_east - north_east.mean(axis=0)).T @ model.embedding_)
model.embedding_ = model.embedding_ @ (left @ right).T
axes = plot_embedding(model, names=capitals.index)
axes.figure.savefig("map_of_europe.png", dpi=150)
plot_shepard(model).figure.savefig("shepard.png", dpi=150)
