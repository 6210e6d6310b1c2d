"""MLPClassifier: scikit-learn's weights, activations and outputs by hand and by torch, parts, bad input."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier as Peer

import pellucid
from pellucid.neural_network import MLPClassifier
from pellucid.neural_network.dense_network import ACTIVATION_NAMES
from pellucid.neural_network.mlp.activations import OUTPUTS, activation_named
from pellucid.neural_network.mlp.dense_layers import DenseShape
from pellucid.neural_network.mlp.dense_trainer import DenseTrainer, TrainingRows
from pellucid.optimize import Adam, Momentum
from tests.plain_kernels import in_python

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"hidden_layer_sizes": (8,), "max_iter": 5, "random_state": 0}


def iris(dtype=np.float64):
    X, y = load_iris(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0)).astype(dtype), y


def trainer_for(activation, output, *, normalized=False, alpha=0.1, seed=0, **options):
    random = np.random.default_rng(seed)
    shape = DenseShape(3, (4, 5), 2, 3 if activation == "maxout" else 1, normalized)
    weights = random.standard_normal(shape.n_weights)
    return DenseTrainer(shape, weights, activation_named(activation, 3), OUTPUTS[output], alpha=alpha, **options)


def some_rows(output, n=7):
    random = np.random.default_rng(1)
    X, Y = random.standard_normal((n, 3)), random.random((n, 2))
    Y = np.eye(2)[random.integers(0, 2, n)] if output == "softmax" else Y
    return TrainingRows(X, Y, random.uniform(0.5, 2.0, n))


# by hand


@pytest.mark.by_hand
def test_one_step_of_gradient_descent_on_one_row_by_hand():
    # scores 0 give p = 1/2 each; the gradient of intercepts is p - y = (1/2, -1/2); hidden ReLU of 0 passes nothing on
    model = MLPClassifier((1,), initialization="zero", solver="sgd", momentum=0.0, learning_rate_init=1.0, max_iter=1)
    model.fit([[1.0], [2.0], [1.0]], [0, 1, 2])
    np.testing.assert_allclose(model.intercepts_[1], [0.0, 0.0, 0.0], atol=1e-15)  # each class once: the mean is 0
    np.testing.assert_array_equal(model.coefs_[0], [[0.0]])


def test_zero_first_weights_leave_all_hidden_units_equal_which_is_why_nobody_begins_there():
    X, y = iris()
    model = MLPClassifier((4,), activation="tanh", initialization="zero", learning_rate_init=0.05, max_iter=30).fit(
        X, y
    )
    assert np.ptp(model.coefs_[0], axis=1).max() == 0.0
    assert (
        MLPClassifier((4,), activation="tanh", learning_rate_init=0.05, max_iter=30, random_state=0).fit(X, y).loss_
        < model.loss_
    )


def test_exclusive_or_is_learned():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), ["no", "yes", "yes", "no"]
    model = MLPClassifier((8,), solver="lbfgs", random_state=1).fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.predict_proba(X).shape == (4, 2)


# properties


@pytest.mark.parametrize("output", list(OUTPUTS))
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("activation", [name for name in ACTIVATION_NAMES if name != "sigmoid"])
def test_the_gradient_is_that_of_differences(activation, normalized, output):
    trainer, rows = trainer_for(activation, output, normalized=normalized), some_rows(output)
    _, gradient = trainer.objective_and_gradient(trainer.weights, rows)
    for place in np.random.default_rng(2).choice(len(gradient), 12, replace=False):
        step = np.zeros_like(gradient)
        step[place] = 1e-6
        above, below = (trainer.objective_and_gradient(trainer.weights + s * step, rows)[0] for s in (1, -1))
        assert (above - below) / 2e-6 == pytest.approx(gradient[place], rel=2e-5, abs=2e-6)


def test_dropout_leaves_out_its_share_and_keeps_the_mean():
    trainer = trainer_for("identity", "identity", dropout=0.25, alpha=0.0)
    engine = trainer._engines[0]
    from pellucid.neural_network.mlp.backpropagation import Pass

    batch = Pass(None, None)
    sent = engine._dropped(np.ones((400, 100)), batch)
    assert (sent == 0).mean() == pytest.approx(0.25, abs=0.01)
    assert sent.mean() == pytest.approx(1.0, abs=0.02)


def test_batch_normalization_built_into_the_layers_answers_as_torch_does_in_test_mode():
    torch = pytest.importorskip("torch")
    trainer = trainer_for("relu", "identity", normalized=True)
    random = np.random.default_rng(3)
    for moments in (trainer.moments.means, trainer.moments.variances):
        for k, values in enumerate(moments):
            moments[k] = random.uniform(0.5, 2.0, len(values))
    layers = trainer.shape.views(trainer.weights)
    X = random.standard_normal((6, 3))
    H = torch.from_numpy(X)
    for k in range(2):
        H = H @ torch.from_numpy(layers.coefs[k]) + torch.from_numpy(layers.intercepts[k])
        stats = (torch.from_numpy(trainer.moments.means[k]), torch.from_numpy(trainer.moments.variances[k]))
        own = (torch.from_numpy(layers.scales[k]), torch.from_numpy(layers.shifts[k]))
        H = torch.relu(torch.nn.functional.batch_norm(H, *stats, *own))
    expected = H @ torch.from_numpy(layers.coefs[2]) + torch.from_numpy(layers.intercepts[2])
    coefs, intercepts = trainer.layers()
    H = X
    for k in range(2):
        H = np.maximum(H @ coefs[k] + intercepts[k], 0)
    np.testing.assert_allclose(H @ coefs[2] + intercepts[2], expected.numpy(), rtol=1e-12)


@pytest.mark.property
def test_weights_are_repetitions_where_all_rows_are_one_batch():
    X, y = iris()
    counts = np.random.default_rng(0).integers(0, 3, len(X))
    options = {"hidden_layer_sizes": (5,), "max_iter": 20, "random_state": 0, "batch_size": 10**6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted = MLPClassifier(**options).fit(X, y, sample_weight=counts)
        repeated = MLPClassifier(**options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coefs_[0], repeated.coefs_[0], atol=1e-9)


def test_a_balanced_class_weight_helps_the_rare_class():
    X, y = iris()
    X, y = X[:110], (y[:110] == 2).astype(int)  # ten of 110
    plain, balanced = (
        MLPClassifier((4,), max_iter=60, random_state=0, class_weight=weight).fit(X, y) for weight in (None, "balanced")
    )
    assert balanced.predict_proba(X)[y == 1, 1].mean() > plain.predict_proba(X)[y == 1, 1].mean()


@pytest.mark.bad_input
def test_parts_go_on_where_the_last_one_ended_and_a_refused_part_changes_nothing():
    X, y = iris()
    model = MLPClassifier(**SHORT).partial_fit(X, y, classes=[0, 1, 2])
    before = [W.copy() for W in model.coefs_]
    first = model.coefs_
    with pytest.raises(ValueError, match="y must hold only the labels"):
        model.partial_fit(X, y + 7)
    np.testing.assert_array_equal(model.coefs_[0], before[0])
    for _ in range(40):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(first[0], before[0])  # a part writes into no array that it did not make
    assert len(model.loss_curve_) == 41
    assert model.loss_curve_[-1] < model.loss_curve_[0]


def test_a_model_read_from_a_file_goes_on_learning(tmp_path):
    X, y = iris()
    model = MLPClassifier(**SHORT).fit(X, y)
    pellucid.save(model, tmp_path / "m.safetensors")
    again = pellucid.load(tmp_path / "m.safetensors").partial_fit(X, y)
    assert 0 < np.abs(again.coefs_[0] - model.coefs_[0]).max() < 0.01
    assert pickle.loads(pickle.dumps(model)).partial_fit(X, y).t_ == 6 * len(X)


def test_early_stopping_goes_back_to_the_best_epoch_and_the_proof_scores_it_again():
    X, y = load_digits(return_X_y=True)
    model = MLPClassifier((16,), early_stopping=True, max_iter=12, random_state=0).fit(X[:600] / 16, y[:600])
    held_out = model.validation_rows_
    assert model.score(X[held_out] / 16, y[held_out]) == max(model.validation_scores_)
    broken = copy.deepcopy(model)
    broken.best_validation_score_ -= 0.1
    with pytest.warns(UserWarning, match="best epoch"):
        assert pellucid.verify(broken, X[:600] / 16, y[:600]).failed


@pytest.mark.parametrize("method", [Adam(0.01), Momentum(0.05)], ids=["Adam", "Momentum"])
def test_methods_of_optimize_train_it(method):
    X, y = iris()
    model = MLPClassifier((8,), solver=method, max_iter=60, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    again = pickle.loads(pickle.dumps(model))
    for _ in range(3):  # and goes on learning from parts, also in a copy
        again.partial_fit(X, y)
    assert again.loss_curve_[-1] < model.loss_


def test_float32_stays_float32_and_is_verified():
    X, y = iris(np.float32)
    model = MLPClassifier(**SHORT).fit(X, y)
    assert {W.dtype for W in (*model.coefs_, *model.intercepts_)} == {np.dtype(np.float32)}
    assert model.predict_proba(X).dtype == np.float32
    assert not pellucid.verify(model, X, y).failed


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_sparse_rows_give_the_same_network(layout):
    X, y = iris()
    rows, weight = sparse.csr_array(X).asformat(layout), np.linspace(0.5, 2.0, len(X))
    dense, thin = (MLPClassifier(**SHORT).fit(Z, y, sample_weight=weight) for Z in (X, rows))
    np.testing.assert_allclose(thin.coefs_[0], dense.coefs_[0], atol=1e-12)
    assert not pellucid.verify(thin, rows, y, sample_weight=weight).failed


def test_the_same_network_as_a_module_of_torch():
    torch = pytest.importorskip("torch")
    X, y = iris()
    for activation in ("relu", "gelu", "maxout"):
        model = MLPClassifier((6, 5), activation=activation, max_iter=3, random_state=0).fit(X, y)
        with torch.no_grad():
            scores = model.module_(torch.from_numpy(X))
        np.testing.assert_allclose(torch.softmax(scores, 1).numpy(), model.predict_proba(X), rtol=1e-9)


def test_large_batches_are_cut_into_parts_whose_gradients_add_up(monkeypatch):
    from pellucid.neural_network.mlp import dense_trainer

    trainer, rows = trainer_for("relu", "softmax"), some_rows("softmax", 300)
    loss, whole = trainer.gradient(trainer.weights, rows, slice(0, 300))
    expected = whole.summed(slice(None)).copy()
    monkeypatch.setattr(dense_trainer, "WORTH_SPLITTING", 1)
    cut_loss, cut = trainer.gradient(trainer.weights, rows, np.arange(300))
    assert len(trainer._parts) == 2
    assert cut_loss == pytest.approx(loss)
    np.testing.assert_allclose(cut.summed(slice(None)), expected, rtol=1e-10, atol=1e-10)


def test_many_weights_are_moved_in_blocks_to_the_same_place(monkeypatch):
    from pellucid.neural_network.mlp import updates

    X, y = iris()
    whole = MLPClassifier(**SHORT, alpha=10.0).fit(X, y)
    monkeypatch.setattr(updates, "WORTH_SHARING", 1)
    blocks = MLPClassifier(**SHORT, alpha=10.0).fit(X, y)
    np.testing.assert_allclose(blocks.coefs_[0], whole.coefs_[0], atol=1e-14)
    np.testing.assert_allclose(blocks.loss_curve_, whole.loss_curve_, rtol=1e-13)


def test_rounding_in_one_layer_is_carried_to_the_scores():
    from pellucid.proofs.neural_network.mlp import PlainNetwork

    # 10^6 - 10^6 is 0, but each may be off by a unit of its size; the next layer doubles what is left
    coefs = [np.array([[1.0], [-1.0]]), np.array([[2.0]])]
    network = PlainNetwork(coefs, [np.zeros(1), np.zeros(1)], "relu", 1, "identity")
    error = network.score_error(network.up(np.array([[1e6, 1e6]])), 1e-16)
    assert 2 * 2e6 * 1e-16 <= error[0, 0] < 3 * 2e6 * 1e-16


# peer


@pytest.mark.peer
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"solver": "sgd", "learning_rate_init": 0.1, "learning_rate": "invscaling"},
        {"solver": "sgd", "learning_rate": "adaptive", "nesterovs_momentum": False, "tol": 1.0, "n_iter_no_change": 1},
        {"early_stopping": True, "activation": "tanh"},
        {"activation": "logistic", "alpha": 1.0, "hidden_layer_sizes": (9, 7), "shuffle": False},
        {"solver": "lbfgs", "max_iter": 10},
        {"warm_start": True, "batch_size": 7},
    ],
)
def test_the_weights_are_those_of_scikit_learn(settings):
    X, y = iris()
    options = {"max_iter": 8, "random_state": 3, **settings}
    ours, peer = MLPClassifier(**options).fit(X, y), Peer(**options).fit(X, y)
    if options.get("warm_start"):
        ours, peer = ours.fit(X, y), peer.fit(X, y)
    for own, other in zip((*ours.coefs_, *ours.intercepts_), (*peer.coefs_, *peer.intercepts_), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-7)
    assert ours.loss_ == pytest.approx(peer.loss_, rel=1e-7)
    assert (ours.n_iter_, ours.t_, ours.out_activation_) == (peer.n_iter_, peer.t_, peer.out_activation_)


def test_several_labels_and_two_classes_are_those_of_scikit_learn():
    X, Y = make_multilabel_classification(80, 6, random_state=0)
    options = {"max_iter": 20, "random_state": 0}
    for target in (Y, Y[:, 0]):
        ours, peer = MLPClassifier(**options).fit(X, target), Peer(**options).fit(X, target)
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-9)
        assert not pellucid.verify(ours, X, target).failed


def test_verbose_prints_what_the_trace_has(capsys):
    model = MLPClassifier(**SHORT, verbose=True, early_stopping=True, batch_size=50).fit(*iris())
    lines = capsys.readouterr().out.splitlines()
    for epoch, row in enumerate(model.trace_):
        assert lines[2 * epoch] == f"Iteration {epoch + 1}, loss = {row['objective']:.8f}"
        assert lines[2 * epoch + 1] == f"Validation score: {row['validation_score']:.6f}"
    assert len(lines) == 2 * model.n_iter_


# errors


def test_says_when_it_did_not_converge():
    with pytest.warns(ConvergenceWarning, match="Maximum iterations"):
        MLPClassifier(**SHORT).fit(*iris())


def test_a_network_that_diverges_says_at_which_batch_and_leaves_nothing_fitted():
    X, y = iris()
    model = MLPClassifier((8,), solver="sgd", learning_rate_init=1e200, activation="identity", max_iter=50)
    with pytest.raises(ValueError, match=r"loss must stay finite, got .* at batch \d+ of epoch \d+"):
        model.fit(X * 1e100, y)
    assert not hasattr(model, "coefs_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_layer_sizes": (0,)}, "hidden_layer_sizes must be"),
        ({"activation": "swish"}, "activation must be one of"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"solver": "newton"}, "solver must be"),
        ({"early_stopping": True, "validation_fraction": 0.001}, "validation_fraction must leave at least 2 rows"),
    ],
)
def test_refuses_what_has_no_meaning(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MLPClassifier(**settings).fit(*iris())


def test_parts_need_a_solver_of_batches_and_no_early_stopping():
    X, y = iris()
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = MLPClassifier(solver="lbfgs").partial_fit
    with pytest.raises(ValueError, match="early_stopping must be False"):
        MLPClassifier(early_stopping=True).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        MLPClassifier().partial_fit(X, y)


def test_a_warm_start_keeps_its_classes():
    X, y = iris()
    model = MLPClassifier(warm_start=True, **SHORT).fit(X, y)
    with pytest.raises(ValueError, match="same classes as in the previous call"):
        model.fit(X[:100], y[:100])


def test_rows_that_are_mostly_zeros_are_multiplied_without_them(monkeypatch):
    from pellucid.neural_network.mlp import backpropagation

    random = np.random.default_rng(0)
    X = random.random((60, 9)) * (random.random((60, 9)) < 0.2)
    y = random.integers(0, 3, 60)
    dense = MLPClassifier(**SHORT).fit(X, y)
    monkeypatch.setattr(backpropagation, "LARGE", 1)
    same, wanted = backpropagation.without_zeros(X), sparse.csr_array(X)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(same, part), getattr(wanted, part), strict=True)
    assert not sparse.issparse(backpropagation.without_zeros(X + 1))
    np.testing.assert_allclose(MLPClassifier(**SHORT).fit(X, y).coefs_[0], dense.coefs_[0], atol=1e-12)


@pytest.mark.parametrize("density", [0.0, 0.1, 0.9])
def test_products_with_nonzeros_are_those_of_all_entries(density):
    from pellucid.neural_network.mlp.backpropagation import NonzeroRows
    from pellucid.neural_network.mlp.dense_kernels import columns_times, rows_times, turn

    random = np.random.default_rng(1)
    matrix = sparse.csr_array(random.random((20, 7)) * (random.random((20, 7)) < density))
    rows = NonzeroRows(matrix, np.array([3, 17, 3, 0, 19, 5]))
    W, D = random.random((7, 4)), random.random((6, 4))
    Z, G = np.empty((6, 4)), np.empty((7, 4))
    rows.times(W, Z)
    rows.turned_times(D, G)
    chosen = matrix.toarray()[rows.places]
    np.testing.assert_allclose(Z, chosen @ W, atol=1e-14)
    np.testing.assert_allclose(G, chosen.T @ D, atol=1e-14)
    plain_Z, plain_G = np.empty((6, 4)), np.empty((7, 4))
    in_python(rows_times)(matrix.data, matrix.indices, matrix.indptr, rows.places, W, plain_Z)
    np.testing.assert_allclose(plain_Z, Z, atol=1e-14)
    count = int(np.diff(matrix.indptr)[rows.places].sum())
    starts, values, numbers = np.zeros(8, np.int64), np.empty(count), np.empty(count, np.int64)
    in_python(turn)(matrix.data, matrix.indices, matrix.indptr, rows.places, starts, values, numbers)
    in_python(columns_times)(values, numbers, starts, D, plain_G)
    np.testing.assert_allclose(plain_G, G, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_softmax_and_its_losses_in_one_loop_are_those_of_scipy(dtype):
    from scipy.special import log_softmax, softmax

    from pellucid.neural_network.mlp.dense_kernels import softmax_and_losses

    random = np.random.default_rng(0)
    Z = (100 * random.standard_normal((9, 4))).astype(dtype)
    Y = np.eye(4, dtype=dtype)[random.integers(0, 4, 9)]
    for loop in (softmax_and_losses, in_python(softmax_and_losses)):
        found, losses = Z.copy(), np.empty(9, dtype)
        loop(found, Y, losses, dtype(0))
        np.testing.assert_allclose(found, softmax(Z, axis=1), rtol=1e-5, atol=1e-30)
        np.testing.assert_allclose(losses, -(Y * log_softmax(Z, axis=1)).sum(axis=1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_updates_are_those_of_plain_python(dtype):
    from pellucid.neural_network.mlp import dense_kernels

    random = np.random.default_rng(0)
    numbers = tuple(map(dtype, (0.5, 0.1, 0.01, 0.9, 0.99, 0.1, 0.01, 1e-8)))
    for kernel, arrays, options in (
        (dense_kernels.adam_update, 4, numbers),
        (dense_kernels.momentum_update, 3, (*numbers[:4], dtype(1.0))),
    ):
        fast = [random.random(11).astype(dtype) for _ in range(arrays)]
        slow, squares = [array.copy() for array in fast], np.square(fast[0]).sum()
        seen = kernel(*fast, *options), in_python(kernel)(*slow, *options)
        np.testing.assert_allclose(seen, squares, rtol=1e-5)
        for own, other in zip(fast, slow, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-5)


def test_no_attack_within_the_certified_radius_changes_a_class():
    pytest.importorskip("torch")
    from pellucid.neural_network import attack

    X, y = iris()
    model = MLPClassifier((8,), max_iter=60, random_state=0, learning_rate_init=0.01).fit(X, y)
    found = model.certified_radius(X[:20])
    assert found.certificate.grade == "bounded"
    assert found.certificate.holds
    assert (found.radii > 0).all()
    np.testing.assert_array_equal(found.classes, model.predict(X[:20]))
    moved = attack(model, X[:20], model.predict(X[:20]), found.radii)
    np.testing.assert_array_equal(model.predict(moved), found.classes)


def test_what_is_about_one_class_refuses_several_labels():
    pytest.importorskip("torch")
    from pellucid.neural_network import attack, certified_radius, predict_with_dropout

    X, y = iris()
    model = MLPClassifier(**SHORT).fit(X, np.eye(3, dtype=int)[y])
    for ask in (certified_radius, predict_with_dropout, lambda model, X: attack(model, X, y[:3], 0.1)):
        with pytest.raises(ValueError, match="one class per row, got a MLPClassifier with several labels"):
            ask(model, X[:3])


def test_masks_of_dropout_can_be_drawn_when_predicting():
    pytest.importorskip("torch")
    from pellucid.neural_network import predict_with_dropout

    X, y = iris()
    model = MLPClassifier((30,), dropout=0.3, random_state=0, max_iter=60, learning_rate_init=0.01).fit(X, y)
    found = predict_with_dropout(model, X[:20])
    assert (found.spread > 0).any()
    assert np.abs(found.mean - model.predict_proba(X[:20])).max() < 0.1


def test_damaged_layers_are_seen_and_the_certificate_says_that_forged_ones_are_not():
    X, y = iris()
    model = MLPClassifier(**SHORT).fit(X, y)
    damaged = copy.deepcopy(model)
    damaged.coefs_[0][0, 0] *= 1.01
    with pytest.warns(pellucid.UncertifiedWarning, match="checksum is 1"):
        assert pellucid.verify(damaged, X, y).failed
    # a forger changes layers and all that the model carries about them: nothing may then be said to hold
    forged, other = copy.deepcopy(model), MLPClassifier(**{**SHORT, "random_state": 1}).fit(X, y)
    for name in ("coefs_", "intercepts_", "objective_", "gradient_norm_", "weights_digest_"):
        setattr(forged, name, getattr(other, name))
    certificate = pellucid.verify(forged, X, y)
    assert not certificate.holds
    assert certificate.grade == "none"
    assert "is not proved either" in certificate.reason
