"""The best model so far as files of their own beside the last ones, until these are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pellucid.app.bake_off.so_far import SoFar
    from pellucid.app.report import Origin

MODEL_SO_FAR = "model.so-far.safetensors"
REPORT_SO_FAR = "report.so-far.html"
CARD_SO_FAR = "model_card.so-far.md"


@dataclass
class SoFarFiles:
    """Writes the best model so far, with its report and card, into a folder.

    They have names of their own: a model that an earlier run has ended with is better than one that this run has begun
    with, and stays until there is a last one.
    """

    folder: Path
    origin: Origin
    n_written: int = 0

    def keep(self, so_far: SoFar) -> None:
        """Write model, report and card whole, in the place of those before."""
        from pellucid.app.report import render_card_so_far, render_so_far
        from pellucid.core.atomic import write_all_whole
        from pellucid.core.files.saving import model_bytes

        origin = replace(self.origin, model_name=MODEL_SO_FAR)
        contents = {
            self.folder / MODEL_SO_FAR: model_bytes(so_far.model),
            self.folder / REPORT_SO_FAR: render_so_far(so_far, origin).encode(),
            self.folder / CARD_SO_FAR: render_card_so_far(so_far, origin).encode(),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        write_all_whole(contents)
        self.n_written += 1

    def remove(self) -> None:
        """Remove them, and those that an earlier run which did not end has left, whole or half-written."""
        for name in (MODEL_SO_FAR, REPORT_SO_FAR, CARD_SO_FAR):
            for path in (self.folder / name, *self.folder.glob(f".{name}.*.part")):
                path.unlink(missing_ok=True)

    @contextmanager
    def named_if_cut_short(self) -> Iterator[None]:
        """Add to whatever ends the block early where the best model so far lies, if it was written."""
        try:
            yield
        except (Exception, KeyboardInterrupt) as error:
            if self.n_written:
                model, report = self.folder / MODEL_SO_FAR, self.folder / REPORT_SO_FAR
                error.add_note(f"The best model so far is {model}, its report {report}.")
            raise
