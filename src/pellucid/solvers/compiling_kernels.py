"""How loops are compiled: what only compiled loops call, and what is kept on disk until one of its files changes."""

# mypy: allow-untyped-defs

import hashlib
import re
from collections.abc import Callable
from functools import cache, update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any, Self

ROOM = Path(__file__).parents[1]
"""Where the files of the package are."""

PLAIN: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
LEAN: dict[str, Any] = {**PLAIN, "_nrt": False}
"""For loops that allocate nothing: their arrays need no reference counts."""
INNER: dict[str, Any] = {**LEAN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}

_making = RLock()


class Loop:
    """A function that is compiled, or read from disk, when it is first called.

    Until then not even the compiler is imported: to read the file of a loop costs nothing, and many answers need none.
    """

    def __new__(cls, *_given: Any) -> Self:
        """Return the only loop of a class of its own, whose calls can be sent straight to the compiled code."""
        return super().__new__(type(cls.__name__, (cls,), {}))

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func, self._options = function, options
        update_wrapper(self, function)

    def __call__(self, *given: Any) -> Any:
        """Compile, and run."""
        return self.compiled(*given)

    @property
    def compiled(self) -> Any:
        """The compiler's object."""
        with _making:
            if "_compiled" not in vars(self):
                from numba import njit

                self._compiled = _stamped(njit(**self._options, pipeline_class=_compiler())(self.py_func))
                type(self).__call__ = staticmethod(self._compiled)  # type: ignore[method-assign]  # own class
        return self._compiled

    @property
    def _numba_type_(self) -> Any:  # what the compiler asks of a loop that another one calls
        return self.compiled._numba_type_


@cache
def _compiler() -> Any:
    """Return the compiler of code that calls its own copies of what it calls, which give the same bits everywhere.

    The copies in a loop are optimized once more than what they are copies of, and sums that may be taken in any order
    are then taken in another one. Left to the linker, a loop would call the original in the process that compiles it,
    its own copy where it is read from disk, and that of another loop where that one came first.
    """
    from llvmlite.binding import Linkage
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    class OwnCopies(JITCodeLibrary):
        def _finalize_final_module(self):
            functions = self._final_module.functions
            copies = [one for one in functions if one.linkage == Linkage.linkonce_odr and not one.is_declaration]
            for copy in copies:
                copy.linkage = Linkage.internal
            super()._finalize_final_module()
            for copy in copies:  # the code is made; whoever has this loop compiled in shares the copies with it
                copy.linkage = Linkage.linkonce_odr

    class OwnCopiesCompiler(Compiler):
        def compile_extra(self, func):
            self.state.library = OwnCopies(self.state.targetctx.codegen(), func.__qualname__)
            self.state.library.enable_object_caching()
            return super().compile_extra(func)

    return OwnCopiesCompiler


def loop(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of loops with these options of the compiler."""
    return lambda function: Loop(function, options)


lean = loop(**INNER)
"""For what allocates nothing and only compiled loops call: code to call it from Python is a quarter of the time."""

lean_in_any_order = loop(**INNER, fastmath=ANY_ORDER)
"""The same for a largest, least or sum of numbers that may be taken in any order; infinity may be among them."""

lean_inlined = loop(**INNER, forceinline=True)
"""For what is called once, or in the innermost loop: passing arrays on takes longer than a loop over few rows."""

lean_inlined_in_any_order = loop(**INNER, forceinline=True, fastmath=ANY_ORDER)
"""Both at once."""


def kept(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Have the code of a loop kept on disk; further options are the compiler's, such as ``fastmath``."""
    decorator = loop(cache=True, **(PLAIN | options))
    return decorator if function is None else decorator(function)


lean_and_kept: Any = kept(**LEAN)
"""The same for a loop that allocates nothing."""


def is_kept(kernel: Loop) -> bool:
    """Return whether code of a loop is on disk, for some kind of arguments."""
    index = _index_of(kernel.compiled)
    return bool(hasattr(index, "_load_index") and index._load_index())


def _stamped(compiled: Any) -> Any:
    """Return the compiler's object of a loop, which will not read from disk what was compiled from other files.

    It would take kept code for fresh as long as the file of the function is the same, though other files are compiled
    into it: with a constant changed elsewhere it would write past the end of an array.
    """
    index = _index_of(compiled)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, stamp_of(Path(compiled.py_func.__code__.co_filename)))
    return compiled


def _index_of(compiled: Any) -> Any:
    return getattr(getattr(compiled, "_cache", None), "_cache_file", None)


def stamp_of(path: Path) -> str:
    """Return a hash of a file and of all files of ours that it imports from, by whatever way."""
    found = hashlib.sha256()
    for file in sorted(_files_behind(path)):
        found.update(file.read_bytes())
    return found.hexdigest()


def _files_behind(path: Path) -> set[Path]:
    found, waiting = set[Path](), [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported_by(file)
    return found


@cache
def _imported_by(path: Path) -> list[Path]:
    """Return the files of ours that a file may import: to parse it would take longer than to read code from disk."""
    text = path.read_text(encoding="utf-8")
    words, found = set(re.findall(r"\w+", text)), list[Path]()
    for module in sorted(set(re.findall(r"\b(?:from|import)\s+(pellucid[\w.]*)", text))):
        place = ROOM.parent.joinpath(*module.split("."))
        file = place.with_suffix(".py")
        found += [file] if file.exists() else [one for one in sorted(place.glob("*.py")) if one.stem in words]
    return found
