"""Choosing the number of clusters: criteria by hand, properties, other estimators, pictures, workings, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs
from sklearn.linear_model import LinearRegression
from sklearn.mixture import GaussianMixture

import pellucid
from pellucid.cluster import KMeans, SpectralClustering, choose_clusters, silhouette_score
from pellucid.cluster.choosing.criteria import agreement, best_gap, dispersion, even_rows, largest, spherical_bic
from pellucid.cluster.choosing.recommendation import reason_for, recommend
from pellucid.plots import plot_silhouettes
from pellucid.plots.drawing.cluster_choice_plot import plot_cluster_choice
from pellucid.solvers.leading_eigenvectors import elbow_of

QUICK = {"n_references": 4, "n_bootstraps": 3}
LINE = [[0], [1], [2], [8], [10], [11]]


def three_blobs(seed=0, n=150):
    centers = [[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]]
    return make_blobs(n, centers=centers, cluster_std=0.5, random_state=seed)


# by hand


def test_dispersion_of_two_pairs():
    X = np.array([[0.0], [2.0], [7.0], [11.0]])
    assert dispersion(X, np.array([0, 0, 1, 1])) == 2.0 + 8.0
    assert dispersion(X, np.zeros(4, int)) == 25.0 + 9.0 + 4.0 + 36.0


def test_bic_of_two_pairs():
    # n = 4, d = 1, K = 2, W = 10: width 10 / 2 = 5, shares 1/2 each, numbers fitted 2 centers + 1 width + 1 share
    X = np.array([[0.0], [2.0], [7.0], [11.0]])
    expected = 8 * math.log(2) + 4 * math.log(2 * math.pi * 5.0) + 2 + 4 * math.log(4)
    assert spherical_bic(X, np.array([0, 0, 1, 1]), 10.0) == pytest.approx(expected)


def test_bic_says_nothing_where_clusters_have_no_width():
    assert math.isnan(spherical_bic(np.zeros((4, 1)), np.array([0, 0, 1, 1]), 0.0))


def test_the_elbow_is_farthest_below_the_line():
    # the line from (1, 10) to (4, 1) is 7 at 2 and 4 at 3
    assert elbow_of(np.arange(1, 5), np.array([10.0, 5.0, 1.5, 1.0])) == 3
    assert elbow_of(np.arange(1, 5), np.array([10.0, 7.0, 4.0, 1.0])) is None
    assert elbow_of(np.arange(1, 3), np.array([10.0, 7.0])) is None


def test_the_first_gap_that_the_next_does_not_beat_by_its_error():
    ks = np.arange(1, 5)
    assert best_gap(ks, np.array([0.0, 0.5, 0.9, 0.92]), np.full(4, 0.05)) == 3
    assert best_gap(ks, np.array([0.0, 0.5, 0.9, 1.4]), np.full(4, 0.05)) is None
    assert best_gap(ks, np.full(4, np.nan), np.full(4, np.nan)) is None


def test_the_smaller_of_equally_good_numbers():
    assert largest(np.arange(1, 4), np.array([np.nan, 0.5, 0.5 + 1e-12])) == 2
    assert largest(np.arange(1, 3), np.array([np.nan, np.nan])) is None


@pytest.mark.parametrize(
    ("votes", "silhouettes", "expected"),
    [
        ((3, 2, 3, 3), (np.nan, 0.6, 0.5), 3),  # most votes
        ((3, 2, 3, 2), (np.nan, 0.6, 0.5), 2),  # as many: the larger silhouette
        ((2, 2, 1, 3), (np.nan, 0.2, 0.1), 1),  # no structure for the gap, weak silhouettes
        ((2, 2, 1, 1), (np.nan, 0.4, 0.1), 1),  # gap and BIC both see none
        ((2, 2, 1, 3), (np.nan, 0.6, 0.5), 2),  # clear clusters overrule the gap
        ((None, None, None, None), (np.nan, np.nan, np.nan), 1),
    ],
)
def test_one_recommendation_from_the_votes(votes, silhouettes, expected):
    named = dict(zip(("elbow", "silhouette", "gap", "bic"), votes, strict=True))
    assert recommend(np.arange(1, 4), named, np.array(silhouettes)) == expected


def test_the_reason_names_who_agrees_and_who_does_not():
    votes = {"elbow": 2, "silhouette": 3, "gap": None, "bic": 3}
    values = np.array([np.nan, 0.4, 0.55])
    said = reason_for(3, np.arange(1, 4), votes, values, np.array([np.nan, 0.9, 0.4]), np.array([np.nan, 0.0, 0.1]))
    assert said == (
        "The silhouette and BIC prefer 3 clusters. The elbow prefers 2. The gap statistic cannot say. The clusters are "
        "clear (mean silhouette 0.55). They do not come back when the rows are drawn again (adjusted Rand index 0.40 ± "
        "0.10): do not rely on them."
    )


# properties


@pytest.mark.parametrize("seed", range(2))
def test_three_clusters_are_three(seed):
    X, _ = three_blobs(seed)
    choice = choose_clusters(X, k=range(1, 7), **QUICK)
    assert choice.k == 3
    assert choice.votes["silhouette"] == choice.votes["bic"] == 3
    assert choice.stability[2] == pytest.approx(1.0)
    assert choice.silhouette[2] == pytest.approx(silhouette_score(X, choice.labels))
    assert choice.model.n_clusters == 3
    assert pellucid.verify(choice.model, X).holds


def test_rows_without_clusters_are_one():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    choice = choose_clusters(X, k=range(1, 6), **QUICK)
    assert choice.k == 1
    assert choice.reason.startswith("No clusters")


def test_the_same_seed_gives_the_same_table_and_another_order_of_k_too():
    X, _ = three_blobs(n=60)
    one, other = (choose_clusters(X, k=k, random_state=1, **QUICK).frame() for k in ([1, 2, 3], [3, 2, 1, 1]))
    assert one.equals(other)


def test_evenly_spread_rows_fill_the_turned_box():
    rng = np.random.default_rng(0)
    along = rng.uniform(-10.0, 10.0, size=(500, 1))
    X = along @ [[1.0, 1.0]] + 0.1 * rng.standard_normal((500, 2)) + 5.0
    even = even_rows(X, np.random.default_rng(1))
    assert np.abs(even @ [1.0, -1.0]).max() < 1.5  # the box lies along the line, not along the axes
    np.testing.assert_allclose(even.mean(axis=0), 5.0, atol=1.0)


def test_drawn_again_the_same_clusters_agree_and_chance_does_not():
    X, y = three_blobs()
    rng = np.random.default_rng(0)

    def fit(rows, seed):
        return KMeans(3, n_init=5, random_state=seed).fit(rows)

    assert agreement(fit, X, y, rng) == pytest.approx(1.0)
    assert abs(agreement(fit, X, rng.permutation(y), rng)) < 0.1


def test_of_many_rows_some_are_looked_at():
    X, _ = three_blobs(n=900)
    choice = choose_clusters(X, k=range(1, 5), most_rows=200, **QUICK)
    assert choice.k == 3
    assert len(choice.labels) == 900


def test_the_work_is_counted():
    said = []
    for settings in (QUICK, {"n_references": 0, "n_bootstraps": 0}):
        said.clear()
        choose_clusters(LINE, k=[1, 2, 3], listen=lambda done, total: said.append((done, total)), **settings)
        assert said == [(done, len(said)) for done in range(1, len(said) + 1)]


# other estimators


@pytest.mark.parametrize(
    "estimator",
    [AgglomerativeClustering(), GaussianMixture(reg_covar=1e-4), SpectralClustering(gamma=0.5, n_init=2)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_estimator_that_counts_its_clusters(estimator):
    X, _ = three_blobs(n=90)
    assert choose_clusters(X, estimator, k=range(2, 5), **QUICK).k == 3


def test_a_mixture_is_asked_for_its_own_bic():
    X, _ = three_blobs(n=90)
    choice = choose_clusters(X, GaussianMixture(random_state=0), k=[2, 3], n_references=0, n_bootstraps=0)
    expected = [GaussianMixture(k, random_state=0).fit(X).bic(X) for k in (2, 3)]
    np.testing.assert_allclose(choice.bic, expected)
    assert choice.votes["gap"] is None
    assert np.isnan(choice.stability).all()


# workings and pictures


def test_the_workings_agree_with_the_program():
    work = pellucid.show_work(choose_clusters, LINE)
    choice = choose_clusters(LINE, k=range(1, 5), **QUICK)
    np.testing.assert_allclose(choice.dispersion, np.array(work.answer["dispersion"], dtype=float))
    np.testing.assert_allclose(choice.silhouette[1:], np.array(work.answer["silhouette"], dtype=float))
    np.testing.assert_allclose(choice.bic, np.array(work.answer["bic"], dtype=float), rtol=1e-9)
    assert work.answer["k"] == choice.k == 2
    for form in ("text", "markdown", "latex", "html"):
        assert "11" in work.printed(form)


def test_workings_of_points_in_the_plane_fit_eighty_columns():
    X = [[0.5, 1.25], [1, 3], [2, 2], [8, -1.5], [10, 7], [11, 6], [3, 4], [1, 9], [4, 4], [5, 1], [2, 8], [9, 9]]
    work = pellucid.show_work(choose_clusters, X)
    assert max(map(len, str(work).splitlines())) <= 80
    assert "first 12 digits" in str(work)


def test_workings_refuse_two_rows():
    with pytest.raises(ValueError, match="X must have at least 3 rows"):
        pellucid.show_work(choose_clusters, [[0], [1]])


def test_the_picture_marks_what_is_recommended():
    choice = choose_clusters(LINE, k=range(1, 5), **QUICK)
    figure = choice.plot()
    assert len(figure.axes) == 6
    assert plot_cluster_choice(choice, figure=None).axes[2].get_ylabel() == "gap statistic"
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told == [f"recommended: {choice.k}", "preferred by a criterion"]


def test_the_picture_says_what_was_not_computed():
    choice = choose_clusters(LINE, k=range(1, 4), n_references=0, n_bootstraps=0)
    assert choice.plot().axes[2].texts[0].get_text() == "not computed"


def test_silhouettes_are_drawn_cluster_by_cluster():
    X, y = three_blobs()
    ax = plot_silhouettes(X, y, names=["north", "east", "west"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["north (50)", "east (50)", "west (50)"]
    assert ax.texts[0].get_text() == f"mean {silhouette_score(X, y):.2f}"


# errors


def test_refuses_numbers_of_clusters_that_make_no_sense():
    with pytest.raises(ValueError, match="k must be numbers of clusters of at least 1, got \\[0, 1\\]"):
        choose_clusters(LINE, k=[0, 1])
    with pytest.raises(ValueError, match="k must be at most the number of rows, got 10 for 6 rows"):
        choose_clusters(LINE)


def test_refuses_an_estimator_that_does_not_count_clusters():
    with pytest.raises(TypeError, match="estimator must have a parameter n_clusters or n_components, got Linear"):
        choose_clusters(LINE, LinearRegression(), k=[1, 2])
