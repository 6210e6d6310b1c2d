"""Support vector machines."""

from typing import TYPE_CHECKING, Any

from pellucid.svm.linear_svc.linear_svc import LinearSVC

if TYPE_CHECKING:
    from pellucid.svm.maximum_margin_workings import show_maximum_margin


def __getattr__(name: str) -> Any:
    if name == "show_maximum_margin":  # it needs SymPy, which takes long to import
        from pellucid.svm.maximum_margin_workings import show_maximum_margin

        return show_maximum_margin
    raise AttributeError(f"module 'pellucid.svm' has no attribute {name!r}")


__all__ = ["LinearSVC", "show_maximum_margin"]
