"""ID3Classifier: the weather table by hand, properties, a peer of its own kind of split, broken trees, wrong input."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.tree
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid.core.kinds.pages import ReadPage, SchemaError, WritePage
from pellucid.tree import ID3Classifier
from pellucid.tree.id3.id3_card import MultiwayTreeRecord
from pellucid.tree.id3.id3_tree import tree_fault
from tests.proving import quiet_proof

COLUMNS = ["outlook", "temperature", "humidity", "wind"]
WEATHER = pd.DataFrame(
    [
        line.split()
        for line in """sunny hot high weak
sunny hot high strong
overcast hot high weak
rain mild high weak
rain cool normal weak
rain cool normal strong
overcast cool normal strong
sunny mild high weak
sunny cool normal weak
rain mild normal weak
sunny mild normal strong
overcast mild high strong
overcast hot normal weak
rain mild high strong""".splitlines()
    ],
    columns=COLUMNS,
)
PLAY = np.array(["no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes", "yes", "yes", "yes", "yes", "no"])
CRITERIA = ("gain", "gain_ratio", "gini", "error")
seeds = pytest.mark.parametrize("seed", range(5))


@dataclass
class Arrays:
    """A file that holds these arrays."""

    entries: dict

    def read_array(self, name):
        return self.entries[name]


def table(seed, n=60, p=4, n_categories=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(n_categories, size=(n, p))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n) < 0.2)) % 3


# by hand


@pytest.mark.by_hand
def test_the_weather_table():
    # H(9, 5) = 0.940; gains: outlook 0.247, temperature 0.029, humidity 0.152, wind 0.048; then wind and humidity
    model = ID3Classifier().fit(WEATHER, PLAY)
    assert model.tree_.feature.tolist() == [0, -2, 3, 2, -2, -2, -2, -2]
    assert model.trace_["gain"] == pytest.approx([0.246750, 0.970951, 0.970951], abs=1e-6)
    assert model.tree_.value.tolist()[:4] == [[5, 9], [0, 4], [2, 3], [3, 2]]
    assert model.predict(WEATHER).tolist() == PLAY.tolist()
    assert (model.get_depth(), model.get_n_leaves()) == (2, 5)


def test_gain_ratio_divides_by_the_entropy_of_the_branches():
    # outlook parts 14 rows in 5, 4, 5: 1.5774 bits, so 0.2467 / 1.5774
    model = ID3Classifier("gain_ratio", max_depth=1).fit(WEATHER, PLAY)
    assert model.trace_["gain"][0] == pytest.approx(0.246750 / 1.577406, abs=1e-6)


def test_gini_and_error_of_the_root():
    assert ID3Classifier("gini", max_depth=1).fit(WEATHER, PLAY).trace_["gain"][0] == pytest.approx(57 / 490)
    assert ID3Classifier("error", max_depth=1).fit(WEATHER, PLAY).trace_["gain"][0] == pytest.approx(1 / 14)


def test_an_empty_branch_answers_as_its_parent():
    # all rows of "a" are of class 0; no row of "b" is "x": that branch has the class weights 1, 2 of the rows of "b"
    X = np.array([["a", "x"], ["a", "y"], ["a", "z"], ["b", "y"], ["b", "y"], ["b", "z"]], dtype=object)
    model = ID3Classifier().fit(X, [0, 0, 0, 1, 1, 0])
    assert model.tree_.feature.tolist() == [0, -2, 1, -2, -2, -2]
    asked = np.array([["b", "x"]], dtype=object)
    assert model.tree_.weight[model.apply(asked)].tolist() == [0.0]
    np.testing.assert_allclose(model.predict_proba(asked), [[1 / 3, 2 / 3]])
    assert "no training row takes" in str(pellucid.show_work(model, X, [0, 0, 0, 1, 1, 0]))


def test_an_unseen_category_stops_where_it_is_asked_for():
    model = ID3Classifier().fit(WEATHER, PLAY)
    rows = pd.DataFrame([["fog", "hot", "high", "weak"], ["rain", "hot", "high", "gale"]], columns=COLUMNS)
    assert model.apply(rows).tolist() == [0, 2]
    np.testing.assert_allclose(model.predict_proba(rows), [[5 / 14, 9 / 14], [2 / 5, 3 / 5]])


def test_a_column_of_fractions_is_cut_in_two_and_may_be_cut_again():
    # classes a, b, a along one column: thresholds 1.75 and 3.0, half way between neighbors
    X = np.array([[1.0], [1.5], [2.0], [2.5], [3.5], [4.0]])
    model = ID3Classifier().fit(X, list("aabbaa"))
    assert sorted(model.tree_.threshold[model.tree_.feature == 0]) == [1.75, 3.0]
    assert model.categories_[0].size == 0
    whole = ID3Classifier().fit(2 * X, list("aabbaa"))  # whole numbers are categories: one split, six branches
    assert whole.tree_.n_children.tolist()[0] == 6
    named = ID3Classifier(numeric=[0]).fit(2 * X, list("aabbaa"))
    assert sorted(named.tree_.threshold[named.tree_.feature == 0]) == [3.5, 6.0]


def test_many_whole_numbers_are_cut_and_few_are_categories():
    few, many = np.arange(40)[:, None] % 20, np.arange(40)[:, None] % 21
    assert ID3Classifier().fit(few, few.ravel() > 10).tree_.n_children[0] == 20
    assert ID3Classifier().fit(many, many.ravel() > 10).tree_.threshold[0] == 10.5


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_data_frames_of_mixed_kinds_are_taken(frame):
    table = {"town": ["a", "b", "a", "b"], "rain": [True, False, False, True], "heat": [0.5, 1.5, 2.5, 3.5]}
    model = ID3Classifier().fit(frame(table), [0, 1, 1, 0])
    assert model.predict(frame(table)).tolist() == [0, 1, 1, 0]
    assert [len(known) for known in model.categories_] == [2, 2, 0]
    assert model.tree_.feature[0] == 1


def test_a_split_that_gains_nothing_yet_is_made():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    model = ID3Classifier().fit(X, [0, 1, 1, 0])
    assert model.score(X, [0, 1, 1, 0]) == 1.0
    assert ID3Classifier(min_gain=0.01).fit(X, [0, 1, 1, 0]).tree_.node_count == 1


def test_equal_columns_are_settled_by_the_first():
    X = WEATHER[["humidity", "wind", "humidity"]].set_axis(["a", "b", "c"], axis=1)
    assert ID3Classifier(max_depth=1).fit(X, PLAY).tree_.feature[0] == 0


def test_workings_of_the_weather_table_are_exact_and_agree():
    for criterion in CRITERIA:
        model = ID3Classifier(criterion).fit(WEATHER, PLAY)
        work = pellucid.show_work(model, WEATHER, PLAY)
        assert work.answer["features"] == model.tree_.feature.tolist()
        assert work.answer["values"] == model.tree_.value.tolist()
    # 9/7 - 6/7 log2(3) - 15/14 log2(5) + log2(7)
    assert float(work.answer["gains"][0]) == pytest.approx(0.2467498, abs=1e-7)
    assert "57/490" in str(work)
    for printed in (work.html(), work.latex(), work.markdown()):
        assert "outlook" in printed


def test_workings_cut_columns_of_numbers():
    X = WEATHER.assign(temperature=[29.5, 27, 28, 21, 20, 18, 18, 22, 21, 24, 24, 22, 27, 21])
    work = pellucid.show_work(ID3Classifier("gain_ratio"), X, PLAY)
    model = ID3Classifier("gain_ratio").fit(X, PLAY)
    assert work.answer["features"] == model.tree_.feature.tolist()
    assert "temperature ≤ 28.75" in str(work)


def test_workings_refuse_what_no_person_would_do():
    with pytest.raises(ValueError, match=r"1 to 24 rows and 1 to 6 columns.*got shape \(60, 4\)"):
        pellucid.show_work(ID3Classifier(), *table(0))


# properties


@pytest.mark.property
@seeds
@pytest.mark.parametrize("criterion", CRITERIA)
def test_weights_are_repetitions(seed, criterion):
    X, y = table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(y))
    options = {"min_samples_split": 7, "min_samples_leaf": 2.0}
    weighted = ID3Classifier(criterion, **options).fit(X, y, sample_weight=weight)
    repeated = ID3Classifier(criterion, **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.tree_.feature, repeated.tree_.feature)
    np.testing.assert_array_equal(weighted.tree_.value, repeated.tree_.value)
    assert pellucid.verify(weighted, X, y, sample_weight=weight).holds


@seeds
def test_small_weights_are_not_few_rows(seed):
    X, y = table(seed)
    light = ID3Classifier().fit(X, y, sample_weight=np.full(len(y), 1e-6))
    np.testing.assert_array_equal(light.tree_.feature, ID3Classifier().fit(X, y).tree_.feature)


@seeds
@pytest.mark.parametrize("criterion", CRITERIA)
def test_names_of_categories_and_order_of_rows_do_not_matter(seed, criterion):
    X, y = table(seed)
    model = ID3Classifier(criterion).fit(X, y)
    named = ID3Classifier(criterion).fit(np.array(["a", "b", "c"], dtype=object)[X], y)
    np.testing.assert_array_equal(model.tree_.feature, named.tree_.feature)
    order = np.random.default_rng(seed).permutation(len(y))
    other = ID3Classifier(criterion).fit(X[order], y[order])
    np.testing.assert_array_equal(model.tree_.value, other.tree_.value)


@given(st.integers(0, 2**32 - 1), st.sampled_from(CRITERIA))
def test_every_row_is_as_pure_as_its_categories_allow(seed, criterion):
    X, y = table(seed, n=30)
    model = ID3Classifier(criterion).fit(X, y)
    same = {tuple(row): y[(row == X).all(axis=1)] for row in X}
    shares = [np.bincount(same[tuple(row)], minlength=3)[model.classes_] for row in X]
    np.testing.assert_allclose(model.predict_proba(X), [of / of.sum() for of in shares])


# peer


@pytest.mark.peer
@seeds
@pytest.mark.parametrize(("ours", "theirs"), [("gain", "entropy"), ("gini", "gini")])
def test_with_thresholds_only_it_fits_as_scikit_learn_does(seed, ours, theirs):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(80) > 0).astype(int)
    model = ID3Classifier(ours, max_depth=3).fit(X, y)
    peer = sklearn.tree.DecisionTreeClassifier(criterion=theirs, max_depth=3, random_state=0).fit(X, y)
    assert model.score(X, y) == pytest.approx(peer.score(X, y), abs=1e-12)
    assert model.tree_.threshold[0] == pytest.approx(peer.tree_.threshold[0], rel=1e-6)


# the proof


def test_the_proof_finds_a_split_by_another_column():
    model = ID3Classifier(max_depth=1).fit(WEATHER, PLAY)
    other = ID3Classifier(max_depth=1).fit(WEATHER.assign(outlook="same"), PLAY)
    broken = copy.copy(model)
    broken.tree_ = other.tree_  # humidity at the root: a right tree of the second best column
    proof = quiet_proof(broken, WEATHER, PLAY)
    assert [claim.name for claim in proof.failed] == ["splits"]


def test_the_proof_finds_a_leaf_that_should_be_split_and_a_split_that_should_not():
    X, y = table(1)
    short, deep = ID3Classifier(max_depth=1).fit(X, y), ID3Classifier().fit(X, y)
    for model, other in ((short, deep), (deep, short)):
        broken = copy.copy(model)
        broken.tree_ = other.tree_
        assert quiet_proof(broken, X, y).failed


def test_the_proof_finds_other_categories():
    model = ID3Classifier().fit(WEATHER, PLAY)
    model.categories_ = [model.categories_[0][::-1], *model.categories_[1:]]
    assert "categories" in str(quiet_proof(model, WEATHER, PLAY))


def test_a_large_tree_is_sampled_and_says_so(monkeypatch):
    monkeypatch.setattr("pellucid.proofs.tree.id3.AT_VERIFY", 5)
    X, y = table(0)
    model = ID3Classifier().fit(X, y)
    proof = pellucid.verify(model, X, y)
    assert proof.holds
    assert f"of {model.tree_.node_count:,} nodes were searched again" in proof.reason
    assert "99 % confidence" in proof.reason


@pytest.mark.parametrize(
    ("part", "index", "value", "fault"),
    [
        ("feature", 0, 9, "a column that is not there"),
        ("first_child", 0, 2, "children do not follow"),
        ("first_child", 1, 3, "a leaf has children"),
        ("n_children", 0, 4, "children do not follow"),
        ("n_children", 0, -1, "more children"),
        ("weight", 0, -1.0, "negative"),
        ("value", 0, np.nan, "not finite"),
        ("threshold", 1, 0.0, "a leaf has a threshold"),
    ],
)
def test_arrays_that_are_no_tree_are_named_and_no_file_gives_them_back(part, index, value, fault):
    tree = ID3Classifier().fit(WEATHER, PLAY).tree_
    array = getattr(tree, part).copy()
    array[index] = value
    broken = replace(tree, **{part: array})
    assert fault in tree_fault(broken, 4, 2)
    written, kind = WritePage(), MultiwayTreeRecord()
    node = kind.write(broken, written, "tree_")
    read = ReadPage(container=Arrays(written.arrays), sizes={"n_features": 4})
    with pytest.raises(SchemaError, match=r"tree_"):
        kind.read(node, read, "tree_")


def test_a_circle_is_no_tree():
    tree = ID3Classifier().fit(WEATHER, PLAY).tree_
    first = tree.first_child.copy()
    first[0] = 0
    assert tree_fault(replace(tree, first_child=first), 4, 2)


def test_texts_and_numbers_come_back_from_a_file(tmp_path):
    X = WEATHER.assign(temperature=[29.5, 27, 28, 21, 20, 18, 18, 22, 21, 24, 24, 22, 27, 21])
    model = ID3Classifier(numeric=["temperature"]).fit(X, PLAY)
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert pellucid.verify(again, X, PLAY).holds


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "purity"}, "criterion must be one of"),
        ({"numeric": "all"}, "numeric must be one of"),
        ({"numeric": ["height"]}, "numeric must name columns of X, got 'height'"),
        ({"numeric": ["wind"]}, "numeric must name columns of numbers, got 'wind', which holds texts"),
        ({"max_depth": -1}, "max_depth must be at least 0, got -1"),
        ({"min_gain": -0.1}, "min_gain must be at least 0, got -0.1"),
    ],
)
def test_refuses_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        ID3Classifier(**options).fit(WEATHER, PLAY)


def test_refuses_texts_where_numbers_were():
    model = ID3Classifier().fit(np.array([[0.5], [1.5]]), [0, 1])
    with pytest.raises(ValueError, match="X must hold numbers in column 0 as in the fit, got the text 'a'"):
        model.predict(np.array([["a"]], dtype=object))


# pruning on validation rows

MELONS = [
    row.split(",")
    for row in (  # navel, color, root, knock, texture, touch, good; the table of the notes, in its order
        "hollow,green,curled,muffled,clear,hard,yes", "hollow,black,curled,dull,clear,hard,yes",
        "hollow,black,curled,muffled,clear,hard,yes", "hollow,green,curled,dull,clear,hard,yes",
        "hollow,pale,curled,muffled,clear,hard,yes", "slight,green,half,muffled,clear,soft,yes",
        "slight,black,half,muffled,faint,soft,yes", "slight,black,half,muffled,clear,hard,yes",
        "slight,black,half,dull,faint,hard,no", "flat,green,straight,crisp,clear,soft,no",
        "flat,pale,straight,crisp,blurry,hard,no", "flat,pale,curled,muffled,blurry,soft,no",
        "hollow,green,half,muffled,faint,hard,no", "hollow,pale,half,dull,faint,hard,no",
        "slight,black,half,muffled,clear,soft,no", "flat,pale,curled,muffled,blurry,hard,no",
        "slight,green,curled,dull,faint,hard,no",
    )
]  # fmt: skip
MELON_X = np.array([row[:6] for row in MELONS], dtype=object)
MELON_Y = np.array([row[6] for row in MELONS])
HELD = [3, 4, 7, 8, 10, 11, 12]
LEARNED = [i for i in range(17) if i not in HELD]


def test_the_melons_of_the_notes_are_pruned_from_three_of_seven_to_five():  # by hand: 42.9 % and 71.4 %
    whole = ID3Classifier().fit(MELON_X[LEARNED], MELON_Y[LEARNED])
    assert whole.score(MELON_X[HELD], MELON_Y[HELD]) == pytest.approx(3 / 7)
    for pruning in ("pre", "post"):
        model = ID3Classifier(pruning=pruning, validation=HELD).fit(MELON_X, MELON_Y)
        assert model.score(MELON_X[HELD], MELON_Y[HELD]) == pytest.approx(5 / 7)
        assert model.tree_.feature.tolist() == [0, -2, -2, -2]  # the navel alone
        assert model.tree_.value.tolist() == [[5, 5], [2, 0], [1, 3], [2, 2]]
        assert pellucid.verify(model, MELON_X, MELON_Y).holds


def test_workings_of_the_pruned_melons_tell_both_shares_and_draw_the_tree():
    text = pellucid.show_work(ID3Classifier(pruning="post", validation=HELD), MELON_X, MELON_Y).text()
    assert "3 of 7, 42.9 %" in text
    assert "5 of 7, 71.4 %" in text
    assert "├─ flat: no (2 no)" in text
    assert "a branch by x₂ was cut" in text
    early = pellucid.show_work(ID3Classifier(pruning="pre", validation=HELD), MELON_X, MELON_Y).text()
    assert "after it 5 of 7, 71.4 %. More are right: the node is split." in " ".join(early.split())
    assert "not split by x₂" in early


@pytest.mark.parametrize("pruning", ["pre", "post"])
def test_a_tree_pruned_otherwise_is_not_verified(pruning):
    model = ID3Classifier(pruning=pruning, validation=HELD).fit(MELON_X, MELON_Y)
    learned = MELON_X[LEARNED], MELON_Y[LEARNED]
    for depth, broken in ((None, {"splits", "pruning"}), (0, {"splits"}), (2, {"splits", "pruning"})):
        forged = copy.copy(model)
        forged.tree_ = ID3Classifier(max_depth=depth).fit(*learned).tree_  # its class weights are right
        proof = quiet_proof(forged, MELON_X, MELON_Y)
        assert {claim.name for claim in proof.claims if not claim.holds} == broken
    model.set_params(validation=[0, 1, 2])
    assert not quiet_proof(model, MELON_X, MELON_Y).holds


@seeds
@pytest.mark.parametrize("pruning", ["pre", "post"])
def test_pruning_never_makes_the_validation_rows_worse(seed, pruning):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (80, 4)), rng.integers(0, 2, 80)
    weight = rng.uniform(0.1, 2.0, 80)
    model = ID3Classifier(pruning=pruning, validation=0.25).fit(X, y, weight)
    held = np.arange(60, 80)
    alone = ID3Classifier(max_depth=0).fit(X[:60], y[:60], weight[:60])
    whole = ID3Classifier().fit(X[:60], y[:60], weight[:60])
    right = [one.score(X[held], y[held], weight[held]) for one in (alone, whole, model)]
    assert right[2] >= right[0] - 1e-12
    if pruning == "post":
        assert right[2] >= right[1] - 1e-12
    assert pellucid.verify(model, X, y, sample_weight=weight).holds


def test_refuses_pruning_without_rows_and_rows_without_pruning():
    with pytest.raises(ValueError, match=r"validation must name rows, or be their share, with pruning='pre', got None"):
        ID3Classifier(pruning="pre").fit(MELON_X, MELON_Y)
    with pytest.raises(ValueError, match=r"pruning must be 'pre' or 'post' with validation=0.5, got None"):
        ID3Classifier(validation=0.5).fit(MELON_X, MELON_Y)
    with pytest.raises(ValueError, match="validation must name rows from 0 to 16, got 17"):
        ID3Classifier(pruning="post", validation=[17]).fit(MELON_X, MELON_Y)
    with pytest.raises(ValueError, match="must leave rows to learn from and hold some back, got 17 of 17"):
        ID3Classifier(pruning="post", validation=list(range(17))).fit(MELON_X, MELON_Y)
