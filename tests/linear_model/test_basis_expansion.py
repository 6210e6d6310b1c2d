import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import pellucid
from pellucid.linear_model import BasisExpansion, LinearRegression
from tests.proving import quiet_proof


@pytest.mark.by_hand
def test_all_monomials_up_to_the_degree():  # by hand
    np.testing.assert_array_equal(BasisExpansion(2).fit_transform([[2.0, 3.0]]), [[2.0, 3.0, 4.0, 6.0, 9.0]])
    model = BasisExpansion(2).fit([[2.0, 3.0]])
    assert list(model.get_feature_names_out()) == ["x0", "x1", "x0^2", "x0 x1", "x1^2"]


def test_functions_of_the_user_replace_the_monomials():  # by hand
    def both(X):
        return X[:, :2]

    model = BasisExpansion(functions=[np.sin, lambda X: X.sum(axis=1)]).fit([[1.0]])
    np.testing.assert_allclose(model.transform([[0.0], [2.0]]), [[0.0, 0.0], [np.sin(2.0), 2.0]])
    assert list(model.get_feature_names_out()) == ["sin", "f1"]
    assert model.certificate_.grade == "none"
    wide = BasisExpansion(functions=[both], include_bias=True).fit([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(wide.transform([[1.0, 2.0, 3.0]]), [[1.0, 1.0, 2.0]])


@pytest.mark.peer
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("interaction_only", [True, False])
@pytest.mark.parametrize("include_bias", [True, False])
def test_same_columns_as_scikit_learn(degree, interaction_only, include_bias):  # peer
    X = np.random.default_rng(0).standard_normal((5, 3))
    params = {"degree": degree, "interaction_only": interaction_only, "include_bias": include_bias}
    ours, peer = BasisExpansion(**params).fit(X), PolynomialFeatures(**params).fit(X)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), rtol=1e-14)
    np.testing.assert_array_equal(ours.powers_, peer.powers_)
    assert list(ours.get_feature_names_out()) == list(peer.get_feature_names_out())


@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("interaction_only", [True, False])
def test_proof_counts_the_rows_that_are_no_monomial_of_their_place(include_bias, interaction_only):
    X = np.random.default_rng(0).standard_normal((5, 4))
    model = BasisExpansion(3, include_bias=include_bias, interaction_only=interaction_only).fit(X)
    powers = model.powers_
    for wrong in (powers[::-1], powers[:-1], np.vstack([powers, powers[-1:]]), powers + 1, powers[:, ::-1]):
        model.powers_ = np.ascontiguousarray(wrong)
        assert quiet_proof(model, X)["powers"].value >= 1.0
    model.powers_ = powers
    assert quiet_proof(model, X)["powers"].value == 0.0


def test_many_columns_are_proved_in_the_time_of_their_monomials():
    # all exponents up to 2 of 40 columns are 3^40 rows, of which the monomials of degree 2 are 860
    X = np.random.default_rng(0).standard_normal((3, 40))
    model = BasisExpansion(2).fit(X)
    assert len(model.powers_) == 860
    assert pellucid.verify(model, X).holds


def test_a_parabola_is_a_line_in_a_pipeline():
    x = np.linspace(-1, 1, 9)[:, None]
    model = make_pipeline(BasisExpansion(2), LinearRegression()).fit(x, 1 + 2 * x[:, 0] - 3 * x[:, 0] ** 2)
    np.testing.assert_allclose(model[-1].coef_, [2.0, -3.0], atol=1e-13)
    assert pellucid.verify(model, x, 1 + 2 * x[:, 0] - 3 * x[:, 0] ** 2).holds


@pytest.mark.property
def test_each_row_is_expanded_by_itself():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = BasisExpansion(3).fit(X)
    np.testing.assert_allclose(model.transform(X[::-3]), model.transform(X)[::-3], rtol=1e-14)


def test_names_of_a_frame_are_used():
    frame = pd.DataFrame({"height": [1.0, 2.0], "age": [3.0, 4.0]})
    assert list(BasisExpansion(2).fit(frame).get_feature_names_out())[:3] == ["height", "age", "height^2"]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"degree": -1}, "degree must be at least 0"),
        ({"degree": 0}, "degree must be at least 1 when include_bias=False"),
        ({"functions": [lambda X: X.sum()]}, "functions must return 1 rows"),
    ],
)
def test_bad_parameters_get_one_sentence(params, message):  # errors
    with pytest.raises(ValueError, match=message):
        BasisExpansion(**params).fit([[1.0, 2.0]])


def test_functions_may_not_change_their_number_of_columns():
    model = BasisExpansion(functions=[lambda X: np.ones((len(X), len(X)))]).fit([[1.0]])
    with pytest.raises(ValueError, match="functions must return 1 columns as at fit, got 2"):
        model.transform([[1.0], [2.0]])
