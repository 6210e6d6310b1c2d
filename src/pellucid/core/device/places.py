"""Where arrays are: which of them are worked on there, and models that go there and come back."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from pellucid.core.array_api import array_namespace, device
from pellucid.core.arrays import as_tensor, is_foreign, on_host, readable
from pellucid.core.cards import LATER, card_of
from pellucid.core.estimator import let_go_of_rows


@dataclass(frozen=True)
class Place:
    """A device of a library, with the precision in which answers are kept there."""

    library: str
    """The module with the functions of its arrays."""
    device: Any
    dtype: Any

    @classmethod
    def of(cls, X: Any) -> Place:
        """Return where an array is; whole numbers are answered in double precision."""
        xp = array_namespace(X)
        return cls(xp.__name__, device(X), X.dtype if xp.isdtype(X.dtype, "real floating") else xp.float64)

    @property
    def xp(self) -> Any:
        """The functions of its arrays."""
        return sys.modules.get(self.library) or import_module(self.library)  # it is looked up again and again

    @property
    def is_short(self) -> bool:
        """Whether answers are kept in single precision."""
        return bool(self.dtype == self.xp.float32)

    def holding(self, values: Any, dtype: Any = None, *, waits: bool = True) -> Any:
        """Return numbers as an array there; those in ordinary memory can be sent without waiting for their arrival.

        They have left that memory when the call returns, and whatever is done there next comes after them.
        """
        if isinstance(values, np.ndarray):
            values = readable(values if values.flags.writeable else values.copy())  # torch warns of what is read-only
        if waits or getattr(self.device, "type", "") != "cuda":
            return self.xp.asarray(values, dtype=dtype, device=self.device)
        return self.xp.asarray(values, dtype=dtype).to(self.device, non_blocking=True)

    def taking(self, value: Any) -> Any:
        """Return an array of another library or device as one there; the memory is shared where both are on a card."""
        tensor = as_tensor(value)
        if self.library.endswith("torch"):
            return tensor.to(self.device)
        if tensor.device.type == "cpu":
            return self.holding(on_host(tensor))
        return self.xp.from_dlpack(tensor.contiguous())

    @property
    def name(self) -> str:
        """The library as its users call it."""
        return self.library.removesuffix(".numpy").rpartition(".")[2]

    @property
    def words(self) -> str:
        """The library, the device and the precision."""
        return f"{self.name} on {self.device}, {'float32' if self.is_short else 'float64'}"


def to_host(model: Any) -> Any:
    """Return a copy of a fitted model whose attributes are NumPy arrays; the model itself if they are already.

    Parameters
    ----------
    model : estimator
        A fitted one, whose attributes are tensors or other arrays on a device. It is not changed.

    Examples
    --------
    >>> import pellucid
    >>> from pellucid.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    >>> pellucid.to_host(model) is model
    True
    """
    host = _with_attributes(model, _brought_back, is_foreign)
    if any(isinstance(compute, MovedLater) for compute in vars(host).get(LATER, {}).values()):
        host = copy.copy(host) if host is model else host
        setattr(host, LATER, _later_unmoved(host))
    return host


def at_place(model: Any, place: Place) -> Any:
    """Return a copy of a fitted model whose numbers are arrays at a place; the model itself if they are already."""

    def moved(value: Any) -> Any:
        return _moved(value, place, at_least=place.dtype)

    return _with_attributes(
        model, moved, lambda value: isinstance(value, (np.ndarray, np.generic, sparse.sparray)) or is_foreign(value)
    )


def settle(model: Any, place: Place, way: str) -> None:
    """Move the fitted attributes of a model to a place, and let ``backend_`` say so."""
    let_go_of_rows(model)  # the evidence is made of what is on the host
    kinds = card_of(type(model)).attributes
    for name, value in list(vars(model).items()):
        if name in kinds:
            setattr(model, name, _moved(value, place))
    _settle_later(model, place)
    model.backend_ = f"{place.words}: {way}"


def refuse_single(place: Place) -> None:
    """Refuse a library that cuts numbers to single precision: what a model knows is not all in that."""
    if place.holding(np.zeros(1)).dtype != place.xp.float64:
        raise ValueError(
            f"X must be an array of a library that holds double precision, got one of {place.name}, which cuts it. "
            "Allow it there (jax_enable_x64 for JAX), or take a tensor."
        )


def hand_over(found: Any, place: Place) -> Any:
    """Return an answer as arrays at the place of the rows that were lent; a fitted model is changed itself."""
    if not isinstance(found, BaseEstimator):
        return _moved(found, place) if is_foreign(found) or isinstance(found, (list, tuple)) else found
    vars(found).update(_changed(found, lambda value: _moved(value, place), is_foreign))
    _settle_later(found, place)
    found.backend_ += f" (it works on memory that {place.name} lends)"
    return found


def _settle_later(model: Any, place: Place) -> None:
    later = _later_unmoved(model)
    if later:
        setattr(model, LATER, {name: MovedLater(compute, place) for name, compute in later.items()})


def _later_unmoved(model: Any) -> dict[str, Callable[[], Any]]:
    """Return what computes attributes when somebody asks for them, and leaves them where it finds them."""
    return {name: getattr(compute, "compute", compute) for name, compute in vars(model).get(LATER, {}).items()}


def beside(model: Any, found: Any) -> Any:
    """Return what a model was found to say, its arrays at the place of the model's own."""
    arrays = (value for value in vars(model).values() if is_foreign(value))
    where = next(arrays, None)
    return found if where is None or type(found) not in (np.ndarray, tuple, list) else _moved(found, Place.of(where))


@dataclass(frozen=True)
class MovedLater:
    """Computes an attribute when somebody asks for it, and moves it to where the others are."""

    compute: Callable[[], Any]
    place: Place

    def __call__(self) -> Any:
        """Return the attribute."""
        return _moved(self.compute(), self.place)


def _moved(value: Any, place: Place, *, at_least: Any = None) -> Any:
    """Return numbers at a place, in their own precision or, if that is less, in the one that is asked for."""
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind not in "biuf":
            return value
        value = place.holding(np.asarray(value), waits=False)
    elif isinstance(value, (list, tuple)):
        return type(value)(_moved(part, place, at_least=at_least) for part in value)
    elif not is_foreign(value):
        return value
    elif device(value) != place.device:
        value = place.taking(value)
    xp = place.xp
    is_shorter = at_least == xp.float64 and value.dtype == xp.float32
    return xp.astype(value, at_least) if is_shorter else value


def _brought_back(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_brought_back(part) for part in value)
    host = on_host(value)
    return host if host.ndim else host[()]


def _with_attributes(model: Any, change: Callable[[Any], Any], concerns: Callable[[Any], bool]) -> Any:
    """Return a shallow copy with some fitted attributes changed; the model itself if none is concerned."""
    changed = _changed(model, change, concerns)
    if not changed:
        return model
    twin = copy.copy(model)
    vars(twin).update(changed)
    return twin


def _changed(model: Any, change: Callable[[Any], Any], concerns: Callable[[Any], bool]) -> dict[str, Any]:
    """Return the attributes that are concerned, or hold something that is, as they are after the change."""

    def is_concerned(value: Any) -> bool:
        return any(map(concerns, value)) if isinstance(value, (list, tuple)) else concerns(value)

    return {name: change(value) for name, value in vars(model).items() if is_concerned(value)}
