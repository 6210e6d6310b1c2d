"""A walk through the slides on dimensions and on linear discriminants."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.cross_decomposition import CCA
from pellucid.data import load_capitals_of_europe, load_iris
from pellucid.decomposition import NMF, PCA, FactorAnalysis
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.linear_model import LogisticRegression
from pellucid.manifold import ClassicalMDS, Isomap, LocallyLinearEmbedding, SammonMapping, SpectralEmbedding
from pellucid.neighbors import KNeighborsClassifier
from pellucid.ranking import RankingSVM, ranking_error

IRIS = load_iris()
X, SPECIES = IRIS.iloc[:, :4].to_numpy(), IRIS["species"].to_numpy()
rng = np.random.default_rng(2)


def test_subset_selection_the_petals_tell_the_species_best():
    """Forward selection starts with a petal's measure and gains little after the second."""
    from sklearn.model_selection import cross_val_score

    scores = [cross_val_score(KNeighborsClassifier(5), X[:, [j]], SPECIES, cv=5).mean() for j in range(4)]
    assert set(np.argsort(scores)[-2:]) == {2, 3}
    both = cross_val_score(KNeighborsClassifier(5), X[:, [2, 3]], SPECIES, cv=5).mean()
    assert both >= max(scores)


def test_how_to_choose_k_two_components_of_iris_explain_more_than_nine_tenths():
    shares = PCA().fit(X).explained_variance_ratio_.cumsum()
    assert int(np.argmax(shares > 0.9)) + 1 == 1
    assert shares[1] > 0.97


def test_factor_analysis_the_covariance_is_v_v_transposed_plus_psi():
    model = FactorAnalysis(1).fit(X)
    by_hand = model.components_.T @ model.components_ + np.diag(model.noise_variance_)
    np.testing.assert_allclose(model.get_covariance(), by_hand)


def test_matrix_factorization_with_nonnegative_parts():
    model = NMF(2, max_iter=1000).fit(X)
    assert (model.components_ >= 0).all()
    assert (model.transform(X) >= 0).all()


def test_mds_the_map_of_europe_has_the_right_distances():
    """On a sphere no plane is exact: the map explains nearly all, and distances agree to a few percent."""
    capitals = load_capitals_of_europe().set_index("capital")
    distances = capitals.iloc[:, 2:].to_numpy(dtype=float)
    model = ClassicalMDS(2, metric="precomputed").fit(distances)
    drawn = np.linalg.norm(model.embedding_[:, None] - model.embedding_[None], axis=2)
    far = distances > 500
    assert np.abs(drawn[far] / distances[far] - 1).max() < 0.12
    assert np.corrcoef(drawn[far], distances[far])[0, 1] > 0.999


def test_mds_weights_of_sammon_are_the_distances_themselves():
    """Stress sum (d - d')^2 / d over sum d: the notes' formula divides by d^2, which is another one."""
    points = rng.normal(size=(12, 3))
    model = SammonMapping(2, random_state=0).fit(points)
    given, drawn = (
        np.linalg.norm(rows[:, None] - rows[None], axis=2)[np.triu_indices(12, 1)]
        for rows in (points, model.embedding_)
    )
    assert model.stress_ == pytest.approx(((given - drawn) ** 2 / given).sum() / given.sum())


def test_lda_of_two_classes_and_its_threshold_with_the_log_of_the_priors():
    one, two = rng.normal(size=(40, 2)) + [2.0, 0.0], rng.normal(size=(20, 2))
    rows, labels = np.vstack((two, one)), np.repeat([0, 1], [20, 40])
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, labels)
    means = [two.mean(axis=0), one.mean(axis=0)]
    pooled = ((two - means[0]).T @ (two - means[0]) + (one - means[1]).T @ (one - means[1])) / 60
    w = np.linalg.solve(pooled, means[1] - means[0])
    shift = -0.5 * (means[1] + means[0]) @ w + np.log(40 / 20)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-8)
    assert model.intercept_[0] == pytest.approx(shift)


def test_lda_of_more_classes_scatters_between_classes_about_the_overall_mean():
    away = [X[name == SPECIES].mean(axis=0) - X.mean(axis=0) for name in np.unique(SPECIES)]
    between = sum(50 * np.outer(one, one) for one in away)
    assert np.linalg.matrix_rank(between, tol=1e-8) == 2  # K - 1
    assert LinearDiscriminantAnalysis().fit(X, SPECIES).transform(X).shape == (150, 2)


def test_cca_finds_the_directions_of_largest_correlation():
    shared = rng.normal(size=200)
    one = np.c_[shared + 0.3 * rng.normal(size=200), rng.normal(size=200)]
    two = np.c_[rng.normal(size=200), shared + 0.3 * rng.normal(size=200)]
    model = CCA(1).fit(one, two)
    a, b = model.transform(one, two)
    assert (
        np.corrcoef(a[:, 0], b[:, 0])[0, 1]
        > max(abs(np.corrcoef(one[:, i], two[:, j])[0, 1]) for i in range(2) for j in range(2)) - 1e-9
    )


def spiral():
    angle = np.linspace(1.5 * np.pi, 4.5 * np.pi, 120)
    return np.c_[angle * np.cos(angle), angle * np.sin(angle)], angle


@pytest.mark.parametrize(
    "method", [Isomap(n_neighbors=5, n_components=1), LocallyLinearEmbedding(n_neighbors=5, n_components=1)]
)
def test_isomap_and_lle_unroll_a_spiral(method):
    rows, angle = spiral()
    found = method.fit_transform(rows)[:, 0]
    assert abs(np.corrcoef(np.argsort(np.argsort(found)), np.argsort(np.argsort(angle)))[0, 1]) > 0.99


def test_laplacian_eigenmaps_keep_the_species_apart():
    found = SpectralEmbedding(2, affinity="rbf", gamma=1.0, random_state=0).fit_transform(X)
    assert KNeighborsClassifier(5).fit(found, SPECIES).score(found, SPECIES) > 0.9


def test_discriminants_to_posteriors_three_ways_to_say_the_same():
    model = LogisticRegression().fit(X[:100], SPECIES[:100])
    y = model.predict_proba(X[:100])[:, 1]
    first, second, third = y > 0.5, y / (1 - y) > 1, np.log(y / (1 - y)) > 0
    assert (first == second).all()
    assert (second == third).all()
    assert (first == (model.decision_function(X[:100]) > 0)).all()


def test_softmax_of_several_classes_adds_up_to_one():
    model = LogisticRegression(max_iter=500).fit(X, SPECIES)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_ranking_error_counts_pairs_in_the_wrong_order():
    assert ranking_error([2, 1, 0], [3.0, 1.0, 2.0]) == pytest.approx(1 / 3)
    g, preferred = np.array([3.0, 1.0, 2.0]), [(0, 1), (0, 2), (1, 2)]
    assert sum(max(g[v] - g[u], 0.0) for u, v in preferred) == 1.0  # the notes' amount: 2 - 1


def test_ranking_a_direction_that_orders_the_rows():
    rows = rng.normal(size=(40, 2))
    grades = np.digitize(rows @ [1.0, 2.0], [-1.0, 1.0])
    model = RankingSVM(C=100.0).fit(rows, grades)
    assert ranking_error(grades, rows @ model.coef_.ravel()) < 0.01
