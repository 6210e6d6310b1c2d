"""Changes of images that keep their label: whole batches on their device, drawn from one generator."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

__all__ = ["Crop", "CutOut", "Flip", "MixUp", "Shift", "augment"]

if TYPE_CHECKING:
    from pellucid.vision.augmentation.augmentations import Crop, CutOut, Flip, MixUp, Shift, augment

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, __all__)
