"""Loops in CUDA C: compiled for a card when they are first asked for, by the compiler that torch brings along.

What Triton cannot say stands in these: which thread of a warp holds which number. Where compiler, driver or card are
missing, or are not NVIDIA's, there is no loop, and plain torch does the same work.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

USUAL_SHARED, MOST_SHARED = 48 * 1024, 8
"""Bytes that a block may always have, and the driver's number for the attribute that allows more."""
LAUNCH_FAILED = "the card refused to start {name}: CUDA error {code}"


def run_cuda_loop(
    package: str, name: str, constants: Mapping[str, int | str], blocks: int, threads: int, *given: Any, shared: int = 0
) -> bool:
    """Run the function of ``name.cu`` in a package on the device of its first tensor; return whether that could be."""
    import torch

    loop = _loop(package, name, given[0].device, tuple(constants.items()))
    if loop is None:
        return False
    try:
        with torch.cuda.device(given[0].device):
            loop(blocks, threads, *given, shared=shared)
    except CudaError:
        return False
    return True


@cache
def _loop(package: str, name: str, there: Any, constants: tuple[tuple[str, int | str], ...]) -> CudaLoop | None:
    """Return a function for a card; None where it cannot be had, which is found out once."""
    import torch

    source = files(package).joinpath(f"{name}.cu").read_text(encoding="utf-8")
    major, minor = torch.cuda.get_device_capability(there)
    options = [
        "--std=c++17",
        f"--gpu-architecture=sm_{major}{minor}",
        *(f"-D{key}={value}" for key, value in constants),
    ]
    version = str(torch.version.cuda).partition(".")[0]
    try:
        with torch.cuda.device(there):
            return CudaLoop(_compiled(source, options, version), name)
    except (OSError, AttributeError, CudaError):  # no compiler, an old one, or a card that cannot do it
        return None


class CudaError(RuntimeError):
    """What compiler or driver answered in place of a result."""


class CudaLoop:
    """A compiled function, called on the current stream with tensors and numbers."""

    def __init__(self, binary: bytes, name: str) -> None:
        self.name, self._shared = name, USUAL_SHARED
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        _ask(_driver().cuModuleLoadData(ctypes.byref(self._module), binary), "no module")
        function = _driver().cuModuleGetFunction(ctypes.byref(self._function), self._module, name.encode())
        _ask(function, "no such function")

    def __call__(self, blocks: int, threads: int, *given: Any, shared: int = 0) -> None:
        """Start it: a tensor stands for its place in memory, a whole number has 64 bits, any other is a double.

        ``shared`` are bytes of memory that a block of threads has for itself.
        """
        import torch

        if shared > self._shared:
            _ask(_driver().cuFuncSetAttribute(self._function, MOST_SHARED, shared), "no room for a block")
            self._shared = shared
        kinds = [_argument(one) for one in given]
        places = (ctypes.c_void_p * len(kinds))(*(ctypes.cast(ctypes.byref(one), ctypes.c_void_p) for one in kinds))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = _driver().cuLaunchKernel(self._function, blocks, 1, 1, threads, 1, 1, shared, stream, places, None)
        _ask(code, LAUNCH_FAILED.format(name=self.name, code=code))


def _argument(value: Any) -> Any:
    if isinstance(value, int):
        return ctypes.c_int64(value)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_void_p(value.data_ptr())


def _compiled(source: str, options: list[str], version: str) -> bytes:
    """Return machine code for a card, from a source in CUDA C."""
    compiler, program = _compiler(version), ctypes.c_void_p()
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    _ask(compiler.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"loop.cu", 0, None, None), "no program")
    try:
        if compiler.nvrtcCompileProgram(program, len(options), given):
            raise CudaError(_read(compiler.nvrtcGetProgramLogSize, compiler.nvrtcGetProgramLog, program).decode())
        return _read(compiler.nvrtcGetCUBINSize, compiler.nvrtcGetCUBIN, program)
    finally:
        compiler.nvrtcDestroyProgram(ctypes.byref(program))


def _read(size_of: Any, write: Any, program: Any) -> bytes:
    size = ctypes.c_size_t()
    _ask(size_of(program, ctypes.byref(size)), "no result")
    room = ctypes.create_string_buffer(size.value)
    _ask(write(program, room), "no result")
    return room.raw


def _ask(code: int, otherwise: str) -> None:
    if code:
        raise CudaError(otherwise)


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


@cache
def _compiler(version: str) -> Any:
    try:
        return ctypes.CDLL(f"libnvrtc.so.{version}")
    except OSError:  # beside torch's own library that asks for it
        from pathlib import Path

        import torch

        ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libcaffe2_nvrtc.so"))
        return ctypes.CDLL(f"libnvrtc.so.{version}")
