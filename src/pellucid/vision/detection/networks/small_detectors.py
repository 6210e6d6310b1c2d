"""Small detectors of every kind, for scenes of about 320 pixels: at most 1.25 million weights, 5 MB each."""

from pellucid.vision.detection.networks.backbones import FeaturePyramid, SmallBody
from pellucid.vision.detection.networks.detection_network import DetectorArchitecture
from pellucid.vision.detection.networks.region_detectors import RCNN, FasterRCNN, FastRCNN, MaskRCNN
from pellucid.vision.detection.networks.retinanet import RetinaNet
from pellucid.vision.detection.networks.ssd import SSD
from pellucid.vision.detection.networks.yolo import YOLO

BODY = SmallBody((24, 48, 96, 128))

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
    "retinanet": RetinaNet(
        FeaturePyramid(BODY, maps=64, first=0, more="none"),
        anchor_sizes=(16, 28, 48, 80),
        layers=2,
        channels=None,
        short_side=None,
        long_side=None,
    ),
    "r-cnn": RCNN(SmallBody((32, 64, 128)), crop=48, regions=48),
    "fast r-cnn": FastRCNN(SmallBody((32,)), stride=4, width=192, regions=96),
    "faster r-cnn": FasterRCNN(
        FeaturePyramid(BODY, maps=64, first=0, more="none"),
        anchor_sizes=(16, 28, 48, 80),
        width=176,
        channels=None,
        short_side=None,
        long_side=None,
        regions=128,
    ),
    "mask r-cnn": MaskRCNN(
        FeaturePyramid(BODY, maps=64, first=0, more="none"),
        anchor_sizes=(16, 28, 48, 80),
        width=144,
        channels=None,
        short_side=None,
        long_side=None,
        regions=128,
        mask_width=48,
    ),
}
