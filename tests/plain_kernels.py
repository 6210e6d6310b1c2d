"""Compiled loops as plain Python, with all that they call: what only compiled loops call has no way in from Python."""

from __future__ import annotations

from functools import cache
from types import FunctionType


@cache
def in_python(kernel):
    """Return a compiled loop, or a function that calls some, as it was written: all it calls is plain Python too."""
    function = getattr(kernel, "py_func", kernel)
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = in_python(names[name])
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
