"""DenseNetwork: layers in which every unit sees every unit before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, ClassVar

from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Flag, Nothing, Number, OneOf, Whole
from pellucid.core.public_names import needs_extra
from pellucid.neural_network.architecture import Architecture

if TYPE_CHECKING:
    from torch import nn

ACTIVATION_NAMES = (
    "identity",
    "logistic",
    "sigmoid",
    "tanh",
    "relu",
    "leaky_relu",
    "elu",
    "gelu",
    "maxout",
)
INITIALIZATION_NAMES = ("he", "xavier", "glorot", "small_random", "zero")

UNITS = Whole(1, 2**20)
MAYBE_SIZE = Nothing() | Whole(1, 2**24)
MOST_LAYERS = 1000


@dataclass(frozen=True)
class DenseNetwork(Architecture):
    """Linear layers with an activation between them; the last layer gives raw scores.

    Each hidden layer is linear, then batch normalization if wanted, then the activation, then dropout if wanted.

    Parameters
    ----------
    inputs : int or None, default=None
        Numbers that go in, for each example; None: as many as the data have.
    outputs : int or None, default=None
        Scores that come out: one for each class or target; None: as many as the data ask for.
    hidden : tuple of int, default=(100,)
        Units of each hidden layer; none of them makes a linear model.
    activation : str, default="relu"
        One of "identity", "logistic" (or "sigmoid"), "tanh", "relu", "leaky_relu", "elu", "gelu", "maxout".
    pieces : int, default=2
        Linear functions of which a maxout unit takes the largest.
    dropout : float, default=0.0
        Share of the hidden units left out at each training step, below 1.
    batch_normalization : bool, default=False
        Whether each hidden layer's sums are normalized over the batch.
    initialization : str, default="he"
        One of "he", "xavier", "glorot" (scikit-learn's, biases too), "small_random", "zero" (which fails).
    flatten : bool, default=False
        Whether examples are images or the like, to be laid out as one row of numbers first.

    Examples
    --------
    >>> DenseNetwork(inputs=4, outputs=3, hidden=(8,), dropout=0.5).build()
    Sequential(
      (0): Linear(in_features=4, out_features=8, bias=True)
      (1): ReLU()
      (2): Dropout(p=0.5, inplace=False)
      (3): Linear(in_features=8, out_features=3, bias=True)
    )
    """

    inputs: int | None = None
    outputs: int | None = None
    hidden: tuple[int, ...] = (100,)
    activation: str = "relu"
    pieces: int = 2
    dropout: float = 0.0
    batch_normalization: bool = False
    initialization: str = "he"
    flatten: bool = False

    settings: ClassVar = {
        "inputs": MAYBE_SIZE,
        "outputs": MAYBE_SIZE,
        "hidden": Items(UNITS, most=MOST_LAYERS),
        "activation": OneOf(ACTIVATION_NAMES),
        "pieces": Whole(1, 1000),
        "dropout": Number(low=0, below=1),
        "batch_normalization": Flag(),
        "initialization": OneOf(INITIALIZATION_NAMES),
        "flatten": Flag(),
    }

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, tuple):
            raise TypeError(f"hidden must be a tuple of layer sizes, got {self.hidden!r}. Write (100,) for one layer.")
        for units in self.hidden:
            if not UNITS.fits(units):
                raise UNITS.complaint("hidden", units)
        super().__post_init__()

    def build(self) -> nn.Module:
        """Return the network as a torch module with first weights drawn from torch's generator."""
        if self.inputs is None or self.outputs is None:
            raise ValueError(
                f"inputs and outputs must be set before the network is built, got {self.inputs} and {self.outputs}. "
                "Set them, or take for_data(shape, outputs)."
            )
        with needs_extra(type(self).__name__):
            from pellucid.neural_network.modules.dense_layers import dense_layers
        return dense_layers(self, self.inputs, self.outputs)

    def for_data(self, shape: tuple[int, ...], outputs: int) -> DenseNetwork:
        """Return the same network with inputs and outputs filled in; examples of several axes are flattened."""
        return replace(
            self,
            inputs=prod(shape) if self.inputs is None else self.inputs,
            outputs=outputs if self.outputs is None else self.outputs,
            flatten=self.flatten or len(shape) > 1,
        )
