"""Transfer: what a network has learned from many images, used for others of which there are few."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

__all__ = ["TransferPlan", "fine_tune", "load_weights", "recommend_transfer", "replace_head"]

if TYPE_CHECKING:
    from pellucid.vision.transfer.recommendation import TransferPlan, recommend_transfer
    from pellucid.vision.transfer.transfer_learning import fine_tune, load_weights, replace_head

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, ("fine_tune", "load_weights", "replace_head"))
