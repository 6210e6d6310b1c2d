"""A dense network by hand: one row forward, its loss, every gradient backward, and a check by differences."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import ACTIVATIONS, ExactNetwork, exact_matrix, exact_network
from pellucid.show.comparison import CUT_REMARK, has_cut_numbers
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import Script, Symbol, column, fenced, math, matrix, over
from pellucid.show.text_printer import first_that_fits

MOST_UNITS, MOST_LAYERS = 4, 3
SMALL = Rational(1, 10**6)
"""Half the step of the differences that check the gradients."""
MOST_CHECKED = 12

EXAMPLE_COEFS = [[[Rational(1, 2), -1], [Rational(1, 4), Rational(1, 2)]], [[2], [-3]]]
EXAMPLE_INTERCEPTS = [[0, Rational(1, 2)], [Rational(1, 3)]]
"""Two inputs, two hidden units, one output."""

ENDS = {
    "exp": "The output is e to the power of the last sum, a mean of counts, and the loss is half of "
    "Poisson's deviance.",
    "identity": "The last layer has no activation, and the loss is half the squared error.",
    "logistic": "Each output is the probability of its label by the logistic function, and the loss is minus the "
    "logarithm of the probability of what is true.",
    "softmax": "The outputs are probabilities by softmax, and the loss is minus the logarithm of that of "
    "the true class.",
}


def show_network(
    coefs: Any = None,
    intercepts: Any = None,
    x: Data = (1, 2),
    y: Any = 1,
    *,
    activation: str = "relu",
    output: str = "identity",
) -> Document:
    """Return the forward and the backward pass of a small dense network, for one row.

    Parameters
    ----------
    coefs, intercepts : list of arrays of shape (inputs, units) and (units,), default=None
        Weights and biases of each layer, as ``coefs_`` and ``intercepts_`` of an MLP; at most 3 layers of 4 units.
        None shows a network of two layers with fractions.
    x : array-like of shape (inputs,), default=(1, 2)
        The row.
    y : number, or array-like of as many as there are outputs, default=1
        What should come out. For ``output="softmax"`` the number of the class, from 0.
    activation : {"relu", "identity", "leaky_relu", "elu", "tanh", "logistic", "gelu"}, default="relu"
        Of the hidden layers.
    output : {"identity", "logistic", "softmax", "exp"}, default="identity"
        Activation of the last layer, which settles the loss.

    Returns
    -------
    Document
        ``answer`` has ``output``, ``loss``, and the gradients ``coefs`` and ``intercepts``, exact where the numbers are
        rational and the activations keep them so.

    Examples
    --------
    >>> work = show_network([[[2], [1]], [[3]]], [[0], [1]], x=[1, 1], y=4)
    >>> work.answer["output"], work.answer["loss"], work.answer["coefs"]
    ([10], 18, [[[18], [18]], [[18]]])
    """
    if coefs is None and intercepts is None:
        coefs, intercepts = EXAMPLE_COEFS, EXAMPLE_INTERCEPTS
    network = exact_network(coefs, intercepts, activation, output)
    _check_size(network)
    row, target = _row(x, network), _target(y, network)
    sums, values = network.forward(row)
    weights, errors, passed = network.backward(sums, values, target)
    loss = network.loss(values[-1], target)
    steps = (
        *(_layer_step(network, layer, sums, values) for layer in range(len(sums))),
        _loss_step(network, values[-1], target, loss),
        *_backward_steps(network, sums, weights, errors, passed),
        _check_step(network, row, target, weights, errors),
    )
    answer = {
        "output": list(values[-1]),
        "loss": loss,
        "coefs": [part.tolist() for part in weights],
        "intercepts": [list(part) for part in errors],
    }
    rounded = network.pencil.remark() or ([CUT_REMARK] if has_cut_numbers(steps) else [])
    return Document("A network by hand", (*_opening(network, row, target), *rounded), steps, answer)


def _check_size(network: ExactNetwork) -> None:
    sizes = [network.coefs[0].rows, *(W.cols for W in network.coefs)]
    if len(network.coefs) > MOST_LAYERS or max(sizes) > MOST_UNITS:
        raise ValueError(
            f"the network must have at most {MOST_LAYERS} layers of {MOST_UNITS} units to be worked by hand, got "
            f"{', '.join(map(str, sizes))}. Show the work of a smaller one."
        )


def _row(x: Data, network: ExactNetwork) -> Matrix:
    row = exact_matrix(x, "x")
    if row.shape != (network.coefs[0].rows, 1):
        raise ValueError(f"x must have {network.coefs[0].rows} numbers, one for each input, got {row.rows}.")
    return row


def _target(y: Any, network: ExactNetwork) -> Matrix:
    outputs = network.coefs[-1].cols
    if network.output == "softmax":
        if not (isinstance(y, int) and 0 <= y < outputs):
            raise ValueError(f"y must be the number of a class from 0 to {outputs - 1}, got {y!r}.")
        return Matrix([int(k == y) for k in range(outputs)])
    target = exact_matrix([y] if not hasattr(y, "__len__") else y, "y")
    if target.shape != (outputs, 1):
        raise ValueError(f"y must have {outputs} numbers, one for each output, got {target.rows}.")
    if network.output == "logistic" and not set(target) <= {0, 1}:
        raise ValueError(f"y must be 0 or 1 for each output of a logistic network, got {list(target)}.")
    return target


def _opening(network: ExactNetwork, x: Matrix, target: Matrix) -> tuple[Block, ...]:
    sizes = [x.rows, *(W.cols for W in network.coefs)]
    deep = len(network.coefs) > 1
    hidden = f" Hidden layers use the activation {network.activation}." if deep else ""
    return (
        sentence("A network of ", math(" → ".join(map(str, sizes))), f" units.{hidden} {ENDS[network.output]}"),
        sentence(
            "Layer ",
            math("l"),
            " computes the sums ",
            math("a_l"),
            " and the values ",
            math("h_l"),
            " from those before:",
        ),
        formula("a_l =", _transposed("l"), _before("l"), "+ b_l ,", "h_l = φ", fenced("a_l"), ",", "h_0 = x"),
        formula("x =", column(x), ",", "y =", column(target)),
    )


def _transposed(layer: Any) -> Script:
    return Script(Symbol("W"), math(str(layer)), math("T"))


def _before(layer: str) -> Script:
    return Script(Symbol("h"), math(layer, "−", 1))


def _layer_step(network: ExactNetwork, layer: int, sums: list[Matrix], values: list[Matrix]) -> Step:
    n, W, b = layer + 1, network.coefs[layer], network.intercepts[layer]
    is_last = n == len(sums)
    name = network.output if is_last else network.activation
    rule = math(f"a_{n} =", _transposed(n), f"h_{layer} + b_{n} =")
    blocks = first_that_fits(
        [formula(rule, matrix(W.T), column(values[layer]), "+", column(b), "=", column(sums[layer]))],
        [
            formula(_transposed(n), "=", matrix(W.T)),
            formula(rule, _transposed(n), column(values[layer]), "+", column(b), "=", column(sums[layer])),
        ],
    )
    if name == "softmax":
        blocks.append(sentence("Softmax raises e to the power of each of them and divides by the sum:"))
    if name == "identity":
        blocks.append(formula(f"h_{n} = a_{n} =", column(values[n])))
    else:
        blocks.append(formula(f"h_{n} =", Symbol(name), fenced(f"a_{n}"), "=", column(values[n])))
    return step(f"Forward through layer {n}", *blocks)


def _loss_step(network: ExactNetwork, output: Matrix, target: Matrix, loss: Rational) -> Step:
    n = len(network.coefs)
    if network.output == "identity":
        what = formula("L =", over(1, 2), "∑", Script(fenced(f"h_{n} − y"), above=math(2)), "=", loss)
    elif network.output == "softmax":
        k = list(target).index(1)
        what = formula("L = − log", Script(Symbol("p"), math(k + 1)), "= − log", fenced(output[k]), "=", loss)
    elif network.output == "exp":
        what = formula("L = ∑", fenced(math(f"h_{n} − y + y log", fenced(over("y", f"h_{n}")))), "=", loss)
    else:
        what = formula("L = − ∑ log P", fenced("y_j"), "=", loss)
    return step(
        "The loss",
        what,
        sentence("For this loss, the gradient of the last sums is simply what came out less what should have:"),
        formula(f"δ_{n} = h_{n} − y =", column(output), "−", column(target), "=", column(output - target)),
    )


def _backward_steps(
    network: ExactNetwork,
    sums: list[Matrix],
    weights: list[Matrix],
    errors: list[Matrix],
    passed: list[Matrix],
) -> list[Step]:
    steps = []
    for layer in range(len(sums) - 1, -1, -1):
        n = layer + 1
        blocks: list[Block] = []
        if n < len(sums):
            slopes = network.slopes(sums[layer])
            blocks += [
                sentence("The gradient goes back through the weights of the next layer,"),
                formula(over("∂ L", f"∂ h_{n}"), f"= W_{n + 1} δ_{n + 1} =", column(passed[layer])),
                sentence(
                    f"and through the activation, whose derivative is {ACTIVATIONS[network.activation][2]}, "
                    f"entry by entry:"
                ),
                formula(f"δ_{n} =", column(passed[layer]), "·", column(slopes), "=", column(errors[layer])),
            ]
        transposed_error = Script(Symbol("δ"), math(n), math("T"))
        slope = math(over("∂ L", f"∂ W_{n}"), f"= h_{layer}", transposed_error, "=", matrix(weights[layer]))
        blocks += [
            sentence(
                "Every weight gets what its input was times the gradient of its sum, every bias that gradient alone:"
            ),
            *first_that_fits([result(slope)], [formula(slope)]),
            result(over("∂ L", f"∂ b_{n}"), f"= δ_{n} =", column(errors[layer])),
        ]
        steps.append(step(f"Backward through layer {n}", *blocks))
    return steps


def _check_step(network: ExactNetwork, x: Matrix, target: Matrix, weights: list[Matrix], errors: list[Matrix]) -> Step:
    """Compare every weight's gradient with a central difference; list the first few."""
    slopes = [
        (f"W{layer + 1}[{i + 1}, {j + 1}]", layer, (i, j), False, part[i, j])
        for layer, part in enumerate(weights)
        for i in range(part.rows)
        for j in range(part.cols)
    ]
    slopes += [
        (f"b{layer + 1}[{j + 1}]", layer, (j, 0), True, part[j])
        for layer, part in enumerate(errors)
        for j in range(part.rows)
    ]
    rows, farthest = [], Rational(0)
    for name, layer, place, is_bias, slope in slopes:
        ahead, back = (_loss(network.moved(layer, place, h, bias=is_bias), x, target) for h in (SMALL, -SMALL))
        quotient = (ahead - back) / (2 * SMALL)
        farthest = max(farthest, abs(quotient - slope))
        rows.append([name, slope, quotient])
    return step(
        "Check by differences",
        sentence(
            "Move one weight by ", math(SMALL), " to either side, and divide the change of the loss by twice that:"
        ),
        table(["weight", "gradient", "difference quotient"], rows[:MOST_CHECKED]),
        sentence(f"Of all {len(rows)} weights and biases the farthest apart are ", math(farthest), "."),
        *([] if farthest < Rational(1, 1000) else [remark("A sum stands at the corner of its activation.")]),
    )


def _loss(network: ExactNetwork, x: Matrix, target: Matrix) -> Rational:
    return network.loss(network.forward(x)[1][-1], target)
