"""What NetworkClassifier and NetworkRegressor share: checks, training, evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.fit import Fit
from pellucid.core.partial_fit import TRAINING_STATE
from pellucid.core.public_names import needs_extra
from pellucid.core.random_state import some_rows
from pellucid.core.scale.table_in_blocks import TableInBlocks, read_rows
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.core.watching import Watch, ignore
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.network.given_module import GivenModule, architecture_of
from pellucid.neural_network.network.network_proof import MOST_ROWS
from pellucid.neural_network.training.recipe import Patience, recipe_of
from pellucid.proofs.training_data import TrainingData, digest

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from pellucid.neural_network.training.checkpoints import Checkpoint
    from pellucid.neural_network.training.device_rows import Batch
    from pellucid.neural_network.training.learning_rate_search import RateSearch
    from pellucid.neural_network.training.recipe import TrainingRecipe
    from pellucid.neural_network.training.trainer import BatchLoss, Rows, Training


class NetworkEstimator(CertifiedEstimator):
    """Base of estimators around a network of torch; see its two children for the parameters."""

    architecture_: Architecture
    weights_: dict[str, Array]

    def _targets(self, data: TrainingData) -> Array:
        """Return the targets as the objective takes them."""
        raise NotImplementedError

    def _outputs(self, data: TrainingData) -> int:
        """Return how many numbers the network must give."""
        raise NotImplementedError

    def _objective(self, targets: Array) -> Any:
        """Return the mean loss of scores that such targets ask for."""
        raise NotImplementedError

    def _score_of(self, scores: Array, targets: Array, weight: Array | None) -> float:
        """Return the score of raw scores on rows held out."""
        raise NotImplementedError

    def _labels(self, data: TrainingData) -> dict[str, Any]:
        """Return the fitted attributes that say what the outputs mean."""
        raise NotImplementedError

    def _learn(self, data: TrainingData, *, is_part: bool = False) -> Self:
        """Train on rows: to the end, or, where they are a part of the data, one epoch; store it with its evidence."""
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.modules.network_weights import weights_of
        seed, random = self._draws()
        goes_on = hasattr(self, "weights_") and (is_part or self.warm_start)
        architecture, module, examples = self._prepared(data, seed, goes_on=goes_on)
        start = self._start(module) if is_part and goes_on else None
        kept, held_out = hold_out(data, self.validation_fraction, random)

        def attributes(run: Training) -> dict[str, Any]:
            return {**self._labels(data), "architecture_": architecture, "weights_": weights_of(run.module)}

        watch = ignore if is_part else self._watch(*data.given[:2], attributes=attributes, max_iter=self.epochs)
        recipe = recipe_of(self, seed)
        if is_part:
            recipe = replace(recipe, epochs=start.epochs + 1 if start else 1)
        learned, scored = (examples, None) if held_out is None else (examples.take(kept), examples.take(held_out))
        run = self._run(module, learned, scored, recipe, watch, start)
        found = self._found(run, architecture, data, examples)
        if held_out is not None:
            found["validation_rows_"] = data.given_rows(held_out)
            found["best_validation_score_"] = run.patience.best
        self.__dict__.pop(TRAINING_STATE, None)
        self._adopt(Fit(found, run.trace, run.stopped), data)
        if is_part:
            setattr(self, TRAINING_STATE, run.mover)
        return self

    def _draws(self) -> tuple[int, np.random.RandomState]:
        """Return a seed, and a generator for the rows held out; several processes share those of the first."""
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.training.devices import Processes, device_named
        random = check_random_state(self.random_state)
        seed, processes = int(random.randint(2**31)), Processes.here(device_named(self.device))
        if processes.count == 1:
            return seed, random
        seed = processes.of_first(seed)
        return seed, np.random.RandomState(seed)

    def _found(self, run: Training, architecture: Architecture, data: TrainingData, examples: Examples) -> Any:
        """Return the fitted attributes that a run leaves."""
        from pellucid.neural_network.modules.network_weights import weights_of

        if isinstance(architecture, GivenModule):
            architecture = GivenModule(run.module.cpu())
        weights = {name: np.array(array) for name, array in weights_of(run.module).items()}
        return {
            **self._labels(data),
            "architecture_": architecture,
            "weights_": weights,
            "weights_digest_": digest(weights.values(), repr((architecture, *weights))),
            "n_iter_": run.epochs,
            **self._evidence(run.module, examples.take(some_rows(data.X.shape[0], MOST_ROWS))),
        }

    def _prepared(
        self, data: TrainingData, seed: int, *, goes_on: bool = False
    ) -> tuple[Architecture, nn.Module, Examples]:
        """Return what is trained, on its device, and what it is trained on."""
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.training.devices import device_named
            from pellucid.neural_network.training.module_check import check_module
            from pellucid.neural_network.training.shown_run import new_module
        if goes_on:
            self._refuse_another_target(data)
            architecture, module = self.architecture_, self.module_
        else:
            architecture = architecture_of(self.module, data.X.shape[1:], self._outputs(data))
            module = new_module(architecture, seed)
        module = module.to(device_named(self.device), self._dtype(data.X))
        check_module(module, read_rows(data.X[np.arange(1)]), self._outputs(data))
        return architecture, module, Examples(data.X, self._targets(data), data.weight)

    def _refuse_another_target(self, data: TrainingData) -> None:
        """Refuse targets of another kind than those that the weights have learned."""
        for name, value in self._labels(data).items():
            known = getattr(self, name)
            if not np.array_equal(known, value):
                raise ValueError(
                    f"y must be like that of the fit to go on from, whose {name} is {known}, got {value}. "
                    "Fit a new estimator."
                )

    def _start(self, module: nn.Module) -> Checkpoint:
        """Return where the last part of the data left the run; of a whole fit, or of a file, the weights alone."""
        from pellucid.neural_network.training.checkpoints import Checkpoint

        mover = vars(self).get(TRAINING_STATE, {})
        return Checkpoint(self.n_iter_, module.state_dict(), mover, self.trace_, Patience(0.0, float("inf")))

    def _check_part(self) -> None:
        """Refuse what has no meaning for a part of the data."""
        for name, needed in (("validation_fraction", 0.0), ("checkpoint", None)):
            value = getattr(self, name)
            if value != needed:
                raise ValueError(
                    f"{name} must be {needed} for partial_fit, got {value!r}: a part is one epoch. "
                    "Use fit, or score and save the model between the parts."
                )

    def _dtype(self, X: SparseOrDense) -> Any:
        import torch

        return torch.float64 if self.precision == "auto" and X.dtype == np.float64 else torch.float32

    def _run(
        self,
        module: nn.Module,
        examples: Examples,
        held_out: Examples | None,
        recipe: TrainingRecipe,
        watch: Watch,
        start: Checkpoint | None,
    ) -> Training:
        """Return the finished run, its module in test mode."""
        from pellucid.neural_network.network.evaluation import scores_of
        from pellucid.neural_network.training.shown_run import run_shown

        rows, loss = self._rows_and_loss(module, examples)

        def score(network: nn.Module) -> float:
            assert held_out is not None
            return self._score_of(scores_of(network, held_out.X), held_out.targets, held_out.weight)

        return run_shown(
            module,
            rows,
            loss,
            recipe,
            advice=lambda: "Lower learning_rate, or scale X.",
            score=score if held_out else None,
            patience=Patience(self.tol, float("inf") if self.patience is None else self.patience),
            watch=watch,
            start=start,
            verbose=self.verbose,
        )

    def _rows_and_loss(self, module: nn.Module, examples: Examples) -> tuple[Rows, BatchLoss]:
        """Return the examples on the device of the module, and the loss of a batch of them."""
        import torch

        first, is_image = next(module.parameters()), examples.X.ndim == 4
        layout = torch.channels_last if self.channels_last and is_image else torch.preserve_format
        rows = examples.on(first.device, first.dtype, layout)
        module.to(memory_format=layout)  # type: ignore[call-overload]  # torch's stub lacks this form
        objective = self._objective(examples.targets)

        def loss(network: nn.Module, batch: Batch) -> Tensor:
            return objective(network(batch.inputs), batch.targets, batch.weight)  # type: ignore[no-any-return]

        return rows, loss

    def find_learning_rate(self, X: Data, y: Data, sample_weight: Data | None = None, **options: Any) -> RateSearch:
        """Return the loss of batches at rising rates, with a suggestion; see ``search_learning_rate``.

        The estimator stays as it was, but for what it knows of the columns.
        """
        data = self._check(X, y, sample_weight)
        seed, _ = self._draws()
        _, module, examples = self._prepared(data, seed)
        from pellucid.neural_network.training.learning_rate_search import search_learning_rate

        rows, loss = self._rows_and_loss(module, examples)
        return search_learning_rate(module, rows, loss, recipe_of(self, seed), **options)

    def _evidence(self, module: nn.Module, some: Examples) -> dict[str, float]:
        """Return objective and size of its gradient on some training rows, in float64."""
        from pellucid.neural_network.network.evaluation import objective_and_gradient

        objective = self._objective(some.targets)
        value, norm = objective_and_gradient(module, objective, some.X, some.targets, some.weight)
        return {"objective_": value, "gradient_norm_": norm}

    @property
    def module_(self) -> nn.Module:
        """The network as a module of torch, in test mode, on the CPU."""
        check_is_fitted(self)
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.network.evaluation import stored_module
        return stored_module(self.architecture_, self.weights_)

    def _scores(self, X: Data) -> Array:
        """Return the raw scores of examples, of shape (n, outputs, ...)."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        from pellucid.neural_network.network.evaluation import scores_of
        from pellucid.neural_network.training.devices import device_named

        scores = scores_of(self.module_.to(device_named(self.device)), X)
        if np.isnan(scores).any():
            kind = next(iter(self.weights_.values())).dtype
            raise ValueError(f"X must stay finite in the {kind} of the network, got scores that are nan. Scale X.")
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def hold_out(data: TrainingData, fraction: float, random: np.random.RandomState) -> tuple[Array, Array | None]:
    """Return the places of the rows to learn from, and of those held out, if any, by class where there are enough."""
    n_rows = data.X.shape[0]
    places, n_held_out = np.arange(n_rows), ceil(fraction * n_rows)
    if not fraction:
        return places, None
    if not 2 <= n_held_out < n_rows:
        raise ValueError(
            f"validation_fraction must leave at least 2 rows to score on and 1 to learn from, got {fraction} of "
            f"{n_rows} rows. Change it, or bring more rows."
        )
    counts = np.bincount(data.y) if len(data.classes) and data.y.ndim == 1 else np.zeros(1)
    by_class = counts.min() > 1 and len(counts) <= min(n_held_out, n_rows - n_held_out)
    stratify = data.y if by_class else None
    kept, held_out = train_test_split(places, test_size=n_held_out, random_state=random, stratify=stratify)
    return kept, held_out


@dataclass(frozen=True)
class Examples:
    """Inputs, dense or sparse, what they should give, and how much each counts (None: once)."""

    X: SparseOrDense
    targets: Array
    weight: Array | None

    def take(self, places: Array) -> Examples:
        """Return some of them."""
        return Examples(
            read_rows(self.X[places]), self.targets[places], None if self.weight is None else self.weight[places]
        )

    def on(self, device: torch.device, dtype: torch.dtype, layout: torch.memory_format) -> Rows:
        """Return them on a device; a sparse table stays sparse, and the rows of each batch become dense."""
        from pellucid.neural_network.training.device_rows import BlockDeviceRows, DeviceRows, SparseDeviceRows

        if isinstance(self.X, TableInBlocks):
            return BlockDeviceRows(self.X, self.targets, self.weight, device, dtype)
        if sparse.issparse(self.X):
            return SparseDeviceRows.from_arrays(self.X, self.targets, self.weight, device, dtype)
        return DeviceRows.from_arrays(self.X, self.targets, self.weight, device, dtype, layout)
