r"""Neighbor embedding: affinities of the rows, and places whose kernel has the same ones.

.. math:: C = \sum_{i \ne j} p_{ij}\log\frac{p_{ij}}{q_{ij}},\qquad
   \frac{\partial C}{\partial z_i} = \frac{2(\nu + 1)}{\nu}
   \Bigl(\sum_j p_{ij} s_{ij}(z_i - z_j) - \sum_j q_{ij} s_{ij}(z_i - z_j)\Bigr),\qquad
   s_{ij} = \frac{1}{1 + \|z_i - z_j\|^2/\nu}

Attraction is a sum over the neighbors, repulsion over all pairs. The descent begins with attraction exaggerated, by
momentum with a gain for each coordinate (van der Maaten and Hinton, 2008), which finds who belongs to whom, goes on
without exaggeration, and ends by L-BFGS, which gets down where momentum creeps: of 5,000 digits, 50 steps of it gain
more than 500 with momentum.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.trace import Trace
from pellucid.core.types import Array, SparseOrDense
from pellucid.core.watching import Watch, ignore
from pellucid.decomposition import PCA
from pellucid.manifold.tsne.grid_repulsion import grid_work, repulsion_on_a_grid
from pellucid.neighbors.metric import Metric
from pellucid.neighbors.nearest_rows import build_tree, nearest_rows, tree_pays
from pellucid.optimize import LBFGS, Problem
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle

EXAGGERATED, WITH_MOMENTUM, SETTLED = 250, 500, 750
"""Steps after which exaggeration ends, and momentum; it goes on to the last number if it has got down by itself."""

FIRST_MOMENTUM, LATER_MOMENTUM = 0.5, 0.8
CHECKED_EVERY = 50
"""Steps after which it is seen whether momentum makes progress, as in scikit-learn."""

TRACED_EVERY = 10
"""Steps with momentum for each row of the trace: the logarithms of an objective cost as much as a step."""

SMALL, NEARLY = 0.015, 0.02
"""The gradient, in parts of the attraction, at which the descent ends, and up to which momentum is left to get there.
To go farther drives clusters that share no neighbors ever farther apart, for next to nothing, until each is a dot."""

FEWEST = 30
"""Steps of L-BFGS, at least, where momentum is not near: the first ones gain the most."""

FINE = 0.3
"""Spacing of the grid at the end, at most: forces are then right to a thousandth."""

FIRST_SIZE = 1e-4
"""Standard deviation of the first coordinate at the start."""

FEW = 1000
"""Rows up to which double precision costs too little to do without."""

BLOCK_ROWS = 256
GRID_COST, NODE_COST = 2.0, 300.0
"""Time of a multiplication in a transform, and of all that a place does with its nodes, in that of a pair."""


def neighbors_and_distances(X: SparseOrDense, k: int, metric: Metric) -> tuple[Array, Array]:
    """Return the k nearest other rows of each and their distances, nearest first."""
    n = X.shape[0]
    has_tree = not sparse.issparse(X) and metric.suits_a_tree and tree_pays(X.shape[1], metric)
    tree = build_tree(X, metric, 30) if has_tree else None
    distances, neighbors = nearest_rows(X, X, k, metric, tree=tree, excluded=np.arange(n))
    if not (np.isfinite(distances).all() and distances.min(initial=0.0) >= 0.0):
        raise ValueError(
            "metric must give distances of at least 0 (All distances should be positive, the metric given is not "
            f"correct), got {distances.min():g}. Use another metric."
        )
    return neighbors, distances


def affinities_of(distances: Array, perplexity: float) -> Array:
    """Return the affinities of rows to their neighbors, from distances (n, k), nearest first; each row sums to 1."""
    from pellucid.manifold.tsne.tsne_kernels import calibrate

    distances = np.ascontiguousarray(distances, dtype=np.float64)
    found, room = np.empty_like(distances), np.empty_like(distances)
    wanted = float(np.log(perplexity))

    def work(rows: slice) -> None:
        calibrate(distances[rows], wanted, room[rows], found[rows])

    run_blocks(work, split_evenly(len(found), -(-len(found) // BLOCK_ROWS)))
    return found


def joint_affinities(neighbors: Array, affinities: Array) -> Any:
    """Return the mean of the affinities of both rows of each pair over all rows, a sparse matrix that sums to 1."""
    n, k = neighbors.shape
    one_way = sparse.csr_array((affinities.ravel(), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    both = ((one_way + one_way.T) / (2.0 * n)).tocsr()
    both.sum_duplicates()  # and puts the columns of each row in order
    both.eliminate_zeros()
    return both


def first_places(X: SparseOrDense, init: Any, n_components: int, random: np.random.RandomState) -> Array:
    """Return where the descent starts: given places, or small ones at random or along the main axes of the rows."""
    n = X.shape[0]
    if not isinstance(init, str):
        places = np.array(init, dtype=np.float64)
        if places.shape != (n, n_components) or not np.isfinite(places).all():
            raise ValueError(
                f"init must be finite places of shape {(n, n_components)}, got {places.shape}. One row per sample."
            )
        return places
    found: Array = FIRST_SIZE * random.standard_normal(size=(n, n_components))
    if init == "random":
        return found
    size = max(float(abs(X).max()), np.finfo(float).tiny)
    count = min(n_components, *X.shape)
    axes = PCA(count, random_state=0).fit(X.astype(np.float64) / size).transform(X.astype(np.float64) / size)
    spread = axes.std(axis=0)
    for c in np.flatnonzero(spread > 1e-9 * spread[0]):  # along an axis without spread all would stay in line
        found[:, c] = axes[:, c] / spread[0] * FIRST_SIZE
    return found


@dataclass
class Forces:
    """What pulls places together and drives them apart, with buffers that every step uses again."""

    joint: Any
    """Affinities of all pairs, a sparse matrix that sums to 1."""
    n_components: int
    spacing: float
    """Distance of the nodes of a grid; 0 for no grid."""
    attraction: Array = field(init=False)
    repulsion: Array = field(init=False)
    total: float = field(init=False, default=0.0)
    """Sum of the kernel over all pairs, both orders."""

    def __post_init__(self) -> None:
        n = self.joint.shape[0]
        self.attraction, self.repulsion = np.empty((2, n, self.n_components))
        self._starts, self._neighbors = self.joint.indptr.astype(np.int64), self.joint.indices.astype(np.int32)
        self._narrow = self.joint.data.astype(np.float32)  # half the memory to read at each step
        self._blocks = split_evenly(n, -(-n // BLOCK_ROWS))
        known = self.joint.data
        self._entropy = float(np.sum(known * np.log(known)))
        self._most = 0.5 * float(np.linalg.norm(self.joint.sum(axis=1)))  # d / (1 + d^2 / freedom) may be a bit more

    @property
    def factor(self) -> float:
        """The factor before the sums in the gradient."""
        freedom = max(self.n_components - 1, 1)
        return 2.0 * (freedom + 1.0) / freedom

    def gradient(self, places: Array, exaggeration: float = 1.0) -> Array:
        """Return the gradient, with attraction exaggerated; all pairs are summed up if that is less work."""
        self._attract(places, self._narrow)
        if self._has_grid_for(places):
            self._repel_on_grid(places)
        else:
            self._repel(places, np.float64 if len(places) <= FEW else np.float32)
        return self.factor * (exaggeration * self.attraction - self.repulsion / max(self.total, 1e-300))

    def measured(self, places: Array) -> tuple[float, float]:
        """Return the divergence and the gradient in parts of the attraction, over all pairs in double precision."""
        self._attract(places, self.joint.data)
        self._repel(places, np.float64)
        gradient = self.factor * (self.attraction - self.repulsion / max(self.total, 1e-300))
        return max(self.divergence(places, self.joint.data), 0.0), self.relative(gradient)

    def divergence(self, places: Array, affinities: Array | None = None) -> float:
        """Return the divergence; of the sum over all pairs, that of the last gradient counts."""
        from pellucid.manifold.tsne.tsne_kernels import cross_entropy

        known = self._narrow if affinities is None else affinities
        sums = run_blocks(
            lambda rows: cross_entropy(places, self._starts, self._neighbors, known, rows.start, rows.stop),
            self._blocks,
        )
        return self._entropy + float(np.sum(sums)) + float(np.log(max(self.total, 1e-300)))

    def relative(self, gradient: Array) -> float:
        """Return the norm of a gradient in parts of that of the last attraction, or of a hundredth of the largest."""
        size = max(float(np.linalg.norm(self.attraction)), 0.01 * self._most)
        return float(np.linalg.norm(gradient)) / (self.factor * size)

    def for_the_end(self, places: Array) -> Forces:
        """Return the forces for the last steps, on a finer grid, or on none where all pairs are less work."""
        spacing = min(self.spacing, FINE)
        room = 2.0 * places  # a map grows on its way down, and to change over then would bend the function
        return Forces(self.joint, self.n_components, spacing if self._pays(room, spacing) else 0.0)

    def _has_grid_for(self, places: Array) -> bool:
        return self.spacing > 0.0 and self._pays(places, self.spacing)

    def _pays(self, places: Array, spacing: float) -> bool:
        if self.n_components > 2 or spacing <= 0.0:
            return False
        n, extent = len(places), np.ptp(_flat(places), axis=0) / spacing
        return GRID_COST * grid_work(extent) + NODE_COST * n < float(n) ** 2

    def _attract(self, places: Array, affinities: Array) -> None:
        from pellucid.manifold.tsne.tsne_kernels import attract

        run_blocks(
            lambda rows: attract(
                places, self._starts, self._neighbors, affinities, rows.start, rows.stop, self.attraction
            ),
            self._blocks,
        )

    def _repel_on_grid(self, places: Array) -> None:
        forces = self.repulsion if self.n_components == 2 else np.empty((len(places), 2))
        self.total = repulsion_on_a_grid(_flat(places), self.spacing, forces)
        if forces is not self.repulsion:
            self.repulsion[:, 0] = forces[:, 0]

    def _repel(self, places: Array, dtype: type[np.floating]) -> None:
        from pellucid.manifold.tsne.tsne_kernels import repel

        columns = np.ascontiguousarray((places - places.mean(axis=0)).T.astype(dtype))
        ones = np.ones(1, dtype)

        def work(rows: slice) -> float:
            room = np.empty(columns.shape[1], dtype)
            return float(repel(columns, ones, rows.start, rows.stop, room, self.repulsion))

        self.total = float(np.sum(run_blocks(work, self._blocks)))


def _flat(places: Array) -> Array:
    """Return places in two dimensions; those on a line get a second coordinate of 0."""
    return places if places.shape[1] == 2 else np.column_stack([places, np.zeros(len(places))])


@dataclass
class MapDescent:
    """The way down: places, steps made, and its trace."""

    forces: Forces
    places: Array
    max_iter: int
    min_grad_norm: float
    patience: int
    watch: Watch = ignore
    n_iter: int = 0
    trace: Trace = field(default_factory=Trace)
    stopped: str = ""
    largest_rise: float = 0.0
    """Of the divergence, in one step of L-BFGS."""
    _best: tuple[float, int] = (np.inf, 0)

    def with_momentum(self, until: int, momentum: float, rate: float, exaggeration: float) -> None:
        """Make steps with momentum and gains up to a number of them; patience is for those without exaggeration."""
        from pellucid.manifold.tsne.tsne_kernels import momentum_step

        update, gains = np.zeros_like(self.places), np.ones_like(self.places)
        while self.n_iter < min(until, self.max_iter) and not self.stopped:
            gradient = self.forces.gradient(self.places, exaggeration)
            if self.n_iter % TRACED_EVERY == 0:
                self._note(self.forces.divergence(self.places), gradient, exaggeration)
            momentum_step(self.places, gradient, update, gains, momentum, rate)
            self.n_iter += 1
            if self.watch(self.places):
                self.stopped = "the callback said so"
            elif self.n_iter % CHECKED_EVERY == 0:
                self._check(gradient, exaggeration)

    def _check(self, gradient: Array, exaggeration: float) -> None:
        if float(np.linalg.norm(gradient)) <= self.min_grad_norm:
            self.stopped = "the gradient is small"
        if exaggeration == 1.0:
            value = self.forces.divergence(self.places)
            if value < self._best[0]:
                self._best = value, self.n_iter
            elif self.n_iter - self._best[1] > self.patience:
                self.stopped = "no progress"

    def to_the_end(self, momentum: float, rate: float) -> None:
        """Go on with momentum if it has got down by itself, or nearly so, else by L-BFGS."""
        finer = self.forces.for_the_end(self.places)
        is_near = finer.relative(finer.gradient(self.places)) <= NEARLY
        if is_near:
            self.with_momentum(SETTLED, momentum, rate, 1.0)
        self._by_quasi_newton(0 if is_near else FEWEST)

    def _by_quasi_newton(self, fewest: int) -> None:
        """Make steps of L-BFGS until the gradient is a small part of the attraction, or there are no more steps."""
        self.forces = self.forces.for_the_end(self.places)
        shape = self.places.shape

        scale = len(self.places) / 4.0  # so that a step along the gradient is as long as the usual learning rate

        def look(x: Array) -> tuple[float, Array]:
            places = x.reshape(shape)
            gradient = self.forces.gradient(places)
            return scale * self.forces.divergence(places), scale * gradient.ravel()

        oracle = Oracle(Problem(lambda x: look(x)[0], value_and_gradient=look))
        rule, x, values = LBFGS(), np.ascontiguousarray(self.places.ravel()), list[float]()
        with np.errstate(over="ignore", invalid="ignore"):  # a trial too far out may overflow; the search steps back
            state = rule.start(oracle, x)
            while self.n_iter < self.max_iter and not self.stopped:
                gradient = state.point.gradient / scale
                values.append(state.point.value / scale)
                self._note(values[-1], gradient, 1.0)
                if len(values) > fewest and self._is_small(gradient):
                    self.stopped = "the gradient is small"
                    break
                try:
                    state = rule.step(oracle, state)
                except NoStep as reason:
                    self.stopped = str(reason)
                    break
                self.n_iter += 1
                self.places = state.x.reshape(shape)
                if self.watch(self.places):
                    self.stopped = "the callback said so"

        self.largest_rise = float(np.max(np.diff(values), initial=0.0))

    def _is_small(self, gradient: Array) -> bool:
        norm = float(np.linalg.norm(gradient))
        return norm <= self.min_grad_norm or self.forces.relative(gradient) <= SMALL

    def _note(self, value: float, gradient: Array, exaggeration: float) -> None:
        self.trace.add(
            iteration=self.n_iter,
            objective=value,
            gradient_norm=float(np.linalg.norm(gradient)),
            exaggeration=exaggeration,
        )
        self.trace.keep(embedding_=self.places)
