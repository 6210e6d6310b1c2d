"""Networks by hand: the numbers of the lecture, agreement with the plain functions, four printers, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sympy import Rational

from pellucid.neural_network import (
    CountedLayer,
    Graph,
    convolution_layer,
    convolve,
    show_batch_norm,
    show_convolution,
    show_convolution_layer,
    show_dropout,
    show_graph,
    show_network,
    show_parameter_counts,
    show_pooling,
    show_softmax,
    show_training_step,
    show_transposed_convolution,
    show_zero_initialization,
    transposed_convolution,
)
from pellucid.show.text_layout import width

IMAGE = [[1, 2, 0, 1], [3, 1, 1, 0], [0, 2, 4, 1], [1, 0, 2, 3]]
KERNEL = [[1, 0], [2, -1]]
WIDE = [[Rational(k, 7) - j for k in range(1, 5)] for j in range(4)]

EXAMPLES = {
    "graph": lambda: show_graph("(x + y) * z", x=-2, y=5, z=-4),
    "deep graph": lambda: show_graph("tanh(" * 12 + "x*w" + ")" * 12, x=0.3, w=2),
    "matrix graph": lambda: show_graph(
        "sum(relu(X @ W + b) ** 2) / 2", X=[[1, 2], [3, -4]], W=[[1, 0.5], [0, 2]], b=[1, -1]
    ),
    "network": lambda: show_network(),
    "wide network": lambda: show_network(
        [WIDE, WIDE], [[1, 2, 3, 4]] * 2, x=[0.1, 0.2, 0.3, 0.4], y=3, activation="gelu", output="softmax"
    ),
    "softmax": lambda: show_softmax([3, 1, 0.2, -1, 5.5], 4),
    "training step": lambda: show_training_step(steps=3),
    "dropout": lambda: show_dropout([1.5, 4, -1, 0.125], 0.25, n_masks=10),
    "batch norm": lambda: show_batch_norm([[1, 2, 0.5], [3, 1, 7], [5, 6, 2]], [2, 1, 1], [0, 0.5, 1], new=[1, 2, 3]),
    "convolution": lambda: show_convolution([3, 1, 2, 0.5, -3], [3, 2, 1, -0.25, 12, 7]),
    "layer": lambda: show_convolution_layer(IMAGE, KERNEL, 0.5, stride=2, padding=1, dilation=2),
    "large layer": lambda: show_convolution_layer(np.arange(49).reshape(7, 7) / 7, np.full((3, 3), 0.75), stride=2),
    "transposed": lambda: show_transposed_convolution(np.eye(3), np.ones((3, 3)) / 4, stride=2, padding=1),
    "pooling": lambda: show_pooling(np.arange(36).reshape(6, 6) / 8, 3),
    "overlapping pooling": lambda: show_pooling(IMAGE, 2, stride=1),
    "parameters": lambda: show_parameter_counts(),
    "published parameters": lambda: show_parameter_counts("lenet5-1998"),
    "zero": lambda: show_zero_initialization(steps=10),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_four_printers_print_and_text_fits_eighty_columns(name):
    work = EXAMPLES[name]()
    assert max(map(width, work.text().splitlines())) <= 80
    for format_ in ("markdown", "latex", "html"):
        assert len(work.printed(format_)) > 1000
    assert "U+" not in work.latex()  # what its fonts lack


# by hand


def test_the_graph_of_the_lecture():
    work = show_graph("(x + y) * z", x=-2, y=5, z=-4)
    assert work.answer == {"value": -12, "gradients": {"x": -4, "y": -4, "z": 3}}
    assert "gives each the gradient times the other" in work.text().replace("\n", " ")
    assert "<svg" in work.html()


def test_the_gradients_of_copies_are_added_up_on_paper():
    assert "─── = 2 + 2 + 3 = 7" in show_graph("x * x + 3 * x", x=2).text()
    assert "─── = [1  2] + [1  2] = [2  4]" in show_graph("sum(A @ A.T)", A=[[1, 2]]).text()


def test_copies_and_ties_are_told():
    text = show_graph("max(x, y) * x", x=2, y=2).text()
    assert "sum over the copies" in text
    assert "equals share it" in text


def test_the_check_by_differences_is_exact_where_the_graph_is_a_parabola():
    text = show_graph("x * x * 1", x=Fraction(1, 3)).text()
    last = [line.split() for line in text.splitlines() if line.strip().startswith("x ")][-1]
    assert last == ["x", "2/3", "2/3"]


def test_two_layers_with_fractions():
    # a1 = (1, 1/2), h1 the same, a2 = 2 - 3/2 + 1/3 = 5/6, loss (1/6)^2 / 2, delta = -1/6
    answer = show_network().answer
    assert answer["output"] == [Rational(5, 6)]
    assert answer["loss"] == Rational(1, 72)
    assert answer["coefs"][1] == [[Rational(-1, 6)], [Rational(-1, 12)]]
    assert answer["coefs"][0] == [[Rational(-1, 3), Rational(1, 2)], [Rational(-2, 3), 1]]
    assert answer["intercepts"] == [[Rational(-1, 3), Rational(1, 2)], [Rational(-1, 6)]]


def test_a_network_has_the_gradients_of_its_graph():
    W1, b1, W2, b2 = [[1, -2, 0.5], [3, 1, 1]], [0.5, 0, -1], [[1], [2], [-1]], [0.25]
    work = show_network([W1, W2], [b1, b2], x=[0.5, -1], y=2, activation="tanh")
    graph = Graph("sum((tanh(x @ W1 + b1) @ W2 + b2 - 2) ** 2) / 2", x=[0.5, -1], W1=W1, b1=b1, W2=W2, b2=b2)
    assert float(work.answer["loss"]) == pytest.approx(graph.value, rel=1e-14)
    np.testing.assert_allclose(np.array(work.answer["coefs"][0], float), graph.gradients["W1"], rtol=1e-13)
    np.testing.assert_allclose(np.array(work.answer["coefs"][1], float), graph.gradients["W2"], rtol=1e-13)
    np.testing.assert_allclose(np.array(work.answer["intercepts"][0], float), graph.gradients["b1"], rtol=1e-13)


def test_softmax_of_equal_scores_is_exact():
    answer = show_softmax([2, 2], 0).answer
    assert answer["probabilities"] == [Rational(1, 2)] * 2
    assert answer["gradient"] == [Rational(-1, 2), Rational(1, 2)]
    assert float(answer["loss"]) == pytest.approx(np.log(2))
    assert sum(show_softmax([50, 0, -50], 2).answer["probabilities"]) == pytest.approx(1)


def test_the_first_steps_of_three_methods():
    # loss (u max(0, 2w + b) + c - 3)^2 / 2 at (b, c, u, w) = (0, 0, 1, 1): residual -1, gradient (-1, -1, -2, -2)
    work = show_training_step(steps=2)
    answer = work.answer
    tenth, fifth = Rational(1, 10), Rational(6, 5)
    assert answer["SGD"][1] == answer["Momentum"][1] == [tenth, tenth, fifth, fifth]
    assert answer["Adam"][1] == [
        tenth,
        tenth,
        1 + tenth,
        1 + tenth,
    ]  # the first step of Adam is the sign of the gradient
    assert answer["SGD"][2] != answer["Momentum"][2]
    assert "more than rounding" not in work.text()


def test_dropout_keeps_the_mean_over_all_masks():
    answer = show_dropout([2, 4, -1], 0.25, n_masks=3).answer
    assert answer["mean"] == [2, 4, -1]
    assert answer["variance"] == [Rational(4, 3), Rational(16, 3), Rational(1, 3)]  # p / (1 - p) h^2
    for mask, output in zip(answer["masks"], answer["outputs"], strict=True):
        assert output == [Rational(4, 3) * m * h for m, h in zip(mask, [2, 4, -1], strict=True)]


def test_batch_norm_of_two_rows():
    # mean 2, variance 1; with epsilon 3 the root is 2; running mean 0.1 * 2, running variance 0.9 + 0.1 * 2
    answer = show_batch_norm([[1], [3]], [4], [1], epsilon=3, new=[5]).answer
    assert answer["output"] == [[-1], [3]]
    assert answer["running_mean"] == [Rational(1, 5)]
    assert answer["running_variance"] == [Rational(11, 10)]
    assert float(answer["test_output"][0]) == pytest.approx(4 * 4.8 / np.sqrt(4.1) + 1)


def test_the_table_of_a_convolution():
    work = show_convolution([3, 1, 2], [3, 2, 1])
    assert work.answer["y"] == [9, 9, 11, 5, 2]
    rows = [line.split() for line in work.text().splitlines()]
    assert ["0", "3", "9", "6", "3"] in rows
    assert ["sum", "9", "9", "11", "5", "2"] in rows


def test_tables_give_what_the_plain_functions_give():
    assert show_convolution([1, -2, 5], [0, 1]).answer["y"] == convolve([1, -2, 5], [0, 1]).tolist()
    for stride, padding, dilation in ((1, 0, 1), (2, 1, 2), (2, 2, 1), (3, 1, 1)):
        options = {"stride": stride, "padding": padding, "dilation": dilation}
        layer = convolution_layer([[IMAGE]], [[KERNEL]], [3], **options)[0, 0]
        if layer.size <= 16:
            assert show_convolution_layer(IMAGE, KERNEL, 3, **options).answer["output"] == layer.tolist()
    back = transposed_convolution([[KERNEL]], [[KERNEL]], stride=2, padding=1)[0, 0]
    assert show_transposed_convolution(KERNEL, KERNEL, stride=2, padding=1).answer["output"] == back.tolist()


def test_windows_are_written_out_from_the_padded_image():
    text = show_convolution_layer(IMAGE, KERNEL, 0.5, stride=2, padding=1, dilation=2).text()
    assert "y₂₂ = 1 · 1 + 0 · 2 + 3 · (−1) +" in text


def test_pooling_remembers_and_unpools():
    answer = show_pooling([[1, 5, 2, 0], [3, 4, 8, 7], [1, 1, 0, 2], [1, 0, 3, 3]]).answer
    assert answer["max"] == [[5, 8], [1, 3]]
    assert answer["places"] == [[1, 6], [8, 14]]
    assert answer["mean"] == [[Rational(13, 4), Rational(17, 4)], [Rational(3, 4), 2]]
    assert answer["unpool_max"] == [[0, 5, 0, 0], [0, 0, 8, 0], [1, 0, 0, 0], [0, 0, 3, 0]]
    assert answer["bed_of_nails"][0] == [5, 0, 8, 0]
    assert answer["nearest"][1] == [5, 5, 8, 8]
    assert "nearest" not in show_pooling(IMAGE, 2, stride=1).answer


def test_lenet5_has_its_numbers_of_parameters_and_says_which():
    usual, published = show_parameter_counts(), show_parameter_counts("lenet5-1998")
    assert list(usual.answer["parameters"].values()) == [156, 0, 2416, 0, 48120, 10164, 850]
    assert usual.answer["total"] == 61_706
    assert list(published.answer["parameters"].values()) == [156, 12, 1516, 32, 48120, 10164]
    assert published.answer["total"] == 60_000
    assert usual.answer["shapes"][:6] == [(1, 32, 32), (6, 28, 28), (6, 14, 14), (16, 10, 10), (16, 5, 5), (120, 1, 1)]
    assert "usually built" in usual.text()
    assert "paper of 1998" in published.text()
    dense = show_parameter_counts([CountedLayer("only", "dense", outputs=10)], (3, 2, 2))
    assert dense.answer["total"] == 12 * 10 + 10


def test_equal_units_stay_equal_and_different_ones_do_not():
    answer = show_zero_initialization(steps=6).answer
    (first, second), (out,) = answer["equal"]["coefs"], answer["equal"]["intercepts"][1:]
    assert first[0][0] == first[0][1] != Rational(1, 2)
    assert second[0] == second[1]
    assert out != 0
    assert answer["zero"]["coefs"] == [[[0, 0], [0, 0]], [[0], [0]]]
    assert answer["zero"]["intercepts"][1][0] != 0
    assert answer["different"]["coefs"][0][0][0] != answer["different"]["coefs"][0][0][1]


def test_different_weights_learn_by_gradient_descent():
    X, y = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[1], [1], [0]])
    W1, b1 = np.array([[0.5, -0.25], [0.25, 0.5]]), np.array([0.25, 0.0])
    W2, b2 = np.array([[0.5], [-0.5]]), np.array([0.0])
    for _ in range(3):
        H = np.maximum(X @ W1 + b1, 0)
        error = (H @ W2 + b2 - y) / 3
        back = (error @ W2.T) * (H > 0)
        W1, b1 = W1 - 0.25 * X.T @ back, b1 - 0.25 * back.sum(axis=0)
        W2, b2 = W2 - 0.25 * H.T @ error, b2 - 0.25 * error.sum(axis=0)
    answer = show_zero_initialization().answer["different"]
    np.testing.assert_allclose(np.array(answer["coefs"][0], float), W1, rtol=1e-12)
    np.testing.assert_allclose(np.array(answer["coefs"][1], float), W2, rtol=1e-12)
    np.testing.assert_allclose(np.array(answer["intercepts"][0], float), b1, rtol=1e-12)


# refusals


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: show_graph("x + y"), r"graph must have values.*graph.at\(x=..., y=...\)"),
        (lambda: show_graph("+".join(["x"] * 50), x=1), "at most 40 nodes to show the work, got 50"),
        (lambda: show_graph("A + 1", A=[1, 2]), "must end in one number to have gradients"),
        (lambda: show_network([[[1]] * 5], [[1]]), "at most 3 layers of 4 units to be worked by hand, got 5, 1"),
        (lambda: show_network([[[1]], [[1], [2]]], [[1], [1]], [1]), "for 1 inputs of layer 2"),
        (lambda: show_network([[[1]]]), "coefs and intercepts must both be given"),
        (lambda: show_network([[[1]]], [], [1]), "one entry for each layer, got 1, 0"),
        (lambda: show_network([[[1]]], [[1]], [1, 2]), "x must have 1 numbers, one for each input, got 2"),
        (lambda: show_network([[[1]]], [[1]], [1], [1, 2]), "y must have 1 numbers, one for each output, got 2"),
        (lambda: show_network([[[1]]], [[1]], [1], 2, output="logistic"), "y must be 0 or 1 for each output"),
        (lambda: show_network([[[1, 1]]], [[1, 1]], [1], 2, output="softmax"), "a class from 0 to 1, got 2"),
        (lambda: show_network(activation="maxout"), "activation must be one of"),
        (lambda: show_softmax([1], 0), "scores must be from 2 to 5 numbers to be worked by hand, got 1"),
        (
            lambda: show_softmax([1000, 2], 0),
            r"within 100 of each other to show the work, got \[1000, 2\]",
        ),
        (lambda: show_softmax([1, 2], 2), "target must be below the 2 classes, got 2"),
        (lambda: show_training_step(steps=6), "steps must be at most 5 to be worked by hand, got 6"),
        (lambda: show_training_step(start=[1, 2]), "start must have a number for each of b, c, u, w, got 2"),
        (lambda: show_dropout([1, 2], 1), "p must be below 1, got 1"),
        (lambda: show_dropout([1, 2], 1.5), "p must be between 0 and 1, got 1.5"),
        (lambda: show_dropout([1] * 5), "h must be at most 4 numbers"),
        (lambda: show_batch_norm([[1]]), "X must have from 2 to 8 rows"),
        (lambda: show_batch_norm([[1], [2]], [1, 2]), "gamma must have 1 numbers, one for each unit, got 2"),
        (lambda: show_convolution([1] * 9, [1] * 9), "at most 10 entries to show the work"),
        (lambda: show_convolution_layer(np.ones((9, 9)), KERNEL), "image must be a table of at most 7 rows"),
        (lambda: show_convolution_layer(np.ones((7, 7)), KERNEL), "at most 16 entries may come out"),
        (lambda: show_convolution_layer(KERNEL, np.ones((3, 3))), "kernel must fit into the padded input"),
        (lambda: show_transposed_convolution(np.eye(3), np.eye(3), stride=9), "at most 8 wide to show the work"),
        (lambda: show_pooling([1, 2]), r"image must be a table of at most 6 rows and columns"),
        (lambda: show_parameter_counts("vgg"), "layers must be one of"),
        (lambda: show_parameter_counts([CountedLayer("a", "magic")]), "kind must be one of"),
        (lambda: show_parameter_counts(shape=(1, 12, 12)), "layer C3 must have windows|layer C5 must have windows"),
        (lambda: show_zero_initialization(steps=11), "steps be at most 10"),
        (lambda: show_zero_initialization([[1]], [1]), "rows of 2 features"),
    ],
)
def test_what_cannot_be_shown_is_told_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
