"""MultinomialNB, BernoulliNB and CategoricalNB: one table of counts each, and much in common."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import sklearn.naive_bayes as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.naive_bayes import BernoulliNB, CategoricalNB, MultinomialNB
from pellucid.probability import Bernoulli, Beta, Categorical, Dirichlet
from tests.naive_bayes.samples import counts, repeated, seeds

KINDS = (MultinomialNB, BernoulliNB, CategoricalNB)
of_every_kind = pytest.mark.parametrize("kind", KINDS)
TABLES = {
    MultinomialNB: ("feature_count_", "feature_log_prob_"),
    BernoulliNB: ("feature_count_", "feature_log_prob_", "absence_log_prob_"),
    CategoricalNB: ("category_count_", "feature_log_prob_"),
}
DOCUMENTS = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
LABELS = ["c", "c", "c", "j"]


def assert_same_tables(one, other, rtol=1e-12):
    for name in (*TABLES[type(one)], "class_count_", "class_log_prior_"):
        for a, b in zip(getattr(one, name), getattr(other, name), strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol)


@pytest.mark.by_hand("MultinomialNB")
def test_the_documents_of_the_lecture():  # by hand
    model = make_pipeline(CountVectorizer(lowercase=False), MultinomialNB(class_prior=[2 / 3, 1 / 3]))
    model.fit(DOCUMENTS, LABELS)
    words = model[0].vocabulary_
    shares = np.exp(model[1].feature_log_prob_)
    # c: 8 words and 6 different ones, so (5 + 1) / 14, (0 + 1) / 14; j: 3 words, so 2 / 9
    np.testing.assert_allclose(shares[:, words["Chinese"]], [3 / 7, 2 / 9])
    np.testing.assert_allclose(shares[:, words["Tokyo"]], [1 / 14, 2 / 9])
    np.testing.assert_allclose(shares[:, words["Japan"]], [1 / 14, 2 / 9])
    question = ["Chinese Chinese Chinese Tokyo Japan"]
    scores = np.exp(model[1].predict_joint_log_proba(model[0].transform(question)))
    np.testing.assert_allclose(scores, [[2 / 3 * (3 / 7) ** 3 / 14**2, 1 / 3 * (2 / 9) ** 5]])
    np.testing.assert_allclose(scores, [[0.00027, 0.00018]], atol=5e-6)
    assert model.predict(question) == ["c"]
    assert pellucid.verify(model, DOCUMENTS, LABELS).holds


@pytest.mark.by_hand("BernoulliNB", "CategoricalNB")
def test_smoothed_tables_are_posterior_modes_of_the_densities():
    X, y = counts(0)
    of_one = X[y == 1]
    bernoulli = BernoulliNB(alpha=0.5).fit(X, y)
    density = Bernoulli.fit((of_one[:, 2] > 0).astype(int), prior=Beta(1.5, 1.5))
    assert np.exp(bernoulli.feature_log_prob_[1, 2]) == pytest.approx(density.p)
    categorical = CategoricalNB(alpha=0.5).fit(X, y)
    shares = Categorical.fit(of_one[:, 2], prior=Dirichlet([1.5] * 4), categories=range(4)).probabilities
    np.testing.assert_allclose(np.exp(categorical.feature_log_prob_[2][1]), shares)


@of_every_kind
def test_trace_is_the_mean_negative_log_likelihood(kind):
    X, y = counts(1)
    model = kind().fit(X, y)
    mine = model.predict_joint_log_proba(X)[np.arange(len(y)), y]
    assert model.trace_["objective"][0] == pytest.approx(-mine.mean())


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB])
def test_what_no_class_can_produce_leaves_the_prior(kind):
    model = kind(alpha=0).fit([[1, 0, 0], [1, 1, 0], [0, 1, 0]], ["a", "a", "b"])
    np.testing.assert_array_equal(model.predict_joint_log_proba([[0, 0, 3]]), [[-np.inf, -np.inf]])
    np.testing.assert_allclose(model.predict_proba([[0, 0, 3]]), [[2 / 3, 1 / 3]])
    np.testing.assert_allclose(model.predict_proba([[1, 0, 0]]), [[1, 0]])
    assert pellucid.verify(model, [[1, 0, 0], [1, 1, 0], [0, 1, 0]], ["a", "a", "b"]).holds


def test_a_share_near_one_keeps_the_digits_of_its_complement():
    model = BernoulliNB(alpha=1e-12).fit([[1]] * 1000, ["a"] * 1000)
    np.testing.assert_allclose(model.absence_log_prob_, np.log(1e-12 / 1000), rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("in_parts", [False, True])
def test_a_column_of_ones_has_no_zeros_whatever_the_weights(seed, in_parts):
    # sums of weights in another order differ by rounding: the weight of zeros is 0, not 1e-16 and not -1e-16
    rng = np.random.default_rng(seed)
    X, y, weight = np.ones((500, 6)), np.repeat([0, 1], 250), rng.random(500)
    model = BernoulliNB(alpha=0)
    for rows in np.array_split(rng.permutation(500), 3) if in_parts else [np.arange(500)]:
        model.partial_fit(X[rows], y[rows], classes=[0, 1], sample_weight=weight[rows])
    np.testing.assert_array_equal(model.absence_log_prob_, -np.inf)
    assert not np.isnan(model.predict_proba([[0] * 6, [1] * 6])).any()
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y, sample_weight=weight).holds


@pytest.mark.parametrize("alpha", [0, 1e-9, 1.0])
def test_a_zero_of_small_weight_among_many_ones_is_certified(alpha):
    X, y, weight = np.ones((2000, 3)), np.arange(2000) % 2, np.random.default_rng(0).random(2000)
    X[:2], weight[:2] = 0.0, 1e-7  # its share is a difference of two sums that agree in nine digits
    model = BernoulliNB(alpha=alpha).fit(X, y, weight)
    assert pellucid.verify(model, X, y, sample_weight=weight).holds
    model.absence_log_prob_ = model.absence_log_prob_ * (1 + 1e-3)
    with pytest.warns(pellucid.UncertifiedWarning, match="conditionals"):
        assert not pellucid.verify(model, X, y, sample_weight=weight).holds


def test_a_new_category_widens_the_table_of_a_later_part():
    model = CategoricalNB().partial_fit([[0], [1]], [0, 1], classes=[0, 1]).partial_fit([[3]], [1])
    np.testing.assert_array_equal(model.category_count_[0], [[1, 0, 0, 0], [0, 1, 0, 1]])
    np.testing.assert_array_equal(model.n_categories_, [4])
    assert pellucid.verify(model, [[0], [1], [3]], [0, 1, 1]).holds


@pytest.mark.property("BernoulliNB", "CategoricalNB", "MultinomialNB")
@seeds
@of_every_kind
def test_a_weight_is_a_number_of_repetitions(kind, seed):  # properties
    X, y = counts(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weight[:3] = 1
    weighted = kind(**({"min_categories": 4} if kind is CategoricalNB else {}))
    copied = copy.deepcopy(weighted).fit(*repeated(X, y, weight))
    assert_same_tables(weighted.fit(X, y, sample_weight=weight), copied)
    assert pellucid.verify(weighted, X, y, sample_weight=weight).holds


@seeds
@of_every_kind
def test_parts_give_the_same_model_as_the_whole(kind, seed):
    X, y = counts(seed)
    parts = kind()
    for rows in np.array_split(np.arange(len(y)), 4):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_same_tables(parts, kind().fit(X, y))
    assert len(parts.trace_) == 4
    assert "4 parts" in parts.certificate_.reason
    assert pellucid.verify(parts, X, y).holds


@of_every_kind
def test_a_refused_part_leaves_the_model_as_it_was(kind):
    X, y = counts(0)
    model = kind().partial_fit(X, y, classes=[0, 1, 2])
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full(X.shape, np.nan), y)
    with pytest.raises(ValueError, match=r"y must hold only the labels \[0, 1, 2\] of the fit, got \[3\]"):
        model.partial_fit(X, y + 1)
    assert_same_tables(model, before)


@seeds
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB])
def test_sparse_counts_give_the_same_model(kind, form, seed):
    X, y = counts(seed)
    X = X * (np.random.default_rng(seed).random(X.shape) < 0.3)  # mostly zeros, so the short way is taken
    weight = np.random.default_rng(seed).random(len(y))
    dense, thin = kind().fit(X, y, weight), kind().fit(form(X), y, weight)
    assert_same_tables(dense, thin)
    np.testing.assert_allclose(dense.predict_proba(X), thin.predict_proba(form(X)))
    assert pellucid.verify(thin, form(X), y, sample_weight=weight).holds


@given(seed=st.integers(0, 1000), alpha=st.floats(0.0, 3.0))
@settings(max_examples=30, deadline=None)
def test_probabilities_add_up_to_one(seed, alpha):
    X, y = counts(seed, n=12)
    for kind in KINDS:
        model = kind(alpha=alpha).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        assert pellucid.verify(model, X, y).holds


@pytest.mark.parametrize(("kind", "table"), [(kind, table) for kind in KINDS for table in TABLES[kind]])
def test_verify_objects_to_a_broken_table(kind, table):
    X, y = counts(0)
    model = kind().fit(X, y)
    broken = copy.deepcopy(getattr(model, table))
    broken[-1][-1] = broken[-1][-1] * (1 + 1e-9) + 1e-9
    setattr(model, table, broken)
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        assert not pellucid.verify(model, X, y).holds


@pytest.mark.parametrize(("kind", "table"), [(kind, table) for kind in KINDS for table in TABLES[kind]])
@pytest.mark.parametrize("place", [0, -1])
def test_verify_objects_to_a_table_with_nan(kind, table, place):
    X, y = counts(0)
    model = kind().fit(X, y)
    broken = copy.deepcopy(getattr(model, table))
    broken[place][place] = np.nan
    setattr(model, table, broken)
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        assert not pellucid.verify(model, X, y).holds


@of_every_kind
def test_the_proof_does_not_look_at_the_trace(kind):
    X, y = counts(0)
    model = kind().partial_fit(X[:30], y[:30], classes=[0, 1, 2]).partial_fit(X[30:], y[30:])
    proof = pellucid.verify(model, X, y)
    model.trace_ = model.certificate_ = None
    assert pellucid.verify(model, X, y) == proof


@pytest.mark.peer("BernoulliNB", "CategoricalNB", "MultinomialNB")
@seeds
@of_every_kind
@pytest.mark.parametrize(
    "parameters",
    [{}, {"alpha": 0.1, "fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}, {"alpha": 0, "force_alpha": True}],
    ids=str,
)
def test_same_answer_as_scikit_learn(kind, parameters, seed):  # peer
    X, y = counts(seed)
    theirs = getattr(peer, kind.__name__)(**parameters)
    with np.errstate(all="ignore"):
        theirs.fit(X, y)
        expected = theirs.predict_joint_log_proba(X)
    ours = kind(**parameters).fit(X, y)
    for name in (*TABLES[kind][:2], "class_count_", "class_log_prior_"):
        for a, b in zip(getattr(ours, name), getattr(theirs, name), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    scores = ours.predict_joint_log_proba(X)
    known = ~np.isnan(expected)  # 0 times -inf, which we know to be impossible or harmless
    np.testing.assert_allclose(scores[known], expected[known], rtol=1e-9)
    assert not np.isnan(scores).any()


def test_a_pseudo_count_per_column_is_used_for_its_column():
    X, y = counts(0)
    alpha = np.linspace(0.5, 2.0, X.shape[1])
    theirs = peer.MultinomialNB(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(MultinomialNB(alpha=alpha).fit(X, y).feature_log_prob_, theirs.feature_log_prob_)
    for kind in (BernoulliNB, CategoricalNB):  # where the peer has no rule for this: column by column
        model = kind(alpha=alpha).fit(X, y)
        assert pellucid.verify(model, X, y).holds
        scores = -(X.shape[1] - 1) * model.class_log_prior_ + sum(
            getattr(peer, kind.__name__)(alpha=a).fit(X[:, [j]], y).predict_joint_log_proba(X[:, [j]])
            for j, a in enumerate(alpha)
        )
        np.testing.assert_allclose(model.predict_joint_log_proba(X), scores)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"alpha": -1.0}, ValueError, "alpha must be at least 0, got -1.0"),
        ({"alpha": [1.0, 2.0]}, ValueError, "alpha must be a number or have 7 entries"),
        ({"alpha": [1.0] * 6 + [-1.0]}, ValueError, "alpha must be at least 0, got -1.0"),
        ({"class_prior": [0.5, 0.5]}, ValueError, "class_prior must have 3 entries"),
        ({"class_prior": [0.5, 0.6, -0.1]}, ValueError, "class_prior must be at least 0, got -0.1"),
        ({"fit_prior": "yes"}, ValueError, "fit_prior must be True or False, got 'yes'"),
    ],
)
@of_every_kind
def test_refuses_bad_parameters(kind, parameters, error, message):  # errors
    with pytest.raises(error, match=message):
        kind(**parameters).fit(*counts(0))


def test_a_tiny_alpha_is_raised_unless_forced():
    X, y = counts(0)
    with pytest.warns(UserWarning, match=r"setting alpha = 1\.0e-10"):
        model = MultinomialNB(alpha=0, force_alpha=False).fit(X, y)
    np.testing.assert_allclose(model.feature_log_prob_, MultinomialNB(alpha=1e-10).fit(X, y).feature_log_prob_)


@pytest.mark.bad_input("BernoulliNB", "CategoricalNB", "MultinomialNB")
def test_refuses_bad_data():
    X, y = counts(0)
    with pytest.raises(ValueError, match="Negative values in data passed to MultinomialNB"):
        MultinomialNB().fit(-X, y)
    with pytest.raises(ValueError, match="between 0 and 1 if binarize is None, got 3.0. Set binarize"):
        BernoulliNB(binarize=None).fit(X, y)
    with pytest.raises(TypeError, match="binarize must be a number, got 'no'"):
        BernoulliNB(binarize="no").fit(X, y)
    with pytest.raises(ValueError, match="categories below 4 in column 0, got 9. Set min_categories"):
        CategoricalNB().fit(X, y).predict(np.full((1, 7), 9))
    with pytest.raises(TypeError, match=r"min_categories must be a whole number, got 2\.5"):
        CategoricalNB(min_categories=2.5).fit(X, y)
    with pytest.raises(ValueError, match="min_categories must hold whole numbers, got float64"):
        CategoricalNB(min_categories=np.full(7, 2.5)).fit(X, y)
    with pytest.raises(ValueError, match="min_categories must be a number or have 7 entries"):
        CategoricalNB(min_categories=[5, 5]).fit(X, y)
