"""A fitted MLP by hand: its first row forward, the loss, and the gradient of every weight backward."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from sympy import Rational

from pellucid.core.types import Array, Data
from pellucid.neural_network.workings.exact_network import ACTIVATIONS
from pellucid.neural_network.workings.network_workings import MOST_UNITS, show_network
from pellucid.show.decisions import heading, read_new
from pellucid.show.document import Block, Document, Step, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_features
from pellucid.show.notation import Words

if TYPE_CHECKING:
    from pellucid.neural_network.mlp.mlp_classifier import MLPClassifier
    from pellucid.neural_network.mlp.mlp_regressor import MLPRegressor

CLOSE = {"float64": 1e-9, "float32": 1e-4}
"""How near the program's answer is to the exact one, relative to its size, by the kind of its weights."""

NAMES = {
    "output": "first_output",
    "loss": "first_loss",
    "coefs": "coef_gradients",
    "intercepts": "intercept_gradients",
}
"""What is answered for the first row, under names that are no attributes of an estimator."""


def mlp_workings(estimator: MLPClassifier | MLPRegressor, X: Data, y: Data, new: Data = None) -> Document:
    """Show what a network computes for the first row; one that is not fitted yet is fitted, since chance starts it."""
    features, names, rounded = exact_features(X)
    _check_settings(estimator)
    if y is None:
        raise ValueError("y must be given, got None. Pass the target as the third argument.")
    fitted = _fitted(estimator, X, y)
    target, told = _first_target(fitted, y)
    work = show_network(
        fitted.coefs_,
        fitted.intercepts_,
        list(features.row(0)),
        target,
        activation=fitted.activation,
        output=fitted.out_activation_,
    )
    data = ExactData(features.row(0), features.row(0)[:0, :], names, rounded)
    introduction = (
        sentence(f"The weights are those that {type(fitted).__name__} found. {told}"),
        *data.notes(),
        *work.introduction,
    )
    compared = _comparison_step(fitted, X, work.answer["output"])
    answer = {NAMES[name]: value for name, value in work.answer.items()}
    decided = [_new_steps(i, row, fitted) for i, row in enumerate([] if new is None else read_new(new, features.cols))]
    if decided:
        answer["predicted"] = [said for _, said in decided]
    return replace(
        work,
        title="A fitted network, its first row by hand",
        introduction=introduction,
        steps=(*work.steps, *_penalty_step(fitted), compared, *(made for own, _ in decided for made in own)),
        answer=answer,
    )


def _new_steps(i: int, row: list[Rational], model: Any) -> tuple[list[Step], Any]:
    """Return the layers that a new row passes, and what comes out."""
    outputs = np.asarray(model.intercepts_[-1]).size
    nothing = 0 if model.out_activation_ == "softmax" else [0] * outputs  # the way forward asks for no target
    work = show_network(
        model.coefs_,
        model.intercepts_,
        row,
        nothing,
        activation=model.activation,
        output=model.out_activation_,
    )
    output = work.answer["output"]
    steps = [
        replace(one, heading=f"New row {i + 1}: {one.heading[0].lower()}{one.heading[1:]}")
        for one in work.steps[: len(model.coefs_)]
    ]
    if not hasattr(model, "classes_"):
        said = output[0] if outputs == 1 else output
        end = step(heading(i, "Predict"), *(result("ŷ =", value) for value in output))
        return [*steps, end], said
    classes = list(model.classes_)
    code = int(bool(output[0] > Rational(1, 2))) if outputs == 1 else max(range(outputs), key=lambda k: (output[k], -k))
    rule = "Above 1/2 it is the second class." if outputs == 1 else "The largest probability wins."
    return [*steps, step(heading(i), sentence(rule), result("class =", Words(str(classes[code]))))], classes[code]


def _check_settings(estimator: MLPClassifier | MLPRegressor) -> None:
    """Refuse networks that are too large, or that have steps which are not written down, before they are fitted."""
    sizes = np.atleast_1d(estimator.hidden_layer_sizes)
    if len(sizes) > 2 or max(sizes, default=0) > MOST_UNITS:
        raise ValueError(
            f"hidden_layer_sizes must be at most two layers of {MOST_UNITS} units to show the work, got "
            f"{estimator.hidden_layer_sizes!r}. Show a smaller network."
        )
    if estimator.activation not in ACTIVATIONS:
        raise ValueError(
            f"activation must be one of {', '.join(ACTIVATIONS)} to show the work, got {estimator.activation!r}."
        )


def _fitted(estimator: MLPClassifier | MLPRegressor, X: Data, y: Data) -> Any:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return estimator.fit(X, y)
    return estimator


def _first_target(model: Any, y: Data) -> tuple[Any, str]:
    """Return what should come out for the first row, and what to say of it."""
    first = np.asarray(y)[0]
    if not hasattr(model, "classes_"):
        return [Rational(str(float(value))) for value in np.atleast_1d(first)], "We follow its first row."
    if np.ndim(first):
        return [int(value) for value in first], "We follow its first row, whose labels are 1 where it has them."
    code = int(np.flatnonzero(np.asarray(model.classes_) == first)[0])
    told = f"We follow its first row, of class {first}."
    return (code, told) if model.out_activation_ == "softmax" else ([code], told)


def _penalty_step(model: Any) -> list[Step]:
    if not model.alpha:
        return []
    return [
        step(
            "What training adds",
            sentence(
                "Training takes the mean of such gradients over the rows of a batch, and adds to each "
                "weight's, not to a "
                f"bias's, alpha = {model.alpha:g} times the weight over the number of rows: the penalty on "
                f"large weights."
            ),
        )
    ]


def _comparison_step(model: Any, X: Data, output: list[Rational]) -> Step:
    """Put the answer of the program next to that by hand."""
    exact = np.array([float(value) for value in output])
    program = _answers(model, X)[-len(exact) :]
    distance = float(np.abs(exact - program).max())
    rows = [
        [str(k), f"{found:.10g}", f"{abs(found - right):.1e}" if found != right else "0"]
        for k, (found, right) in enumerate(zip(program, exact, strict=True), 1)
    ]
    blocks: list[Block] = [
        sentence(f"What {type(model).__name__} answers in floating point, and how far that is from the exact output:"),
        table(["output", "program", "distance"], rows),
    ]
    if distance > CLOSE[str(np.asarray(model.coefs_[0]).dtype)] * max(1.0, float(np.abs(exact).max())):
        blocks.append(remark("That is more than rounding: the row was rounded above, or the model has other weights."))
    return step("Compare with the program", *blocks)


def _answers(model: Any, X: Data) -> Array:
    """Return the probabilities or numbers for the first row; of two classes both."""
    first = X.iloc[:1] if hasattr(X, "iloc") else np.asarray(X)[:1]
    ask = model.predict_proba if hasattr(model, "classes_") else model.predict
    return np.ravel(ask(first))
