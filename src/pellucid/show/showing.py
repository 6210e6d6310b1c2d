"""show_work: the steps a person would write to get the answer of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, Literal, overload

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pellucid.core.card_index import entries
from pellucid.core.checks import find_name
from pellucid.core.types import Array, Data
from pellucid.show.document import Block, Document, Step, remark, sentence, step, table
from pellucid.show.notation import ExactNumber

ROOMS = {
    "pellucid.cluster.exhaustive": "pellucid.cluster.exhaustive_workings:exhaustive_workings",
    "pellucid.cluster.choosing.": "pellucid.cluster.choosing.choose_clusters_workings:choose_clusters_workings",
    "pellucid.kernels.": "pellucid.kernels.kernel_workings:kernel_workings",
    "pellucid.losses.": "pellucid.losses.loss_workings:loss_workings",
    "pellucid.optimize.formula": "pellucid.optimize.checks.stationary_point_workings:stationary_point_workings",
    "pellucid.optimize.methods.": "pellucid.optimize.workings:show_steps",
    "pellucid.neural_network.graph.": "pellucid.neural_network.workings.graph_workings:show_graph",
    "pellucid.probability.": "pellucid.probability.workings:show_density",
    "pellucid.model_selection.bias_variance": "pellucid.model_selection.bias_variance_workings:bias_variance_workings",
    "pellucid.tree.pruning.pruned_tree": "pellucid.tree.pruning.pruning_workings:reduced_error_workings",
    "pellucid.model_selection.score_interval": "pellucid.model_selection.score_workings:show_scores",
}
"""Where a method, density or measure is defined -> the function that shows its whole work, imported on first use."""

TOPICS = {
    "anchor matching": "pellucid.vision.detection:show_anchor_match",
    "average precision": "pellucid.vision.detection:show_average_precision",
    "batch norm": "pellucid.neural_network:show_batch_norm",
    "box regression": "pellucid.vision.detection:show_box_regression",
    "convolution layer": "pellucid.neural_network:show_convolution_layer",
    "convolution": "pellucid.neural_network:show_convolution",
    "dropout": "pellucid.neural_network:show_dropout",
    "focal loss": "pellucid.vision.detection:show_focal_loss",
    "graph": "pellucid.neural_network:show_graph",
    "iou": "pellucid.vision.detection:show_iou",
    "kkt": "pellucid.optimize:kkt_workings",
    "matching pursuit": "pellucid.vision.restoration:show_omp",
    "maximum margin": "pellucid.svm:show_maximum_margin",
    "mean iou": "pellucid.vision.segmentation:show_mean_iou",
    "network": "pellucid.neural_network:show_network",
    "non-maximum suppression": "pellucid.vision.detection:show_suppression",
    "parameter counts": "pellucid.neural_network:show_parameter_counts",
    "pooling": "pellucid.neural_network:show_pooling",
    "psnr": "pellucid.vision.restoration:show_psnr",
    "roi align": "pellucid.vision.detection:show_roi_align",
    "soft threshold": "pellucid.vision.restoration:show_soft_threshold",
    "softmax": "pellucid.neural_network:show_softmax",
    "stationary points": "pellucid.optimize:stationary_point_workings",
    "sure": "pellucid.vision.restoration:show_sure",
    "svm dual": "pellucid.optimize:svm_dual_workings",
    "total variation": "pellucid.vision.restoration:show_total_variation",
    "training step": "pellucid.neural_network:show_training_step",
    "transposed convolution": "pellucid.neural_network:show_transposed_convolution",
    "wiener": "pellucid.vision.restoration:show_wiener",
    "zero initialization": "pellucid.neural_network:show_zero_initialization",
}
"""What is shown by name, as no object stands for it -> the function that takes what is given."""

COMPARISON = "Compare with the program"
"""Heading of the last step, which is no part of the work by hand."""
CLOSE = 1e-6
"""A program's number further than this from the exact one, relative to its size, is pointed out."""

CUT_REMARK = remark(
    "Fractions too long to read are written as decimals that end in dots: the first digits, not rounded. "
    "The arithmetic behind them is exact, unless it is said otherwise."
)

Maker = Callable[..., Document]


@overload
def show_work(estimator: Any, X: Data = None, y: Data = None, *, format: None = None, **options: Any) -> Document: ...
@overload
def show_work(
    estimator: Any,
    X: Data = None,
    y: Data = None,
    *,
    format: Literal["text", "markdown", "latex", "html"],
    **options: Any,
) -> str: ...
def show_work(
    estimator: Any,
    X: Data = None,
    y: Data = None,
    *,
    format: str | None = None,  # noqa: A002  (the name users know)
    **options: Any,
) -> Document | str:
    """Return the workings of an estimator, density, method or topic on a small example, in exact fractions.

    Parameters
    ----------
    estimator : estimator, density, information measure, method, formula, graph, or the name of a topic
        An estimator is fitted, or not: then a clone of it is. scikit-learn's namesakes are shown too. A topic is one of
        "batch norm", "convolution", "dropout", "kkt", "maximum margin", "network", "pooling", "softmax", "stationary
        points", "svm dual" and others: ``pellucid.show.showing.TOPICS``.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        The training data, few enough to be worked by hand. Names of data frame columns are used. For a method, the
        function as a text such as ``"x**2 + 3*y**2"``, and the start. For a density, the data and its prior. For a
        topic, its first two arguments.
    format : {"text", "markdown", "latex", "html"}, default=None
        Return the printed workings instead of the document.
    **options
        What else the workings take: ``new`` rows for a naive Bayes classifier to decide about, a ``query`` for
        neighbors, ``steps`` of a method, further arguments of a topic.

    Returns
    -------
    Document or str
        ``print(document)`` shows it, ``document.save("work.html")`` writes it, ``document.answer`` holds exact numbers.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> work = show_work(LinearRegression(), [[0], [1], [2]], [0, 1, 4])
    >>> work.answer["coef_"], work.answer["intercept_"]
    ([2], -1/3)
    >>> show_work("convolution", [3, 1, 2], [3, 2, 1]).answer["y"]
    [9, 9, 11, 5, 2]
    """
    given = (X, y) if y is not None else (X,) if X is not None else ()
    if isinstance(estimator, str) or _find_room(estimator) is not None:
        document = work_by_hand(estimator, *given, **options)
    else:
        maker = _find(estimator)
        _check_options(maker, estimator, options)
        model = estimator if _is_fitted(estimator) else clone(estimator)
        document = maker(model, X, y, **options)  # refuses too much data before anything is fitted
        document = compared(document, model if _is_fitted(model) else model.fit(X, y))
    return document if format is None else document.printed(format)


def work_by_hand(estimator: Any, *given: Any, **options: Any) -> Document:
    """Return the workings as ``show_work`` does, without the comparison: no estimator is fitted for that."""
    if isinstance(estimator, str):
        return _called(_topic(estimator), given, options)
    if (maker := _find_room(estimator)) is not None:
        return _called(maker, (estimator, *given), options)
    X, y = (*given, None, None)[:2]
    return _find(estimator)(clone(estimator), X, y, **options)


def _called(maker: Maker, given: tuple[Any, ...], options: dict[str, Any]) -> Document:
    """Return the workings; a formula takes no second argument, but may have a variable of the name y."""
    kinds = [one.kind for one in signature(maker).parameters.values()]
    if len(given) == 2 and kinds == [Parameter.POSITIONAL_ONLY, Parameter.VAR_KEYWORD]:
        return maker(given[0], y=given[1], **options)
    return maker(*given, **options)


def _check_options(maker: Maker, estimator: Any, options: dict[str, Any]) -> None:
    """Refuse what the workings of an estimator do not take."""
    for name in options.keys() - signature(maker).parameters.keys():
        raise TypeError(
            f"estimator must be an instance of one of the classes whose workings take {name}, got "
            f"{type(estimator).__name__}. Leave {name} out."
        )


def _topic(name: str) -> Maker:
    return _imported(TOPICS[find_name(name, TOPICS, what="topic")])


def _imported(path: str) -> Maker:
    """Return the function ``module:function``."""
    module, function = path.split(":")
    found: Maker = getattr(import_module(module), function)
    return found


def compared(document: Document, model: Any) -> Document:
    """Return the workings with a last step that puts the numbers of the program next to the exact ones."""
    introduction = (*document.introduction, *([CUT_REMARK] if has_cut_numbers(document) else []))
    return replace(document, introduction=introduction, steps=(*document.steps, *_comparison(document, model)))


def _find_room(estimator: Any) -> Maker | None:
    """Return what shows the work of a method, density or measure, or None for estimators."""
    home = estimator if hasattr(estimator, "__module__") and callable(estimator) else type(estimator)
    for room, path in ROOMS.items():
        is_estimator = getattr(home, "__name__", "") in entries()  # which has a card
        if home.__module__.startswith(room) and not is_estimator:
            return _imported(path)
    return None


def _find(estimator: Any) -> Maker:
    """Return the workings of the nearest class among the ancestors that has some."""
    ancestors = () if isinstance(estimator, type) else type(estimator).__mro__
    for kind in ancestors:
        path = _workings_of(kind)
        if path is not None:
            return _imported(path)
    known = sorted(entry.name for entry in entries().values() if entry.workings)
    got = f"the class {estimator.__name__}" if isinstance(estimator, type) else type(estimator).__name__
    raise TypeError(
        f"estimator must be an instance of one of {', '.join(known)}, a method of pellucid.optimize, or a density, "
        f"got {got}."
    )


def _workings_of(kind: type) -> str | None:
    """Return where the work of a class is shown: on the card of its name, also for scikit-learn's namesake."""
    if kind.__module__.partition(".")[0] not in ("pellucid", "sklearn"):
        return None
    entry = entries().get(kind.__name__)
    return None if entry is None else entry.workings


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def has_cut_numbers(node: Any) -> bool:
    """Return whether a document, or a part of it, holds a number of which only the first digits are written."""
    if isinstance(node, ExactNumber):
        return node.is_cut
    if isinstance(node, tuple):
        return any(map(has_cut_numbers, node))
    return is_dataclass(node) and any(has_cut_numbers(getattr(node, field.name)) for field in fields(node))


def _comparison(document: Document, model: Any) -> list[Step]:
    """Return a last step that puts the fitted attributes next to the exact answer."""
    rows, farthest = [], 0.0
    for name, exact in document.answer.items():
        if not hasattr(model, name):
            continue
        right, program = _flat(exact), _flat(getattr(model, name))
        same_shape = right.size == program.size
        distance = float(np.max(np.abs(right - program), initial=0.0)) if same_shape else np.inf
        farthest = max(farthest, distance / max(1.0, float(np.max(np.abs(right), initial=0.0))))
        rows.append((name, f"{distance:.1e}" if distance else "0"))
    if not rows:
        return []
    blocks: list[Block] = [
        sentence(f"The same numbers as {type(model).__name__} found them in floating point:"),
        table(("fitted attribute", "largest distance from the exact value"), rows),
    ]
    if farthest > CLOSE:
        blocks.append(
            remark(
                "That is more than rounding. The model was fitted on other data, it stopped before it was done, ties "
                "let it choose another answer, or the data were rounded above."
            )
        )
    return [step(COMPARISON, *blocks)]


def _flat(values: Any) -> Array:
    """Return all numbers of an array or of nested lists, which may be of unequal lengths, one after the other."""
    if isinstance(values, list | tuple):
        return np.concatenate([_flat(part) for part in values]) if len(values) else np.zeros(0)
    return np.asarray(values, dtype=float).ravel()
