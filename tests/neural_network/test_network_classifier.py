"""NetworkClassifier: any module as an estimator: resumes, refuses, repeats, and proves what it stored."""

from __future__ import annotations

import os
import pickle
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_sample_weight
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.core.kinds.pages import NotSaveableError
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.neural_network import DenseNetwork, NetworkClassifier
from pellucid.optimize import Adam, CosineDecay
from tests.neural_network.processes import running

torch = pytest.importorskip("torch")
nn = torch.nn

SMALL = DenseNetwork(hidden=(16,), dropout=0.2)


def digits(n=300):
    X, y = load_digits(return_X_y=True)
    return (X[:n] / 16).astype(np.float32), y[:n]


def images(n=120):
    X, y = digits(n)
    return X.reshape(-1, 1, 8, 8), y


def small_images():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))


# by hand


@pytest.mark.by_hand
def test_one_step_on_one_row_by_hand():
    # scores 0 and 0 make both classes 1/2: the weight of class 0 has slope (1/2 - 1) 2 in one row and 0 in the other,
    # its bias -1/2 and 1/2; a step is the mean of the two times 0.1
    module = nn.Linear(1, 2)
    for parameter in module.parameters():
        nn.init.zeros_(parameter)
    model = NetworkClassifier(module, epochs=1, batch_size=2, method=lambda groups: torch.optim.SGD(groups, lr=0.1))
    model.fit([[2.0], [0.0]], [0, 1])
    np.testing.assert_allclose(model.weights_["weight"], [[0.05], [-0.05]])
    np.testing.assert_allclose(model.weights_["bias"], [0.0, 0.0])


@pytest.mark.peer
def test_one_full_batch_of_plain_descent_is_the_loop_anyone_would_write():
    X, y = digits(50)
    torch.manual_seed(0)
    module = nn.Linear(64, 10)
    model = NetworkClassifier(
        module, epochs=3, batch_size=50, method=lambda groups: torch.optim.SGD(groups, lr=0.5), random_state=0
    ).fit(X, y)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(module(torch.from_numpy(X)), torch.from_numpy(y)).backward()
        optimizer.step()
    np.testing.assert_allclose(model.weights_["weight"], module.weight.detach().numpy(), atol=1e-6)


# properties


@pytest.mark.property
def test_the_same_seed_gives_the_same_bits_and_leaves_the_generator_of_torch_alone():
    X, y = digits()
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, second = (NetworkClassifier(SMALL, epochs=2, random_state=1).fit(X, y) for _ in range(2))
    assert torch.equal(before, torch.get_rng_state())
    for name, weight in first.weights_.items():
        np.testing.assert_array_equal(weight, second.weights_[name])
    assert NetworkClassifier(SMALL, epochs=2, random_state=2).fit(X, y).weights_digest_ != first.weights_digest_


def test_a_given_module_is_copied_and_its_estimator_clones_and_pickles():
    X, y = images()
    module = small_images()
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    model = NetworkClassifier(module, epochs=2, random_state=0).fit(X, y)
    assert all(torch.equal(weight, before[name]) for name, weight in module.state_dict().items())
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).fit(X, y).weights_digest_ == model.weights_digest_
    assert not pellucid.verify(model, X, y).failed
    with pytest.raises(NotSaveableError, match="must be .*architectures.*got"):
        pellucid.save(model, os.devnull)


def test_held_out_rows_choose_the_epoch_and_the_proof_scores_it_again():
    X, y = digits()
    model = NetworkClassifier(SMALL, epochs=6, validation_fraction=0.2, random_state=0).fit(X, y)
    assert model.best_validation_score_ == model.trace_["validation_score"].max()
    rows = model.validation_rows_
    assert model.score(X[rows], y[rows]) == pytest.approx(model.best_validation_score_)
    assert "best epoch" in {claim.name for claim in pellucid.verify(model, X, y).claims}


def test_patience_ends_a_run():
    X, y = digits()
    model = NetworkClassifier(SMALL, epochs=50, patience=1, tol=10.0, random_state=0).fit(X, y)
    assert model.n_iter_ == 3  # the first is better than nothing, the next two are not


def test_a_method_of_optimize_and_a_schedule_train_it():
    X, y = digits()
    by_method = NetworkClassifier(SMALL, epochs=20, method=Adam(0.01), random_state=0).fit(X, y)
    by_schedule = NetworkClassifier(
        SMALL, epochs=20, method="sgd", learning_rate=CosineDecay(0.1, length=20), random_state=0
    )
    assert by_method.score(X, y) > 0.8
    assert by_schedule.fit(X, y).score(X, y) > 0.8


def test_it_works_in_pipelines_and_searches():
    X, y = digits(150)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), NetworkClassifier(SMALL, random_state=0)),
        {"networkclassifier__epochs": [1, 8]},
        cv=2,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # constant pixels
        assert search.fit(X, y).best_params_ == {"networkclassifier__epochs": 8}


def test_weights_of_rows_and_classes_matter():
    X, y = digits()
    weight = np.where(y == 3, 20.0, 1.0)
    by_row = NetworkClassifier(SMALL, epochs=2, random_state=0).fit(X, y, sample_weight=weight)
    by_class = NetworkClassifier(SMALL, epochs=2, random_state=0, class_weight={3: 20.0}).fit(X, y)
    np.testing.assert_allclose(by_row.weights_["0.weight"], by_class.weights_["0.weight"], atol=1e-6)
    plain = NetworkClassifier(SMALL, epochs=2, random_state=0).fit(X, y)
    assert by_row.predict_proba(X)[:, 3].mean() > plain.predict_proba(X)[:, 3].mean()


def test_bytes_become_floats_of_32_bits_and_layout_and_precision_change_little():
    X, y = images()
    plain = NetworkClassifier(small_images(), epochs=2, random_state=0).fit(X, y)
    last = NetworkClassifier(plain.module, epochs=2, random_state=0, channels_last=True).fit(X, y)
    np.testing.assert_allclose(last.predict_proba(X), plain.predict_proba(X), atol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch says so where the processor cannot multiply in it
        half = NetworkClassifier(plain.module, epochs=2, random_state=0, precision="bfloat16").fit(X, y)
    np.testing.assert_allclose(half.predict_proba(X), plain.predict_proba(X), atol=0.05)
    of_bytes = NetworkClassifier(small_images(), epochs=1).fit((16 * X).astype(np.uint8), y)
    assert of_bytes.weights_["0.weight"].dtype == np.float32


def run_with_checkpoint(path):
    """Train a network with dropout and batch normalization that writes checkpoints; return its digest."""
    X, y = digits(600)
    network = DenseNetwork(hidden=(16,), dropout=0.2, batch_normalization=True)
    options = {"epochs": 30, "random_state": 3, "validation_fraction": 0.2, "checkpoint": path, "device": "cpu"}
    with threadpool_limits(1):  # sums round by the number of threads, which pytest may have changed in its process
        return NetworkClassifier(network, **options).fit(X, y).weights_digest_


def test_a_run_killed_again_and_again_goes_on_and_ends_with_the_same_bits(tmp_path):
    killed = tmp_path / "killed.safetensors"
    for _ in range(2):
        before, deadline = written_at(killed), time.monotonic() + 120
        with running(run_with_checkpoint, (killed,)) as (process,):
            while process.is_alive() and time.monotonic() < deadline and before == written_at(killed):
                time.sleep(0.001)
            assert process.is_alive()
        assert written_at(killed) > before
    assert run_with_checkpoint(killed) == run_with_checkpoint(tmp_path / "whole.safetensors")


def written_at(path):
    return path.stat().st_mtime_ns if path.exists() else 0


def two_labels(n=60):
    """Rows with two labels, each of which a column decides."""
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X, (X[:, :2] > 0.3).astype(int)


def test_several_labels_are_learned_each_by_a_sigmoid_of_its_own():
    X, Y = two_labels()
    options = {"epochs": 60, "learning_rate": 0.05, "random_state": 0}
    model = NetworkClassifier(DenseNetwork(hidden=(8,)), validation_fraction=0.3, **options).fit(X, Y)
    assert model.score(X, Y) > 0.9
    with torch.no_grad():
        scores = model.module_(torch.from_numpy(X))
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12)  # other batches round otherwise
    np.testing.assert_array_equal(model.predict(X), (scores > 0).numpy())
    np.testing.assert_allclose(model.predict_proba(X), torch.sigmoid(scores), rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)
    entropy = nn.functional.binary_cross_entropy_with_logits(scores, torch.from_numpy(Y).double())
    assert model.objective_ == pytest.approx(2 * float(entropy))  # a sum over two labels
    rows = model.validation_rows_
    assert model.score(X[rows], Y[rows]) == pytest.approx(model.best_validation_score_)
    np.testing.assert_array_equal(NetworkClassifier(model.module, **options).fit(X, Y.tolist()).classes_, [0, 1])


def test_weights_of_classes_multiply_where_a_row_has_several_labels():
    X, Y = two_labels()
    by_class = NetworkClassifier(SMALL, epochs=2, random_state=0, class_weight="balanced").fit(X, Y)
    weight = compute_sample_weight("balanced", Y)
    by_row = NetworkClassifier(SMALL, epochs=2, random_state=0).fit(X, Y, sample_weight=weight)
    assert by_class.weights_digest_ == by_row.weights_digest_
    assert not pellucid.verify(by_class, X, Y).failed


def test_one_bit_of_a_weight_is_seen():
    X, y = digits(60)
    model = NetworkClassifier(SMALL, epochs=1, random_state=0).fit(X, y)
    bias = model.weights_["0.bias"]
    bias[0] = np.nextafter(bias[0], np.float32(1))
    with pytest.warns(UncertifiedWarning, match="weights"):
        assert pellucid.verify(model, X, y).failed


class WrongSlope(torch.autograd.Function):
    """x, with a backward pass that is wrong: a factor, or the slopes of another output."""

    mistake = None

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, slope):
        return WrongSlope.mistake(slope)


class Wrong(nn.Module):
    def forward(self, x):
        return WrongSlope.apply(x)


@pytest.mark.parametrize(
    "mistake",
    [lambda slope: 1.01 * slope, lambda slope: 0 * slope, lambda slope: slope.roll(1, 1)],
    ids=["factor", "nothing", "order"],
)
def test_a_wrong_backward_pass_is_seen_by_differences(mistake, monkeypatch):
    monkeypatch.setattr(WrongSlope, "mistake", mistake)
    X, y = digits(60)
    with pytest.warns(UncertifiedWarning, match="backward pass"):
        model = NetworkClassifier(nn.Sequential(nn.Linear(64, 10), Wrong()), epochs=1, random_state=0).fit(X, y)
    assert [claim.name for claim in model.certificate_.failed] == ["backward pass"]


def test_many_rows_are_answered_in_blocks():
    X, y = digits(60)
    model = NetworkClassifier(SMALL, epochs=1, random_state=0).fit(X, y)
    many = np.tile(X, (35, 1))  # 2,100 rows, more than two blocks
    np.testing.assert_allclose(model.predict_proba(many), np.tile(model.predict_proba(X), (35, 1)), rtol=1e-5)


@pytest.mark.parametrize(
    "tamper",
    [
        lambda model: setattr(model, "out_activation_", "softmax"),
        lambda model: setattr(model, "classes_", np.arange(3)),
        lambda model: setattr(model, "objective_", model.objective_ + 1e-6),
        lambda model: setattr(model, "gradient_norm_", 1.01 * model.gradient_norm_),
        lambda model: setattr(model, "best_validation_score_", model.best_validation_score_ - 0.1),
        lambda model: model.weights_["0.bias"].__iadd__(1e-6),
    ],
)
def test_a_model_of_several_labels_is_not_verified_when_one_number_has_changed(tamper):
    X, Y = two_labels()
    model = NetworkClassifier(SMALL, epochs=2, random_state=0, validation_fraction=0.3).fit(X, Y)
    assert not pellucid.verify(model, X, Y).failed
    tamper(model)
    with pytest.warns(UncertifiedWarning):
        assert pellucid.verify(model, X, Y).failed


def test_a_model_of_several_labels_comes_back_from_its_file(tmp_path):
    X, Y = two_labels()
    model = NetworkClassifier(SMALL, epochs=2, random_state=0).fit(X, Y)
    pellucid.save(model, tmp_path / "m.safetensors")
    again = pellucid.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert not pellucid.verify(again, X, Y).failed


@pytest.mark.parametrize(
    "settings", [{}, {"method": "sgd", "learning_rate": CosineDecay(0.1, length=3)}, {"method": Adam()}]
)
def test_the_whole_data_as_three_parts_are_three_epochs(settings):
    X, y = digits(120)
    whole = NetworkClassifier(SMALL, epochs=3, random_state=0, **settings).fit(X, y)
    model = NetworkClassifier(SMALL, random_state=0, **settings)
    for _ in range(3):
        model = pickle.loads(pickle.dumps(model)).partial_fit(X, y, classes=range(10))
    assert model.weights_digest_ == whole.weights_digest_
    np.testing.assert_array_equal(model.trace_["objective"], whole.trace_["objective"])
    assert model.n_iter_ == 3


def test_a_part_knows_classes_that_it_does_not_show_and_is_verified():
    X, y = digits()
    few = y < 4
    model = NetworkClassifier(SMALL, random_state=0).partial_fit(X[few], y[few], classes=range(10))
    assert model.predict_proba(X).shape == (300, 10)
    assert not pellucid.verify(model, X[few], y[few]).failed


def test_a_part_that_is_refused_leaves_the_model_as_it_was():
    X, y = digits()
    model = NetworkClassifier(SMALL, random_state=0).partial_fit(X, y, classes=range(10))
    before, weights = model.weights_digest_, model.weights_["0.weight"].copy()
    with pytest.raises(ValueError, match="y must hold only the labels"):
        model.partial_fit(X, y + 7)
    with pytest.raises(ValueError, match="loss must stay finite"):
        model.set_params(method="sgd", learning_rate=1e30).partial_fit(X, y)
    assert model.weights_digest_ == before
    model.set_params(method="adam", learning_rate=0.001).partial_fit(X, y)
    twice = NetworkClassifier(SMALL, epochs=2, random_state=0).fit(X, y)
    assert model.weights_digest_ == twice.weights_digest_
    assert not np.array_equal(model.weights_["0.weight"], weights)


def test_a_fit_forgets_the_parts_and_a_part_goes_on_from_a_fit_or_a_file(tmp_path):
    X, y = digits()
    model = NetworkClassifier(SMALL, epochs=2, random_state=0).partial_fit(X, y, classes=range(10)).fit(X, y)
    assert model.weights_digest_ == NetworkClassifier(SMALL, epochs=2, random_state=0).fit(X, y).weights_digest_
    pellucid.save(model, tmp_path / "m.safetensors")
    again = pellucid.load(tmp_path / "m.safetensors").partial_fit(X, y)
    before = model.weights_["0.weight"].copy()
    model.partial_fit(X, y)
    assert again.weights_digest_ == model.weights_digest_
    assert 0 < np.abs(model.weights_["0.weight"] - before).max() < 0.02  # a few steps of 0.001 each
    assert model.n_iter_ == len(model.trace_) == 3


def test_a_warm_start_goes_on_from_the_weights_of_the_last_fit():
    X, y = digits()
    model = NetworkClassifier(SMALL, epochs=1, random_state=0, warm_start=True).fit(X, y)
    first = model.weights_["0.weight"]
    model.fit(X, y)
    assert 0 < np.abs(model.weights_["0.weight"] - first).max() < 0.02
    with pytest.raises(ValueError, match="y must be like that of the fit to go on from, whose classes_ is"):
        model.fit(X, y % 3)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_a_sparse_table_gives_the_same_bits_and_never_becomes_dense(layout, monkeypatch):
    X, y = digits()
    options = {"epochs": 2, "batch_size": 50, "random_state": 0, "validation_fraction": 0.2}
    whole = NetworkClassifier(SMALL, **options).fit(X, y)
    thin = sparse.csr_array(X).asformat(layout)
    made = []
    monkeypatch.setattr(
        sparse.csr_array, "toarray", lambda self: made.append(self.shape[0]) or sparse.csr_matrix(self).toarray()
    )
    model = NetworkClassifier(SMALL, **options).fit(thin, y)
    assert model.weights_digest_ == whole.weights_digest_
    assert max(made) == 256  # those of the proof; batches have 50
    np.testing.assert_array_equal(model.predict_proba(thin), whole.predict_proba(X))
    assert not pellucid.verify(model, thin, y).failed


# errors


def test_a_loss_that_is_no_number_says_at_which_batch_and_keeps_good_weights():
    X, y = digits()
    with pytest.raises(ValueError, match=r"loss must stay finite, got nan at batch \d+ of epoch 1"):
        NetworkClassifier(SMALL, method="sgd", learning_rate=1e30, random_state=0).fit(X, y)
    # the rate explodes in the second epoch only
    model = NetworkClassifier(
        SMALL, epochs=4, method="sgd", random_state=0, learning_rate=lambda time: 0.01 if time < 1 else 1e30
    )
    with pytest.warns(ConvergenceWarning, match="at batch .* of epoch 2.*last good epoch are kept"):
        model.fit(X, y)
    one = NetworkClassifier(SMALL, epochs=1, method="sgd", random_state=0, learning_rate=0.01).fit(X, y)
    np.testing.assert_array_equal(model.weights_["0.weight"], one.weights_["0.weight"])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"module": nn.Linear(64, 3)}, "module must give 10 scores for each example, got an answer of shape"),
        ({"module": nn.Linear(5, 10)}, "module must take examples of shape"),
        ({"module": nn.Flatten()}, "module must have weights to learn, got none"),
        ({"module": nn.LSTM(64, 10)}, "module must give 10 scores for each example, got tuple"),
        ({"module": lambda: 3}, "module must make a torch.nn.Module, got int"),
        ({"device": "cuda:99" if torch.cuda.is_available() else "cuda"}, "device"),
        ({"device": "toaster"}, "device must be 'auto', 'cpu' or 'cuda', got 'toaster'"),
        ({"module": DenseNetwork}, r"got DenseNetwork. Write DenseNetwork\(\), with parentheses"),
        ({"checkpoint": "no/such/folder/run.safetensors"}, "checkpoint must be a file in a folder that is there, got"),
        ({"epochs": 0}, "epochs must be"),
        ({"method": "newton"}, "method must be"),
    ],
)
def test_refuses_what_cannot_work(settings, message):
    with pytest.raises((ValueError, TypeError, RuntimeError), match=message):
        NetworkClassifier(**settings).fit(*digits())


def test_a_checkpoint_of_another_run_or_no_checkpoint_at_all_is_refused(tmp_path):
    X, y = digits()
    path = tmp_path / "run.safetensors"
    NetworkClassifier(SMALL, epochs=1, random_state=0, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="same recipe"):
        NetworkClassifier(SMALL, epochs=1, random_state=0, learning_rate=0.5, checkpoint=path).fit(X, y)
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="checkpoint must be a file that a run has written"):
        NetworkClassifier(SMALL, epochs=1, random_state=0, checkpoint=path).fit(X, y)


def test_rows_that_the_precision_of_the_network_cannot_hold_are_refused():
    X, y = digits(60)
    model = NetworkClassifier(SMALL, epochs=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="X must stay finite in the float32 of the network, got scores that are nan"):
        model.predict(1e100 * X.astype(np.float64))
    with pytest.raises(ValueError, match="loss must stay finite, got nan at batch 1 of epoch 1"):
        NetworkClassifier(SMALL, epochs=1, precision="float32", random_state=0).fit(1e100 * X.astype(np.float64), y)


def test_batches_of_rows_that_count_nothing_move_nothing():
    X, y = digits(40)
    options = {"epochs": 2, "batch_size": 1, "method": "sgd", "random_state": 0, "class_weight": {0: 0.0, 1: 1.0}}
    model = NetworkClassifier(SMALL, **options).fit(X, y % 2)
    assert model.predict_proba(X)[:, 1].mean() > 0.6


def test_a_part_says_what_it_has_no_use_for():
    X, y = digits()
    with pytest.raises(ValueError, match=r"validation_fraction must be 0.0 for partial_fit, got 0.1"):
        NetworkClassifier(validation_fraction=0.1).partial_fit(X, y, classes=range(10))
    with pytest.raises(ValueError, match=r"checkpoint must be None for partial_fit, got 'run.safetensors'"):
        NetworkClassifier(checkpoint="run.safetensors").partial_fit(X, y, classes=range(10))
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        NetworkClassifier().partial_fit(X, y)


def test_several_labels_have_no_certified_radius():
    X, Y = two_labels()
    with pytest.raises(ValueError, match="one class per row, got a NetworkClassifier with several labels"):
        NetworkClassifier(SMALL, epochs=1).fit(X, Y).certified_radius(X)


def test_a_few_rows_of_many_classes_are_held_out_without_regard_to_classes():
    X, y = digits(30)
    model = NetworkClassifier(SMALL, epochs=1, random_state=0, validation_fraction=0.1).fit(X, y)
    assert len(model.validation_rows_) == 3


def test_the_learning_rate_search_suggests_a_rate_that_learns():
    X, y = digits()
    model = NetworkClassifier(SMALL, random_state=0)
    search = model.find_learning_rate(X, y, low=1e-5, high=10.0, steps=60)
    assert len(search.rates) == len(search.losses) > 30
    assert 1e-4 < search.suggestion < 1.0
    assert not hasattr(model, "weights_")
    assert repr(search).startswith(f"RateSearch({len(search.rates)} rates from 1e-05 to ")
    assert repr(search).endswith(f"; suggestion {search.suggestion:.2g})")
    ax = search.plot()
    assert ax.texts[0].get_text().strip() == f"suggested: {search.suggestion:.2g}"
    assert ax.get_ylim()[1] < 2 * search.losses[0]  # the rest has diverged
    with pytest.raises(ValueError, match="low must be below high, got 1.0 and 0.1"):
        model.find_learning_rate(X, y, low=1.0, high=0.1)
    better = NetworkClassifier(SMALL, epochs=5, learning_rate=search.suggestion, random_state=0).fit(X, y)
    assert better.score(X, y) > NetworkClassifier(SMALL, epochs=5, learning_rate=1e-5, random_state=0).fit(X, y).score(
        X, y
    )


def test_a_bar_shows_loss_score_and_speed(capsys):
    X, y = digits()
    NetworkClassifier(SMALL, epochs=2, validation_fraction=0.2, verbose=True, random_state=0).fit(X, y)
    said = capsys.readouterr().out
    assert "2/2" in said
    assert "loss" in said
    assert "score" in said
    assert "rows/s" in said
    assert "left" in said


def test_the_bar_moves_with_every_batch_and_only_the_first_process_shows_one(monkeypatch):
    from pellucid.neural_network.training.device_rows import DeviceRows
    from pellucid.neural_network.training.epoch_bar import EpochBar
    from pellucid.neural_network.training.recipe import TrainingRecipe
    from pellucid.neural_network.training.trainer import train

    ticks, X = [], torch.randn(10, 2)
    recipe = TrainingRecipe(epochs=2, batch_size=5)
    train(nn.Linear(2, 2), DeviceRows(X, X), lambda net, rows: net(rows.inputs).sum(), recipe, tick=ticks.append)
    assert ticks == [0.5, 1.0, 1.5, 2.0]
    monkeypatch.setenv("RANK", "1")
    with EpochBar(3, show=True) as bar:
        assert bar.watching(abs) is abs
