"""A race of methods: their paths on the contours of the function, and how the function fell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pellucid.plots.drawing.style import INK, PALETTE, TEXT_SIZE, color, spread, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)))
"""After as many curves as there are colors the next kind of line begins."""
WIDTH, WIDEST = 1.8, 6.0
"""Of the last path and of the first: paths that coincide are seen as stripes around each other."""
FEW = 60
"""Up to so many points of a path are marked one by one."""
SMALLEST_MARK, RING = 5.5, 2.6
"""Size of the mark at the end of a path, and by how much a ring around another is larger."""
CONTOURS = 14
DEEPEST = 1e-6
"""The lowest contour is this share of the highest above the best value: below, the contours are one blot."""
FLOOR = 1e-16
"""A gap below this, relative to the best value, is rounding and drawn as this."""
UNEVEN = 20.0
"""If one method takes this many times the iterations of another, the axis of iterations is logarithmic."""
HIGHEST = 100.0
"""What rises above the value at the start by more than this factor leaves the picture."""
SPACING = 0.062
"""Distance between neighboring names, as a fraction of the height of the axes."""


def plot_race(race: Any) -> Figure:
    """Draw a race: paths on contours (for two variables) and the gap to the best value against iterations.

    Parameters
    ----------
    race : Race
        What :func:`pellucid.optimize.race` returned.

    Returns
    -------
    Figure
        The left axes show the paths, from the open circle to the dots, on contours for two variables and on the curve
        for one; the right ones name the methods.
    """
    import matplotlib.pyplot as plt

    runners = [runner for runner in race.runners if runner.solution is not None]
    if not runners:
        raise ValueError("race must have a method that ran, got only failures. Print the race to see why.")
    styles = {runner.name: _style(i) for i, runner in enumerate(runners)}
    if race.start.shape[0] <= 2:
        figure, (left, right) = plt.subplots(1, 2, figsize=(12.0, 5.0), layout="constrained")
        draw = _draw_paths if race.start.shape[0] == 2 else _draw_descents
        draw(tidy_axes(left), race, runners, styles)
    else:
        figure, right = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    _draw_progress(tidy_axes(right), runners, styles)
    return figure


def _style(i: int) -> dict[str, Any]:
    return {"color": color(i), "linestyle": DASHES[i // len(PALETTE) % len(DASHES)], "linewidth": WIDTH}


def _draw_paths(ax: Axes, race: Any, runners: list[Any], styles: dict[str, dict[str, Any]]) -> None:
    paths = {runner.name: _path(runner) for runner in runners}
    began = max(_objective(runners[0])[0], _lowest(runners[0]))
    goals = [path[-1] for runner, path in zip(runners, paths.values(), strict=True) if _objective(runner)[-1] <= began]
    view = view_of(race.start, np.array(goals).reshape(-1, 2), list(paths.values()))
    _draw_contours(ax, race, view, min(_lowest(runner) for runner in runners))
    sizes = _end_sizes(np.array([path[-1] for path in paths.values()]), view)
    widths = np.linspace(WIDEST, WIDTH, len(paths)) if len(paths) > 1 else [WIDTH]
    for (name, path), size, width in zip(paths.items(), sizes, widths, strict=True):
        dots: dict[str, Any] = {"marker": "o", "markersize": width + 2.0} if len(path) <= FEW else {}
        ax.plot(*path.T, **(styles[name] | {"linewidth": width}), **dots, zorder=3)
        end = {"markersize": size, "color": styles[name]["color"], "markeredgecolor": "white", "markeredgewidth": 0.5}
        ax.plot(*path[-1], "o", **end, zorder=4)
    ax.set(xlim=view.x, ylim=view.y)
    if view.is_equal:
        ax.set_aspect("equal", adjustable="box")
    _mark_start(ax, race.start, list(paths.values()), view)
    best = min(runners, key=_lowest)
    ends = paths[best.name][int(np.nanargmin(_objective(best)))]
    told = f"lowest f found: {_lowest(best):.3g}"
    ax.plot(*ends, "*", markersize=15, color=INK, markeredgecolor="white", zorder=7, label=told)
    write_legend(ax, loc="upper center")
    names = race.variables or ("x1", "x2")
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1], rotation=0, labelpad=12)


def _draw_descents(ax: Axes, race: Any, runners: list[Any], styles: dict[str, dict[str, Any]]) -> None:
    """Draw a function of one variable, and the points that each method visited on it."""
    paths = {runner.name: np.ravel(_path(runner)) for runner in runners}
    began = max(_objective(runners[0])[0], _lowest(runners[0]))
    calm = [path for runner, path in zip(runners, paths.values(), strict=True) if _objective(runner)[-1] <= began]
    seen = np.concatenate([race.start, *(calm or paths.values())])
    room = 0.35 * float(np.ptp(seen)) or 1.0
    grid = np.linspace(float(seen.min()) - room, float(seen.max()) + room, 400)
    with np.errstate(all="ignore"):
        heights = np.array([race.problem.objective(np.array([x])) for x in grid])
    ax.plot(grid, heights, color=INK, linewidth=WIDTH, zorder=1, label="f")
    for runner, (name, path) in zip(runners, paths.items(), strict=True):
        ax.plot(path, _objective(runner), marker="o", markersize=7, alpha=0.8, **styles[name], label=name, zorder=3)
    ax.plot(race.start[0], race.problem.objective(race.start), "o", markersize=11, color="white", mec=INK, zorder=2)
    known = heights[np.isfinite(heights)]
    margin = 0.08 * float(np.ptp(known)) or 1.0
    ax.set(xlim=(grid[0], grid[-1]), ylim=(float(known.min()) - margin, float(known.max()) + margin))
    ax.set(xlabel=(race.variables or ("x",))[0], ylabel="f")
    write_legend(ax)


def _end_sizes(ends: np.ndarray, view: View) -> list[float]:
    """Return sizes of marks such that those at the same place are rings around each other."""
    scale = np.array([np.ptp(view.x), np.ptp(view.y)])
    near = np.abs(ends[:, None] - ends) <= 0.02 * scale  # (methods, methods, 2)
    later = np.triu(near.all(axis=2), k=1).sum(axis=1)
    return [float(SMALLEST_MARK + RING * count) for count in later]


def _mark_start(ax: Axes, start: np.ndarray, paths: list[np.ndarray], view: View) -> None:
    """Draw the start and write its name on the side that the paths leave free."""
    from matplotlib.patheffects import withStroke

    scale = np.array([np.ptp(view.x), np.ptp(view.y)])
    away = -np.mean([path[min(1, len(path) - 1)] - start for path in paths], axis=0) / scale
    length = float(np.hypot(*away))
    dx, dy = away / length if 0 < length < np.inf else (0.0, 1.0)
    ax.plot(*start, "o", markersize=7.5, color="white", markeredgecolor=INK, zorder=6)
    side = "left" if dx > 0.4 else "right" if dx < -0.4 else "center"
    ax.annotate(
        "start",
        tuple(start),
        xytext=(9 * dx, 12 * dy),
        textcoords="offset points",
        ha=side,
        va="center",
        color=INK,
        fontsize=TEXT_SIZE,
        path_effects=[withStroke(linewidth=3, foreground="white")],
        zorder=6,
    )


def _draw_contours(ax: Axes, race: Any, view: View, best: float) -> None:
    grid_x, grid_y = np.meshgrid(np.linspace(*view.x, 161), np.linspace(*view.y, 161))
    points = np.stack([grid_x.ravel(), grid_y.ravel()], axis=1)
    with np.errstate(all="ignore"):
        values = np.array([race.problem.objective(point) for point in points]).reshape(grid_x.shape)
    above = np.where(np.isfinite(values), values - best, np.nan)
    top = float(np.nanmax(above))
    if not top > 0:
        return
    lowest = max(DEEPEST * top, float(np.nanpercentile(above, 0.5)))
    levels = np.geomspace(lowest, top, CONTOURS + 1)[:-1]
    ax.contourf(
        grid_x, grid_y, above, levels=[0, *levels, top], colors=_shades(len(levels) + 1), zorder=0, extend="both"
    )
    ax.contour(grid_x, grid_y, above, levels=levels, colors="white", linewidths=0.6, zorder=1)


def _shades(count: int) -> list[tuple[float, float, float]]:
    """Return light grays, the deepest for the lowest values."""
    return [(shade, shade, shade) for shade in np.linspace(0.8, 0.98, count)]


def _draw_progress(ax: Axes, runners: list[Any], styles: dict[str, dict[str, Any]]) -> None:
    best = min(_lowest(runner) for runner in runners)
    floor = FLOOR * max(1.0, abs(best))
    lengths = [max(1, len(_objective(runner)) - 1) for runner in runners]
    for runner in runners:
        gap = np.maximum(_objective(runner) - best, floor)
        ax.plot(np.arange(len(gap)), gap, **styles[runner.name], zorder=3)
        ax.plot(len(gap) - 1, gap[-1], marker="o", markersize=5.5, color=styles[runner.name]["color"], zorder=4)
    ax.set_yscale("log")
    _limit_gaps(ax, runners, best, floor)
    if max(lengths) >= UNEVEN * min(lengths):
        ax.set_xscale("symlog", linthresh=1.0, linscale=0.3)
    ax.margins(x=0.02)
    ax.set_xlabel("iteration")
    ax.set_ylabel("f − best f")
    _name_ends(ax, runners, styles, best, floor)


def _limit_gaps(ax: Axes, runners: list[Any], best: float, floor: float) -> None:
    """Leave room below for names, and let what explodes leave the picture."""
    gaps = np.maximum(np.concatenate([_objective(runner) for runner in runners]) - best, floor)
    low, high = float(gaps.min()), min(float(gaps.max()), HIGHEST * float(gaps[0]))
    decades = max(np.log10(high / low), 1.0)
    ax.set_ylim(low / 10 ** (0.14 * decades), high * 10 ** (0.05 * decades))


def _name_ends(ax: Axes, runners: list[Any], styles: dict[str, dict[str, Any]], best: float, floor: float) -> None:
    """Write the names at the right edge, joined to the ends of their lines."""
    late_first = sorted(runners, key=lambda runner: -len(_objective(runner)))  # so that no two joints cross
    top = ax.get_ylim()[1]
    ends = [(len(_objective(r)) - 1, min(max(_objective(r)[-1] - best, floor), top)) for r in late_first]
    to_axes = ax.transData + ax.transAxes.inverted()
    heights = [float(to_axes.transform(end)[1]) for end in ends]
    for runner, end, place in zip(late_first, ends, spread(heights, SPACING), strict=True):
        ink = styles[runner.name]["color"]
        ax.annotate(
            runner.name,
            xy=end,
            xytext=(1.03, place),
            textcoords="axes fraction",
            va="center",
            color=ink,
            fontsize=TEXT_SIZE,
            arrowprops={"arrowstyle": "-", "color": ink, "linewidth": 0.5, "alpha": 0.7, "shrinkA": 0, "shrinkB": 3},
            annotation_clip=False,
            zorder=2,
        )


def _path(runner: Any) -> np.ndarray:
    assert runner.solution is not None
    return np.array([state["x"] for state in runner.solution.trace.states])


def _objective(runner: Any) -> np.ndarray:
    assert runner.solution is not None
    return runner.solution.trace["objective"]


def _lowest(runner: Any) -> float:
    return float(np.nanmin(_objective(runner)))


SHAPE = 1.1
"""Width of the view over its height, where a unit is as long on both axes."""
MARGIN = 0.1
"""Room around the paths, as a share of their extent."""
STRAY = 1.0
"""Points further from the box of start and ends than its size times this do not widen the view."""
FLAT = 3.0
"""If the paths reach this many times further one way than the other, both axes get scales of their own."""


class View(NamedTuple):
    """The limits of both axes, and whether a unit is as long on both."""

    x: tuple[float, float]
    y: tuple[float, float]
    is_equal: bool


def view_of(start: np.ndarray, goals: np.ndarray, paths: list[np.ndarray]) -> View:
    """Return the view that shows start and goals, and those points of the paths that are near them.

    Examples
    --------
    >>> path = np.array([[0.0, 0.0], [4.0, 2.0], [900.0, 0.0]])
    >>> view = view_of(path[0], path[1:2], [path])
    >>> view.x[1] < 10, view.is_equal
    (True, True)
    """
    core = np.vstack([start, goals])
    low, high = core.min(axis=0), core.max(axis=0)
    reach = STRAY * max(float((high - low).max()), 1e-3 * (1 + float(np.abs(core).max())))
    points = np.vstack([core, *paths])
    near = points[((points >= low - reach) & (points <= high + reach)).all(axis=1)]
    center, size = (near.max(axis=0) + near.min(axis=0)) / 2, np.ptp(near, axis=0)
    size = np.maximum(size, 0.05 * size.max()) if size.max() > 0 else np.full(2, reach)
    is_equal = bool(size.max() <= FLAT * size.min())
    half = (0.5 + MARGIN) * size
    if is_equal:  # widen the shorter side, so that the panel is filled
        height = max(half[1], half[0] / SHAPE)
        half = np.array([SHAPE * height, height])
    (left, bottom), (right, top) = center - half, center + half
    return View((float(left), float(right)), (float(bottom), float(top)), is_equal)
