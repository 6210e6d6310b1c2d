"""NetworkRegressor: any network of torch as a regressor."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from pellucid.core.estimator import fit_method
from pellucid.core.partial_fit import partial_fit_method
from pellucid.core.types import Array, Data, RandomState
from pellucid.neural_network.network.network import NetworkEstimator
from pellucid.proofs.training_data import TrainingData


class NetworkRegressor(RegressorMixin, NetworkEstimator):
    r"""One or several numbers by a network, trained by half the squared error.

    .. math:: \min_\theta\ \frac{1}{2n}\sum_i \|f_\theta(x_i) - y_i\|^2

    A sparse ``X`` stays sparse: the rows of each batch become dense, one batch at a time.

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

    Attributes
    ----------
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
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0]
    >>> line = NetworkRegressor(DenseNetwork(hidden=()), epochs=400, learning_rate=0.05, random_state=0).fit(X, y)
    >>> line.predict([[1.5]]).round(2)
    array([3.])
    """

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

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to examples ``X`` of shape (n, ...) and ``y`` of shape (n,) or (n, n_targets)."""
        return self._learn(self._check(X, y, sample_weight))

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Learn from a part of the data, one epoch.

        The optimizer goes on where the last part left it; after ``fit`` or from a file, a new one takes up the weights.
        The certificate is about the last part: ``verify`` asks for it.
        """
        self._check_part()
        data = self._check(X, y, sample_weight, reset=not hasattr(self, "weights_"))
        return self._learn(data, is_part=True)

    def predict(self, X: Data) -> Array:
        """Return the number of each example, or its numbers."""
        scores = self._scores(X)
        return scores[:, 0] if self.targets_ == 0 else scores

    def _targets(self, data: TrainingData) -> Array:
        return data.y.reshape(len(data.y), -1).astype(np.float64)  # as the proof sees them

    def _outputs(self, data: TrainingData) -> int:
        return 1 if data.y.ndim == 1 else int(data.y.shape[1])

    def _labels(self, data: TrainingData) -> dict[str, Any]:
        return {"targets_": 0 if data.y.ndim == 1 else int(data.y.shape[1])}

    def _objective(self, targets: Array) -> Any:
        from pellucid.neural_network.training.trainer import half_squared_error

        return half_squared_error

    def _score_of(self, scores: Array, targets: Array, weight: Array | None) -> float:
        return float(r2_score(targets, scores, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
