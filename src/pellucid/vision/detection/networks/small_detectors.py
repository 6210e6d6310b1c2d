"""Small detectors of every kind, for scenes of about 320 pixels: at most 1.25 million weights, 5 MB each."""

from typing import Any

from pellucid.vision.detection.networks.backbones import FeaturePyramid, SmallBody
from pellucid.vision.detection.networks.detection_network import DetectorArchitecture
from pellucid.vision.detection.networks.region_detectors import RCNN, FasterRCNN, FastRCNN, MaskRCNN
from pellucid.vision.detection.networks.retinanet import RetinaNet
from pellucid.vision.detection.networks.ssd import SSD
from pellucid.vision.detection.networks.yolo import YOLO

PYRAMID = FeaturePyramid(SmallBody((24, 48, 96, 128)), maps=64, more="none")
AS_THEY_ARE: dict[str, Any] = {
    "anchor_sizes": (16, 28, 48, 80),
    "channels": None,
    "short_side": None,
    "long_side": None,
}
"""Anchors for the levels of the pyramid; images of any channels, not resized."""

SMALL_DETECTORS: dict[str, DetectorArchitecture] = {
    "yolo v1": YOLO(SmallBody((32, 64, 128)), boxes=2, width=192),
    "yolo": YOLO(SmallBody((32, 64, 128)), anchors=((12.0, 18.0), (20.0, 30.0), (32.0, 48.0), (50.0, 75.0)), width=192),
    "ssd": SSD(
        SmallBody((40, 56, 88, 120), blocks=2),
        ratios=((2.0,), (2.0,), (2.0,), (2.0,)),
        scales=(0.05, 0.085, 0.145, 0.24, 0.4),
        steps=None,
        side=None,
        channels=None,
    ),
    "retinanet": RetinaNet(PYRAMID, layers=2, **AS_THEY_ARE),
    "r-cnn": RCNN(SmallBody((32, 64, 128)), crop=48, regions=48),
    "fast r-cnn": FastRCNN(SmallBody((32,)), stride=4, width=192, regions=96),
    "faster r-cnn": FasterRCNN(PYRAMID, width=176, regions=128, **AS_THEY_ARE),
    "mask r-cnn": MaskRCNN(PYRAMID, width=144, regions=128, mask_width=48, **AS_THEY_ARE),
}
