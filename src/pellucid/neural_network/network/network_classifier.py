"""NetworkClassifier: any network of torch as a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import special
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import is_multilabel
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import fit_method
from pellucid.core.partial_fit import check_classes, partial_fit_method
from pellucid.core.public_names import needs_extra
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.neural_network.network.network import NetworkEstimator
from pellucid.proofs.training_data import TrainingData

if TYPE_CHECKING:
    from pellucid.neural_network.robustness.certified_radius import CertifiedRadii


class NetworkClassifier(ClassifierMixin, NetworkEstimator):
    r"""Classes by a network that gives a score for each, trained by the cross entropy.

    .. math:: \min_\theta\ -\frac{1}{n}\sum_i \log \mathrm{softmax}(f_\theta(x_i))_{y_i}

    Of several labels each may be there (``y`` is a 0/1 matrix): then every score goes through a sigmoid of its own, and
    the entropies of the labels are added. A sparse ``X`` stays sparse: the rows of each batch become dense, one batch
    at a time.

    Parameters
    ----------
    module : Architecture, torch.nn.Module, function or None, default=None
        The network: a published architecture such as ``LeNet5()``, whose open settings the data fill in; a module,
        which is copied with the weights it has; or a function that makes one. It gives raw scores. None: one hidden
        layer of 100 units.
    epochs, batch_size : int, default=10, 64
        Passes over the rows, and rows of one step.
    method : str, method of ``pellucid.optimize`` or function, default="adam"
        "adam", "adamw", "sgd", any method that takes batches, or a function from groups of parameters to an optimizer.
    learning_rate : float or schedule, default=0.001
        A number, or a function of the time in epochs such as ``CosineDecay(0.1, length=20)``.
    weight_decay : float, default=0.0
        How strongly weights are pulled to 0 in each step.
    augmentation : tuple, default=()
        Changes of a batch that keep its targets, such as ``(Flip(), Crop(padding=4))``.
    validation_fraction : float, default=0.0
        Share of the rows held out to score each epoch; the weights of the best one are kept.
    patience, tol : int or None, float, default=None, 0.0
        Epochs in a row that need not get better by ``tol`` before training stops; None: all epochs.
    parameter_groups : function or None, default=None
        From the module to groups of weights with their own rates, to fine-tune some stages.
    device : str, default="auto"
        "auto" is the graphics card if there is one.
    precision : {"auto", "float32", "bfloat16"}, default="auto"
        "auto" is the dtype of X; "bfloat16" multiplies in it and keeps weights in float32.
    channels_last, compiled, deterministic : bool, default=False, False, True
        Memory layout of images; whether torch compiles the network; whether a seed gives the same bits on a card, too.
    checkpoint : path or None, default=None
        File with the state after each epoch; a fit that finds it goes on from there.
    warm_start : bool, default=False
        Whether ``fit`` begins with the weights of the last fit.
    verbose : bool, default=False
        Whether to show a bar with loss, score, speed and time left.
    random_state : int, RandomState or None, default=None
        Draws first weights, orders, dropout, augmentation and held-out rows.
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, beside those of the rows; in ``partial_fit``, "balanced" is so in each part.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels; of a 0/1 matrix, the numbers of its columns.
    out_activation_ : {"softmax", "logistic"}
        One class for each row, or several labels.
    architecture_, weights_ : Architecture, dict of ndarray
        The network: settings, and arrays by their name in the module.
    module_ : torch.nn.Module
        The same as a module, in test mode.
    objective_, gradient_norm_ : float
        Of the stored weights, on at most 256 training rows, in float64.
    weights_digest_ : str
        A hash of every bit of the weights.
    best_validation_score_, validation_rows_ : float, ndarray
        With rows held out: the best score, and which rows.
    n_iter_ : int
        Epochs.
    trace_, certificate_ : Trace, Certificate
        Objective, score and speed by epoch; what the stored numbers are, recomputed.

    Examples
    --------
    >>> from pellucid.neural_network import DenseNetwork
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = NetworkClassifier(DenseNetwork(hidden=(8,)), epochs=200, learning_rate=0.05, random_state=0).fit(X, y)
    >>> model.predict([[0.5], [2.5]])
    array(['low', 'high'], dtype='<U4')
    """

    classes_: Array

    def __init__(
        self,
        module: Any = None,
        *,
        epochs: int = 10,
        batch_size: int = 64,
        method: Any = "adam",
        learning_rate: Any = 0.001,
        weight_decay: float = 0.0,
        augmentation: tuple[Any, ...] = (),
        validation_fraction: float = 0.0,
        patience: int | None = None,
        tol: float = 0.0,
        parameter_groups: Any = None,
        device: str = "auto",
        precision: str = "auto",
        channels_last: bool = False,
        compiled: bool = False,
        deterministic: bool = True,
        checkpoint: Any = None,
        warm_start: bool = False,
        verbose: bool = False,
        random_state: RandomState = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.module = module
        self.epochs = epochs
        self.batch_size = batch_size
        self.method = method
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.augmentation = augmentation
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tol = tol
        self.parameter_groups = parameter_groups
        self.device = device
        self.precision = precision
        self.channels_last = channels_last
        self.compiled = compiled
        self.deterministic = deterministic
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to examples ``X`` of shape (n, ...) and labels ``y`` of shape (n,), or a 0/1 matrix of several labels."""
        return self._learn(self._check(X, y, sample_weight))

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, sample_weight: Data | None = None, classes: Data | None = None) -> Self:
        """Learn from a part of the data, one epoch; the first part comes with all ``classes``.

        The optimizer goes on where the last part left it; after ``fit`` or from a file, a new one takes up the weights.
        The certificate is about the last part: ``verify`` asks for it.
        """
        self._check_part()
        if not is_multilabel(y):
            classes = check_classes(self, classes)
        data = self._check(X, y, sample_weight, classes=classes, reset=not hasattr(self, "weights_"))
        return self._learn(data, is_part=True)

    def decision_function(self, X: Data) -> Array:
        """Return the scores; of two classes, how far the second is ahead."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 and not self.has_several_labels else scores

    def predict(self, X: Data) -> Array:
        """Return the label of the largest score, of tied ones the first; of several labels, those with one above 0."""
        scores = self._scores(X)
        return (scores > 0).astype(int) if self.has_several_labels else self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Data) -> Array:
        """Return the probability of each class, or of each label, of shape (n, n_classes)."""
        scores = self._scores(X)
        return np.asarray(special.expit(scores) if self.has_several_labels else special.softmax(scores, axis=1))

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithms of the probabilities."""
        scores = self._scores(X)
        return np.asarray(special.log_expit(scores) if self.has_several_labels else special.log_softmax(scores, axis=1))

    def certified_radius(self, X: Data, norm: str | float = "inf", **options: Any) -> CertifiedRadii:
        """Return how far each row may change, at least, before its predicted class does, with the proof."""
        check_is_fitted(self)
        with needs_extra("certified_radius"):
            from pellucid.neural_network.robustness.certified_radius import certified_radius

        return certified_radius(self, X, norm=norm, **options)

    @property
    def has_several_labels(self) -> bool:
        """Whether each label may be there, for itself."""
        return self.out_activation_ == "logistic"

    def _targets(self, data: TrainingData) -> Array:
        return np.asarray(data.y, dtype=np.int64 if data.y.ndim == 1 else data.X.dtype)

    def _outputs(self, data: TrainingData) -> int:
        return len(data.classes)

    def _labels(self, data: TrainingData) -> dict[str, Any]:
        return {"out_activation_": "softmax" if data.y.ndim == 1 else "logistic", "classes_": data.classes}

    def _objective(self, targets: Array) -> Any:
        from pellucid.neural_network.training.trainer import cross_entropy, label_entropy

        return cross_entropy if targets.ndim == 1 else label_entropy

    def _score_of(self, scores: Array, targets: Array, weight: Array | None) -> float:
        if targets.ndim == 1:
            return float(accuracy_score(targets, scores.argmax(axis=1), sample_weight=weight))
        return float(accuracy_score(targets > 0, scores > 0, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
