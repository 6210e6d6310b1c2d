from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as PeerRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from pellucid.ranking import RankingSVM

X = np.arange(20.0).reshape(10, 2) ** 1.5
Y = X @ [1.0, -2.0] + np.sin(X[:, 0])


def test_a_pipeline_is_verified_at_its_last_step():
    model = make_pipeline(StandardScaler(), Ridge()).fit(X, Y)
    assert pellucid.verify(model, X, Y).holds
    model[-1].intercept_ += 1.0
    with pytest.warns(pellucid.UncertifiedWarning, match="intercept"):
        assert not pellucid.verify(model, X, Y).holds


def test_other_training_data_are_noticed():
    model = LinearRegression().fit(X, Y)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, Y + X[:, 0] ** 2).holds


def other_data_models():
    rng = np.random.default_rng(0)
    rows, noise = rng.standard_normal((40, 3)), rng.standard_normal(40)
    target = rows @ [1.0, -2.0, 0.5] + noise
    yield Lasso(0.1).fit(rows, target), rows + 1.0, target**2
    yield LogisticRegression().fit(rows, target > 0), rows, noise > 0
    yield RankingSVM().fit(rows, target.round()), rows, noise.round()


@pytest.mark.parametrize(("model", "rows", "target"), list(other_data_models()), ids=lambda p: type(p).__name__)
def test_a_claim_that_fails_on_other_data_blames_the_data_and_not_the_fit(model, rows, target):
    with pytest.warns(pellucid.UncertifiedWarning) as told:
        found = pellucid.verify(model, rows, target)
    assert all("not the training data" in str(one.message) for one in told)
    assert not any("max_iter" in str(one.message) for one in told)
    assert "not the training data" in repr(found)
    assert "not the training data" in found._repr_html_()


def test_a_model_that_was_changed_is_not_blamed_on_its_own_training_data():
    rows = np.random.default_rng(0).standard_normal((30, 2))
    for model in (Lasso(0.01).fit(rows, rows[:, 0]), RankingSVM().fit(rows, rows[:, 0], qid=np.repeat([0, 1], 15))):
        model.coef_ = -model.coef_
        with pytest.warns(pellucid.UncertifiedWarning) as told:
            found = pellucid.verify(model, rows, rows[:, 0])
        assert not any("training data" in str(one.message) for one in told)
        assert not found.reason


def test_weights_are_part_of_the_training_data():
    weight = np.arange(1.0, 11.0)
    model = LinearRegression().fit(X, Y, sample_weight=weight)
    assert pellucid.verify(model, X, Y, sample_weight=weight).holds
    with pytest.warns(pellucid.UncertifiedWarning, match="rows, targets and weights of the fit"):
        pellucid.verify(model, X, Y)


def test_a_model_full_of_nan_does_not_verify():
    model = LinearRegression().fit(X, Y)
    model.coef_ = np.full(2, np.nan)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, Y).holds


def test_refuses_foreign_and_unfitted_models():
    with pytest.raises(TypeError, match="model must be an estimator of pellucid, got LinearRegression"):
        pellucid.verify(PeerRegression().fit(X, Y), X, Y)
    with pytest.raises(NotFittedError):
        pellucid.verify(LinearRegression(), X, Y)


@pytest.mark.parametrize("wrong", [np.array([0.5, 0.25], dtype=np.float16), np.array([np.inf, 1.0]), "text", None])
def test_attributes_that_no_fit_leaves_are_refused(wrong):
    model = LinearRegression().fit(X, Y)
    model.coef_ = wrong
    if isinstance(wrong, np.ndarray):
        with pytest.warns(pellucid.UncertifiedWarning, match="attributes"):
            assert "coef_" in str(pellucid.verify(model, X, Y)["attributes"])
    else:
        with pytest.raises((ValueError, TypeError)):
            pellucid.verify(model, X, Y)


def test_a_missing_attribute_is_said_in_a_sentence():
    model = LinearRegression().fit(X, Y)
    del model.coef_
    with pytest.warns(pellucid.UncertifiedWarning, match="attributes"):
        assert "coef_" in str(pellucid.verify(model, X, Y)["attributes"])


def test_no_proof_reads_the_stored_certificate():
    model = LinearRegression().fit(X, Y)
    model.certificate_ = pellucid.Certificate("stationary", (pellucid.Claim("gap", "", 0.0, 1e9),))
    model.coef_ = model.coef_ * 1.001
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, Y).holds


def test_a_density_is_verified_from_its_data():
    from pellucid.probability import Bernoulli, Beta

    assert pellucid.verify(Bernoulli(0.75), [1, 1, 0, 1]).holds
    assert pellucid.verify(Bernoulli(2 / 3), [1, 1, 0, 1], prior=Beta(2, 2)).holds
    assert pellucid.verify(Bernoulli(0.5), [1, 0], sample_weight=[2.0, 2.0]).holds
    with pytest.warns(pellucid.UncertifiedWarning, match=r"verify\(Bernoulli\)"):
        assert not pellucid.verify(Bernoulli(0.7), [1, 1, 0, 1]).holds


def test_a_point_of_a_problem_is_verified_with_and_without_constraints():
    from pellucid.optimize import quadratic, quadratic_program

    bowl = quadratic(np.diag([1.0, 2.0]))
    assert pellucid.verify(bowl, np.zeros(2)).holds
    assert pellucid.verify(bowl, np.array([0.0, 0.25]), tolerance=1.0)["gap"].value == 0.125
    program = quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1])  # x^2 + y^2 with x + y >= 1
    assert pellucid.verify(program, [0.5, 0.5], lam=[1.0]).holds
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(program, [1.0, 0.0], lam=[1.0]).holds


def test_radii_are_verified_from_the_rows_and_the_network():
    torch = pytest.importorskip("torch")
    from pellucid.neural_network import certified_radius

    line = torch.nn.Linear(2, 2, bias=False)
    line.weight.data = torch.eye(2)
    radii = certified_radius(line, [[3.0, 1.0]])
    assert pellucid.verify(radii, [[3.0, 1.0]], line, random_state=0).holds
    wider = replace(radii, radii=radii.radii + 0.5)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(wider, [[3.0, 1.0]], line).holds


def test_an_option_that_a_model_does_not_take_is_refused():
    model = LinearRegression().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.5])
    with pytest.raises(TypeError, match="prior must be left out for LinearRegression"):
        pellucid.verify(model, [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.5], prior=1)
