"""Support vector machines."""

from pellucid.svm.linear_svc import LinearSVC

__all__ = ["LinearSVC"]
