"""Support vector machines."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder
from pellucid.svm.linear_svc.linear_svc import LinearSVC
from pellucid.svm.linear_svr.linear_svr import LinearSVR

if TYPE_CHECKING:
    from pellucid.svm.maximum_margin_workings import show_maximum_margin

__all__ = ["LinearSVC", "LinearSVR", "show_maximum_margin"]

# it needs SymPy, which takes long to import
__getattr__ = name_finder(__name__, {"show_maximum_margin": "pellucid.svm.maximum_margin_workings"})
