"""SGDClassifier: linear classes learned row by row."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.linear_model.sgd.sgd_base import SGDBase


class SGDClassifier(SGDBase):
    r"""Linear classifier learned by stochastic gradient descent; of several classes, one machine per class.

    .. math:: \min_{w,\,b}\ \frac1n\sum_i c_i\,\ell(t_i, w'x_i + b) + \alpha\Omega(w),\qquad
       w \leftarrow w - \eta\,\bigl(c_i\,\ell'(t_i, w'x_i + b)\,x_i + \alpha\Omega'(w)\bigr)

    One row moves the weights at a time. With ``shuffle`` equal rows of one class are shown once with their weights
    added, in an order that starts from what the rows hold: a weight of k is k repetitions exactly, and a seed gives
    the same bits whatever the order of the rows. Without, rows come as given, each with its weight. Rows of weight 0
    are not there. On sparse rows the intercept moves by a hundredth of each update, as in scikit-learn.

    Parameters
    ----------
    loss : str, default='hinge'
        :math:`\ell`: 'hinge', 'log_loss', 'modified_huber', 'squared_hinge', 'perceptron'; 'squared_error', 'huber',
        'epsilon_insensitive' and 'squared_epsilon_insensitive' take the targets +1 and -1 as numbers.
    penalty : {'l2', 'l1', 'elasticnet', None}, default='l2'
        :math:`\Omega`: half the squared norm, the sum of absolute values, or a mixture.
    alpha : float, default=0.0001
        Weight of the penalty, at least 0.
    l1_ratio : float or None, default=0.15
        Share of the absolute values in 'elasticnet', between 0 and 1.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    max_iter : int, default=1000
        Most epochs.
    tol : float or None, default=1e-3
        An epoch must improve on the best by this much; None never stops before ``max_iter``.
    shuffle : bool, default=True
        Whether each epoch has an order of its own.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    epsilon : float, default=0.1
        Where the Huber loss turns linear, or the errors that the insensitive losses ignore.
    n_jobs : int or None, default=None
        Nothing changes: machines run on all threads.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders and of the rows held out.
    learning_rate : {'constant', 'optimal', 'invscaling', 'adaptive', 'pa1', 'pa2'}, default='optimal'
        :math:`\eta`: ``eta0``; :math:`1/(\alpha(t_0 + t))`; ``eta0 / t**power_t``; ``eta0``, a fifth after each stop;
        passive-aggressive, as far as the loss of the row asks for (with a cap, or damped).
    eta0 : float, default=0.01
        First step, above 0.
    power_t : float, default=0.5
        Exponent of 'invscaling'.
    early_stopping : bool, default=False
        Whether to stop by the accuracy on rows held out.
    validation_fraction : float, default=0.1
        Share of the rows held out.
    n_iter_no_change : int, default=5
        Epochs in a row without improvement to stop after.
    class_weight : dict, 'balanced' or None, default=None
        Factor in :math:`c_i` of each class; of more than two classes it weighs only the machine's own class.
    warm_start : bool, default=False
        Whether ``fit`` starts from the last weights.
    average : bool or int, default=False
        Whether, or from which row on, the weights are averages over all steps.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1 or n_classes, n_features), ndarray of shape (1 or n_classes,)
        :math:`w` and :math:`b`; two classes need one machine.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_iter_ : int
        Most epochs that a machine took.
    t_ : float
        1 and the rows shown, over all epochs.
    objective_, dual_gap_ : ndarray of shape (1 or n_classes,)
        What is minimized, at the fitted weights, and how far above its minimum it is, at most. Not after
        ``partial_fit``.
    dual_coef_ : sparse array of shape (1 or n_classes, n_samples)
        The weights as a sum over the rows: ``coef_ = dual_coef_ @ X``. Only if they started at 0, have no l1 penalty
        and are no average.
    certificate_, trace_ : Certificate, Trace
        The gap of the worst machine; objective before each step, averaged over the epoch, and updates so far.

    Examples
    --------
    >>> model = SGDClassifier(random_state=0).fit([[-1.0], [-0.5], [0.5], [1.0]], ["a", "a", "b", "b"])
    >>> model.predict([[-2.0], [2.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    def _check_proba(self) -> bool:
        if self.loss in ("log_loss", "modified_huber"):
            return True
        raise AttributeError(
            f"loss must be 'log_loss' or 'modified_huber' for probabilities, got {self.loss!r}. "
            f"(probability estimates are not available for loss={self.loss!r})"
        )

    @available_if(_check_proba)
    def predict_proba(self, X: Data) -> Array:
        """Return the probability of each class; of several classes, those of the machines over their sum.

        The modified Huber loss estimates the probability :math:`(f + 1)/2`, cut to [0, 1].
        """
        scores = self.decision_function(X)
        own = expit(scores) if self.loss == "log_loss" else (np.clip(scores, -1.0, 1.0) + 1.0) / 2.0
        if own.ndim == 1:
            return np.column_stack([1.0 - own, own])
        total = own.sum(axis=1, keepdims=True)
        own[total[:, 0] == 0.0] = 1.0  # no machine claims the row: all classes alike
        return np.asarray(own / own.sum(axis=1, keepdims=True))

    @available_if(_check_proba)
    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))
