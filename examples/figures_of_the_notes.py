"""Draw the figures of the lecture notes, each by one call, into the folder ``figures``.

Run with names to draw some only: ``python figures_of_the_notes.py tree_of_play_tennis map_of_europe``.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_sample_image, make_circles
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from pellucid import plots
from pellucid.cluster import KMeans
from pellucid.core.trace import record
from pellucid.data import load_capitals_of_europe, load_digits, load_iris, load_play_tennis, load_watermelons
from pellucid.decomposition import NMF, PCA, SVD, FastICA, KernelPCA
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.ensemble import AdaBoostClassifier
from pellucid.linear_model import LinearRegression, LogisticRegression, RidgeClassifier, lars_path
from pellucid.losses import MARGIN_LOSSES
from pellucid.manifold import ClassicalMDS, Isomap, LocallyLinearEmbedding, SpectralEmbedding
from pellucid.mixture import GaussianMixture
from pellucid.model_selection import bias_variance_simulation
from pellucid.naive_bayes import BayesClassifier
from pellucid.neighbors import KNeighborsClassifier
from pellucid.neural_network import MLPClassifier
from pellucid.optimize import ConstantStep, CosineDecay, GradientDescent, InverseTime, LinearDecay, StepDecay
from pellucid.optimize.race import race
from pellucid.probability import curve_band
from pellucid.svm import SVC
from pellucid.tree import DecisionTreeClassifier, ID3Classifier, prune_reduced_error

RANDOM = np.random.default_rng(0)
IRIS = load_iris()
MEASURED, SPECIES = IRIS.iloc[:, :4], IRIS["species"]
PETALS = MEASURED[["petal_length", "petal_width"]]
RINGS = make_circles(200, factor=0.35, noise=0.07, random_state=0)


def wave(X: np.ndarray) -> np.ndarray:
    """Return the function behind the examples of over- and underfitting."""
    return np.sin(2.0 * np.pi * np.asarray(X)[:, 0])


def noisy_wave(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 25 rows of it, with noise of variance 0.09."""
    X = random.random((25, 1))
    return X, wave(X) + 0.3 * random.standard_normal(25)


def polynomial(degree: int) -> Any:
    """Return least squares on powers."""
    return make_pipeline(PolynomialFeatures(degree), LinearRegression())


def split_of(degree: int) -> Any:
    """Return bias, variance and noise of a polynomial."""
    grid = np.linspace(0.05, 0.95, 40)[:, None]
    return bias_variance_simulation(polynomial(degree), noisy_wave, grid, wave, noise_variance=0.09, n_repeats=50)


def bias_and_variance_of_two() -> Any:
    """Draw fits of a stiff and of a flexible model side by side."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for ax, degree in zip(axes, (1, 6), strict=True):
        plots.plot_resampled_curves(np.linspace(0.05, 0.95, 40), split_of(degree).predictions, ax, truth=wave)
        ax.set_title(f"degree {degree}")
    return figure


def bootstrap_curves() -> Any:
    """Draw the curves behind a bootstrap band."""
    X, y = noisy_wave(RANDOM)
    band = curve_band(polynomial(3), X, y, np.linspace(0, 1, 60), n_resamples=99, random_state=0)
    return plots.plot_resampled_curves(band.grid, band.resampled_curves, X=X, y=y)


def tree_of(table: Any) -> Any:
    """Draw the tree that ID3 learns from a table of words."""
    return plots.plot_tree(ID3Classifier().fit(table.iloc[:, :-1], table.iloc[:, -1]))


def pruned_tree() -> Any:
    """Draw a tree with the branches that a validation set cut."""
    grown = DecisionTreeClassifier(random_state=0).fit(MEASURED[::2], SPECIES[::2])
    return plots.plot_tree(prune_reduced_error(grown, MEASURED[1::2], SPECIES[1::2]))


def pruned_watermelons() -> Any:
    """Draw the melons' tree as validation rows prune it, with what they cut."""
    learn, validate = (load_watermelons(part) for part in ("learn", "validate"))
    both = pd.concat([learn, validate])
    grown = ID3Classifier().fit(learn.iloc[:, :6], learn["good"])
    model = ID3Classifier(pruning="post", validation=list(range(len(learn), len(both))))
    return plots.plot_tree(model.fit(both.iloc[:, :6], both["good"]), grown=grown)


def balls() -> Any:
    """Draw why the lasso selects."""
    X = RANDOM.standard_normal((50, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    return plots.plot_penalty_balls(X, X @ [0.3, 1.2] + 0.3 * RANDOM.standard_normal(50), radius=0.7)


def lasso_path() -> Any:
    """Draw coefficients against the penalty."""
    X = (MEASURED - MEASURED.mean()) / MEASURED.std()
    alphas, _, coefs = lars_path(X.iloc[:, :3].to_numpy(), X.iloc[:, 3].to_numpy(), method="lasso")
    return plots.plot_coefficient_path(alphas, coefs, list(X.columns[:3]))


def margin() -> Any:
    """Draw a soft margin with its slacks."""
    chosen = (SPECIES != "setosa").to_numpy()
    X, y = PETALS[chosen][::3], SPECIES[chosen][::3]
    return plots.plot_decision_regions(SVC(kernel="linear", C=1.0).fit(X, y), X, y, slacks=True)


def early_stopping() -> Any:
    """Draw the training of a network that stops early."""
    digits = load_digits()
    rows = RANDOM.permutation(len(digits))[:400]
    X, y = digits.iloc[rows, :64] / 16.0, digits["digit"].iloc[rows]
    model = MLPClassifier((64,), early_stopping=True, n_iter_no_change=15, random_state=0, max_iter=300)
    return plots.plot_early_stopping(model.fit(X, y))


def learning_rates() -> Any:
    """Draw the loss under learning rates that are too small, right and too large."""
    rates = (0.005, 0.05, 0.24, 0.26)
    runs = {f"{rate}": race("4*x**2", [1.0], {"run": GradientDescent(rate)})["run"].trace for rate in rates}
    return plots.plot_traces({name: trace["objective"][:30] for name, trace in runs.items()})


def rounds_of_kmeans() -> Any:
    """Draw the six points of the notes, their clusters and the way of the centers."""
    X = np.array([[0, 0], [1, 2], [-1, -1], [2, 3], [-2, 1], [3, 1]], dtype=float)
    with record():
        model = KMeans(2, init=np.array([[-1.0, 3.0], [2.0, 0.0]]), n_init=1).fit(X)
    return plots.plot_cluster_regions(model, X)


def two_gaussians() -> np.ndarray:
    """Return numbers from two Gaussians."""
    return np.concatenate([RANDOM.normal(mean, 1.0, 30) for mean in (-2.0, 2.0)])


def pca_and_lda() -> Any:
    """Draw classes that the direction of the largest variance mixes."""
    X = RANDOM.standard_normal((160, 2)) * [1.6, 0.5] + np.repeat([[0.0, 0.9], [0.0, -0.9]], 80, axis=0)
    y = np.repeat(["first", "second"], 80)
    return plots.plot_projections({"PCA": PCA().fit(X), "LDA": LinearDiscriminantAnalysis().fit(X, y)}, X, y)


def pca_and_ica() -> Any:
    """Draw directions of mixed sources."""
    X = RANDOM.uniform(-1.0, 1.0, (600, 2)) @ np.array([[1.0, 0.2], [0.9, 1.0]])
    return plots.plot_directions({"PCA": PCA().fit(X), "ICA": FastICA(random_state=0).fit(X)}, X)


def map_of_europe() -> Any:
    """Draw the capitals from nothing but their distances."""
    capitals = load_capitals_of_europe().set_index("capital")
    model = ClassicalMDS(metric="precomputed").fit(capitals.iloc[:, 2:].to_numpy(dtype=float))
    return plots.plot_embedding(model, names=capitals.index, north=capitals[["longitude", "latitude"]])


def digits_by_isomap() -> Any:
    """Draw digits with their neighborhood graph."""
    digits = load_digits().iloc[:500]
    model = Isomap(n_neighbors=8).fit(digits.iloc[:, :64])
    return plots.plot_embedding(model, values=digits["digit"], edges=model.neighbor_graph_)


def filters_and_maps() -> Any:
    """Draw the two filters of the notes, and what they find in a handwritten four."""
    import torch

    layer = torch.nn.Conv2d(1, 2, 3, bias=False)
    slash = 2.0 * torch.eye(3) - 1.0
    bar = torch.tensor([[-1.0, 1.0, -1.0]] * 3)
    layer.weight = torch.nn.Parameter(torch.stack([slash, bar])[:, None])
    four = load_digits().iloc[4, :64].to_numpy(dtype=float).reshape(8, 8) / 16.0
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    plots.plot_images(four[None], axes[0])
    plots.plot_network_filters(torch.nn.Sequential(layer), axes[1])
    plots.plot_feature_maps(torch.nn.Sequential(layer), four, axes[2])
    return figure


def objects_in_a_scene() -> Any:
    """Draw boxes and masks, and the class of each pixel, of a made scene."""
    from pellucid.vision.scenes import NOT_A_DIGIT, digit_scenes, label_map

    scenes, truth = digit_scenes(1, size=160, fewest=4, most=6, random_state=3)
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    plots.plot_objects(scenes[0], truth[0], axes[0])
    plots.plot_label_map(scenes[0], label_map(truth[0]), axes[1], ignore=NOT_A_DIGIT)
    return figure


ONE_COLUMN = MEASURED[["petal_length"]]
SCHEDULES = {
    "constant": ConstantStep(0.1),
    "1 / t": InverseTime(0.1, decay=0.1),
    "step": StepDecay(0.1, every=30),
    "linear": LinearDecay(0.1),
    "cosine": CosineDecay(0.1),
}
DESCENTS = {"descent": GradientDescent(0.03), "newton": "newton"}
FIGURES: dict[str, Callable[[], Any]] = {
    "tree_of_play_tennis": lambda: plots.plot_tree(
        ID3Classifier().fit((t := load_play_tennis()).iloc[:, :4], t["play"])
    ),
    "tree_of_watermelons": lambda: plots.plot_tree(
        ID3Classifier().fit((w := load_watermelons()).iloc[:, :6], w["good"])
    ),
    "pruned_tree": pruned_tree,
    "pruned_watermelons": pruned_watermelons,
    "nearest_neighbors": lambda: plots.plot_decision_regions(
        KNeighborsClassifier(5).fit(PETALS, SPECIES), PETALS, SPECIES
    ),
    "bayes_error": lambda: plots.plot_class_densities(BayesClassifier().fit(ONE_COLUMN, SPECIES), ONE_COLUMN),
    "reject_region": lambda: plots.plot_reject_region(
        BayesClassifier().fit(ONE_COLUMN, SPECIES), ONE_COLUMN, reject_cost=0.1
    ),
    "bias_variance_noise": lambda: plots.plot_bias_variance({d: split_of(d) for d in range(1, 7)}, name="degree"),
    "bias_and_variance_of_two": bias_and_variance_of_two,
    "bootstrap_curves": bootstrap_curves,
    "penalty_balls": balls,
    "soft_threshold": plots.plot_soft_threshold,
    "lasso_path": lasso_path,
    "losses": lambda: plots.plot_losses(MARGIN_LOSSES),
    "activations": plots.plot_activations,
    "slopes_of_activations": lambda: plots.plot_activations(slopes=True),
    "margin_and_slacks": margin,
    "lifted_rings": lambda: plots.plot_lifted(*RINGS, plane=0.5),
    "kernel_components": lambda: plots.plot_component_contours(
        KernelPCA(3, kernel="rbf", gamma=2.0).fit(RINGS[0]), *RINGS
    ),
    "values_of_the_discriminant": lambda: plots.plot_discriminant_values(
        RidgeClassifier().fit(MEASURED[:100], SPECIES[:100]), MEASURED[:100:5], SPECIES[:100:5]
    ),
    "rounds_of_kmeans": rounds_of_kmeans,
    "lower_bound_of_em": lambda: plots.plot_em_bound(two_gaussians(), [-5.0, 2.0]),
    "mixture": lambda: plots.plot_mixture(GaussianMixture(3, random_state=0).fit(PETALS), PETALS),
    "unit_disc": lambda: plots.plot_unit_disc([[1.0, 2.0], [0.5, -1.0]]),
    "image_by_rank": lambda: plots.plot_ranks(SVD().fit(load_sample_image("china.jpg").mean(axis=2)[::2, ::2])),
    "four_points_by_one_component": lambda: plots.plot_reconstruction(
        PCA().fit(four := np.array([[0.6, 0.4], [1.0, 1.2], [1.6, 1.3], [2.0, 2.3]])), four
    ),
    "scree_of_iris": lambda: plots.plot_scree(PCA().fit(MEASURED)),
    "biplot_of_iris": lambda: plots.plot_biplot(PCA().fit(MEASURED), MEASURED, y=SPECIES),
    "single_features_of_iris": lambda: plots.plot_single_features(MEASURED, SPECIES),
    "first_digits": lambda: plots.plot_images(16 - load_digits().iloc[:49, :64].to_numpy(), shape=(8, 8)),
    "parts_of_digits": lambda: plots.plot_components_images(
        NMF(16, init="nndsvda", max_iter=500, tol=1e-3).fit(load_digits().iloc[:600, :64]), (8, 8)
    ),
    "pca_against_lda": pca_and_lda,
    "pca_against_ica": pca_and_ica,
    "map_of_europe": map_of_europe,
    "digits_by_isomap": digits_by_isomap,
    "digits_by_lle": lambda: plots.plot_embedding(
        LocallyLinearEmbedding(n_neighbors=10).fit((d := load_digits().iloc[:500]).iloc[:, :64]), values=d["digit"]
    ),
    "iris_by_laplacian_eigenmaps": lambda: plots.plot_embedding(
        SpectralEmbedding(affinity="rbf", gamma=0.5, random_state=0).fit(MEASURED), values=SPECIES
    ),
    "descent_on_a_curve": lambda: race("x**4 - 2*x", [2.0], DESCENTS).plot(),
    "race_in_the_valley": lambda: race("(1 - x)**2 + 100*(y - x**2)**2", [-1.2, 1.0]).plot(),
    "learning_rates": learning_rates,
    "early_stopping": early_stopping,
    "schedules": lambda: plots.plot_schedules(SCHEDULES),
    "chord_of_a_function": lambda: plots.plot_convexity(lambda x: x**4 - 2 * x**2 + 0.2 * x, -1.2, 1.1),
    "unit_balls": plots.plot_unit_balls,
    "geometry_of_a_discriminant": lambda: plots.plot_hyperplane(
        LogisticRegression().fit(PETALS[50:], SPECIES[50:]), PETALS[50:], SPECIES[50:], [4.0, 2.3]
    ),
    "rounds_of_boosting": lambda: plots.plot_boosting_rounds(
        AdaBoostClassifier(n_estimators=10, random_state=0).fit(PETALS[50:], SPECIES[50:]), PETALS[50:], SPECIES[50:]
    ),
    "layers_of_a_network": lambda: plots.plot_layers([4, 6, 3]),
    "objects_in_a_scene": objects_in_a_scene,
    "lti_response": lambda: plots.plot_response([3, 1, 2], [3, 2, 1]),
    "filters_and_maps": filters_and_maps,
}


def main(wanted: list[str]) -> None:
    """Draw the figures named, or all."""
    folder = Path("figures")
    folder.mkdir(exist_ok=True)
    for name in wanted or FIGURES:
        drawn = FIGURES[name]()
        figure = drawn if hasattr(drawn, "savefig") else drawn.figure
        figure.savefig(folder / f"{name}.png", dpi=100)
        plt.close(figure)
        print(f"figures/{name}.png")


main(sys.argv[1:])
