"""Steps that are made many times on the same tensors: a card gets their launches recorded, as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

BEFORE = 3
"""Calls that are made as they are: libraries choose their kernels and take their memory in these."""


class Replayed:
    """A step on tensors that stay where they are, which asks the host for nothing; each call makes it once.

    Small kernels take longer to be launched one by one than to run. On a card the launches of one call are recorded in
    a CUDA graph, and started together in all later ones; elsewhere the step is just called. What it returns is
    overwritten by the next call. Of the generators that it draws from, the device's own is known; others are named.
    A replay draws from where they stand, as a call would.
    """

    def __init__(self, step: Callable[[], Any], there: Any, generators: Sequence[Any] = ()) -> None:
        self.step, self.there, self.generators = step, there, generators
        self._calls = 0
        self._graph: Any = None
        self._side: Any = None
        self._found: Any = None

    def __call__(self) -> Any:
        """Make the step."""
        if self.there.type != "cuda":
            return self.step()
        if self._graph is None:
            return self._on_the_side()
        self._graph.replay()
        return self._found

    def _on_the_side(self) -> Any:
        """Make the step on a stream of its own, as recording asks for; after some calls it is recorded as well."""
        import torch

        main, self._side = torch.cuda.current_stream(self.there), self._side or torch.cuda.Stream(self.there)
        self._side.wait_stream(main)
        graph, self._calls = torch.cuda.CUDAGraph(), self._calls + 1
        with torch.cuda.stream(self._side):
            if self._calls <= BEFORE:
                found = self.step()
            else:
                for generator in self.generators:
                    graph.register_generator_state(generator)
                graph.capture_begin(capture_error_mode="thread_local")
                found = self.step()
                graph.capture_end()
        main.wait_stream(self._side)
        if self._calls > BEFORE:  # what is recorded was not run yet
            self._graph, self._found = graph, found
            graph.replay()
        return found
