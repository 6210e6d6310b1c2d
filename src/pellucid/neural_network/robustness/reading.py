"""Reads a torch module into the steps whose bounds we know, by watching what it computes for one input.

Whatever Python the module is written in, torch carries it out as a few basic operations (*aten*). Those that touch
something made from the input become steps; everything else, such as a transposed weight, is a constant.

The reading is closed: what it does not know, it refuses. Tensors made from the input hide their numbers, so that no
Python can decide by them unseen; whoever changes one in place makes all others that share its memory unusable; and
neither the input, nor the module, nor chance may change anything while the module computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_modules
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from pellucid.neural_network.modules.model_input import predicting
from pellucid.neural_network.robustness.operations import FROM_INPUT, IN_PLACE, READABLE, READERS, Operation
from pellucid.proofs.neural_network.network_steps import (
    DenseStep,
    Network,
    NetworkStep,
    Shape,
)

BATCHES = (3, 5)
"""Inputs in the batches that are watched: what is read must not depend on how many there are."""

HOOKS = ("forward_pre_hooks", "forward_hooks", "backward_pre_hooks", "backward_hooks")
"""What torch calls around a module, for one as ``_forward_hooks``, for all as ``_global_forward_hooks``."""


def read_network(module: nn.Module, input_shape: Shape) -> Network:
    """Return the module's steps in float64, as it computes when it does not train.

    A module with one output tells two classes apart by its sign; its scores become 0 and the output. State that the
    module's Python keeps elsewhere, in globals or files, is not seen; :func:`certified_radius` compares numbers, too.
    """
    _refuse_hooks(module)
    before = list(_own_state(module))
    network, again = (_watched(module, input_shape, n_examples) for n_examples in BATCHES)
    if changed := [name for (name, old), (_, new) in zip(before, _own_state(module), strict=True) if old != new]:
        raise ValueError(f"module must not change itself as it computes, but {changed[0]} is another one afterwards.")
    if not _same_steps(network, again):
        raise ValueError("module must compute the same each time, however many rows it gets, but two readings differ.")
    return network


@torch.no_grad()
def _watched(module: nn.Module, input_shape: Shape, n_examples: int) -> Network:
    """Return what the module does with a batch of so many rows."""
    example = next(module.parameters(), torch.zeros(1))
    recorder = _Recorder(torch.zeros((n_examples, *input_shape), dtype=example.dtype, device=example.device))
    try:
        with predicting(module), recorder:
            scores = module(recorder.batch)
    except RuntimeError as error:  # of torch, that hidden numbers were asked for
        raise ValueError(
            f"module must compute with torch's operations only, got one that looks at numbers: {error}"
        ) from error
    if not isinstance(scores, _HiddenTensor):
        raise ValueError("module must make its scores from its input, got scores that do not depend on it.")
    last = recorder.step_of(scores)
    steps = recorder.steps[: last + 1]
    if steps[-1].n_values == 1:
        steps.append(DenseStep((last,), (2,), np.array([[0.0], [1.0]]), np.zeros(2)))
    return Network(tuple(steps), np.float64 if scores.dtype == torch.float64 else np.float32)


def _refuse_hooks(module: nn.Module) -> None:
    """Refuse whatever runs around a module without being part of it."""
    for hooks in HOOKS:
        if getattr(torch_modules, f"_global_{hooks}", None):
            raise ValueError(f"torch must have no hooks for all modules, got some of its global {hooks}. Remove them.")
        for name, layer in module.named_modules():
            if getattr(layer, f"_{hooks}", None):
                raise ValueError(
                    f"module must have no hooks, got {hooks} of {name or 'the module itself'}. Remove them."
                )


def _own_state(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """Yield what the module and its layers keep: which tensors, how often these were changed, and plain values."""
    for name, layer in module.named_modules():
        kept = {**vars(layer), **layer._parameters, **layer._buffers}
        for attribute, value in kept.items():
            if isinstance(value, Tensor):
                yield f"{name}.{attribute}".lstrip("."), (id(value), value._version)
            elif value is None or isinstance(value, bool | int | float | str | tuple):
                yield f"{name}.{attribute}".lstrip("."), repr(value)
            elif isinstance(value, list | dict | set):
                yield f"{name}.{attribute}".lstrip("."), len(value)


def _same_steps(first: Network, second: Network) -> bool:
    """Return whether two readings found the same."""
    if [type(step) for step in first.steps] != [type(step) for step in second.steps]:
        return False
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name), equal_nan=True)
        for one, other in zip(first.steps, second.steps, strict=True)
        for field in fields(one)
    )


class _HiddenTensor(Tensor):
    """A tensor made from the input. Only the recorder sees its numbers; Python that asks for them fails."""

    hidden: Tensor

    @staticmethod
    def __new__(cls, hidden: Tensor) -> _HiddenTensor:
        """Return a tensor of the same shape that has no memory of its own."""
        outside: _HiddenTensor = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            hidden.shape,
            strides=hidden.stride(),
            storage_offset=hidden.storage_offset(),
            dtype=hidden.dtype,
            device=hidden.device,
        )
        outside.hidden = hidden
        return outside

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Refuse to exchange what a tensor holds, which is no operation that could be watched."""
        if func is Tensor.data.__set__:  # type: ignore[attr-defined]
            raise ValueError("module must compute with operations, got one that sets the data of a tensor.")
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        """Refuse what is computed where the recorder does not see it."""
        raise ValueError(f"module must compute its scores at once, got {func} after them.")


class _Recorder(TorchDispatchMode):
    """Notes each basic operation on values that come from the input as a step."""

    def __init__(self, batch: Tensor) -> None:
        super().__init__()
        self.steps = [NetworkStep((), tuple(batch.shape[1:]))]
        self.batch = _HiddenTensor(batch)
        self.numbers: dict[int, int | str] = {id(self.batch): 0}  # the step that made a tensor, or why it is unusable
        self.tensors = [self.batch]  # kept, as ids are used again for tensors that are gone
        self.made: dict[int, Any] = {}  # memory that operations took, by its address

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: to skip the compiler, torch would import it, which takes seconds."""
        return False

    def step_of(self, tensor: _HiddenTensor) -> int:
        """Return the number of the step that made a tensor."""
        number = self.numbers[id(tensor)]
        if isinstance(number, str):
            raise ValueError(f"module must not use a tensor {number}.")
        return number

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry out one operation and note it."""
        kwargs = kwargs or {}
        operands = tree_leaves((args, kwargs))
        sources = tuple(self.step_of(operand) for operand in operands if isinstance(operand, _HiddenTensor))
        if torch.Tag.nondeterministic_seeded in func.tags:
            raise ValueError(f"module must not draw random numbers as it predicts, got {_name(func)}.")
        changed = tree_leaves([value for value, is_changed in _arguments(func, args, kwargs) if is_changed])
        self._refuse_changes(func, changed, is_known=not sources or (_name(func) in IN_PLACE and changed[0] is args[0]))
        result = func(*tree_map(_shown, args), **tree_map(_shown, kwargs))
        for made in tree_leaves(result):
            if isinstance(made, Tensor) and _memory(made) not in {_memory(o) for o in operands if torch.is_tensor(o)}:
                self.made[_memory(made)] = made
        if not sources:
            return result
        first, *others = result if isinstance(result, tuple | list) else (result,)
        step = self._read(func, sources, first, args, kwargs)
        self.steps.append(step)
        if changed:  # the first argument, made from the input
            self._forget_aliases(changed[0])
            self.numbers[id(changed[0])] = len(self.steps) - 1
            return changed[0]
        hidden = [self._hide(first, len(self.steps) - 1)]
        hidden += [self._hide(other, f"of which only the first result is known, {_name(func)}") for other in others]
        return type(result)(hidden) if isinstance(result, tuple | list) else hidden[0]

    def _hide(self, made: Tensor, number: int | str) -> _HiddenTensor:
        hidden = _HiddenTensor(made)
        self.numbers[id(hidden)] = number
        self.tensors.append(hidden)
        return hidden

    def _refuse_changes(self, func: Any, changed: list[Any], *, is_known: bool) -> None:
        """Refuse to change anything in place but what operations of this module made, by steps we know."""
        for tensor in changed:
            if not isinstance(tensor, Tensor):
                continue
            if _memory(tensor) not in self.made:
                owner = "its input" if _memory(tensor) == _memory(self.batch) else "itself"
                raise ValueError(f"module must not change {owner} as it computes, got {_name(func)}.")
            if not is_known:
                raise ValueError(
                    f"module must be made of steps whose bounds are known, got {_name(func)}, which changes a tensor "
                    f"in place. Known are {READABLE}."
                )

    def _forget_aliases(self, changed: _HiddenTensor) -> None:
        """Make the other tensors unusable that share memory with one that was changed."""
        for tensor in self.tensors:
            if tensor is not changed and _memory(tensor) == _memory(changed):
                self.numbers[id(tensor)] = "after a part or another view of it was changed in place"

    def _read(self, func: Any, sources: tuple[int, ...], output: Tensor, args: Any, kwargs: Any) -> NetworkStep:
        name = _name(func)
        reader = READERS.get(name.removesuffix("_") if name in IN_PLACE else name)
        if reader is None or func.namespace != "aten":
            raise ValueError(f"module must be made of steps whose bounds are known, got {name}. Known are {READABLE}.")
        n_examples, dtype = len(self.batch), self.batch.dtype
        if output.shape[:1] != (n_examples,):
            raise ValueError(f"module must keep rows apart, got {name} that makes {tuple(output.shape)} of a batch.")
        if output.dtype != dtype or dtype not in (torch.float32, torch.float64):
            raise ValueError(f"module must compute in float32 or float64 throughout, got {name} in {output.dtype}.")
        places = tuple(place for place, value in enumerate(args) if isinstance(value, _HiddenTensor))
        is_first = name not in IN_PLACE or 0 in places  # what is changed in place must come from the input
        if places not in FROM_INPUT.get(name.removesuffix("_"), ((0,),)) or len(places) != len(sources) or not is_first:
            raise ValueError(f"the module's {name} cannot be read: its other arguments must be constant.")
        shape = self.steps[sources[0]].shape
        operation = Operation(func, args, kwargs, sources, places, n_examples, shape, tuple(output.shape[1:]))
        try:
            return reader(operation)
        except ValueError as error:
            raise ValueError(f"the module's {name} of values of shape {shape} cannot be read: {error}") from error


def _name(func: Any) -> str:
    return str(func.overloadpacket.__name__)


def _shown(value: Any) -> Any:
    return value.hidden if isinstance(value, _HiddenTensor) else value


def _memory(tensor: Tensor) -> int:
    """Return the address of what a tensor and its views share."""
    return int(_shown(tensor).untyped_storage()._cdata)


def _arguments(func: Any, args: Any, kwargs: dict[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Yield each argument with whether the operation changes it."""
    for place, argument in enumerate(func._schema.arguments):
        is_changed = argument.alias_info is not None and argument.alias_info.is_write
        if place < len(args):
            yield args[place], is_changed
        elif argument.name in kwargs:
            yield kwargs[argument.name], is_changed
