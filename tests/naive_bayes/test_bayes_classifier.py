from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

import pellucid
from pellucid.naive_bayes import BayesClassifier
from pellucid.probability import Bernoulli, Categorical, Gaussian, Logistic, MultivariateGaussian
from tests.naive_bayes.samples import points, repeated, seeds

TWO = {"ill": Gaussian(2, 1), "well": Gaussian(0, 1)}


@pytest.mark.by_hand
def test_the_boundary_moves_by_the_log_of_prior_and_cost_ratios():  # by hand
    # log f_ill / f_well = 2 x - 2, so ill from x = 1 + log(bound) / 2 on
    for priors, costs, bound in [
        ([0.5, 0.5], None, 1.0),
        ([0.1, 0.9], None, 9.0),
        ([0.5, 0.5], [[0, 9], [1, 0]], 1 / 9),
        ([0.2, 0.8], [[0, 9], [3, 1]], 8 / 9),
    ]:
        edge = 1 + np.log(bound) / 2
        model = BayesClassifier(TWO, priors=priors, costs=costs).fit()
        np.testing.assert_array_equal(model.predict([[edge + 1e-9], [edge - 1e-9]]), ["ill", "well"])


def test_a_tie_goes_to_the_first_class():
    assert BayesClassifier(TWO, priors=[0.5, 0.5]).fit().predict([[1.0]]) == ["ill"]
    assert BayesClassifier(TWO, priors=[0.5, 0.5], costs=np.zeros((2, 2))).fit().predict([[-9.0]]) == ["ill"]


def test_expected_costs_average_the_cost_matrix():
    model = BayesClassifier({0: Bernoulli(0.9), 1: Bernoulli(0.2)}, priors=[0.1, 0.9], costs=[[0, 9], [1, 0]]).fit()
    np.testing.assert_allclose(model.predict_proba([[1]]), [[1 / 3, 2 / 3]])
    np.testing.assert_allclose(model.expected_costs([[1]]), [[2 / 3, 3]])


def test_risk_of_two_normal_classes_is_the_tail_of_the_normal():
    exact = norm.cdf(-1)
    risk = BayesClassifier(TWO, priors=[0.5, 0.5]).fit().risk("quadrature")
    assert risk.value == pytest.approx(exact, rel=1e-12)
    assert risk.low <= exact <= risk.high
    assert risk.high - risk.low < 1e-9


def test_risk_with_unequal_priors_has_its_kink_at_the_boundary():
    edge = 1 + np.log(9) / 2
    exact = 0.1 * norm.cdf(edge - 2) + 0.9 * norm.cdf(-edge)
    risk = BayesClassifier(TWO, priors=[0.1, 0.9]).fit().risk("quadrature")
    assert risk.value == pytest.approx(exact, rel=1e-11)
    assert risk.low <= exact <= risk.high


def test_risk_of_long_tails_is_exact_too():
    given = {0: Logistic(-3.0, 0.5), 1: Logistic(3.0, 0.5)}
    exact = 1 / (1 + np.exp(6))  # P(x > 0) under the first
    assert BayesClassifier(given, priors=[0.5, 0.5]).fit().risk("quadrature").value == pytest.approx(exact, rel=1e-11)


def test_risk_of_few_values_is_a_sum():
    model = BayesClassifier({0: Bernoulli(0.9), 1: Bernoulli(0.2)}, priors=[0.5, 0.5]).fit()
    # x = 1: the smaller of 0.45 and 0.1; x = 0: of 0.05 and 0.4
    assert model.risk("quadrature").value == pytest.approx(0.15)
    dice = {"fair": Categorical(np.full(6, 1 / 6), range(1, 7)), "loaded": Categorical([0.5, *[0.1] * 5], range(1, 7))}
    # the sides 2 to 6 have 1/6 and 1/10, side 1 has 1/6 and 1/2; the smaller ones are 5/10 and 1/6
    assert BayesClassifier(dice, priors=[0.5, 0.5]).fit().risk("quadrature").value == pytest.approx(1 / 3)


def test_risk_without_overlap_is_zero_and_with_equal_densities_is_the_smaller_prior():
    far = {0: Gaussian(0, 1), 1: Gaussian(1e3, 4)}
    assert BayesClassifier(far, priors=[0.3, 0.7]).fit().risk("quadrature").value == pytest.approx(0, abs=1e-12)
    same = {0: Gaussian(5, 2), 1: Gaussian(5, 2)}
    assert BayesClassifier(same, priors=[0.3, 0.7]).fit().risk("quadrature").value == pytest.approx(0.3)


@seeds
@pytest.mark.parametrize("interval", ["hoeffding", "normal"])
def test_draws_and_quadrature_agree(seed, interval):  # properties
    rng = np.random.default_rng(seed)
    given = {k: Gaussian(*rng.uniform(0.5, 3, 2)) for k in range(2)} | {2: Logistic(1.0, 0.5)}
    model = BayesClassifier(given, priors=[0.5, 0.2, 0.3], costs=rng.uniform(0, 5, (3, 3))).fit()
    exact, drawn = (
        model.risk("quadrature"),
        model.risk(n_draws=20_000, interval=interval, level=0.999, random_state=seed),
    )
    assert drawn.low <= exact.value <= drawn.high
    assert drawn == model.risk(n_draws=20_000, interval=interval, level=0.999, random_state=seed)


def test_no_rule_costs_less_on_draws_than_the_risk_says():
    costs = np.array([[0.0, 5.0], [1.0, 0.0]])
    model = BayesClassifier(TWO, priors=[0.3, 0.7], costs=costs).fit()
    risk = model.risk("quadrature").value
    x = np.random.default_rng(0).standard_normal(200_000)
    truth = (np.random.default_rng(1).random(len(x)) > 0.3).astype(int)
    x += np.where(truth == 0, 2.0, 0.0)
    for shift in (-1.0, 0.0, 1.0):
        decision = (model.predict(x[:, None] + shift) == "well").astype(int)
        mean = costs[truth, decision].mean()
        assert mean == pytest.approx(risk, abs=0.01) if shift == 0 else mean > risk + 0.02


@pytest.mark.property
@seeds
def test_a_weight_is_a_number_of_repetitions(seed):
    X, y = points(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weighted, copied = BayesClassifier().fit(X, y, weight), BayesClassifier().fit(*repeated(X, y, weight))
    np.testing.assert_allclose(weighted.predict_log_proba(X), copied.predict_log_proba(X), rtol=1e-6, atol=1e-9)
    assert pellucid.verify(weighted, X, y, sample_weight=weight).holds


@pytest.mark.parametrize("name", ["gaussian", "logistic", "categorical", "bernoulli"])
def test_densities_of_one_column_are_fitted_and_proved(name):
    X, y = points(0, p=1)
    X = {"categorical": np.round(X), "bernoulli": (X > 1).astype(float)}.get(name, X)
    X[:3] = [[0.0], [1.0], [0.0]] if name == "bernoulli" else X[:3]
    model = BayesClassifier(name).fit(X, y)
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y) == model.certificate_


@pytest.mark.parametrize("change", ["mean", "covariance"])
def test_verify_objects_to_a_broken_density(change):
    X, y = points(0, mean=100.0)
    model = BayesClassifier().fit(X, y)
    density = model.densities_[1]
    changed = {"mean": density.mean, "covariance": density.covariance, change: getattr(density, change) * (1 + 1e-9)}
    model.densities_[1] = MultivariateGaussian(**changed)
    with pytest.warns(pellucid.UncertifiedWarning, match=f"{change}s"):
        assert not pellucid.verify(model, X, y).holds


def test_verify_objects_to_densities_that_were_not_asked_for():
    X, y = points(0, p=1)
    fitted = BayesClassifier("gaussian").fit(X, y)
    fitted.densities_[1] = Logistic(0.0, 1.0)
    given = BayesClassifier([Gaussian(k, 1) for k in range(3)]).fit(X, y)
    given.densities_ = given.densities_[::-1]
    for model in (fitted, given):
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(model, X, y)["densities"].holds


def test_nothing_is_verified_only_where_nothing_was_learned():
    X, y = [[0.0], [1.0], [2.0]], ["well", "well", "ill"]
    with pytest.raises(ValueError, match="X and y must be given"):
        pellucid.verify(BayesClassifier(TWO).fit(X, y), None)
    model = BayesClassifier(TWO, priors=[0.5, 0.5]).fit(X, y)
    with pytest.warns(pellucid.UncertifiedWarning, match="class counts"):
        assert not pellucid.verify(model, None).holds
    model = BayesClassifier(TWO, priors=[0.5, 0.5]).fit()
    model.classes_ = model.classes_[::-1]
    with pytest.warns(pellucid.UncertifiedWarning, match="densities"):
        assert not pellucid.verify(model, None).holds


def test_a_label_that_only_a_row_of_weight_0_has_is_none():
    X, y = points(0)
    weight, labels = np.arange(len(y)) > 0, np.where(np.arange(len(y)) == 0, 9, y)
    model = BayesClassifier().fit(X, labels, weight)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert pellucid.verify(model, X, labels, sample_weight=weight).holds


def test_given_things_are_taken_as_they_are():
    X, y = [[0.0], [1.0], [2.0]], ["well", "well", "ill"]
    model = BayesClassifier(TWO).fit(X, y)
    np.testing.assert_allclose(model.class_prior_, [1 / 3, 2 / 3])
    assert model.densities_ == [TWO["ill"], TWO["well"]]
    assert "were given" in model.certificate_.reason
    assert pellucid.verify(model, X, y).holds
    in_order = BayesClassifier([TWO["ill"], TWO["well"]]).fit(X, y)
    np.testing.assert_array_equal(in_order.predict_proba(X), model.predict_proba(X))


def test_what_was_given_comes_back_from_a_file(tmp_path):
    model = BayesClassifier(TWO, priors=[0.1, 0.9], costs=[[0, 9], [1, 0]]).fit()
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    assert again.get_params() == model.get_params()
    assert again.risk("quadrature") == model.risk("quadrature")
    assert pellucid.verify(again, None).holds


@pytest.mark.peer
@seeds
def test_gaussian_classes_are_quadratic_discriminant_analysis(seed):  # peer
    X, y = points(seed, n=200)
    ours, theirs = BayesClassifier(var_smoothing=0).fit(X, y), QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-8, atol=1e-10)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"costs": [[0, 1]]}, ValueError, r"costs must be finite numbers of shape \(3, 3\), got shape \(1, 2\)"),
        ({"priors": [0.5, 0.5]}, ValueError, "priors must have 3 entries"),
        ({"priors": [0.5, 0.5, 0.5]}, ValueError, "priors must add up to 1"),
        ({"densities": [Gaussian(0, 1)]}, ValueError, "densities must have 3 entries"),
        ({"densities": [1, 2, 3]}, TypeError, "densities must be densities, got 1"),
        ({"densities": TWO}, ValueError, r"y must hold labels like \['ill', 'well'\], got labels like \[0, 1, 2\]"),
        ({"densities": "gaussian"}, ValueError, "X must have one column for the density 'gaussian'"),
        ({"var_smoothing": -1}, ValueError, "var_smoothing must be at least 0"),
    ],
)
def test_refuses_bad_parameters(parameters, error, message):  # errors
    with pytest.raises(error, match=message):
        BayesClassifier(**parameters).fit(*points(0))


def test_refuses_to_learn_from_nothing():
    with pytest.raises(ValueError, match="X and y must be given, got None"):
        BayesClassifier(TWO).fit()


def test_refuses_bad_questions_about_the_risk():
    model = BayesClassifier().fit(*points(0))
    with pytest.raises(ValueError, match="method must be 'monte_carlo' for densities of several columns"):
        model.risk("quadrature")
    with pytest.raises(ValueError, match="level must be above 0 and below 1, got 95"):
        model.risk(level=95)
    with pytest.raises(ValueError, match="n_draws must be at least 2, got 1"):
        model.risk(n_draws=1)
    with pytest.raises(ValueError, match="interval must be one of"):
        model.risk(interval="exact")
