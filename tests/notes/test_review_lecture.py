"""A walk through the review lecture: naive Bayes on texts, trees pruned on validation rows, linkage by hand, scores."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.cluster import AgglomerativeClustering
from pellucid.data import load_distances_by_hand, load_documents, load_play_tennis, load_watermelons
from pellucid.linear_model import LogisticRegression
from pellucid.model_selection import score_interval
from pellucid.naive_bayes import CategoricalNB, MixedNB, MultinomialNB
from pellucid.tree import ID3Classifier


def counted():
    """Return counts of the six words in d1 to d5, the vocabulary, and the classes of d1 to d4."""
    documents = load_documents()
    words = sorted({word for text in documents["words"] for word in text.split()})
    counts = np.array([[text.split().count(word) for word in words] for text in documents["words"]])
    return counts, words, documents["class"].iloc[:4].to_numpy()


def test_chapter_12_priors_and_conditionals_of_the_documents():
    counts, words, labels = counted()
    model = MultinomialNB(prior_alpha=1.0).fit(counts[:4], labels)
    assert model.classes_.tolist() == ["c", "j"]
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [2 / 3, 1 / 3])
    at = [words.index(word) for word in ("Chinese", "Tokyo", "Japan")]
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[:, at]), [[3 / 7, 1 / 14, 1 / 14], [2 / 9, 2 / 9, 2 / 9]])


def test_chapter_12_the_fifth_document_is_about_china():
    counts, _, labels = counted()
    model = MultinomialNB(prior_alpha=1.0).fit(counts[:4], labels)
    scores = np.exp(model.predict_joint_log_proba(counts[4:])[0])
    np.testing.assert_allclose(scores, [0.00027, 0.00018], atol=5.5e-6)
    assert scores[0] == pytest.approx(2 / 3 * (3 / 7) ** 3 / 14**2)
    assert scores[1] == pytest.approx(1 / 3 * (2 / 9) ** 5)
    assert model.predict(counts[4:]) == ["c"]
    handout = str(pellucid.show_work(MultinomialNB(prior_alpha=1.0), counts[:4], labels, new=counts[4:]))
    assert "0.00027" in handout
    assert "0.00018" in handout or "0.00054" in handout


def test_chapter_12_i_love_this_fun_film():
    """The likelihoods alone: 5e-7 against 1e-9, whatever the program that multiplies them."""
    shares = np.array([[0.1, 0.1, 0.01, 0.05, 0.1], [0.2, 0.001, 0.01, 0.005, 0.1]])
    rest = 1.0 - shares.sum(axis=1, keepdims=True)
    model = MultinomialNB(alpha=0.0, force_alpha=True, fit_prior=False)
    model.fit(np.rint(np.hstack((shares, rest)) * 1e6).astype(int), ["+", "-"])
    likelihood = np.exp(model.predict_joint_log_proba([[1, 1, 1, 1, 1, 0]])[0]) * 2.0
    order = [model.classes_.tolist().index(sign) for sign in "+-"]
    np.testing.assert_allclose(likelihood[order], [5e-7, 1e-9], rtol=1e-9)


def test_chapter_12_laplace_smoothing_of_categories_counts_the_values_of_the_column():
    """(|D_cx| + 1) / (|D_c| + N_i), and (|D_c| + 1) / (|D| + N) for the prior."""
    tennis = load_play_tennis()
    codes = tennis.iloc[:, :-1].apply(lambda column: column.astype("category").cat.codes).to_numpy()
    model = CategoricalNB(alpha=1.0, prior_alpha=1.0).fit(codes, tennis.iloc[:, -1])
    place = model.classes_.tolist().index("yes")
    assert np.exp(model.class_log_prior_[place]) == pytest.approx((9 + 1) / (14 + 2))
    outlook = tennis.columns.get_loc("outlook")
    sunny = sorted(tennis["outlook"].unique()).index("sunny")
    assert np.exp(model.feature_log_prob_[outlook][place, sunny]) == pytest.approx((2 + 1) / (9 + 3))


def test_chapter_12_words_and_numbers_of_all_seventeen_melons():
    """Shares for words, normal densities for density and sugar; the first melon is a good one."""
    table = load_watermelons(numbers=True)
    X, y = table.drop(columns="good"), table["good"]
    handout = pellucid.show_work(MixedNB(), X, y, new=X.iloc[[0]])
    assert handout.answer["predicted"] == ["yes"]
    assert MixedNB().fit(X, y).predict_proba(X.iloc[[0]])[0, 1] == pytest.approx(0.99772, abs=5e-6)


def melons():
    """Return columns, labels, and the places of the rows that validate.

    Color and navel gain equally at the root. The book asks for the navel; of equally good columns the first counts.
    """
    table = load_watermelons()
    learned = load_watermelons("learn").index
    held_back = [place for place, name in enumerate(table.index) if name not in learned]
    columns = ["navel", *(name for name in table.columns if name not in ("navel", "good"))]
    return table[columns], table["good"].to_numpy(), held_back


def accuracy(model, X, y, rows):
    return float((model.predict(X.iloc[rows]) == y[rows]).mean())


def test_chapter_11_the_whole_tree_of_the_watermelons_has_a_validation_accuracy_of_three_sevenths():
    X, y, rows = melons()
    learned = [place for place in range(len(y)) if place not in rows]
    model = ID3Classifier().fit(X.iloc[learned], y[learned])
    assert accuracy(model, X, y, rows) == pytest.approx(3 / 7)  # 42.9 %


@pytest.mark.parametrize("pruning", ["pre", "post"])
def test_chapter_11_pruned_it_gets_five_sevenths(pruning):
    X, y, rows = melons()
    model = ID3Classifier(pruning=pruning, validation=rows).fit(X, y)
    assert accuracy(model, X, y, rows) == pytest.approx(5 / 7)  # 71.4 %
    assert pellucid.verify(model, X, y).holds


def test_chapter_11_the_gain_of_the_first_question():
    tennis = load_play_tennis()
    model = ID3Classifier().fit(tennis.iloc[:, :-1], tennis.iloc[:, -1])
    assert model.trace_["gain"][0] == pytest.approx(0.2467, abs=5e-5)


@pytest.mark.parametrize(
    ("linkage", "heights"),
    [("single", [17, 21, 21, 28]), ("complete", [17, 23, 28, 43]), ("average", [17, 22, 28, 33])],
)
def test_hierarchical_clustering_of_a_to_e(linkage, heights):
    table = load_distances_by_hand()
    model = AgglomerativeClustering(n_clusters=None, distance_threshold=0.0, metric="precomputed", linkage=linkage).fit(
        table.to_numpy(dtype=float)
    )
    np.testing.assert_allclose(model.distances_, heights)


def test_hierarchical_clustering_writes_each_minimum_with_the_names_of_the_table():
    table = load_distances_by_hand()
    model = AgglomerativeClustering(n_clusters=1, metric="precomputed", linkage="single")
    handout = str(pellucid.show_work(model, table))
    assert "min(21, 30) = 21" in handout
    assert "min(31, 34) = 31" in handout
    assert "min(23, 21) = 21" in handout


def test_lecture_3_the_gradient_of_logistic_regression_is_x_times_residuals():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    residual = model.predict_proba(X)[:, 1] - y
    np.testing.assert_allclose(np.r_[X.T @ residual, residual.sum()], 0.0, atol=1e-7)


def test_lecture_4_precision_and_recall_of_a_table():
    from sklearn.metrics import precision_score, recall_score

    truth, found = [1] * 6 + [0] * 4, [1] * 4 + [0] * 2 + [1] + [0] * 3
    assert (precision_score(truth, found), recall_score(truth, found)) == (4 / 5, 4 / 6)
    handout = pellucid.show_work(score_interval, truth, found)
    assert "precision" in str(handout).lower()


def test_lecture_9_max_pooling_of_the_first_filter():
    from pellucid.neural_network import max_pool

    filters = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    assert max_pool(filters[None, None], 2, stride=1)[0, 0].tolist() == [[1.0, 1.0], [1.0, 1.0]]
