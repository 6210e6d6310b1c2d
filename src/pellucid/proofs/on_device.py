"""Sums that proofs make of rows on a device, by their own code: a fit to such rows is proved where they are.

The library of the arrays is the one they came from, so that nothing is imported here.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.blocks import BlockSums, PivotSums
from pellucid.proofs.rounding import TINY

NUMBERS_AT_ONCE = 1 << 25


def sum_rows(block: Any, kind: str) -> BlockSums:
    """Return the sums of a block of rows about its first row."""
    if kind != "rows":
        raise ValueError(f"kind must be 'rows' on a device, got {kind!r}.")
    X, weight = _counted(block)
    torch = sys.modules[type(X).__module__.partition(".")[0]]
    pivot, (n, p) = X[0].to(torch.float64), X.shape
    first, second, total = 0.0, 0.0, 0.0
    for start in range(0, n, max(1, NUMBERS_AT_ONCE // p)):
        deviations = X[start : start + max(1, NUMBERS_AT_ONCE // p)].to(torch.float64) - pivot
        own = None if weight is None else weight[start : start + len(deviations), None]
        weighted = deviations if own is None else deviations * own
        first, second = first + weighted.sum(0), second + deviations.T.matmul(weighted)
        total += float(len(deviations) if own is None else own.sum())
    return BlockSums({None: PivotSums(_here(pivot), total, _here(first), _here(second))})


def ends_of_rows(block: Any, mean: Array, back: Array) -> Array:
    """Return the largest and the least score of each factor."""
    X, _ = _counted(block)
    torch = sys.modules[type(X).__module__.partition(".")[0]]
    turn, origin = (torch.as_tensor(part, device=X.device) for part in (back, mean))
    high, low = [], []
    for start in range(0, len(X), max(1, NUMBERS_AT_ONCE // X.shape[1])):
        rows = X[start : start + max(1, NUMBERS_AT_ONCE // X.shape[1])].to(torch.float64)
        scores = (rows - origin).matmul(turn)
        high.append(scores.amax(0))
        low.append(scores.amin(0))
    return np.array([_here(torch.stack(high).amax(0)), _here(torch.stack(low).amin(0))])


def mixture_of_rows(block: Any, model: Any, count: int, seed: int) -> Any:
    """Return the sums of one more step of EM, by differences from the means, and some rows drawn at random."""
    from pellucid.proofs.mixture.gaussian_mixture_passes import MixtureSums

    X, weight = _counted(block)
    torch = sys.modules[type(X).__module__.partition(".")[0]]
    keys = np.random.default_rng((seed, block.number)).random(len(X))
    chosen = np.argsort(keys, kind="stable")[:count]
    (k, d), places = model.means.shape, torch.as_tensor(chosen, device=X.device)
    means, factors = (torch.as_tensor(np.array(part), device=X.device) for part in (model.means, model.factors))
    peaks = torch.as_tensor(model.log_joint(np.zeros((k, 1, d)))[0], device=X.device)
    sums: list[Any] = [0.0, 0.0, 0.0, 0.0]
    for start in range(0, len(X), max(1, NUMBERS_AT_ONCE // (k * d))):
        rows = X[start : start + max(1, NUMBERS_AT_ONCE // (k * d))].to(torch.float64)
        own = torch.ones_like(rows[:, 0]) if weight is None else weight[start : start + len(rows)]
        apart = rows - means[:, None]  # (K, n, d)
        z = apart.matmul(factors) if model.has_matrices else apart * factors[:, None]
        scores = peaks[:, None] - 0.5 * (z * z).sum(2)
        logs = torch.logsumexp(scores, 0)
        shares = torch.exp(scores - logs) * own
        spread = (apart * shares[:, :, None]).mT.matmul(apart) if model.has_matrices else None
        spread = shares[:, None].matmul(apart * apart)[:, 0] if spread is None else spread
        found = ((own * logs).sum(), shares.sum(1), shares[:, None].matmul(apart)[:, 0], spread)
        sums = [total + part for total, part in zip(sums, found, strict=True)]
    ends = (_here(X.to(torch.float64).amin(0)), _here(X.to(torch.float64).amax(0)))
    drawn = (_here(X[places].to(torch.float64)), np.ones(len(chosen)) if weight is None else _here(weight[places]))
    step = (float(sums[0]), *map(_here, sums[1:]))
    return MixtureSums(sum_rows(block, "rows"), step, *ends, len(X), keys[chosen], *drawn)


def pairs_of_map(X: Array, places: Array, stored: Any) -> tuple[float, float, float, float, float]:
    """Return what a proof needs of all pairs of places on a map, and of rows whose stored distances are on a device.

    It is the largest difference of a stored distance from that of the rows, in parts of the largest; stress; sums of
    the squared distances on the map and of the rows; and the squared length of one more step.
    """
    torch = sys.modules[type(stored).__module__.partition(".")[0]]
    rows, Z = (torch.as_tensor(np.array(part, dtype=np.float64), device=stored.device) for part in (X, places))
    n, gradient, sums, ends = len(Z), torch.empty_like(Z), list[Any](), list[Any]()
    height = max(1, NUMBERS_AT_ONCE // (n * max(rows.shape[1], Z.shape[1])))
    for start in range(0, n, height):
        part = slice(start, start + height)
        wanted, seen = ((own[part, None] - own).square_().sum(2).sqrt_() for own in (rows, Z))  # (height, n)
        ends.append(torch.stack([(stored[part] - wanted).abs().amax(), wanted.amax()]))
        ratio = torch.where(seen > 0.0, wanted / seen, 0.0)
        pull = ratio.sum(1)[:, None] * Z[part] - ratio.matmul(Z)  # of B(Z) Z
        gradient[part] = n * (Z[part] - Z.mean(0)) - pull
        sums.append(torch.stack([(seen - wanted).square().sum(), seen.square().sum(), wanted.square().sum()]))
    apart, largest = torch.stack(ends).amax(0).tolist()
    stress, spread, size = (0.5 * torch.stack(sums).sum(0)).tolist()  # every pair was seen twice
    return apart / max(largest, TINY), stress, spread, size, float(gradient.square().sum()) / n


def factors_of_rows(X: Any, W: Any, H: Array, root: float, penalty: tuple[float, float]) -> tuple[Any, ...]:
    """Return what a proof needs of nonnegative factors of rows, in units of the root.

    It is ``W'W``, ``W'X``, the squared error, what entries of ``W`` could gain, and the squared norm of the rows.
    """
    torch = sys.modules[type(X).__module__.partition(".")[0]]
    parts, sums = torch.as_tensor(H, device=X.device), list[Any]()
    gram = parts.matmul(parts.T)
    bend = gram.diagonal() + penalty[1]
    products, crossed = torch.zeros_like(gram), torch.zeros_like(parts)
    for start in range(0, len(X), max(1, NUMBERS_AT_ONCE // X.shape[1])):
        rows = X[start : start + max(1, NUMBERS_AT_ONCE // X.shape[1])].to(torch.float64) / root / root
        own = W[start : start + len(rows)].to(torch.float64) / root
        products, crossed = products + own.T.matmul(own), crossed + own.T.matmul(rows)
        left = rows - own.matmul(parts)
        pull = penalty[0] + penalty[1] * own - left.matmul(parts.T)  # the gradient
        to_best = torch.where(bend > 0.0, torch.minimum(own, pull / bend.where(bend > 0.0, 1.0)), own * (pull > 0.0))
        gains = (pull * to_best - 0.5 * bend * to_best.square()).sum()
        sums.append(torch.stack([left.square().sum(), gains, rows.square().sum()]))
    return (_here(products), _here(crossed), *torch.stack(sums).sum(0).tolist())


def products_of_rows(X: Any) -> Array:
    """Return ``X'X``."""
    torch = sys.modules[type(X).__module__.partition(".")[0]]
    height = max(1, NUMBERS_AT_ONCE // X.shape[1])
    parts = (X[start : start + height].to(torch.float64) for start in range(0, len(X), height))
    return _here(sum(rows.T.matmul(rows) for rows in parts))


def rows_here(X: Any) -> Any:
    """Return rows of the host as they are, and those of a device as an array."""
    return _here(X) if hasattr(X, "cpu") else X


def _counted(block: Any) -> tuple[Any, Any]:
    """Return the rows of weight above 0, and their weights."""
    if block.weight is None:
        return block.X, None
    counts = block.weight > 0
    return block.X[counts], block.weight[counts].double()


def _here(part: Any) -> Array:
    return np.asarray(part.cpu().numpy())
