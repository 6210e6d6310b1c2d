"""A Swiss roll, laid flat
=======================

A Swiss roll mapped by every method, each with its quality figures.

Writes swiss_roll.png into the current folder.
"""

import matplotlib

matplotlib.use("Agg")
from sklearn.datasets import make_swiss_roll

from pellucid.manifold import (
    MDS,
    ClassicalMDS,
    Isomap,
    LocallyLinearEmbedding,
    SammonMapping,
    SpectralEmbedding,
)
from pellucid.plots import plot_embeddings

X, along = make_swiss_roll(1000, random_state=0)
models = {
    "classical scaling": ClassicalMDS(),
    "metric MDS": MDS(init="classical_mds", eps=1e-5),
    "Sammon": SammonMapping(tol=1e-5),
    "Isomap": Isomap(n_neighbors=8),
    "LLE": LocallyLinearEmbedding(n_neighbors=10),
    "modified LLE": LocallyLinearEmbedding(n_neighbors=10, method="modified"),
    "Hessian LLE": LocallyLinearEmbedding(n_neighbors=10, method="hessian"),
    "LTSA": LocallyLinearEmbedding(n_neighbors=10, method="ltsa"),
    "Laplacian eigenmap": SpectralEmbedding(n_neighbors=8),
}
for name, model in models.items():
    print(f"{name:20s} {model.fit(X).quality()}")
plot_embeddings(models, values=along)[0].figure.savefig("swiss_roll.png", dpi=120)
