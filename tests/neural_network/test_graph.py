"""Computation graphs: values, gradients, reading, drawing, refusals."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.neural_network import Graph, variable
from pellucid.neural_network.graph import exp, log, maximum, relu, sigmoid, tanh, total, transpose
from pellucid.neural_network.graph.gates import GATES
from pellucid.neural_network.graph.graph_svg import lay_out


def gradients(text, **values):
    graph = Graph(text, **values)
    return [graph.gradients[name] for name in graph.variables]


# by hand


def test_the_first_example_of_every_lecture():
    graph = Graph("(x + y) * z", x=-2, y=5, z=-4)
    assert graph.value == -12
    assert graph.values == {"x": -2, "y": 5, "q1": 3, "z": -4, "f": -12}
    assert graph.gradients == {"x": -4, "y": -4, "q1": -4, "z": 3, "f": 1}


@pytest.mark.parametrize(
    ("text", "values", "slopes"),
    [
        ("x + y", {"x": 1, "y": 2}, [1, 1]),
        ("x - y", {"x": 1, "y": 2}, [1, -1]),
        ("-x", {"x": 1}, [-1]),
        ("x * y", {"x": 3, "y": 7}, [7, 3]),
        ("x / y", {"x": 3, "y": 7}, [Fraction(1, 7), Fraction(-3, 49)]),
        ("x ** 3", {"x": Fraction(1, 2)}, [Fraction(3, 4)]),
        ("x ** -2", {"x": 2}, [Fraction(-1, 4)]),
        ("x ** 0 + x", {"x": 0}, [1]),
        ("x * x", {"x": 5}, [10]),  # copied: 5 + 5
        ("max(x, y)", {"x": 3, "y": 7}, [0, 1]),
        ("max(x, y)", {"x": 4, "y": 4}, [Fraction(1, 2), Fraction(1, 2)]),
        ("max(x, y, 9)", {"x": 3, "y": 7}, [0, 0]),
        ("relu(x) + relu(y)", {"x": 3, "y": -7}, [1, 0]),
        ("relu(x)", {"x": 0}, [0]),
    ],
)
def test_every_gate_that_keeps_fractions_exact(text, values, slopes):
    found = gradients(text, **values)
    assert found == slopes
    assert all(isinstance(slope, Fraction) for slope in found)


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("exp(x)", np.exp(0.5)),
        ("log(x)", 2.0),
        ("tanh(x)", 1 - np.tanh(0.5) ** 2),
        ("sigmoid(x)", np.exp(-0.5) / (1 + np.exp(-0.5)) ** 2),
        ("x ** 0.5", 0.5 * 0.5**-0.5),
        ("x ** x", 0.5**0.5 * (np.log(0.5) + 1)),
        ("2 ** x", np.log(2) * 2**0.5),
    ],
)
def test_every_gate_that_needs_floats(text, slope):
    assert gradients(text, x=Fraction(1, 2)) == pytest.approx([slope], rel=1e-14)


def test_a_linear_layer_hands_back_to_input_and_weights():
    # y = X W + b, upstream G: dX = G W^T, dW = X^T G, db = column sums of G
    X, W, G = np.array([[1, 2], [3, 4]]), np.array([[1, 0, 2], [0, 1, 1]]), np.array([[1, 0, 0], [2, 1, -1]])
    graph = Graph("sum((X @ W + b) * G)", X=X, W=W, b=[0, 0, 0], G=G)
    np.testing.assert_array_equal(graph.gradients["X"], G @ W.T)
    np.testing.assert_array_equal(graph.gradients["W"], X.T @ G)
    np.testing.assert_array_equal(graph.gradients["b"], G.sum(axis=0))
    assert all(isinstance(entry, Fraction) for entry in graph.gradients["W"].flat)


def test_nodes_that_are_used_twice_get_the_sum_of_both_ways():
    graph = Graph("x * x + 3 * x", x=2)
    x = graph.nodes[0]
    assert graph.gradients["x"] == 7
    assert [graph.handed_back[gate][place] for gate, place in graph.uses[x]] == [2, 2, 3]


def test_python_arithmetic_makes_the_same_graph_as_text():
    x, y = variable("x"), variable("y")
    built = Graph(2 * x / (1 - y) + (x - 3) ** 2 - 4 / y + 2**x + (-y) + (5 + x * y))
    read = Graph("2 * x / (1 - y) + (x - 3)**2 - 4 / y + 2**x + (-y) + (5 + x * y)")
    assert built.expression == read.expression
    assert [node.gate for node in built.nodes] == [node.gate for node in read.nodes]
    assert built.at(x=2, y=3).gradients == read.at(x=2, y=3).gradients


def test_functions_on_nodes_make_the_same_graph_as_text():
    x, A = variable("x"), variable("A")
    ours = total(maximum(relu(x), tanh(x), exp(x)) + log(x) * sigmoid(x) * transpose(A) @ A)
    text = "sum(max(relu(x), tanh(x), exp(x)) + log(x) * sigmoid(x) * A.T @ A)"
    assert Graph(ours).expression == Graph(text).expression
    assert Graph(ours, x=0.5, A=[[1, 2]]).value == Graph(text, x=0.5, A=[[1, 2]]).value


def test_arrays_on_the_left_of_a_sign_are_constants_of_the_graph():
    x = variable("x")
    graph = Graph(total(np.array([1, 2]) * x + np.array([[1, 2]]) @ np.array([3, 4])), x=[5, 6])
    assert graph.value == 5 + 12 + 22
    np.testing.assert_array_equal(graph.gradients["x"], [1, 2])


def test_numbers_in_a_text_are_taken_as_typed():
    assert Graph("0.1 * x + 1/3 + 1_000 - 0x10", x=1).value == Fraction(1, 10) + Fraction(1, 3) + 1000 - 16
    assert isinstance(Graph("x * 0.5", x=0.5).value, float)


def test_gradients_of_a_float_are_floats():
    assert all(isinstance(slope, float) for slope in Graph("max(x, 0) + 2", x=0.5).gradients.values())
    assert Graph("x + A", x=0.5, A=[1, 2]).value.dtype == np.float64


def test_a_graph_without_values_can_be_given_some():
    graph = Graph("x + y")
    assert graph.variables == ("x", "y")
    assert not graph.has_values
    assert graph.at(x=1, y=2).value == 3
    with pytest.raises(ValueError, match=r"graph must have values.*graph.at\(x=..., y=...\)"):
        _ = graph.value


def test_powers_of_0_have_a_slope_where_the_exponent_is_not_below_1():
    x = variable("x")
    assert Graph(total(x ** [0, 1, 2]), x=[0, 0, 0]).gradients["x"].tolist() == [0, 1, 0]
    assert Graph("x ** 0", x=0).gradients["x"] == 0


def test_long_chains_need_no_recursion():
    x = variable("x")
    node = x
    for _ in range(3000):
        node = node + x
    graph = Graph(node, x=1)
    assert graph.gradients["x"] == 3001
    assert "…" in graph.expression
    assert len(graph.text().splitlines()) < 300


# drawing


def test_the_tree_of_lines():
    assert str(Graph("max(x, x) * y", x=2, y=3)).splitlines() == [
        "f = max(x, x) · y",
        "",
        "f = q1 · y   value 6   gradient 1",
        "├─ q1 = max(x, x)   value 2   gradient 3",
        "│  ├─ x   value 2   gradient 3, of it 3/2 from here",
        "│  └─ x again, of it 3/2 from here",
        "└─ y   value 3   gradient 2",
    ]
    assert str(Graph("x + 1")).splitlines()[2:] == ["f = x + 1", "├─ x", "└─ 1"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x - (y - z)", "x − (y − z)"),
        ("x - y - z", "x − y − z"),
        ("(x + y) / (x * y)", "(x + y) / (x · y)"),
        ("-(x + y)", "−(x + y)"),
        ("x ** (1/2) * -2", "x^(1/2) · (−2)"),
        ("(-x) ** 2", "(−x)^2"),
        ("(X @ Y).T", "(X @ Y)ᵀ"),
        ("exp(x + y)", "exp(x + y)"),
    ],
)
def test_expressions_are_written_with_the_parentheses_they_need(text, written):
    assert Graph(text).expression == written


def drawn_texts(graph):
    root = ElementTree.fromstring(graph.svg())
    return [(node.get("class"), node.text) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_drawing_has_values_in_ink_and_gradients_in_another_color():
    graph = Graph("(x + y) * z", x=-2, y=5, z=-4)
    texts = drawn_texts(graph)
    assert sorted(text for kind, text in texts if kind == "graph-slope") == sorted(["−4", "−4", "−4", "3", "1"])
    names_and_values = ["x", "y", "z", "+", "×", "5", "3", "−2", "−4", "−12"]
    assert sorted(text for kind, text in texts if kind == "graph-ink") == sorted(names_and_values)
    assert graph._repr_svg_() == graph.svg()


def test_every_branch_of_a_copied_value_has_its_own_gradient():
    svg = Graph("x * x + 3 * x", x=2).svg()
    assert svg.count("<circle") == 1
    slopes = re.findall(r'class="graph-slope"[^>]*>([^<]*)', svg)
    assert sorted(slopes) == sorted(["7", "2", "2", "3", "1", "1", "1"])


SIGNS = st.sampled_from(["({} + {})", "({} * {})", "max({}, {})"])
TEXTS = st.recursive(
    st.sampled_from(["x", "y", "z", "2"]),
    lambda inner: st.builds(str.format, SIGNS, inner, inner) | st.builds("exp({})".format, inner),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_no_two_spots_of_a_drawing_overlap_and_lines_lead_right(text):
    graph = Graph(text)
    columns = lay_out(graph.nodes, graph.uses)
    for spots in columns:
        heights = sorted(spot.height for spot in spots)
        assert all(high - low >= 1 - 1e-9 for low, high in pairwise(heights))
        assert all(spot.height >= 0 for spot in spots)
        assert all(after.column == spot.column + 1 for spot in spots for after in spot.after)
    assert sum(spot.use is None for spots in columns for spot in spots) == len(graph.nodes)


def test_the_first_input_of_a_difference_stands_above_the_second():
    graph = Graph("(a - b) / (c - d)")
    spots = {spot.node: spot for column in lay_out(graph.nodes, graph.uses) for spot in column}
    assert all(spots[node.inputs[0]].height < spots[node.inputs[1]].height for node in graph.nodes if node.inputs)


# bad input


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "x.real", "x[0]", "lambda: 1", "[x for x in y]", "x if y else z", "x < y",
        "'text'", "True + x", "1j * x", "f'{x}'", "x and y", "(x := 3)", "open('a')", "exp(x, base=2)", "x // y", "~x",
    ],
)  # fmt: skip
def test_text_that_is_no_arithmetic_is_refused(text):
    with pytest.raises(ValueError, match="expression must be made of names, numbers"):
        Graph(text)


def test_a_caret_is_no_power_and_the_message_says_what_is():
    with pytest.raises(ValueError, match=r"got 'x \^ 2'. Write a power as x\*\*2."):
        Graph("x ^ 2")


@pytest.mark.parametrize("text", ["", "x +", "2x", "x\ny", "(" * 500 + "x" + ")" * 500])
def test_text_that_python_cannot_read_is_refused(text):
    with pytest.raises(ValueError, match="expression must be one such as"):
        Graph(text)


def test_texts_that_are_too_long_or_too_deep_are_refused():
    with pytest.raises(ValueError, match="at most 10000 characters, got 10001"):
        Graph("x" * 10001)
    with pytest.raises(ValueError, match="nested less deeply|one such as"):
        Graph("-" * 3000 + "x")


def test_towers_of_powers_end_in_floats_not_in_a_full_memory():
    assert isinstance(Graph("x ** 20_000 + 1", x=Fraction(1, 2)).value, float)
    assert "gradient ≈ 10^" in Graph("x ** 4000", x=2).text()
    with pytest.raises(ValueError, match="must be a finite number"):
        Graph("x ** 999999999", x=3)


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("1 / x", {"x": 0}, "1 / x at x = 0 must be a finite number, got none"),
        ("log(x)", {"x": -1}, r"log\(x\) at x = −1 must be a finite number, got nan"),
        ("exp(x)", {"x": 1000}, r"exp\(x\) at x = 1000 must be a finite number, got inf"),
        ("x ** 0.5", {"x": -1}, r"x\^\(1/2\) at x = −1 must be a real number"),
        ("x ** 0.5", {"x": 0}, r"the gradient of x\^\(1/2\) at x = 0 must be a finite number"),
        ("A @ B", {"A": [[1, 2]], "B": [[1, 2]]}, r"A @ B at .* shapes that fit, got \(1, 2\) and \(1, 2\)"),
        ("x @ y", {"x": 1, "y": 2}, "x @ y at x = 1, y = 2 must have inputs of shapes that fit"),
        ("A + B", {"A": [1, 2], "B": [1, 2, 3]}, "must have inputs of shapes that fit"),
        ("x + y", {"x": 1}, "values must be given for exactly the variables x, y, got none for y"),
        ("x", {"x": 1, "y": 2}, "exactly the variables x, got one for y"),
        ("x", {"x": float("nan")}, "x must be finite numbers"),
        ("max(x)", {}, "max must have two inputs or more, got 1"),
        ("exp(x, y)", {}, "exp must have one input, got 2"),
    ],
)
def test_what_has_no_answer_is_told_in_a_sentence(text, values, message):
    with pytest.raises(ValueError, match=message):
        Graph(text, **values)


def test_gradients_of_a_matrix_are_refused():
    graph = Graph("A + 1", A=[[1, 2]])
    np.testing.assert_array_equal(graph.value, [[2, 3]])
    with pytest.raises(ValueError, match=r"must end in one number to have gradients, got shape \(1, 2\). Use sum"):
        _ = graph.gradients


def test_kinds_that_are_no_numbers_are_refused():
    for value in ("a", [1, "a"], None, {"a": 1}, 1j):
        with pytest.raises(TypeError, match="x must be a number or an array of real numbers"):
            Graph("x", x=value)
    for value in ([], np.ones((0, 2)), np.ones((1, 1, 1)), np.nan, [1.0, -np.inf]):
        with pytest.raises(ValueError, match="x must be finite numbers, at least one, in at most two dimensions"):
            Graph("sum(x)", x=value)
    with pytest.raises(ValueError, match="x must be an array whose rows are as long as each other"):
        Graph("x", x=[[1, 2], [3]])
    with pytest.raises(TypeError, match="expression must be text or a node"):
        Graph(3)
    with pytest.raises(ValueError, match="name must be a word"):
        variable("2x")
    with pytest.raises(ValueError, match="one variable of each name, got two called 'x'"):
        Graph(variable("x") + variable("x"))


def test_every_gate_says_its_rule_in_words():
    assert all(gate.rule and gate.sign for gate in GATES.values())


def test_a_graph_of_many_nodes_is_not_drawn():
    x = variable("x")
    with pytest.raises(ValueError, match="at most 300 nodes to be drawn, got 304. Print it."):
        Graph(sum((x for _ in range(299)), start=x * 1 + 0), x=1).svg()
    assert Graph(sum((x for _ in range(299)), start=x * 1 + 0), x=1)._repr_svg_() is None


def test_nodes_have_short_names_and_any_word_may_be_a_variable():
    node = variable("self") * 2
    assert repr(node) == "GraphNode('multiply', 2 inputs)"
    assert repr(node.inputs[0]) == "variable('self')"
    assert Graph(node).at(self=3).value == 6
