"""MLPRegressor: numbers by a network of dense layers."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from pellucid.core.estimator import fit_method
from pellucid.core.partial_fit import partial_fit_method
from pellucid.core.types import Array, Data, RandomState
from pellucid.neural_network.mlp.mlp import MultilayerPerceptron, learns_in_parts
from pellucid.proofs.training_data import TrainingData


class MLPRegressor(RegressorMixin, MultilayerPerceptron):
    r"""One or several numbers by dense layers with an activation between them.

    .. math:: \min_{W,\,b}\ \frac{1}{2n}\sum_i \|f(x_i) - y_i\|^2 + \frac{\alpha}{2n}\sum_k\|W_k\|^2,
        \qquad f(x) = W_L' h(\cdots h(W_1' x + b_1) \cdots) + b_L

    With the parameters that scikit-learn has too, and the same seed, the weights are the same up to rounding.

    Parameters
    ----------
    loss : {"squared_error", "poisson"}, default="squared_error"
        Half the squared error, or half the deviance of counts, whose logarithm the network then gives.
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
    dropout : float, default=0.0
        Share of hidden units left out in each batch, below 1.
    batch_normalization : bool, default=False
        Whether inputs of hidden units are normalized over the batch; the fitted layers have it built in.
    initialization : {"glorot", "xavier", "he", "small_random", "zero"}, default="glorot"
        First weights; "glorot" is scikit-learn's rule, "zero" is there to see it fail.
    pieces : int, default=2
        Linear pieces of a maxout unit.
    standardize_target : bool, default=False
        Whether to learn the target at mean 0 and spread 1, which suits the steps; the last layer undoes it. The losses
        of epochs are then in these units.

    Attributes
    ----------
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
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", alpha=0.0, random_state=0).fit(X, y)
    >>> model.predict([[1.0]]).round(1)
    array([1.])
    """

    def __init__(
        self,
        loss: str = "squared_error",
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
        dropout: float = 0.0,
        batch_normalization: bool = False,
        initialization: str = "glorot",
        pieces: int = 2,
        standardize_target: bool = False,
    ) -> None:
        self.loss = loss
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
        self.dropout = dropout
        self.batch_normalization = batch_normalization
        self.initialization = initialization
        self.pieces = pieces
        self.standardize_target = standardize_target

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets)."""
        data = self._check(X, y, sample_weight)
        self._refuse_negative_counts(data)
        return self._learn(data)

    @available_if(learns_in_parts)
    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Learn from a part of the data, one epoch."""
        if self.early_stopping:
            raise ValueError(
                "early_stopping must be False for partial_fit, got True: a part has no rows held out. "
                "(partial_fit does not support early_stopping=True)"
            )
        data = self._check(X, y, sample_weight, reset=not hasattr(self, "coefs_"))
        self._refuse_negative_counts(data)
        return self._learn(data, is_part=True)

    def predict(self, X: Data) -> Array:
        """Return the number of each row, or its numbers."""
        answers = self._answers(X)
        return answers[:, 0] if self.n_outputs_ == 1 else answers

    def _refuse_negative_counts(self, data: TrainingData) -> None:
        if self.loss == "poisson" and self.standardize_target:
            raise ValueError("standardize_target must be False for loss='poisson', got True: counts have one unit.")
        if self.loss == "poisson" and data.y.min() < 0:
            raise ValueError(f"y must be at least 0 for loss='poisson', got {data.y.min()}. Use squared_error.")

    def _out_activation(self, data: TrainingData) -> str:
        return "exp" if self.loss == "poisson" else "identity"

    def _score_of(self, scores: Array, Y: Array, weight: Array | None, out_activation: str) -> float:
        from sklearn.metrics import r2_score

        from pellucid.neural_network.mlp.activations import OUTPUTS

        answers = OUTPUTS[out_activation].answer(scores)
        return float(r2_score(Y, answers, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags
