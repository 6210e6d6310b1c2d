"""A map of Europe from distances
==============================

A map of Europe from nothing but distances, and the map's own errors.

Writes map_of_europe.png and shepard.png into the current folder.
"""

import matplotlib

matplotlib.use("Agg")

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

# The distances do not say where north is: the picture is turned to agree with the coordinates, for the eye only.
axes = plot_embedding(model, names=capitals.index, north=capitals[["longitude", "latitude"]])
axes.figure.savefig("map_of_europe.png", dpi=150)
plot_shepard(model).figure.savefig("shepard.png", dpi=150)
