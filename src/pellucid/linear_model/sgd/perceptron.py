"""Perceptron: whenever a row is on the wrong side, add it to the weights."""

from __future__ import annotations

from pellucid.core.types import ClassWeight, RandomState
from pellucid.linear_model.sgd.sgd_base import SGDBase


class Perceptron(SGDBase):
    r"""Linear classifier that learns from its mistakes alone; of several classes, one machine per class.

    .. math:: t_i(w'x_i + b) \le 0:\qquad w \leftarrow w + \eta\,c_i t_i x_i,\quad b \leftarrow b + \eta\,c_i t_i

    If a line separates the rows with margin :math:`\gamma`, the mistakes are at most :math:`(R/\gamma)^2`, where R is
    the largest norm of a row :math:`(x, 1)`; the certificate states both numbers once the fitted line separates them.

    With ``shuffle`` equal rows of one class are shown once with their weights added, in an order that starts from
    what the rows hold: a weight of k is k repetitions exactly, and a seed gives the same bits whatever the order of
    the rows. Without, rows come as given, each with its weight. Rows of weight 0 are not there. On sparse rows the
    intercept moves by a hundredth of each update, as in scikit-learn.

    Parameters
    ----------
    penalty : {'l2', 'l1', 'elasticnet', None}, default=None
        With a penalty the theorem does not hold; the certificate is that of :class:`SGDClassifier`.
    alpha : float, default=0.0001
        Weight of the penalty, at least 0.
    l1_ratio : float or None, default=0.15
        Share of the absolute values in 'elasticnet', between 0 and 1.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    max_iter : int, default=1000
        Most epochs.
    tol : float or None, default=0.001
        An epoch must improve on the best by this much; None never stops before ``max_iter``.
    shuffle : bool, default=True
        Whether each epoch has an order of its own.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    eta0 : float, default=1.0
        :math:`\eta`, above 0: it scales the weights and changes no decision.
    n_jobs : int or None, default=None
        Nothing changes: machines run on all threads.
    random_state : int, RandomState instance or None, default=0
        Seed of the orders and of the rows held out.
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
    n_mistakes_ : int
        Updates made, over all machines.
    dual_coef_ : sparse array of shape (1 or n_classes, n_samples)
        The mistakes by row, each times :math:`\eta c_i t_i`: the weights are ``dual_coef_ @ X``. Rows that were always
        right are not in it, so it is smaller the easier the data. Not for weights that started elsewhere than at 0.
    objective_, dual_gap_ : ndarray of shape (1 or n_classes,)
        What is minimized, at the fitted weights, and how far above its minimum it is, at most. Not after
        ``partial_fit``.
    certificate_, trace_ : Certificate, Trace
        The mistakes against their bound; loss before each step, averaged over the epoch, and mistakes so far.

    Examples
    --------
    Both rows pull the line to and fro; it comes to rest at 2 x = 4, between them.

    >>> model = Perceptron(shuffle=False).fit([[1.0], [3.0]], ["a", "b"])
    >>> model.n_mistakes_, model.coef_, model.intercept_
    (10, array([[2.]]), array([-4.]))
    """

    _counts_mistakes = True
    loss = "perceptron"
    epsilon = 0.0
    learning_rate = "constant"
    power_t = 0.5
    average = False

    n_mistakes_: int

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
