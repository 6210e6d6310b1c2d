"""A walk through the course on optimization for machine learning: examples 1.1 to 1.11, problems 1.1 to 1.6."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pandas as pd
import pytest
import sympy

import pellucid
from pellucid.cluster import KMeans
from pellucid.data import load_energy, load_iris
from pellucid.decomposition import NMF, PCA, TruncatedSVD
from pellucid.linear_model import LinearRegression

IRIS = load_iris()
FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
A = np.array([[1.0, 2.0, 1.0], [2.0, 3.0, 1.0]])


@pytest.mark.parametrize(
    ("column", "least", "most", "mean", "spread", "correlation"),
    [
        ("sepal_length", 4.3, 7.9, 5.84, 0.83, 0.7826),
        ("sepal_width", 2.0, 4.4, 3.05, 0.43, -0.4194),
        ("petal_length", 1.0, 6.9, 3.76, 1.76, 0.9490),
        ("petal_width", 0.1, 2.5, 1.20, 0.76, 0.9565),
    ],
)
def test_example_1_2_statistics_of_iris(column, least, most, mean, spread, correlation):
    """The table of the notes is the UCI repository's, whose copy has three wrong cells: hence the last digits."""
    values = IRIS[column]
    codes = pd.factorize(IRIS["species"])[0] + 1.0
    assert (values.min(), values.max()) == (least, most)
    assert values.mean() == pytest.approx(mean, abs=0.008)
    assert values.std() == pytest.approx(spread, abs=0.006)
    assert np.corrcoef(values, codes)[0, 1] == pytest.approx(correlation, abs=0.0075)


def test_example_1_4_buildings_have_eight_features_and_two_loads():
    energy = load_energy()
    assert energy.shape == (768, 10)
    assert not energy.isna().any().any()


def test_example_1_6_classes_of_iris_by_their_own_axes():
    """Scores without removing the mean: those about it, plus its own."""
    for _, rows in IRIS.groupby("species"):
        X = rows[FEATURES].to_numpy()
        model = PCA(2).fit(X)
        plain = X @ model.components_.T
        np.testing.assert_allclose(plain, model.transform(X) + model.mean_ @ model.components_.T, atol=1e-12)


def test_example_1_7_two_nonnegative_features_split_setosa_from_versicolor():
    X = IRIS[FEATURES].to_numpy()
    features = NMF(2, init="nndsvda", max_iter=2000, tol=1e-6).fit_transform(X)
    assert (features >= 0).all()
    two = IRIS["species"].isin(["setosa", "versicolor"]).to_numpy()
    split = LinearRegression().fit(features[two], np.where(IRIS["species"][two] == "setosa", 1.0, -1.0))
    assert (np.sign(split.predict(features[two])) == np.where(IRIS["species"][two] == "setosa", 1, -1)).all()


def halves(species, seed):
    rows = IRIS.index[IRIS["species"] == species].to_numpy()
    order = np.random.default_rng(seed).permutation(rows)
    return order[:40], order[40:]


def fitted(species, targets, seed):
    """Return least squares on 40 random rows of each class, and which of the other ten each are right."""
    parts = [halves(name, 10 * seed + k) for k, name in enumerate(species)]
    learned, left = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    model = LinearRegression().fit(IRIS.loc[learned, FEATURES].to_numpy(), np.repeat(targets, 40, axis=0))
    found = model.predict(IRIS.loc[left, FEATURES].to_numpy())
    return model, found, np.repeat(targets, 10, axis=0)


def is_of_these_draws(noted, drawn):
    """Whether numbers of the notes, from a draw that nobody knows, look like those of our draws."""
    return (np.abs(noted - np.mean(drawn, axis=0)) <= 4.0 * np.std(drawn, axis=0)).all()


def test_example_1_10_setosa_and_versicolor_by_least_squares():
    drawn = []
    for seed in range(40):
        model, found, targets = fitted(["setosa", "versicolor"], np.array([1.0, -1.0]), seed)
        assert (np.sign(found) == targets).all()  # all twenty, in every draw
        drawn.append(np.r_[model.intercept_, model.coef_])
    assert is_of_these_draws(np.array([0.4408, 0.0389, 0.3105, -0.4237, -0.5052]), drawn)


def test_example_1_11_three_classes_by_three_columns_of_zeros_and_ones():
    drawn, shifts, right = [], [], []
    for seed in range(40):
        model, found, targets = fitted(["setosa", "versicolor", "virginica"], np.eye(3), seed)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
        assert model.intercept_.sum() == pytest.approx(1.0)
        drawn.append(model.coef_.T)
        shifts.append(model.intercept_)
        right.append((found.argmax(axis=1) == targets.argmax(axis=1)).reshape(3, 10).sum(axis=1))
    noted = [
        [0.0502, -0.0160, -0.0341],
        [0.2442, -0.4257, 0.1815],
        [-0.2150, 0.1929, 0.0221],
        [-0.0641, -0.4326, 0.4967],
    ]
    assert is_of_these_draws(np.array(noted), drawn)
    assert is_of_these_draws(np.array([0.1751, 1.5257, -0.7008]), shifts)
    assert is_of_these_draws(np.array([10.0, 9.0, 10.0]), right)


def test_problem_1_1_eigenvalues_singular_values_and_the_best_matrix_of_rank_1():
    matrix = sympy.Matrix([[1, 2, 1], [2, 3, 1]])
    assert set((matrix * matrix.T).eigenvals()) == {10 - sympy.sqrt(97), 10 + sympy.sqrt(97)}
    values = np.sqrt(10 + np.array([1, -1]) * sqrt(97))
    np.testing.assert_allclose(np.linalg.svd(A, compute_uv=False), values)
    model = TruncatedSVD(1, algorithm="arpack").fit(A)
    error = np.linalg.norm(A - model.inverse_transform(model.transform(A)))
    assert error == pytest.approx(0.38877, abs=5e-6)
    assert error == pytest.approx(values[1])


def test_problem_1_2_numbers_to_keep_for_five_pairs_of_singular_vectors():
    kept = 5 * (256 + 256 + 1)
    assert kept == 2565
    assert 256**2 / kept == pytest.approx(25.55, abs=0.005)


def test_problem_1_3_right_vectors_from_left_ones():
    left, values, right = np.linalg.svd(A, full_matrices=False)
    np.testing.assert_allclose(A.T @ left / values, right.T)
    np.testing.assert_allclose(A @ right.T / values, left)


POINTS = np.array([[0.6, 0.4], [1.0, 1.2], [1.6, 1.3], [2.0, 2.3]])


def test_problem_1_4_mean_covariance_and_first_axis():
    """C of the notes divides by m: it is [[0.29, 0.34], [0.34, 0.455]]."""
    centered = POINTS - POINTS.mean(axis=0)
    np.testing.assert_allclose(POINTS.mean(axis=0), [1.3, 1.3])
    np.testing.assert_allclose(centered.T @ centered / 4, [[0.29, 0.34], [0.34, 0.455]])
    model = PCA(1).fit(POINTS)
    np.testing.assert_allclose(np.abs(model.components_[0]), [0.6181, 0.7861], atol=5e-5)
    scores = model.transform(POINTS)[:, 0] * np.sign(model.components_[0, 0])
    np.testing.assert_allclose(scores, centered @ np.array([0.6181, 0.7861]), atol=2e-4)
    handout = str(pellucid.show_work(PCA(1), POINTS, divisor="m"))
    assert "0.29" in handout
    assert "0.455" in handout


def test_problem_1_5_k_means_by_hand():
    X = np.array([[0, 0], [1, 2], [-1, -1], [2, 3], [-2, 1], [3, 1]], dtype=float)
    start = np.array([[-1.0, 3.0], [2.0, 0.0]])
    model = KMeans(2, init=start, n_init=1).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[1 / 3, 2.0], [2 / 3, 0.0]])
    assert model.inertia_ == pytest.approx(float(Fraction(64, 3)))
    assert [sorted(np.flatnonzero(model.labels_ == k)) for k in (0, 1)] == [[1, 3, 4], [0, 2, 5]]
    handout = pellucid.show_work(KMeans(2, init=start, n_init=1), X)
    assert Fraction(str(handout.answer["inertia_"])) == Fraction(64, 3)
    assert "Rows 2, 4 have two nearest centers each" in str(handout)


def test_problem_1_6_versicolor_and_virginica_overlap_a_little():
    right = []
    for seed in range(40):
        _, found, targets = fitted(["versicolor", "virginica"], np.array([1.0, -1.0]), seed)
        right.append((np.sign(found) == targets).sum())
    assert min(right) >= 17
    assert np.mean(right) > 19
