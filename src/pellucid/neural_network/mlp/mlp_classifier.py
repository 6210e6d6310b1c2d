"""MLPClassifier: classes by a network of dense layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target

from pellucid.core.estimator import fit_method
from pellucid.core.linear_classifier import is_multilabel, winners
from pellucid.core.partial_fit import check_classes, partial_fit_method
from pellucid.core.public_names import needs_extra
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.neural_network.mlp.mlp import MultilayerPerceptron, learns_in_parts
from pellucid.proofs.training_data import TrainingData

if TYPE_CHECKING:
    from pellucid.neural_network.robustness.certified_radius import CertifiedRadii


class MLPClassifier(ClassifierMixin, MultilayerPerceptron):
    r"""Classes, or several labels, by dense layers with an activation between them.

    .. math:: \min_{W,\,b}\ -\frac{1}{n}\sum_i \log p_{y_i}(x_i) + \frac{\alpha}{2n}\sum_k\|W_k\|^2,
        \qquad p(x) = \mathrm{softmax}(W_L' h(\cdots h(W_1' x + b_1) \cdots) + b_L)

    With the parameters that scikit-learn has too, and the same seed, the weights are the same up to rounding.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
        Units of each hidden layer.
    activation : str, default="relu"
        "identity", "logistic" (or "sigmoid"), "tanh", "relu", "leaky_relu", "elu", "gelu" or "maxout".
    solver : {"adam", "sgd", "lbfgs"} or method, default="adam"
        How the weights move; any method of ``pellucid.optimize`` that takes batches will do.
    alpha : float, default=0.0001
        Weight of the penalty :math:`\frac{\alpha}{2}\|W\|^2`, divided by the rows of a batch.
    batch_size : int or "auto", default="auto"
        Rows of a batch; "auto" is 200, or all if they are fewer.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        Schedule of "sgd": constant, falling with the rows seen, or divided by 5 whenever nothing gets better.
    learning_rate_init, power_t : float, default=0.001, 0.5
        First step size, and the power by which "invscaling" lowers it.
    max_iter : int, default=200
        Most epochs, or iterations of "lbfgs".
    shuffle : bool, default=True
        Whether each epoch takes the rows in another order.
    random_state : int, RandomState or None, default=None
        Draws first weights, orders and held-out rows as scikit-learn draws them.
    tol : float, default=1e-4
        Progress that counts as progress.
    verbose : bool, default=False
        Whether to print the loss, and the score on rows held out, of each epoch. ``trace_`` has them too.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last fit.
    momentum, nesterovs_momentum : float, bool, default=0.9, True
        Of "sgd".
    early_stopping, validation_fraction : bool, float, default=False, 0.1
        Whether to hold rows out, stop when their score does not rise, and go back to the best epoch.
    beta_1, beta_2, epsilon : float, default=0.9, 0.999, 1e-8
        Of "adam".
    n_iter_no_change : int, default=10
        Epochs without progress after which training stops.
    max_fun : int, default=15000
        Most evaluations of "lbfgs".
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, beside those of the rows.
    dropout : float, default=0.0
        Share of hidden units left out in each batch, below 1.
    batch_normalization : bool, default=False
        Whether inputs of hidden units are normalized over the batch; the fitted layers have it built in.
    initialization : {"glorot", "xavier", "he", "small_random", "zero"}, default="glorot"
        First weights; "glorot" is scikit-learn's rule, "zero" is there to see it fail.
    pieces : int, default=2
        Linear pieces of a maxout unit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coefs_, intercepts_ : list of ndarray
        Matrices, of shape (inputs, units), and intercepts of each layer.
    loss_, best_loss_, loss_curve_ : float, float or None, list
        Mean objective of the last epoch, of the best, of all.
    validation_scores_, best_validation_score_, validation_rows_ : list, float, ndarray
        With early stopping: scores on the rows held out, the best, and which rows these are.
    objective_, gradient_norm_ : float
        Of the stored layers, on at most 200 training rows, in float64.
    weights_digest_ : str
        A hash of every bit of the layers: answers are a function of these alone.
    n_iter_, n_layers_, n_outputs_, t_, out_activation_
        Epochs, layers, outputs, rows seen, and what the last layer ends in.
    module_ : torch.nn.Sequential
        The same network for torch.
    trace_, certificate_ : Trace, Certificate
        Objective by epoch; what the stored numbers are, recomputed. Nothing is claimed about the best network.

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = MLPClassifier((8,), solver="lbfgs", random_state=1).fit(X, y)
    >>> model.predict(X)
    array([0, 1, 1, 0])
    """

    classes_: Array

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: str = "relu",
        *,
        solver: Any = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: RandomState = None,
        tol: float = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int = 10,
        max_fun: int = 15000,
        class_weight: ClassWeight = None,
        dropout: float = 0.0,
        batch_normalization: bool = False,
        initialization: str = "glorot",
        pieces: int = 2,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.class_weight = class_weight
        self.dropout = dropout
        self.batch_normalization = batch_normalization
        self.initialization = initialization
        self.pieces = pieces

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and labels, or a 0/1 matrix of several labels, ``y``."""
        known = self.classes_ if self.warm_start and hasattr(self, "classes_") else None
        data = self._check(X, y, sample_weight)
        if known is not None and not np.array_equal(data.classes, known):
            raise ValueError(
                "warm_start can only be used where `y` has the same classes as in the previous call to fit. "
                f"Previously got {known}, `y` has {data.classes}. Fit a new estimator."
            )
        return self._learn(data)

    @available_if(learns_in_parts)
    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, sample_weight: Data | None = None, classes: Data | None = None) -> Self:
        """Learn from a part of the data, one epoch; the first part comes with all ``classes``."""
        if self.early_stopping:
            raise ValueError(
                "early_stopping must be False for partial_fit, got True: a part has no rows held out. "
                "(partial_fit does not support early_stopping=True)"
            )
        is_first = not hasattr(self, "classes_")
        if not type_of_target(y).startswith("multilabel"):
            classes = check_classes(self, classes)
        data = self._check(X, y, sample_weight, classes=classes, reset=is_first)
        return self._learn(data, is_part=True)

    def predict(self, X: Data) -> Array:
        """Return the most probable label of each row; of several labels, those more probable than not."""
        scores = self._scores(X)
        if self.has_several_labels:
            return (scores > 0).astype(int)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        return winners(scores[:, 0] if self.n_outputs_ == 1 else scores, self.classes_)

    def predict_proba(self, X: Data) -> Array:
        """Return the probability of each class, of shape (n_samples, n_classes)."""
        answers = self._answers(X)
        return np.hstack([1 - answers, answers]) if self.n_outputs_ == 1 else answers

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def certified_radius(self, X: Data, norm: str | float = "inf", **options: Any) -> CertifiedRadii:
        """Return how far each row may change, at least, before its predicted class does, with the proof."""
        with needs_extra("certified_radius"):
            from pellucid.neural_network.robustness.certified_radius import certified_radius

        return certified_radius(self, X, norm=norm, **options)

    @property
    def has_several_labels(self) -> bool:
        """Whether each label may be there, for itself."""
        return self.out_activation_ == "logistic" and self.n_outputs_ > 1

    def _out_activation(self, data: TrainingData) -> str:
        return "logistic" if data.y.shape[1] == 1 or is_multilabel(data) else "softmax"

    def _score_of(self, scores: Array, Y: Array, weight: Array | None, out_activation: str) -> float:
        from sklearn.metrics import accuracy_score

        if out_activation == "softmax":
            return float(accuracy_score(Y.argmax(axis=1), scores.argmax(axis=1), sample_weight=weight))
        return float(accuracy_score(Y > 0, scores > 0, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
