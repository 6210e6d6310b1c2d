"""Recordings made by hand, for the page: together they hold every kind of layer."""

from __future__ import annotations

import base64

import numpy as np

CLAIMS = [
    {"name": "assignment", "about": "no row is nearer to another center", "value": 0.0, "bound": 1e-9, "holds": True},
    {"name": "fixed point", "about": "centers are the means of rows", "value": 3e-12, "bound": 1e-8, "holds": True},
    {"name": "descent", "about": "the objective never rises", "value": 0.02, "bound": 1e-3, "holds": False},
]
FORMULA = "<math display='block'><mi>m</mi><mo>=</mo><mfrac><mn>3</mn><mn>2</mn></mfrac></math>"
ROUND = f"<p>Each row goes to its nearest center.</p>{FORMULA}"


def packed(array):
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def rounded(values):
    return [float(f"{value:.5g}") for value in np.asarray(values, dtype=float)]


def recording(frames, layers=(), axes=None, trace=None, claims=CLAIMS, workings=None, classes=None, title="A fit"):
    return {
        "version": 1,
        "title": title,
        "method": "KMeans",
        "parameters": {"n_clusters": "3", "random_state": "0"},
        "python": "from pellucid.cluster import KMeans\n\nmodel = KMeans(n_clusters=3, random_state=0).fit(X)",
        "data": {"name": "blobs", "columns": ["length", "width"], "rows": 150, "classes": classes},
        "axes": axes or {**axis("x", "length", -4, 4), **axis("y", "width", -4, 4), "equal": True},
        "layers": list(layers),
        "frames": frames,
        "trace": trace or {"columns": {}, "log": []},
        "certificate": {"grade": "stationary", "holds": all(c["holds"] for c in claims), "claims": claims},
        "workings": workings,
    }


def axis(name, label, low, high):
    return {name: {"label": label, "range": [low, high]}}


def frame(label, *layers, row=None, step=None):
    return {"label": label, "layers": list(layers), "row": row, "step": step}


def points(xy, classes=None, **more):
    return {"kind": "points", "x": rounded(xy[:, 0]), "y": rounded(xy[:, 1]), "class": classes, **more}


def clusters():
    """Return Lloyd's rounds on three clouds: points, regions, centers with their way, ellipses, trace and workings."""
    rng = np.random.default_rng(0)
    means = np.array([[-2.0, -1.0], [1.5, 2.0], [2.0, -2.0]])
    xy = np.concatenate([mean + rng.normal(scale=0.8, size=(50, 2)) for mean in means])
    centers, frames, objectives, changes = xy[[3, 10, 60]], [], [], []
    codes = np.zeros(len(xy), int)
    for number in range(9):
        distances = ((xy[:, None] - centers) ** 2).sum(axis=2)
        changed = int((codes != distances.argmin(axis=1)).sum())
        codes = distances.argmin(axis=1)
        means_now = np.array([xy[codes == k].mean(axis=0) for k in range(3)])
        way = {"kind": "arrows", **dict(zip(("x", "y"), centers.T.tolist(), strict=True))}
        way |= dict(zip(("dx", "dy"), (means_now - centers).T.tolist(), strict=True))
        spread = [xy[codes == k].std(axis=0) for k in range(3)]
        outline = {
            "kind": "ellipses",
            "x": rounded(means_now[:, 0]),
            "y": rounded(means_now[:, 1]),
            "a": [2 * s[0] for s in spread],
            "b": [2 * s[1] for s in spread],
            "angle": [0.0] * 3,
            "class": [0, 1, 2],
        }
        seeds = points(
            centers,
            None,
            marker="cross",
            label=["1", "2", "3"],
            movable={"attribute": "cluster_centers_", "rows": None, "columns": [0, 1]},
        )
        layers = [nearest_regions(centers), points(xy, codes.tolist()), outline, way, seeds]
        frames.append(frame(f"round {number + 1}: {changed} rows change", *layers, row=number, step=min(number, 3)))
        objectives.append(float(distances.min(axis=1).sum()))
        changes.append(float(changed))
        centers = means_now
    trace = {"iteration": list(range(1, 10)), "objective": rounded(objectives), "changed_labels": changes}
    trace["shift"] = rounded(10.0 ** -np.arange(9.0))
    steps = [
        {"heading": f"Round {k + 1}", "html": f"<p>Each row goes to its nearest center.</p>{FORMULA}" * 3}
        for k in range(4)
    ]
    workings = {"title": "Lloyd's method", "opening": "<p>Three centers, 150 rows.</p>", "steps": steps}
    return recording(
        frames,
        trace={"columns": trace, "log": ["shift"]},
        workings=workings,
        classes=["setosa", "versicolor", "virginica"],
        title="K-means on three clouds",
    )


def nearest_regions(centers, side=120):
    grid = np.linspace(-4, 4, side + 1)[:-1] + 4 / side
    cells = ((np.stack(np.meshgrid(grid, grid), axis=-1)[:, :, None] - centers) ** 2).sum(axis=3).argmin(axis=2)
    cells = packed(cells.astype(np.uint8))
    return {"kind": "regions", "width": side, "height": side, "cells": cells, "extent": [-4, 4, -4, 4]}


def descent():
    """Return gradient descent on a valley: heat with contours, the path, a text, one trace on a log scale."""
    side, w, path = 80, np.array([-1.5, 1.8]), []
    for _ in range(60):
        path.append(w)
        w = w - 0.02 * np.array([2 * w[0] - 4 * w[0] * 3 * (w[1] - w[0] ** 2), 6 * (w[1] - w[0] ** 2)])
    path = np.array(path)
    x, y = np.meshgrid(np.linspace(-2, 2, side), np.linspace(-1, 3, side))
    height = x**2 + 3 * (y - x**2) ** 2
    heat = {"kind": "heat", "width": side, "height": side, "values": packed(height.astype(np.float32))}
    heat |= {"extent": [-2, 2, -1, 3], "log": True}
    frames = [
        frame(
            f"step {k}",
            {
                "kind": "polyline",
                "x": rounded(path[: k + 1, 0]),
                "y": rounded(path[: k + 1, 1]),
                "class": 1,
                "width": 1.3,
            },
            points(path[k : k + 1], 1, size=1.4),
            {"kind": "text", "x": -1.9, "y": 2.8, "text": f"f = {k}"},
            row=k,
        )
        for k in range(60)
    ]
    objective = path[:, 0] ** 2 + 3 * (path[:, 1] - path[:, 0] ** 2) ** 2
    trace = {"columns": {"iteration": list(range(60)), "objective": rounded(objective)}, "log": ["objective"]}
    axes = {**axis("x", "w1", -2, 2), **axis("y", "w2", -1, 3), "equal": True}
    return recording(frames, [heat], axes, trace, CLAIMS[:2], title="Gradient descent in a valley")


def curves():
    """Return a fitted curve with its band and named lines; a gap is a value that is not a number."""
    rng = np.random.default_rng(1)
    x = np.linspace(0, 10, 60)
    y = np.sin(x) + rng.normal(scale=0.2, size=60)
    dots = points(np.column_stack([x, y]))
    dots["y"][5] = None
    frames = []
    for degree in range(12):
        fit = np.polynomial.Polynomial.fit(x, y, degree)(x)
        line = {"kind": "polyline", "x": rounded(x), "y": rounded(fit), "class": 0, "label": f"degree {degree}"}
        zero = {"kind": "polyline", "x": [0, 10], "y": [0, 0.02], "class": 2, "label": "zero", "width": 0.5}
        band = {"kind": "band", "x": rounded(x), "low": rounded(fit - 0.4), "high": rounded(fit + 0.4), "class": 0}
        rests = {"kind": "segments", "x1": rounded(x), "y1": rounded(y), "x2": rounded(x), "y2": rounded(fit)}
        frames.append(frame(f"degree {degree}", band, {**rests, "class": 1, "dash": True}, line, zero, row=degree))
    trace = {"columns": {"error": rounded(np.geomspace(1, 0.04, 12))}, "log": []}
    axes = {**axis("x", "time in seconds", 0, 10), **axis("y", "height", -2, 2), "equal": False}
    return recording(frames, [dots], axes, trace, CLAIMS[:1], title="Polynomials of growing degree")


def panels():
    """Return what is not in data space: a tree growing, bars, a matrix, an image in gray and one in color."""
    nodes = [
        {"x": 0.5, "y": 1.0, "text": "length < 2.45", "parent": None, "class": None},
        {"x": 0.25, "y": 0.5, "text": "setosa\n50 rows", "parent": 0, "class": 0},
        {"x": 0.75, "y": 0.5, "text": "width < 1.75", "parent": 0, "class": None},
        {"x": 0.6, "y": 0.0, "text": "versicolor\n54 rows", "parent": 2, "class": 1},
        {"x": 0.9, "y": 0.0, "text": "virginica\n46 rows", "parent": 2, "class": 2, "cut": True},
    ]
    ramp = np.arange(64, dtype=np.uint8).reshape(8, 8) * 4
    gray = {"kind": "image", "width": 8, "height": 8, "values": packed(ramp)}
    rgb = {**gray, "values": packed(np.stack([ramp, ramp.T, ramp[::-1]], axis=2))}
    frames = []
    for k in (1, 3, 5):
        bars = {"kind": "bars", "labels": ["length", "width", "age"], "values": [0.3 * k, -0.2 * k, None]}
        matrix = {"kind": "matrix", "values": [[k, 0.5, -1], [0.5, 1, None], [-1, 0, 2]], "rows": list("abc")}
        tree = {"kind": "tree", "nodes": nodes[:k]}
        frames.append(frame(f"{k} nodes", tree, bars, {**matrix, "columns": list("abc")}, gray, rgb))
    return recording(frames, claims=CLAIMS, classes=["setosa", "versicolor", "virginica"], title="A tree that grows")


def large(n_frames=200, n_rows=2000):
    """Return a recording of the largest size that must scrub at the speed of the screen: every label in every frame."""
    rng = np.random.default_rng(2)
    rows = points(rng.normal(size=(n_rows, 2)))
    frames = []
    for number in range(n_frames):
        codes = ((np.arange(n_rows) + number) // 300 % 3).tolist()
        layer = {"same_as": 0, "layer": 0} if number else rows
        frames.append(frame(f"round {number}", {**layer, "class": codes}, row=number))
    trace = {"columns": {"objective": rounded(np.geomspace(1, 1e-6, n_frames))}, "log": ["objective"]}
    return recording(frames, trace=trace, classes=list("abc"), title="Two thousand rows")


def every_kind():
    """Return one recording whose first frame has a layer of every kind."""
    made = [clusters(), descent(), curves(), panels()]
    layers = [layer for one in made for layer in [*one["layers"], *one["frames"][1]["layers"]]]
    again = {"same_as": 0, "layer": 0}
    frames = [frame("all", *layers, row=0, step=1), frame("the first again", again, row=None)]
    return recording(
        frames, trace=made[0]["trace"], workings=made[0]["workings"], title="Every kind </script> of layer"
    )
