"""A blend is the weighted mean of its members, each of them proved."""

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier, VotingRegressor

import pellucid
from pellucid.ensemble import BlendClassifier, BlendRegressor, HistGradientBoostingRegressor
from pellucid.linear_model import LinearRegression
from pellucid.svm import LinearSVC
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor

X = np.arange(8.0)[:, None]
Y = np.array([0.0, 0.0, 2.0, 2.0, 4.0, 4.0, 9.0, 9.0])


def blend(weights=(3.0, 1.0)):
    return BlendRegressor([DecisionTreeRegressor(random_state=0), LinearRegression()], list(weights))


@pytest.mark.by_hand("BlendRegressor")
def test_it_says_the_weighted_mean_of_its_members():
    model = blend().fit(X, Y)
    tree, line = (member.predict(X) for member in model.estimators_)
    np.testing.assert_allclose(model.predict(X), 0.75 * tree + 0.25 * line)
    np.testing.assert_allclose(model.weights_, [0.75, 0.25])


@pytest.mark.by_hand("BlendClassifier")
def test_probabilities_are_averaged_by_hand():
    # the stump gives both classes of the right leaf 1/2, the tree knows them
    stump, tree = DecisionTreeClassifier(max_depth=1, random_state=0), DecisionTreeClassifier(random_state=0)
    model = BlendClassifier([stump, tree], [1.0, 1.0]).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "a", "b"])
    np.testing.assert_allclose(model.predict_proba([[0.0], [3.0]]), [[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.property("BlendClassifier", "BlendRegressor")
def test_weights_of_rows_reach_the_members():
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0])
    once = blend().fit(X, Y, sample_weight=weight)
    repeated = blend().fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(Y, weight.astype(int)))
    np.testing.assert_allclose(once.predict(X), repeated.predict(X))


@pytest.mark.peer("BlendClassifier", "BlendRegressor")
def test_same_answers_as_votes_of_scikit_learn():
    members = [DecisionTreeRegressor(max_depth=2, random_state=0), LinearRegression()]
    voting = VotingRegressor([("tree", members[0]), ("line", members[1])], weights=[2.0, 1.0]).fit(X, Y)
    np.testing.assert_allclose(BlendRegressor(members, [2.0, 1.0]).fit(X, Y).predict(X), voting.predict(X))
    kinds = [DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2)]
    voting = VotingClassifier([("low", kinds[0]), ("high", kinds[1])], voting="soft", weights=[2.0, 1.0]).fit(X, Y)
    blended = BlendClassifier(kinds, [2.0, 1.0]).fit(X, Y)
    np.testing.assert_allclose(blended.predict_proba(X), voting.predict_proba(X))


def test_verify_finds_a_member_that_was_changed():
    model = blend().fit(X, Y)
    assert pellucid.verify(model, X, Y).holds
    model.estimators_[1].coef_ = model.estimators_[1].coef_ * 1.01
    with pytest.warns(pellucid.UncertifiedWarning, match="members is 1"):
        (claim,) = pellucid.verify(model, X, Y).failed
    assert "LinearRegression" in claim.statement


def test_verify_finds_a_member_with_other_parameters():
    model = blend().fit(X, Y)
    model.estimators_[0] = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, Y)
    with pytest.warns(pellucid.UncertifiedWarning, match="members is 1"):
        (claim,) = pellucid.verify(model, X, Y).failed
    assert "DecisionTreeRegressor with other parameters" in claim.statement


def test_it_is_saved_with_its_members(tmp_path):
    model = BlendRegressor([HistGradientBoostingRegressor(max_iter=5), DecisionTreeRegressor()], [0.5, 0.5]).fit(X, Y)
    pellucid.save(model, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(pellucid.load(tmp_path / "model.safetensors").predict(X), model.predict(X))


@pytest.mark.bad_input("BlendClassifier", "BlendRegressor")
@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (BlendRegressor([]), "estimators must be at least one"),
        (BlendRegressor([DecisionTreeClassifier()]), "estimators must be of pellucid and of the same task"),
        (BlendClassifier([LinearSVC()]), "estimators must have probabilities, got LinearSVC"),
        (BlendRegressor([LinearRegression()], [1.0, 2.0]), "weights must be one for each of 1 members"),
        (BlendRegressor([LinearRegression()], [0.0]), "not all 0"),
    ],
)
def test_what_cannot_be_blended_is_refused(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, Y.astype(int))
