"""What Segmenter and Detector share: a network trained on images in which something is to be seen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import changed_parameters, forget_fit, parameter_texts
from pellucid.core.kinds.plain import Kind
from pellucid.core.public_names import needs_extra
from pellucid.core.random_state import some_rows
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.training.recipe import Patience, TrainingRecipe, recipe_of
from pellucid.optimize.schedules import CosineDecay
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.training_data import digest, fingerprint

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from pellucid.neural_network.training.trainer import Rows, Training

MOST_SCORED = 8
"""Training images on which the stored score is measured, always the same ones, evenly spaced."""

WARM_UP = 0.05
"""Share of the epochs, at most one of them, in which the learning rate rises."""

SLACK = 1e-9
"""By how much a score may differ on another machine: predictions in float64 differ by rounding, scores count them."""

REASON = (
    "The loss of a network has many minima: nothing is said about the best one. The score is that of the stored "
    "weights on training images, made again; scores on other images are yours to measure."
)
REFIT = "Fit the model again."


class Scenes(Protocol):
    """Checked images with what is to be seen in them."""

    def __len__(self) -> int:
        """Return how many there are."""
        ...

    def take(self, places: Iterable[int]) -> Self:
        """Return some of them."""
        ...

    def arrays(self) -> Iterable[Array | None]:
        """Return all numbers, by which the data are known again."""
        ...


class SceneEstimator(BaseEstimator):
    """Base of estimators that see: parameters of the training, weights, evidence. A child says what a scene is."""

    kinds: ClassVar[Mapping[str, Kind]]
    """Parameter -> what it may be."""

    classes_: Array
    architecture_: Architecture
    weights_: dict[str, Array]
    weights_digest_: str
    training_score_: float
    n_iter_: int
    trace_: Trace
    certificate_: Certificate
    data_fingerprint_: str
    fit_parameters_: dict[str, str]

    @abstractmethod
    def _check_scenes(self, images: Any, truth: Any, weight: Any = None) -> tuple[Scenes, dict[str, Any]]:
        """Return checked scenes, and the fitted attributes that say what they show: ``classes_`` and others."""

    @abstractmethod
    def _architecture_for(self, scenes: Any, labels: Mapping[str, Any]) -> Architecture:
        """Return the network that the user means, its open settings filled in."""

    @abstractmethod
    def _rows(self, scenes: Any, module: nn.Module) -> Rows:
        """Return the scenes as the trainer takes them, on the module's device."""

    @abstractmethod
    def _loss(self, module: nn.Module, batch: Any) -> Tensor:
        """Return the loss of a batch."""

    @abstractmethod
    def _score_with(self, module: nn.Module, scenes: Any, labels: Mapping[str, Any]) -> float:
        """Return the score of a module in test mode."""

    def _fit_scenes(self, images: Any, truth: Any, weight: Any = None) -> Self:
        """Train, and store the network with its evidence; a fit that fails leaves nothing that looks fitted."""
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.training.devices import device_named
            from pellucid.neural_network.training.shown_run import new_module
        try:
            self._check_parameters()
            scenes, labels = self._check_scenes(images, truth, weight)
            random = check_random_state(self.random_state)
            seed = int(random.randint(2**31))
            architecture = self._architecture_for(scenes, labels)
            module = self._started(new_module(architecture, seed)).to(device_named(self.device))
            kept, held_out = self._hold_out(len(scenes), random)
            run = self._run(module, scenes.take(kept), scenes.take(held_out) if len(held_out) else None, labels, seed)
        except BaseException:
            forget_fit(self)
            raise
        self._adopt(run, architecture, scenes, labels)
        return self

    def _check_parameters(self) -> None:
        for name, kind in self.kinds.items():
            value = getattr(self, name)
            if not kind.fits(value):
                raise kind.complaint(name, value)

    def _started(self, module: nn.Module) -> nn.Module:
        """Return the module with the weights to start from."""
        if self.initial_weights is None:
            return module
        from pellucid.vision.models.efficientnet import EfficientTrunk, imagenet_weights
        from pellucid.vision.transfer import load_weights

        given = str(self.initial_weights)
        if given != "imagenet" and not given.endswith(".pth"):
            return load_weights(module, given)
        trunks = [name for name, part in module.named_modules() if isinstance(part, EfficientTrunk)]
        if not trunks:
            raise ValueError(
                f"initial_weights must be a file with weights of {type(module).__name__}, got {given!r}. "
                "Weights of ImageNet are for networks on EfficientNet-Lite0."
            )
        found = imagenet_weights(None if given == "imagenet" else given, head=False)
        trunk = module.get_submodule(trunks[0])
        load_weights(trunk, {name: weight for name, weight in found.items() if name in trunk.state_dict()})
        return module

    def _hold_out(self, n_scenes: int, random: np.random.RandomState) -> tuple[Array, Array]:
        """Return the places of scenes to learn from, and of those that each epoch is scored on."""
        n_held_out = ceil(self.validation_fraction * n_scenes)
        if n_held_out >= n_scenes:
            raise ValueError(
                f"validation_fraction must leave an image to learn from, got {self.validation_fraction} of {n_scenes}."
            )
        order = random.permutation(n_scenes) if n_held_out else np.arange(n_scenes)
        return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])

    def _run(self, module: nn.Module, learned: Any, held_out: Any, labels: Mapping[str, Any], seed: int) -> Training:
        from pellucid.neural_network.training.shown_run import run_shown

        patience = Patience(self.tol, float("inf") if self.patience is None else self.patience)
        return run_shown(
            module,
            self._rows(learned, module),
            self._loss,
            replace(self._recipe(seed), augmentation=()),  # images move together with what is seen in them
            advice=self._advice,
            score=None if held_out is None else lambda network: self._score_with(network, held_out, labels),
            patience=patience,
            watch=self._after_epoch,
            verbose=self.verbose,
        )

    def _after_epoch(self, run: Training) -> bool:
        """Return whether to stop."""
        return False

    def _recipe(self, seed: int) -> TrainingRecipe:
        """Return how to train, as the parameters say."""
        recipe = recipe_of(self, seed)
        if callable(self.learning_rate) or self.schedule == "constant":
            return recipe
        falling = CosineDecay(float(self.learning_rate), length=self.epochs, warm_up=min(1.0, WARM_UP * self.epochs))
        return replace(recipe, learning_rate=falling)

    def _advice(self) -> str:
        """Return what to do where a loss is no number."""
        return "Lower learning_rate, or set clip_norm."

    def _adopt(self, run: Training, architecture: Architecture, scenes: Any, labels: Mapping[str, Any]) -> None:
        """Store the fitted attributes in place of what an earlier fit left, with their certificate."""
        from pellucid.neural_network.modules.network_weights import weights_of

        forget_fit(self)
        for name, value in labels.items():
            setattr(self, name, value)
        self.architecture_ = architecture
        self.weights_ = {name: np.array(weight) for name, weight in weights_of(run.module).items()}
        self.weights_digest_ = self._digest()
        self.n_iter_, self.trace_ = run.epochs, run.trace
        self.data_fingerprint_ = fingerprint(*scenes.arrays())
        self.fit_parameters_ = parameter_texts(self, self.kinds)
        self.training_score_ = self._training_score(run.module, scenes)
        for name, value in self._more_evidence(run.module, scenes).items():
            setattr(self, name, value)
        claims = (*self._stored_claims(), *self._score_claim(self.training_score_))
        self.certificate_ = Certificate("none", (*claims, *self._more_claims(run.module, scenes)), REASON)

    def _more_evidence(self, module: nn.Module, scenes: Any) -> dict[str, float]:
        """Return fitted attributes by which the training can be judged beside its score."""
        return {}

    def _more_claims(self, module: nn.Module, scenes: Any) -> tuple[Claim, ...]:
        """Return what is claimed about them."""
        return ()

    def _digest(self) -> str:
        return digest(self.weights_.values(), repr((self.architecture_, *self.weights_)))

    def _training_score(self, module: nn.Module, scenes: Any) -> float:
        """Return the score on a few training images, predicted in float64 so that every machine finds the same."""
        import copy

        import torch

        exact = copy.deepcopy(module).to(torch.float64).eval()
        labels = {name: getattr(self, name) for name in ("classes_",)}
        return self._score_with(exact, scenes.take(some_rows(len(scenes), MOST_SCORED)), labels)

    def _stored_claims(self) -> tuple[Claim, ...]:
        changed = changed_parameters(self.fit_parameters_, parameter_texts(self, self.kinds))
        return (
            Claim(
                "weights",
                "1 if the weights are not those of the checksum that the model carries",
                float(self.weights_digest_ != self._digest()),
                0.0,
                REFIT,
            ),
            Claim(
                "parameters", "; ".join(changed) or "parameters that changed after the fit", len(changed), 0.0, REFIT
            ),
        )

    def _score_claim(self, found: float) -> tuple[Claim, ...]:
        statement = f"difference of the score on {MOST_SCORED} training images to the stored {self.training_score_:.4f}"
        return (Claim("score", statement, abs(found - self.training_score_), SLACK, REFIT),)

    @property
    def module_(self) -> nn.Module:
        """The network as a module of torch, in test mode, on the CPU."""
        check_is_fitted(self)
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.network.evaluation import stored_module
        return stored_module(self.architecture_, self.weights_)

    def _module_on_device(self) -> nn.Module:
        from pellucid.neural_network.training.devices import device_named

        return self.module_.to(device_named(self.device))


def verify_scenes(model: SceneEstimator, images: Any, truth: Any, *, sample_weight: Any = None) -> Certificate:
    """Prove a fitted Segmenter or Detector again from its training images: weights, parameters, data, score."""
    check_is_fitted(model)
    try:
        scenes, labels = model._check_scenes(images, truth, sample_weight)
        is_other = fingerprint(*scenes.arrays()) != model.data_fingerprint_
        is_other |= any(not np.array_equal(value, np.asarray(getattr(model, name))) for name, value in labels.items())
        stored = model._stored_claims()
        found = model._training_score(model.module_, scenes)
        more = model._more_claims(model.module_, scenes)
    except (ValueError, RuntimeError, TypeError, AttributeError, KeyError) as error:
        broken = Claim("model", f"1 if no prediction can be made: {error}"[:200], 1.0, 0.0, REFIT)
        return Certificate("none", (broken,), REASON)
    same = Claim("data", "1 if these are not the training images", float(is_other), 0.0, "Bring those of the fit.")
    return Certificate("none", (*stored, same, *model._score_claim(found), *more), REASON)


def images_to(image: Array, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return an image (height, width, channels) as a tensor (channels, height, width) with white at 1."""
    from pellucid.neural_network.training.device_rows import tensor_of
    from pellucid.vision.scene_augmentation import as_floats

    return as_floats(tensor_of(image).to(device).permute(2, 0, 1), dtype)
