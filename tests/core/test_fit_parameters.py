import numpy as np
import pytest
from sklearn.linear_model import Ridge as AnyEstimator

import pellucid
from pellucid.core.cards import MethodCard, _defaults, all_cards
from pellucid.core.estimator import changed_parameters, parameter_texts
from pellucid.core.input_rules import InputRules
from pellucid.core.kinds.plain import Whole
from pellucid.linear_model import Lasso, LogisticRegression, Ridge

X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [4.0, 0.0]])
Y = np.array([0.0, 1.0, 2.5, 3.0])


class Bag:
    def __init__(self, **values):
        vars(self).update(values)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (np.float64(2.0), 2),
        ([1, 2], np.array([1.0, 2.0])),
        ((0.5, 1), [0.5, 1.0]),
        (np.True_, True),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}),
        (AnyEstimator(alpha=2), AnyEstimator(alpha=2.0)),
        (np.random.RandomState(0), np.random.RandomState(1)),  # a state that moves is not compared
    ],
)
def test_equal_values_have_one_text(one, other):
    assert parameter_texts(Bag(a=one), ["a"]) == parameter_texts(Bag(a=other), ["a"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 1.0 + 1e-15),
        (True, 1),
        ("1", 1),
        (None, 0),
        ([1, 2], [2, 1]),
        ({0: 1}, {1: 1}),
        (AnyEstimator(alpha=1), AnyEstimator(alpha=2)),
        (np.sum, np.mean),
    ],
)
def test_other_values_have_other_texts(one, other):
    assert parameter_texts(Bag(a=one), ["a"]) != parameter_texts(Bag(a=other), ["a"])


def test_a_changed_parameter_is_named_with_both_values():
    assert changed_parameters({"alpha": "1"}, {"alpha": "2"}) == ["alpha was 1 and is 2"]


def test_verify_objects_to_parameters_changed_after_the_fit():
    model = Lasso(alpha=0.1).fit(X, Y)
    model.set_params(max_iter=7)
    with pytest.warns(pellucid.UncertifiedWarning, match="parameters"):
        found = pellucid.verify(model, X, Y)
    assert "max_iter was 1000 and is 7" in str(found)
    assert not found.holds


def test_how_to_work_may_change_after_the_fit():
    model = LogisticRegression().fit(X, Y > 1)
    assert pellucid.verify(model.set_params(verbose=1, n_jobs=2, warm_start=True), X, Y > 1).holds


def test_a_file_keeps_what_the_parameters_were(tmp_path):
    model = Ridge(alpha=0.5).fit(X, Y).set_params(alpha=0.4)
    pellucid.save(model, tmp_path / "m.safetensors")
    with pytest.warns(pellucid.UncertifiedWarning, match="parameters"):
        assert not pellucid.verify(pellucid.load(tmp_path / "m.safetensors"), X, Y).holds


def test_a_parameter_that_holds_itself_comes_to_an_end():
    class Keeper:
        def get_params(self, deep=True):
            return {"registry": [self]}

    class Holder:
        keeper = Keeper()

    (text,) = parameter_texts(Holder(), ["keeper"]).values()
    assert text.startswith("Keeper({'registry': [Keeper(")


def test_every_default_is_what_its_card_allows():  # fits do not look at one again
    for card in all_cards():
        for name, default in _defaults(card.estimator).items():
            assert name not in card.parameters or card.parameters[name].fits(default), (card.name, name)


def test_a_parameter_without_a_default_is_looked_at_whatever_it_is():
    kind = type("Kind", (), {"__init__": lambda self, depth: setattr(self, "depth", depth)})
    card = MethodCard(kind, (), {"depth": Whole(low=1)}, {}, InputRules())
    with pytest.raises(TypeError, match="depth must be"):
        card.check_parameters(kind(None))
