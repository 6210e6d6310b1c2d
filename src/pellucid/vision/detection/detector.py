"""Detector: any of the networks that find objects, as an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.kinds.plain import Kind, Live, Nothing
from pellucid.core.kinds.usual import COUNT
from pellucid.core.public_names import needs_extra
from pellucid.core.threads import run_blocks
from pellucid.core.types import Array, Data, RandomState
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.network_kinds import ARCHITECTURE
from pellucid.vision.detection.annotations import Annotations, Detections
from pellucid.vision.detection.scoring.average_precision import AveragePrecision, average_precision
from pellucid.vision.scene_estimator import SceneEstimator
from pellucid.vision.scene_images import checked_images, raise_faults
from pellucid.vision.scene_kinds import TRAINING, scene_schema

if TYPE_CHECKING:
    from torch import Tensor, nn

    from pellucid.neural_network.training.trainer import Training
    from pellucid.vision.detection.detection_training import (
        AnnotatedImages,
        AnnotatedRows,
        DetectionBatch,
        LossParts,
        Proposer,
    )

FEWEST_PIXELS, SMALLEST_REGION, MOST_PROPOSALS = 12, 5000, 1000
"""Selective search starts from regions of so many pixels, or of a 5,000th of the image; its first boxes are taken."""

KINDS: dict[str, Kind] = {
    "architecture": Nothing() | ARCHITECTURE,
    **TRAINING,
    "proposals": Nothing() | Live("a function from an image to boxes", callable),
}


class Detector(SceneEstimator):
    """Boxes and classes of objects in images, by any of the detectors of the lecture.

    Parameters
    ----------
    architecture : detector or None, default=None
        ``YOLO()``, ``SSD()``, ``RetinaNet()``, ``RCNN()``, ``FastRCNN()``, ``FasterRCNN()``, ``MaskRCNN()`` or
        ``Localizer()``; what is None in it comes from the data. None: a small Faster R-CNN for images as they are.
    epochs, batch_size : int, default=30, 8
        Passes over the images, and images of one step.
    method : str, method of ``pellucid.optimize`` or function, default="adamw"
        "adam", "adamw", "sgd", any method that takes batches, or a function from groups of parameters to an optimizer.
    learning_rate, schedule : float or function of the epoch, {"cosine", "constant"}, default=0.001, "cosine"
        The rate, and how it falls after a warm-up: to 0 along half a cosine, or not. A function is its own schedule.
    weight_decay, clip_norm : float, float or None, default=0.0001, 10.0
        How strongly weights are pulled to 0; a longer gradient is shortened to this length.
    augmentation : tuple, default=()
        Changes of an image with its objects, such as ``(SceneFlip(), SceneScale(0.7, 1.4), ColorShift())``.
    validation_fraction, patience, tol : default=0.0, None, 0.0
        Share of the images held out to score each epoch; epochs without a gain of ``tol`` before training stops.
    initial_weights : path or None, default=None
        Weights to start from: a safetensors file; "imagenet" for the body EfficientNet-Lite0.
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
        Draws first weights, orders, augmentation, sampled anchors and held-out images.
    proposals : function or None, default=None
        From an image to boxes (n, 4), for R-CNN and Fast R-CNN, which do not make their own; None: selective search.

    Attributes
    ----------
    classes_, channels_ : ndarray, int
        The labels; channels of the images.
    architecture_, weights_, weights_digest_, module_
        The network: settings, arrays by name, a hash of every bit of them; the same as a module of torch.
    training_score_ : float
        Mean average precision of the stored weights on a few training images, in float64.
    n_iter_, trace_, certificate_
        Epochs; losses by epoch; what ``pellucid.verify(model, images, annotations)`` finds again.

    Examples
    --------
    >>> from pellucid.vision.detection import SmallBody, YOLO
    >>> from pellucid.vision.scenes import digit_scenes
    >>> scenes, truth = digit_scenes(4, size=64, most=2)
    >>> model = Detector(YOLO(SmallBody((8, 16, 16))), epochs=2, random_state=0).fit(scenes, truth)
    >>> len(model.predict(scenes)), model.classes_.shape[0] <= 10
    (4, True)
    """

    kinds: ClassVar[Mapping[str, Kind]] = KINDS

    channels_: int
    _loss_parts: LossParts
    """Of the epoch that is trained now."""

    def __init__(
        self,
        architecture: Any = None,
        *,
        epochs: int = 30,
        batch_size: int = 8,
        method: Any = "adamw",
        learning_rate: Any = 0.001,
        schedule: str = "cosine",
        weight_decay: float = 0.0001,
        clip_norm: float | None = 10.0,
        augmentation: tuple[Any, ...] = (),
        validation_fraction: float = 0.0,
        patience: int | None = None,
        tol: float = 0.0,
        initial_weights: Any = None,
        parameter_groups: Any = None,
        device: str = "auto",
        precision: str = "auto",
        channels_last: bool = False,
        deterministic: bool = True,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: RandomState = None,
        proposals: Any = None,
    ) -> None:
        self.architecture = architecture
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
        self.initial_weights = initial_weights
        self.parameter_groups = parameter_groups
        self.device = device
        self.precision = precision
        self.channels_last = channels_last
        self.deterministic = deterministic
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state
        self.proposals = proposals

    def fit(self, images: Data, annotations: Sequence[Annotations | Mapping[str, Any]]) -> Self:
        """Fit to images and the objects in each.

        Parameters
        ----------
        images : array of shape (n, height, width[, channels]), or list of arrays (height, width[, channels])
            Bytes, or floats with white at 1; of different sizes, if they like.
        annotations : list of Annotations, or of mappings with "boxes", "labels" and, for Mask R-CNN, "masks"
            One for each image.
        """
        return self._fit_scenes(images, annotations)

    def predict(self, images: Data) -> list[Detections]:
        """Return what is found in each image: boxes, scores (falling), labels and, of Mask R-CNN, masks."""
        check_is_fitted(self)
        checked = checked_images(images, channels=self.channels_)
        return list(self._found(self._module_on_device(), checked, self.architecture_, self.classes_))

    def score(self, images: Data, annotations: Sequence[Annotations | Mapping[str, Any]]) -> float:
        """Return the mean average precision by COCO's rule, over overlaps from 0.5 to 0.95."""
        return self.evaluate(images, annotations).ap

    def evaluate(
        self,
        images: Data,
        annotations: Sequence[Annotations | Mapping[str, Any]],
        *,
        masks: bool = False,
        **options: Any,
    ) -> AveragePrecision:
        """Return average precisions of predictions, by class and size, with curves and intervals on request."""
        return average_precision(self.predict(images), annotations, masks=masks, **options)

    def _found(self, module: nn.Module, images: Sequence[Array], architecture: Any, classes: Array) -> Any:
        from pellucid.vision.detection.detection_training import found_in

        propose = self._proposer() if architecture.needs_proposals else None
        return found_in(module.eval(), images, classes, propose, self.batch_size)

    def _proposer(self) -> Proposer:
        if self.proposals is not None:
            return self.proposals  # type: ignore[no-any-return]
        from pellucid.vision.detection.region_grouping.selective_search import proposed_boxes

        def propose(image: Array) -> Array:
            least = max(FEWEST_PIXELS, image.shape[0] * image.shape[1] // SMALLEST_REGION)
            return proposed_boxes(image, min_size=least)[:MOST_PROPOSALS].astype(np.float64)

        return propose

    def _check_scenes(self, images: Any, truth: Any, weight: Any = None) -> tuple[AnnotatedImages, dict[str, Any]]:
        """Return checked images with their objects, classes and channels; all faults in one sentence."""
        with needs_extra(type(self).__name__):
            from pellucid.vision.detection.detection_training import AnnotatedImages

        checked = checked_images(images)
        objects = checked_annotations(checked, truth)
        classes = np.unique(np.concatenate([one.labels for one in objects]))
        codes = [np.searchsorted(classes, one.labels).astype(np.int64) for one in objects]
        return AnnotatedImages(checked, objects, codes), {"classes_": classes, "channels_": checked[0].shape[2]}

    def _architecture_for(self, scenes: AnnotatedImages, labels: Mapping[str, Any]) -> Architecture:
        architecture = self.architecture
        if architecture is None:
            from pellucid.vision.detection.networks.small_detectors import SMALL_DETECTORS

            architecture = SMALL_DETECTORS["faster r-cnn"]
        if not hasattr(architecture, "needs_proposals"):
            raise TypeError(f"architecture must be a detector, got {architecture!r}. Use FasterRCNN().")
        height, width, channels = scenes.images[0].shape
        return architecture.for_data((channels, height, width), len(labels["classes_"]))  # type: ignore[no-any-return]

    def _rows(self, scenes: AnnotatedImages, module: nn.Module) -> AnnotatedRows:
        import torch

        from pellucid.vision.detection.detection_training import AnnotatedImages, AnnotatedRows, LossParts

        self._loss_parts = LossParts()
        if module.architecture.needs_proposals:  # type: ignore[union-attr]  # a detector's
            propose = self._proposer()
            found = run_blocks(propose, scenes.images)
            proposals = [np.asarray(boxes, dtype=np.float64).reshape(-1, 4) for boxes in found]
            scenes = AnnotatedImages(scenes.images, scenes.truth, scenes.codes, proposals)
        if self.channels_last:
            module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks this form
        like = next(module.parameters())
        return AnnotatedRows(scenes, like, tuple(self.augmentation), bool(module.masks))

    def _loss(self, module: nn.Module, batch: DetectionBatch) -> Tensor:
        losses = module.training_losses(*batch)  # type: ignore[operator]  # a detector's
        return self._loss_parts.see(losses)

    def _after_epoch(self, run: Training) -> bool:
        """Write the parts of the loss into the trace."""
        run.trace.annotate(**self._loss_parts.means())
        return False

    def _advice(self) -> str:
        blame = self._loss_parts.blame()
        return f"{blame}Lower learning_rate or clip_norm, or look for odd boxes."

    def _adopt(self, run: Training, *rest: Any) -> None:
        del self._loss_parts
        super()._adopt(run, *rest)

    def _score_with(self, module: nn.Module, scenes: AnnotatedImages, labels: Mapping[str, Any]) -> float:
        found = list(self._found(module, scenes.images, module.architecture, labels["classes_"]))
        return average_precision(found, scenes.truth).ap


def checked_annotations(images: Sequence[Array], truth: Any) -> list[Annotations]:
    """Return the objects of checked images; refuse all faults at once, each with its image."""
    if not isinstance(truth, Sequence) or isinstance(truth, str) or len(truth) != len(images):
        count = len(truth) if hasattr(truth, "__len__") else type(truth).__name__
        raise ValueError(f"annotations must be a list with one for each of {len(images)} images, got {count}.")
    found, faults = [], []
    for place, (image, given) in enumerate(zip(images, truth, strict=True)):
        try:
            one = Annotations.of(given)
        except (ValueError, TypeError) as error:
            faults.append(f"image {place}: {str(error).rstrip('.')}")
            continue
        faults += [f"image {place}: {fault}" for fault in _faults_of(one, image)]
        found.append(one)
    raise_faults("annotations must fit their images", faults)
    if not any(len(one) for one in found):
        raise ValueError("annotations must name an object in some image, got none.")
    kinds = {one.labels.dtype.kind in "US" for one in found if len(one)}
    if len(kinds) > 1:
        raise ValueError("labels must be all numbers or all texts, got both. Write them alike.")
    like = next(one.labels.dtype for one in found if len(one))
    return [one if len(one) else Annotations(one.boxes, np.zeros(0, like), masks=one.masks) for one in found]


def _faults_of(one: Annotations, image: Array) -> list[str]:
    """Return what is wrong with boxes and masks of an image."""
    height, width = image.shape[:2]
    faults = []
    for number, box in enumerate(one.boxes.tolist()):
        if box[2] <= box[0] or box[3] <= box[1]:
            faults.append(f"box {number} {box} is empty")
        elif box[0] < -1 or box[1] < -1 or box[2] > width + 1 or box[3] > height + 1:
            faults.append(f"box {number} {box} is outside of {width} x {height} pixels")
    if one.masks is not None and one.masks.shape[1:] != (height, width):
        faults.append(f"masks are of {one.masks.shape[1:]} where the image has {(height, width)}")
    return faults


SCHEMAS = (scene_schema("Detector", __name__, KINDS, {"channels_": COUNT}),)
