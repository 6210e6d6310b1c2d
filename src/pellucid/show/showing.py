"""show_work: the steps a person would write to get the answer of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, Literal, overload

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pellucid.core.card_index import entries
from pellucid.core.checks import find_name
from pellucid.core.types import Data
from pellucid.show.comparison import compared
from pellucid.show.document import Block, Document

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
    "bell numbers": "pellucid.cluster.bell_workings:show_bell",
    "box regression": "pellucid.vision.detection:show_box_regression",
    "convolution layer": "pellucid.neural_network:show_convolution_layer",
    "convolution": "pellucid.neural_network:show_convolution",
    "dropout": "pellucid.neural_network:show_dropout",
    "dual function": "pellucid.optimize.constrained.dual_function_workings:show_dual_function",
    "focal loss": "pellucid.vision.detection:show_focal_loss",
    "gradient check": "pellucid.optimize.checks.derivative_check_workings:show_gradient_check",
    "graph": "pellucid.neural_network:show_graph",
    "hessian check": "pellucid.optimize.checks.derivative_check_workings:show_hessian_check",
    "iou": "pellucid.vision.detection:show_iou",
    "kkt": "pellucid.optimize:kkt_workings",
    "logistic gradient": "pellucid.linear_model.logistic.logistic_gradient_workings:show_logistic_gradient",
    "matching pursuit": "pellucid.vision.restoration:show_omp",
    "maximum margin": "pellucid.svm:show_maximum_margin",
    "mean iou": "pellucid.vision.segmentation:show_mean_iou",
    "metric mds": "pellucid.manifold.mds.smacof_workings:show_smacof",
    "mini-batch descent": "pellucid.linear_model.sgd.minibatch_descent_workings:show_minibatch_descent",
    "mini-batch k-means": "pellucid.cluster.kmeans.minibatch_workings:show_minibatches",
    "network": "pellucid.neural_network:show_network",
    "non-maximum suppression": "pellucid.vision.detection:show_suppression",
    "parameter counts": "pellucid.neural_network:show_parameter_counts",
    "pooling": "pellucid.neural_network:show_pooling",
    "psnr": "pellucid.vision.restoration:show_psnr",
    "ranking amount": "pellucid.ranking.ranking_amount_workings:show_ranking_amount",
    "ridge error": "pellucid.linear_model.ridge.ridge_error_workings:show_ridge_error",
    "roc": "pellucid.model_selection.roc_workings:show_roc",
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
        What else the workings take: ``new`` rows for a predictor to decide about, a ``query`` for neighbors, ``steps``
        of a method, further arguments of a topic. Conventions of books: ``lam``, the weight of a penalty on the scale
        of a sum of squares; ``cost_rows="decision"`` for costs with a row per decision; ``divisor="m"`` for a
        covariance divided by the number of rows.

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
        document, model = _of_estimator(estimator, X, y, options)
        new = options.get("new")
        numbers, asked = (X, new) if model.__sklearn_tags__().input_tags.string else _as_numbers(X, new)
        document = compared(document, model if _is_fitted(model) else model.fit(numbers, y), numbers, y, asked)
    return document if format is None else document.printed(format)


def work_by_hand(estimator: Any, *given: Any, **options: Any) -> Document:
    """Return the workings as ``show_work`` does, without the comparison: no estimator is fitted for that."""
    if isinstance(estimator, str):
        return _called(_topic(estimator), given, options)
    if (maker := _find_room(estimator)) is not None:
        return _called(maker, (estimator, *given), options)
    X, y = (*given, None, None)[:2]
    return _of_estimator(estimator, X, y, options)[0]


def _of_estimator(estimator: Any, X: Data, y: Data, options: dict[str, Any]) -> tuple[Document, Any]:
    """Return the workings of an estimator, and the one they are of: it is fitted if that one was."""
    maker = _find(estimator)
    estimator, notes, options = _translated(estimator, X, options)
    new = options.get("new")
    own = options if "new" in signature(maker).parameters else {k: v for k, v in options.items() if k != "new"}
    _check_options(maker, estimator, own)
    model = estimator if _is_fitted(estimator) else _repeatable(estimator)
    document = maker(model, X, y, **own)  # refuses too much data before anything is fitted
    document = replace(document, introduction=(*notes, *document.introduction))
    return (document if own is options or new is None else _decided(document, model, y, new)), model


def _called(maker: Maker, given: tuple[Any, ...], options: dict[str, Any]) -> Document:
    """Return the workings; a formula takes no second argument, but may have a variable of the name y."""
    kinds = [one.kind for one in signature(maker).parameters.values()]
    if len(given) == 2 and kinds == [Parameter.POSITIONAL_ONLY, Parameter.VAR_KEYWORD]:
        return maker(given[0], y=given[1], **options)
    return maker(*given, **options)


def _translated(estimator: Any, X: Data, options: dict[str, Any]) -> tuple[Any, list[Block], dict[str, Any]]:
    """Return the estimator with the conventions of a book turned into its parameters, what to say, other options."""
    from pellucid.show.conventions import CONVENTIONS, translate

    given = {name: options[name] for name in CONVENTIONS if name in options}
    if not given:
        return estimator, [], options
    if _is_fitted(estimator):
        raise ValueError(f"{' and '.join(given)} must be left out for a model that is fitted: it has its parameters.")
    settings, notes = translate(estimator, given, X)
    rest = {name: value for name, value in options.items() if name not in given}
    return clone(estimator).set_params(**settings), notes, rest


def _decided(document: Document, model: Any, y: Data, new: Data) -> Document:
    """Return workings that go on to new rows, or refuse them."""
    from pellucid.show.decisions import with_decisions

    decided = with_decisions(document, model, y, new)
    if decided is None:
        raise TypeError(
            f"estimator must be one that decides about new rows, got {type(model).__name__}. Leave new out."
        )
    return decided


def _as_numbers(X: Data, new: Data) -> tuple[Data, Data]:
    """Return data whose words are codes, for a program that reads numbers."""
    from pellucid.show.exact_data import word_codes

    coding = None if X is None else word_codes(X)
    if coding is None:
        return X, new
    return coding.encode(X), None if new is None else coding.encode(new)


def _repeatable(estimator: Any) -> Any:
    """Return a clone that draws the same numbers every time: a handout printed twice is one handout."""
    copy = clone(estimator)
    return copy.set_params(random_state=0) if copy.get_params(deep=False).get("random_state", 0) is None else copy


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
