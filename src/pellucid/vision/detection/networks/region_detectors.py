"""The R-CNN family: R-CNN, Fast R-CNN, Faster R-CNN and Mask R-CNN, each one step from the one before."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Whole
from pellucid.vision.detection.boxes.anchors import AnchorGrid
from pellucid.vision.detection.networks.backbones import BODIES, PYRAMIDS, FeaturePyramid, ResNetBody, SmallBody
from pellucid.vision.detection.networks.detection_network import (
    IMAGE_SETTINGS,
    DetectionNetwork,
    DetectorArchitecture,
    Found,
    Objects,
    Sized,
)
from pellucid.vision.detection.networks.region_heads import (
    BoxPredictor,
    MaskHead,
    MaskPredictor,
    TwoDense,
    choose_regions,
    found_in_regions,
    mask_loss,
    objects_only,
    region_losses,
)
from pellucid.vision.detection.networks.region_pooling import numbered, pool_levels, roi_align, roi_pool
from pellucid.vision.detection.networks.region_proposals import RegionProposals
from pellucid.vision.models.image_network import flattened_mean

CELLS, MASK_CELLS = 7, 14
"""Cells per side of a region: for its class and box, and for its mask."""

RATIOS = (0.5, 1.0, 2.0)

SHARED_SETTINGS = {**IMAGE_SETTINGS, "regions": Whole(8, 4096)}


@dataclass(frozen=True)
class RCNN(DetectorArchitecture):
    """Regions with CNN features (Girshick 2014): every proposal is cut out of the image, resized, and classified.

    One network runs once per region: the slowest of the family, and the plainest. Proposals come from selective
    search. Class and box are learned together here; the paper trained linear SVMs on stored features.

    Parameters
    ----------
    body : SmallBody or ResNetBody
        Network of one region.
    crop : int, default=48
        Side to which a region is resized.
    classes : int or None, default=None
        Classes of objects, background not counted; None: as many as the data have.
    channels : int or None, default=None
        Channels of the images; None: as many as the data have.
    short_side : int or None, default=None
        Pixels to which the shorter side of an image is resized; None: images stay as they are.
    long_side : int or None, default=None
        Most pixels of the longer side: it wins over ``short_side``, without which it has no effect; None: 8192.
    regions : int, default=64
        Regions of an image that learn in one step.
    """

    body: SmallBody | ResNetBody = SmallBody((32, 64, 128))
    crop: int = 48
    classes: int | None = None
    channels: int | None = None
    short_side: int | None = None
    long_side: int | None = None
    regions: int = 64

    settings: ClassVar = {"body": BODIES, "crop": Whole(8, 512), **SHARED_SETTINGS}

    @property
    def needs_proposals(self) -> bool:
        """Selective search says where to look."""
        return True

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return CroppedRegions(self)


@dataclass(frozen=True)
class FastRCNN(DetectorArchitecture):
    """Fast R-CNN (Girshick 2015): the network runs once per image; regions are cut out of its maps by RoI pool.

    Parameters
    ----------
    body : SmallBody or ResNetBody
        Network of the image; its map at ``stride`` is used, of a ``SmallBody`` its last one.
    stride : {4, 8, 16, 32}, default=8
        Pixels between two places of that map.
    width : int, default=256
        Units of the two dense layers.
    classes : int or None, default=None
        Classes of objects, background not counted; None: as many as the data have.
    channels : int or None, default=None
        Channels of the images; None: as many as the data have.
    short_side : int or None, default=None
        Pixels to which the shorter side of an image is resized; None: images stay as they are.
    long_side : int or None, default=None
        Most pixels of the longer side: it wins over ``short_side``, without which it has no effect; None: 8192.
    regions : int, default=128
        Regions of an image that learn in one step.
    """

    body: SmallBody | ResNetBody = SmallBody((32, 64))
    stride: int = 8
    width: int = 256
    classes: int | None = None
    channels: int | None = None
    short_side: int | None = None
    long_side: int | None = None
    regions: int = 128

    settings: ClassVar = {"body": BODIES, "stride": Whole(4, 32), "width": Whole(1, 8192), **SHARED_SETTINGS}

    @property
    def needs_proposals(self) -> bool:
        """Selective search says where to look."""
        return True

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return PooledRegions(self)


@dataclass(frozen=True)
class FasterRCNN(DetectorArchitecture):
    """Faster R-CNN on a feature pyramid (Ren 2015, Lin 2017): a small network proposes the regions, four losses.

    With its defaults the names and shapes of all weights are torchvision's (``fasterrcnn_resnet50_fpn``).

    Parameters
    ----------
    backbone : FeaturePyramid
        From images to levels.
    anchor_sizes : tuple of int
        Side of the anchors of each level, in pixels; each comes in three shapes.
    width : int, default=1024
        Units of the two dense layers.
    classes : int or None, default=None
        Classes of objects, background not counted; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images; None: as many as the data have.
    short_side : int or None, default=800
        Pixels to which the shorter side of an image is resized; None: images stay as they are.
    long_side : int or None, default=1333
        Most pixels of the longer side: it wins over ``short_side``, without which it has no effect; None: 8192.
    regions : int, default=512
        Regions of an image that learn in one step.

    Examples
    --------
    >>> with torch.device("meta"):
    ...     sum(weight.numel() for weight in FasterRCNN(classes=90).build().parameters())
    41755286
    """

    backbone: FeaturePyramid = FeaturePyramid()
    anchor_sizes: tuple[int, ...] = (32, 64, 128, 256, 512)
    width: int = 1024
    classes: int | None = None
    channels: int | None = 3
    short_side: int | None = 800
    long_side: int | None = 1333
    regions: int = 512

    settings: ClassVar = {
        "backbone": PYRAMIDS,
        "anchor_sizes": Items(Whole(1, 8192)),
        "width": Whole(1, 8192),
        **SHARED_SETTINGS,
    }

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return ProposedRegions(self)


@dataclass(frozen=True)
class MaskRCNN(FasterRCNN):
    """Mask R-CNN (He 2017): Faster R-CNN, and for each region the pixels of the object.

    Parameters
    ----------
    backbone : FeaturePyramid
        From images to levels.
    anchor_sizes : tuple of int
        Side of the anchors of each level, in pixels; each comes in three shapes.
    width : int, default=1024
        Units of the two dense layers.
    classes : int or None, default=None
        Classes of objects, background not counted; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images; None: as many as the data have.
    short_side : int or None, default=800
        Pixels to which the shorter side of an image is resized; None: images stay as they are.
    long_side : int or None, default=1333
        Most pixels of the longer side: it wins over ``short_side``, without which it has no effect; None: 8192.
    regions : int, default=512
        Regions of an image that learn in one step.
    mask_width : int, default=256
        Maps of the convolutions that find the mask.

    Examples
    --------
    >>> with torch.device("meta"):
    ...     sum(weight.numel() for weight in MaskRCNN(classes=90).build().parameters())
    44401393
    """

    mask_width: int = 256

    settings: ClassVar = {**FasterRCNN.settings, "mask_width": Whole(1, 4096)}


class RegionNetwork(DetectionNetwork):
    """Transform, features, proposals, heads: what the family shares. A child says how each of them is done."""

    def losses(self, batch: Sized, objects: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the losses of the proposals, if they are learned, and of the heads."""
        maps = self.features(batch.images)
        proposals, losses = self.propose(batch, maps, objects)
        regions = choose_regions(proposals, objects, self.architecture.regions)
        scores, offsets = self.judge(maps, regions.boxes)
        losses |= region_losses(scores, offsets, regions)
        if self.masks:
            seen = objects_only(regions)
            losses["mask"] = mask_loss(self.outline(maps, seen.boxes), seen, objects)
        return losses

    def find(self, batch: Sized, proposals: Sequence[Tensor] | None = None) -> list[Found]:
        """Return what is found in the proposals."""
        maps = self.features(batch.images)
        if proposals is None:
            proposals, _ = self.propose(batch, maps, None)
        scores, offsets = self.judge(maps, proposals)
        found = found_in_regions(scores, offsets, proposals, batch.sizes)
        return self._with_masks(maps, found) if self.masks else found

    def _with_masks(self, maps: list[Tensor], found: list[Found]) -> list[Found]:
        """Return the findings with the chance of each of 28 x 28 pixels of their boxes."""
        scores = torch.sigmoid(self.outline(maps, [one.boxes for one in found]))
        counts = [len(one.boxes) for one in found]
        return [
            one._replace(masks=own[torch.arange(len(own), device=own.device), one.labels + 1][:, None])
            for one, own in zip(found, scores.split(counts), strict=True)
        ]

    def propose(
        self, batch: Sized, maps: list[Tensor], objects: Sequence[Objects] | None
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        """Return the proposals of each image, and the losses of proposing while it trains: those that were given."""
        if objects is None or any(one.proposals is None for one in objects):
            raise ValueError("proposals must be given to a network that does not make them. Use selective_search.")
        return [one.proposals for one in objects if one.proposals is not None], {}

    @abstractmethod
    def features(self, images: Tensor) -> list[Tensor]:
        """Return the maps of a batch."""

    @abstractmethod
    def judge(self, maps: list[Tensor], boxes: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Return scores and offsets of all regions, one after the other."""

    def outline(self, maps: list[Tensor], boxes: Sequence[Tensor]) -> Tensor:
        """Return the scores of the pixels of all regions."""
        raise NotImplementedError


class CroppedRegions(RegionNetwork):
    """R-CNN: the "maps" are the image itself, and a network of its own looks at each region."""

    def __init__(self, settings: RCNN) -> None:
        super().__init__(settings)
        self.crop = settings.crop
        self.body = settings.body.build(self.channels)
        self.box_predictor = BoxPredictor(settings.body.maps[-1], self.classes)

    def features(self, images: Tensor) -> list[Tensor]:
        """Return the pixels."""
        return [images]

    def judge(self, maps: list[Tensor], boxes: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Return scores and offsets of the resized regions."""
        regions = roi_align(maps[0], numbered(boxes), self.crop)
        return self.box_predictor(flattened_mean(self.body(regions)[-1]))  # type: ignore[no-any-return]


class PooledRegions(RegionNetwork):
    """Fast R-CNN: one map of the image, RoI pool, two dense layers."""

    def __init__(self, settings: FastRCNN) -> None:
        super().__init__(settings)
        self.stride = settings.stride
        self.level = settings.stride.bit_length() - 3
        strides = [4 * 2**level for level in range(len(settings.body.maps))]
        if isinstance(settings.body, SmallBody):  # stages behind the map would learn nothing
            strides = strides[-1:]
        if settings.stride not in strides:
            raise ValueError(f"stride must be one of the body's, {strides}, got {settings.stride}.")
        self.body = settings.body.build(self.channels)
        self.box_head = TwoDense(settings.body.maps[self.level] * CELLS**2, settings.width)
        self.box_predictor = BoxPredictor(settings.width, self.classes)

    def features(self, images: Tensor) -> list[Tensor]:
        """Return the map at the stride."""
        return [self.body(images)[self.level]]

    def judge(self, maps: list[Tensor], boxes: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Return scores and offsets of the pooled regions."""
        regions = roi_pool(maps[0], numbered(boxes), CELLS, 1.0 / self.stride)
        return self.box_predictor(self.box_head(regions))  # type: ignore[no-any-return]


class ProposedRegions(RegionNetwork):
    """Faster and Mask R-CNN: a pyramid, a proposal network on it, RoI align, heads."""

    def __init__(self, settings: FasterRCNN) -> None:
        super().__init__(settings)
        pyramid, self.masks = settings.backbone, isinstance(settings, MaskRCNN)
        if len(settings.anchor_sizes) != len(pyramid.levels):
            count, given = len(pyramid.levels), settings.anchor_sizes
            raise ValueError(f"anchor_sizes must be one for each of {count} levels of the backbone, got {given}.")
        self.strides = pyramid.strides if pyramid.more == "none" else pyramid.strides[:-1]
        self.backbone = pyramid.build(self.channels)
        grid = AnchorGrid(tuple((size,) for size in settings.anchor_sizes), (RATIOS,) * len(settings.anchor_sizes))
        self.rpn = RegionProposals(pyramid.maps, grid)
        self.roi_heads = nn.ModuleDict(
            {
                "box_head": TwoDense(pyramid.maps * CELLS**2, settings.width),
                "box_predictor": BoxPredictor(settings.width, self.classes),
            }
        )
        if isinstance(settings, MaskRCNN):
            self.roi_heads["mask_head"] = MaskHead(pyramid.maps, settings.mask_width)
            self.roi_heads["mask_predictor"] = MaskPredictor(settings.mask_width, self.classes)

    def features(self, images: Tensor) -> list[Tensor]:
        """Return the levels of the pyramid."""
        return self.backbone(images)  # type: ignore[no-any-return]

    def propose(
        self, batch: Sized, maps: list[Tensor], objects: Sequence[Objects] | None
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        """Return the proposals of the network, and its two losses."""
        proposals, scores, offsets, anchors = self.rpn(batch, maps)
        return proposals, {} if objects is None else self.rpn.losses(scores, offsets, anchors, objects)

    def judge(self, maps: list[Tensor], boxes: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Return scores and offsets of the aligned regions."""
        regions = pool_levels(maps[: len(self.strides)], boxes, CELLS, self.strides)
        return self.roi_heads["box_predictor"](self.roi_heads["box_head"](regions))  # type: ignore[no-any-return]

    def outline(self, maps: list[Tensor], boxes: Sequence[Tensor]) -> Tensor:
        """Return the scores of 28 x 28 pixels of each region, for every class."""
        regions = pool_levels(maps[: len(self.strides)], boxes, MASK_CELLS, self.strides)
        return self.roi_heads["mask_predictor"](self.roi_heads["mask_head"](regions))  # type: ignore[no-any-return]
