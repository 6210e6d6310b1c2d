"""How loops are compiled: what only compiled loops call, and what is kept on disk until one of its files changes."""

# mypy: allow-untyped-defs

import gc
import hashlib
import pickle
import re
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache, update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any, Self

ROOM = Path(__file__).parents[1]
"""Where the files of the package are."""

PLAIN: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
LEAN: dict[str, Any] = {**PLAIN, "_nrt": False}
"""For loops that allocate nothing: their arrays need no reference counts."""
INNER: dict[str, Any] = {**LEAN, "no_cpython_wrapper": True}

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}

SEAL = hashlib.sha256().digest_size
"""Bytes at the start of a kept file: the hash of what follows, and of the files that it was compiled from."""

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

                options = {name: value for name, value in self._options.items() if name != "cache"}
                self._compiled = njit(**options, pipeline_class=_compiler())(self.py_func)
                if "cache" in self._options:
                    _keep(self._compiled)
                type(self).__call__ = staticmethod(self._compiled)  # type: ignore[method-assign]  # own class
        return self._compiled

    @property
    def _numba_type_(self) -> Any:  # what the compiler asks of a loop that another one calls
        return self.compiled._numba_type_


@cache
def _compiler() -> Any:
    """Return the compiler of code that calls its own copies of what it calls, which give the same bits everywhere.

    What only others call has therefore no code of its own, and is optimized where it is copied to.

    The copies in a loop are optimized once more than what they are copies of, and sums that may be taken in any order
    are then taken in another one. Left to the linker, a loop would call the original in the process that compiles it,
    its own copy where it is read from disk, and that of another loop where that one came first.
    """
    from llvmlite.binding import Linkage
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    QuickFlags, looking_up_once = _quick_look_ups()

    class OwnCopies(JITCodeLibrary):
        def _finalize_final_module(self):
            functions = self._final_module.functions
            copies = [one for one in functions if one.linkage == Linkage.linkonce_odr and not one.is_declaration]
            for copy in copies:
                copy.linkage = Linkage.internal
            super()._finalize_final_module()
            for copy in copies:  # the code is made; whoever has this loop compiled in shares the copies with it
                copy.linkage = Linkage.linkonce_odr

    class NoCode(JITCodeLibrary):
        """Of a loop that only others call: they have copies, so that code of its own would never run."""

        in_any_order = False

        def _optimize_final_module(self):
            if self.in_any_order:  # a sum would have another order if it were optimized once less
                super()._optimize_final_module()

        def _finalize_final_module(self):
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, _name):
            self._ensure_finalized()
            return 0

        codegen = property(lambda self: self)

        def set_env(self, _name, _env):
            pass

    class OwnCopiesCompiler(Compiler):
        def compile_extra(self, func):
            flags = self.state.flags
            kind = NoCode if flags.no_cpython_wrapper else OwnCopies
            self.state.library = kind(self.state.targetctx.codegen(), func.__qualname__)
            self.state.library.in_any_order = bool(flags.fastmath)
            self.state.library.enable_object_caching()
            self.state.flags = QuickFlags(flags)
            collects = gc.isenabled()
            gc.disable()  # the compiler makes millions of objects and keeps most of them
            try:
                with looking_up_once():
                    return super().compile_extra(func)
            finally:
                if collects:
                    gc.enable()

    return OwnCopiesCompiler


def _quick_look_ups() -> Any:
    """Return options that compare quickly, and a context in which numba looks up once how its functions are called.

    It looks for ``a[i]`` among all that can be indexed, whenever it meets one, and compares the options of the compiler
    on the way, default by default: a quarter of the time of a first fit. What it finds is the same.
    """
    from numba.core.compiler import Flags
    from numba.core.targetconfig import ConfigStack
    from numba.core.types import Function

    defaults, any_hash = Flags().values(), hash(Flags())

    class QuickFlags(Flags):
        def values(self):
            return defaults | self._values

        def __hash__(self):
            return any_hash  # the same for all, as numba's

        def __eq__(self, other):
            return (isinstance(other, Flags) and self._values == other._values) or super().__eq__(other)

    found, look_up = {}, Function.get_call_type

    def remembered(self, context, args, kws):
        key = (id(self), context, tuple(args), tuple(kws.items()), ConfigStack.top_or_none())
        if key not in found:
            found[key] = self, look_up(self, context, args, kws)  # with itself, so that its id is not given again
        return found[key][1]

    @contextmanager
    def looking_up_once():  # while we compile, and never for others: the compiler has one lock
        before, Function.get_call_type = Function.get_call_type, remembered  # type: ignore[method-assign]
        try:
            yield
        finally:
            Function.get_call_type = before  # type: ignore[method-assign]

    return QuickFlags, looking_up_once


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
    files = getattr(getattr(kernel.compiled, "_cache", None), "_cache_file", None)
    return files is not None and files.are_there()


def _keep(compiled: Any) -> None:
    """Have the code of a loop kept on disk, one file for each kind of arguments, if there is a folder for it.

    numba's own way takes kept code for fresh as long as the file of the function is the same, though other files are
    compiled into it: with a constant changed elsewhere it would write past the end of an array. It believes what is in
    a file, and an index of files that two processes can write at once, or that is written before what it names: code
    for other arguments would run. Here a file that is not whole, or is of another source, is as good as none.
    """
    from numba.core.caching import FunctionCache, IndexDataCacheFile

    class Files(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
        def _path(self, kind: str) -> Path:
            return Path(self._cache_path, self._index_name).with_suffix(f".{kind}.nbc")

        def _seal(self, data: bytes) -> bytes:
            return hashlib.sha256(repr((self._version, self._source_stamp)).encode() + data).digest()

        def _read(self, path: Path) -> bytes | None:
            with suppress(OSError):
                found = path.read_bytes()
                if found[:SEAL] == self._seal(found[SEAL:]):
                    return found[SEAL:]
            return None

        def _path_for(self, key: Any) -> Path:
            return self._path(hashlib.sha256(repr(key[:2]).encode()).hexdigest()[:16])

        def save(self, key: Any, data: Any) -> None:
            data = self._dump((key, data))
            with self._open_for_write(str(self._path_for(key))) as file:
                file.write(self._seal(data) + data)

        def load(self, key: Any) -> Any:
            found = self._read(self._path_for(key))
            kept_key, data = pickle.loads(found) if found else (None, None)
            return data if kept_key == key else None

        def are_there(self) -> bool:
            return any(self._read(path) for path in Path(self._cache_path).glob(self._path("*").name))

    class Cache(FunctionCache):  # type: ignore[misc]
        def _guard_against_spurious_io_errors(self) -> Any:
            return suppress(OSError)  # what cannot be read or written is compiled, this time and the next

    with suppress(RuntimeError, OSError):  # no folder, or none that can be written
        cache = Cache(compiled.py_func)
        stamp = cache._cache_file._source_stamp, stamp_of(Path(compiled.py_func.__code__.co_filename))
        cache._cache_file = Files(cache.cache_path, cache._impl.filename_base, stamp)
        compiled._cache = cache


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
