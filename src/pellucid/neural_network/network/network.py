"""What NetworkClassifier and NetworkRegressor share: checks, training, evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.extras import needs_extra
from pellucid.core.fingerprint import digest
from pellucid.core.fit import Fit
from pellucid.core.random_state import some_rows
from pellucid.core.training_data import InputRules, TrainingData
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.core.watching import Watch
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.network.given_module import GivenModule, architecture_of
from pellucid.neural_network.network.network_proof import MOST_ROWS
from pellucid.neural_network.training.patience import Patience

if TYPE_CHECKING:
    from torch import Tensor, nn

    from pellucid.neural_network.training.device_rows import Batch, DeviceRows
    from pellucid.neural_network.training.learning_rate_search import RateSearch
    from pellucid.neural_network.training.recipe import TrainingRecipe
    from pellucid.neural_network.training.trainer import BatchLoss, Training


@dataclass(frozen=True)
class ExampleRules(InputRules):
    """Rules for examples of any shape: rows of a table, or images (n, channels, height, width).

    Images of bytes become float32: in float64, as tables of whole numbers do, they would take eight times the memory.
    """

    def check(self, estimator: Any, X: Data, *args: Any, **options: Any) -> TrainingData:
        """Return the training data."""
        return super().check(estimator, _without_bytes(X), *args, **options)

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return new examples in the form of the training examples."""
        return super().check_rows(estimator, _without_bytes(X))

    def _options(self, *, reset: bool) -> dict[str, Any]:
        return {**super()._options(reset=reset), "allow_nd": True}


def _without_bytes(X: Data) -> Data:
    is_images_of_bytes = isinstance(X, np.ndarray) and X.ndim > 2 and X.dtype == np.uint8
    return X.astype(np.float32) if is_images_of_bytes else X


@dataclass(frozen=True)
class Examples:
    """Arrays of examples, what they should give, and how much each counts."""

    X: Array
    targets: Array
    weight: Array | None

    def take(self, places: Array) -> Examples:
        """Return some of them."""
        return Examples(self.X[places], self.targets[places], None if self.weight is None else self.weight[places])


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

    def _objective(self) -> Any:
        raise NotImplementedError

    def _score_of(self, scores: Array, targets: Array, weight: Array | None) -> float:
        raise NotImplementedError

    def _labels(self, data: TrainingData) -> dict[str, Any]:
        """Return further fitted attributes."""
        return {}

    def _train(self, data: TrainingData, weight: Array | None) -> Self:
        """Build the network, train it, and store it with its evidence."""
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.modules.network_weights import weights_of
        random = check_random_state(self.random_state)
        seed = int(random.randint(2**31))
        architecture, module, examples = self._prepared(data, weight, seed)
        kept, held_out = self._split(data, random)

        def attributes(run: Training) -> dict[str, Any]:
            return {**self._labels(data), "architecture_": architecture, "weights_": weights_of(run.module)}

        watch = self._watch(*data.given[:2], attributes=attributes, max_iter=self.epochs)
        scored = None if held_out is None else examples.take(held_out)
        run = self._run(module, examples if held_out is None else examples.take(kept), scored, seed, watch)
        if isinstance(architecture, GivenModule):
            architecture = GivenModule(run.module.cpu())
        weights = {name: np.array(array) for name, array in weights_of(run.module).items()}
        found = {
            **self._labels(data),
            "architecture_": architecture,
            "weights_": weights,
            "weights_digest_": digest(weights.values(), repr((architecture, *weights))),
            "n_iter_": run.epochs,
            **self._evidence(run.module, examples.take(some_rows(len(data.X), MOST_ROWS))),
        }
        if held_out is not None:
            found["validation_rows_"] = data.given_rows(held_out)
            found["best_validation_score_"] = run.patience.best
        return self._adopt(Fit(found, run.trace, run.stopped), data)

    def _prepared(
        self, data: TrainingData, weight: Array | None, seed: int
    ) -> tuple[Architecture, nn.Module, Examples]:
        """Return what is trained, on its device, and what it is trained on."""
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.training.devices import device_named
        architecture = architecture_of(self.module, data.X.shape[1:], self._outputs(data))
        module = self._built(architecture, seed).to(device_named(self.device), self._dtype(data.X))
        self._check_outputs(module, data)
        return architecture, module, Examples(data.X, self._targets(data), weight)

    def _built(self, architecture: Architecture, seed: int) -> nn.Module:
        import torch

        if self.warm_start and hasattr(self, "weights_"):
            return self.module_
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return architecture.build()

    def _dtype(self, X: Any) -> Any:
        import torch

        return torch.float64 if self.precision == "auto" and X.dtype == np.float64 else torch.float32

    def _check_outputs(self, module: nn.Module, data: TrainingData) -> None:
        """Refuse a network that does not take these examples, or gives another number of scores."""
        import torch

        module.eval()
        first = next(module.parameters())
        example = torch.from_numpy(np.array(data.X[:1])).to(first.device, first.dtype)
        try:
            with torch.no_grad():
                scores = module(example)
        except (RuntimeError, TypeError, IndexError) as error:
            raise ValueError(
                f"module must take examples of shape {tuple(data.X.shape[1:])}, but it does not: "
                f"{str(error).splitlines()[0]} Reshape X, or change its first layer."
            ) from error
        wanted = self._outputs(data)
        if scores.ndim < 2 or scores.shape[1] != wanted:
            raise ValueError(
                f"module must give {wanted} scores for each example, got an answer of shape {tuple(scores.shape[1:])}. "
                "Change its last layer."
            )

    def _split(self, data: TrainingData, random: np.random.RandomState) -> tuple[Array, Array | None]:
        """Return the places of the rows to learn from, and of those held out, if any."""
        places = np.arange(len(data.X))
        if not self.validation_fraction:
            return places, None
        stratify = data.y if is_classifier(self) and np.ndim(data.y) == 1 and np.bincount(data.y).min() > 1 else None
        kept, held_out = train_test_split(
            places, test_size=self.validation_fraction, random_state=random, stratify=stratify
        )
        return kept, held_out

    def _run(
        self, module: nn.Module, examples: Examples, held_out: Examples | None, seed: int, watch: Watch
    ) -> Training:
        """Return the finished run, its module in test mode."""
        from pellucid.neural_network.network.evaluation import scores_of
        from pellucid.neural_network.training.epoch_bar import with_bar
        from pellucid.neural_network.training.trainer import DIVERGED, train

        rows, loss = self._rows_and_loss(module, examples)

        def score(network: nn.Module) -> float:
            assert held_out is not None
            return self._score_of(scores_of(network, held_out.X), held_out.targets, held_out.weight)

        patience = Patience(self.tol, float("inf") if self.patience is None else self.patience)
        scored = score if held_out else None
        with with_bar(watch, self.epochs, show=self.verbose) as shown:
            run = train(module, rows, loss, self._recipe(seed), score=scored, patience=patience, watch=shown)
        if run.stopped.startswith(DIVERGED):
            advice = "Lower learning_rate, or scale X."
            if not run.epochs:
                raise ValueError(f"{run.stopped} {advice}")
            warn_user(f"{run.stopped} The weights of the last good epoch are kept. {advice}", ConvergenceWarning)
        run.module.eval()
        return run

    def _recipe(self, seed: int) -> TrainingRecipe:
        from pellucid.neural_network.training.recipe import TrainingRecipe

        settings = {
            name: getattr(self, name) for name in set(TrainingRecipe.__dataclass_fields__) - {"seed", "checkpoint"}
        }
        return TrainingRecipe(
            **settings, seed=seed, checkpoint=None if self.checkpoint is None else Path(self.checkpoint)
        )

    def _rows_and_loss(self, module: nn.Module, examples: Examples) -> tuple[DeviceRows, BatchLoss]:
        """Return the examples on the device of the module, and the loss of a batch of them."""
        import torch

        from pellucid.neural_network.training.device_rows import DeviceRows

        first, is_image = next(module.parameters()), examples.X.ndim == 4
        layout = torch.channels_last if self.channels_last and is_image else torch.preserve_format
        rows = DeviceRows.from_arrays(examples.X, examples.targets, examples.weight, first.device, first.dtype, layout)
        module.to(memory_format=layout)  # type: ignore[call-overload]  # torch's stub lacks this form
        objective = self._objective()

        def loss(network: nn.Module, batch: Batch) -> Tensor:
            return objective(network(batch.inputs), batch.targets, batch.weight)  # type: ignore[no-any-return]

        return rows, loss

    def _find_learning_rate(self, data: TrainingData, weight: Array | None, **options: Any) -> RateSearch:
        """Return losses at rising rates; the estimator stays as it was."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        _, module, examples = self._prepared(data, weight, seed)
        from pellucid.neural_network.training.learning_rate_search import search_learning_rate

        rows, loss = self._rows_and_loss(module, examples)
        return search_learning_rate(module, rows, loss, self._recipe(seed), **options)

    def _evidence(self, module: nn.Module, some: Examples) -> dict[str, float]:
        """Return objective and size of its gradient on some training rows, in float64."""
        from pellucid.neural_network.network.evaluation import objective_and_gradient

        value, norm = objective_and_gradient(module, self._objective(), some.X, some.targets, some.weight)
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

        return scores_of(self.module_.to(device_named(self.device)), X)
