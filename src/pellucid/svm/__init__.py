"""Support vector machines."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:
    from pellucid.svm.linear_svc.linear_svc import LinearSVC
    from pellucid.svm.linear_svc.linear_svc_workings import show_maximum_margin
    from pellucid.svm.linear_svc.linear_svr import LinearSVR
    from pellucid.svm.svc.svc import SVC
    from pellucid.svm.svc.svr import SVR

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "show_maximum_margin"]

__getattr__ = name_finder(__name__)
