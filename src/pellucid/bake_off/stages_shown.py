"""How a stage of a bake-off is shown: the method, the best so far and the time left."""

from __future__ import annotations

from collections.abc import Callable

from pellucid.bake_off.comparison import Stage
from pellucid.core.progress import Show


def stages_shown(show: Show) -> Callable[[Stage], None]:
    """Return a listener that shows every stage on a bar."""

    def listen(stage: Stage) -> None:
        show(stage.method, stage.done, stage.total, best_so_far(stage), time_left(stage.seconds_left))

    return listen


def best_so_far(stage: Stage) -> str:
    """Return the best method and its score in a few words."""
    if stage.interrupted:
        return "interrupted: finishing with the best so far, Ctrl-C again to abort"
    if stage.best is None:
        return ""
    error, measure = stage.best.mean, stage.best.measure
    if measure is not None and not measure.is_default:
        score = f"{measure.title} {measure.shown(error):.4g}"
    else:
        score = f"{100 * (1 - error):.1f} % right" if stage.best.is_classification else f"error {error:.4g}"
    return f"best: {stage.best.name}, {score}"


def time_left(seconds: float) -> str:
    """Return the time left as minutes and seconds.

    Examples
    --------
    >>> time_left(95.4)
    '1:35 left'
    """
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02d} left"
