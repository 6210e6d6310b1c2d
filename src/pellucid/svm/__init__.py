"""Support vector machines."""

from pellucid.svm.linear_svc.linear_svc import LinearSVC
from pellucid.svm.showing import show_maximum_margin

__all__ = ["LinearSVC", "show_maximum_margin"]
