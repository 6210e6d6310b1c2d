r"""Proof of denoising and inpainting by dictionaries: the codes that the image is made of.

The image is averaged once more from its codes, all of it. Codes of orthogonal matching pursuit leave a residual that is
small enough and at right angles to their atoms, all of them; for some drawn at random each step is replayed: the atom
that was taken had the largest correlation with what was left. Lasso codes are judged by their duality gaps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.vision.measurement import Measurement

CLOSE = 1e-7
"""Rounding of sums over patches and of small systems of equations, relative."""
SHARE_OF_NOISY, LASSO_ALPHA, LASSO_GAP, LEAST_NOISE = 0.5, 1.8, 1e-5, 0.005
"""As the method says: weight of the noisy pixel, of the penalty, gap of a code, least noise of inpainting."""
DEPENDENT = 1e-9
"""Squared part of an atom outside of those taken below which it is no new direction."""
PATCHES_PER_ATOM = 10
"""Patches for each atom from which on something is said of what was learnt: from fewer there is little to learn."""
UPDATED = 0.01
"""Share of the squared residuals that the update of one atom may still save."""
N_REPLAYED = 4_000
N_REPLAYED_AT_FIT = 500
AT_ONCE = 4096


def prove_dictionary_denoising(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that the image is the average of its codes, and that the codes are what the method asks for."""
    y = data.y
    shape = tuple(min(parameters.patch_size, n) for n in y.shape)
    seen = ~data.operator.parts["missing"] if data.operator.name == "Mask" else np.ones(y.shape, bool)
    atoms, ends, taken, values = fitted.dictionary, fitted.code_ends, fitted.code_atoms, fitted.code_values
    is_coded = data.operator.name == "Mask" or (data.sigma > 0 and len(atoms) > 0)
    n_patches = (y.shape[0] - shape[0] + 1) * (y.shape[1] - shape[1] + 1) if is_coded else 0
    n_atoms = len(atoms) + (data.operator.name == "Mask")
    is_right = {
        "code_ends": np.array_equal(ends, np.sort(ends)) and (not n_patches or ends[-1] == len(taken)),
        "code_atoms": len(taken) == 0 or bool(taken.min() >= 0 and taken.max() < n_atoms),
        "numbers": all(bool(np.isfinite(one).all()) for one in (atoms, values, fitted.image)),
    }
    given = parameters.dictionary
    n_wanted = min(len(atoms), parameters.n_atoms) if given is None else len(given)
    sizes = {"dictionary": (n_wanted, math.prod(shape)), "code_ends": (n_patches,), "code_values": taken.shape}
    wrong = misshapen("replayed", fitted, is_right, image=y.shape, **sizes)
    if wrong is not None:
        return wrong
    unit = float(np.abs(y[seen]).max(initial=0.0)) or 1.0  # squares of what was measured stay finite
    problem = _Problem(y / unit, seen, shape, atoms, data.sigma / unit, parameters, data.operator.name == "Mask")
    claims = [_claim_of_atoms(atoms, given)]
    if not is_coded:
        worst = float(np.abs(fitted.image - y).max(initial=0.0))
        claims.append(
            Claim("average", "without noise it is what was measured: largest difference", worst, CLOSE * unit)
        )
        return Certificate("exact", tuple(claims))
    starts = np.concatenate([[0], ends[:-1]])
    codes = _Codes(starts, ends, taken, values / unit)
    worst = float(np.abs(problem.average(codes, fitted.image / unit) - fitted.image / unit).max())
    claims.append(
        Claim("average", "largest difference from the average of the coded patches", unit * worst, unit * CLOSE)
    )
    if parameters.coding == "lasso":
        return graded("optimal", [*claims, *_claims_of_lasso(problem, codes)])
    claims += _claims_of_pursuit(problem, codes)
    if given is None and not problem.is_masked and n_patches >= PATCHES_PER_ATOM * len(atoms):
        claims += [_claim_of_learning(problem, codes), _claim_of_updates(problem, codes)]
    return graded("replayed", claims)


class _Codes:
    """Codes of all patches, one after the other."""

    def __init__(self, starts: Array, ends: Array, atoms: Array, values: Array) -> None:
        self.starts, self.counts, self.atoms, self.values = starts, ends - starts, atoms, values

    def sums(self, places: Array, dictionary: Array) -> Array:
        """Return what the codes of these patches add up to."""
        found = np.zeros((len(places), dictionary.shape[1]))
        for k in range(int(self.counts[places].max(initial=0))):
            some = np.flatnonzero(self.counts[places] > k)
            entry = self.starts[places[some]] + k
            found[some] += self.values[entry, None] * dictionary[self.atoms[entry]]
        return found


class _Problem:
    """Patches less their mean, or with their missing pixels marked; atoms; and what is asked of a code."""

    def __init__(
        self, y: Array, seen: Array, shape: Any, atoms: Array, sigma: float, parameters: Seen, is_masked: bool
    ) -> None:
        self.y, self.seen, self.shape, self.is_masked = y, seen, shape, is_masked
        self.n = shape[0] * shape[1]
        self.columns = y.shape[1] - shape[1] + 1
        self.n_patches = (y.shape[0] - shape[0] + 1) * self.columns
        self.atoms = np.vstack([atoms, np.full((1, self.n), self.n**-0.5)]) if is_masked else atoms
        if is_masked:
            sigma = max(sigma, LEAST_NOISE * float(y[seen].max() - y[seen].min()))
        self.noise = parameters.noise_gain * sigma

    def patches(self, places: Array) -> tuple[Array, Array, Array]:
        """Return patches, their masks and their means, which are 0 where the constant is an atom."""
        row, column = places // self.columns, places % self.columns
        down, right = np.divmod(np.arange(self.n), self.shape[1])
        where = row[:, None] + down, column[:, None] + right
        patches, masks = self.y[where], self.seen[where]
        means = np.zeros((len(places), 1)) if self.is_masked else patches.mean(axis=1, keepdims=True)
        return np.where(masks, patches - means, 0.0), masks, means

    def average(self, codes: _Codes, image: Array) -> Array:
        """Return the image that all codes make together, with a share of what was measured."""
        total, count = SHARE_OF_NOISY * self.seen * self.y, SHARE_OF_NOISY * self.seen
        height, width = self.shape
        for top in range(self.n_patches // self.columns):
            places = top * self.columns + np.arange(self.columns)
            _, masks, means = self.patches(places)
            says = np.asarray(masks.any(axis=1))[:, None]
            made = np.where(says, codes.sums(places, self.atoms) + means, 0.0)
            for a in range(height):
                for b in range(width):
                    columns = slice(b, b + self.columns)
                    total[top + a, columns] += made[:, a * width + b]
                    count[top + a, columns] += says[:, 0]
        far = count == 0
        found = total / np.where(far, 1.0, count)
        return np.where(far, self._nearest_seen(far, image), found) if far.any() else found

    def _nearest_seen(self, far: Array, image: Array) -> Array:
        """Return the nearest seen pixel where no patch holds any; of several, the one most like the image."""
        rows, columns = np.nonzero(self.seen)
        values, found = self.y[rows, columns], np.zeros(self.y.shape)
        for i, j in zip(*np.nonzero(far), strict=True):
            squares = (rows - i) ** 2 + (columns - j) ** 2
            nearest = values[squares == squares.min()]
            found[i, j] = nearest[np.argmin(np.abs(nearest - image[i, j]))]
        return found


def _claim_of_atoms(atoms: Array, given: Array | None) -> Claim:
    """Return the claim that atoms have length 1, or are those that were given."""
    if given is not None:
        return Claim("atoms", "largest difference from those given", float(np.abs(atoms - given).max()), 0.0)
    off = float(np.abs(np.einsum("ij,ij->i", atoms, atoms) - 1.0).max(initial=0.0))
    return Claim("atoms", "how far the square of an atom's length is from 1", off, CLOSE)


def _claims_of_pursuit(problem: _Problem, codes: _Codes) -> list[Claim]:
    """Return the claims that residuals are small and at right angles, and that the steps of some codes are the best."""
    worst_angle = worst_left = 0.0
    for start in range(0, problem.n_patches, AT_ONCE):
        places = np.arange(start, min(start + AT_ONCE, problem.n_patches))
        signals, masks, _ = problem.patches(places)
        residual = np.where(masks, signals - codes.sums(places, problem.atoms), 0.0)
        size = np.sqrt(np.einsum("ij,ij->i", signals, signals))
        left = np.einsum("ij,ij->i", residual, residual)
        goal = masks.sum(axis=1) * problem.noise**2
        ended = codes.counts[places] >= _most_atoms(problem, masks)
        excess = np.where(ended | (size == 0), 0.0, left / np.maximum(goal, CLOSE**2 * size**2))
        worst_left = max(worst_left, _stuck(problem, codes, places, residual, masks, excess))
        owner = np.repeat(np.arange(len(places)), codes.counts[places])
        entry = codes.starts[places[0]] + np.arange(len(owner))
        along = np.abs(np.einsum("ij,ij->i", residual[owner], problem.atoms[codes.atoms[entry]]))
        worst_angle = max(worst_angle, float((along / np.maximum(size[owner], 1e-300)).max(initial=0.0)))
    wrong, looked_at = _steps_replayed(problem, codes)
    coherence = np.abs(problem.atoms @ problem.atoms.T)
    np.fill_diagonal(coherence, 0.0)
    mu = float(coherence.max(initial=0.0))
    sparsest = math.ceil((1.0 / mu + 1.0) / 2.0) - 1 if mu > 0 else problem.n  # largest k with mu (2 k - 1) < 1
    said = (
        f"of {looked_at:,} codes of {problem.n_patches:,}, those with a step that was not the best"
        f"{at_most_wrong(looked_at, problem.n_patches)}; coherence {mu:.2f}: sums of at most {sparsest} atoms are "
        "surely found (Tropp)"
    )
    return [
        Claim(
            "residuals", "largest squared residual, in units of the one at which a code ends", worst_left, 1.0 + CLOSE
        ),
        Claim("right angles", "largest product of an atom taken and a residual, relative", worst_angle, CLOSE),
        Claim("steps", said, float(wrong), 0.0, "Restore it again."),
    ]


def _most_atoms(problem: _Problem, masks: Array) -> Array:
    """Return how many atoms a code may have: half as many as pixels, and one for the constant where it is an atom."""
    half = np.maximum(1, masks.sum(axis=1) // 2)
    most = max(1, min(problem.n // 2, len(problem.atoms)))
    return np.minimum(half, max(problem.n // 2, 0)) + 1 if problem.is_masked else np.full(len(masks), most)


def _stuck(problem: _Problem, codes: _Codes, places: Array, residual: Array, masks: Array, excess: Array) -> float:
    """Return the largest excess, but for codes that no atom can make longer: the next depends on those taken."""
    worst = 0.0
    for s in np.flatnonzero(excess > 1.0 + CLOSE):
        row = residual[s] * masks[s]
        restricted = problem.atoms * masks[s]
        entry = codes.starts[places[s]] + np.arange(codes.counts[places[s]])
        best = int(np.argmax(np.abs(_correlations(restricted, row))))
        basis = restricted[codes.atoms[entry]]
        length = float(restricted[best] @ restricted[best])
        outside = restricted[best] - np.linalg.lstsq(basis.T, restricted[best], rcond=None)[0] @ basis
        if length > 0 and outside @ outside > DEPENDENT * length:
            worst = max(worst, float(excess[s]))
    return worst


def _correlations(atoms: Array, residual: Array) -> Array:
    """Return products of a residual with atoms, each made of length 1; 0 for those without a seen pixel."""
    lengths = np.sqrt(np.einsum("ij,ij->i", atoms, atoms))
    return np.where(lengths > 1e-5, atoms @ residual / np.where(lengths > 1e-5, lengths, 1.0), 0.0)


def _steps_replayed(problem: _Problem, codes: _Codes) -> tuple[int, int]:
    """Return how many of some codes, drawn at random, have a step that was not the best, and how many those are."""
    places = drawn(problem.n_patches, N_REPLAYED_AT_FIT if is_fitting() else N_REPLAYED)
    if problem.is_masked:
        places = drawn(problem.n_patches, 100 if is_fitting() else 1000)
    signals, masks, _ = problem.patches(places)
    wrong = 0
    for x, mask, place in zip(signals, masks, places, strict=True):
        taken = codes.atoms[codes.starts[place] : codes.starts[place] + codes.counts[place]]
        if len(set(taken.tolist())) < len(taken) or (problem.is_masked and mask.any() and not len(taken)):
            wrong += 1
            continue
        if not len(taken):
            continue
        restricted = problem.atoms * mask if problem.is_masked else problem.atoms
        wrong += not _is_greedy(x, restricted, taken, problem, int(mask.sum()))
    return wrong, len(places)


def _is_greedy(x: Array, atoms: Array, taken: Array, problem: _Problem, n_seen: int) -> bool:
    """Return whether each atom had the largest correlation with what those before it left, which was too much."""
    residual = x
    for k, atom in enumerate(taken):
        if problem.is_masked and k == 0:
            if atom != len(atoms) - 1:  # the constant comes first
                return False
        else:
            along = np.abs(_correlations(atoms, residual) if problem.is_masked else atoms @ residual)
            if problem.is_masked:
                along[-1] = 0.0
            if along[atom] < along.max() * (1.0 - CLOSE) or residual @ residual < n_seen * problem.noise**2 * (
                1 - CLOSE
            ):
                return False
        basis = atoms[taken[: k + 1]]
        residual = x - np.linalg.lstsq(basis.T, x, rcond=None)[0] @ basis
    return True


def _claims_of_lasso(problem: _Problem, codes: _Codes) -> list[Claim]:
    """Return the claim about the duality gaps of codes."""
    places = drawn(problem.n_patches, 2500 if is_fitting() else 1 << 40)
    alpha, worst = LASSO_ALPHA * problem.noise, 0.0
    for start in range(0, len(places), AT_ONCE):
        some = places[start : start + AT_ONCE]
        signals, _, _ = problem.patches(some)
        residual = signals - codes.sums(some, problem.atoms)
        owner = np.repeat(np.arange(len(some)), codes.counts[some])
        entry = np.concatenate([np.arange(codes.starts[p], codes.starts[p] + codes.counts[p]) for p in some])
        size = np.bincount(owner, np.abs(codes.values[entry.astype(np.int64)]), minlength=len(some))
        squares, left = np.einsum("ij,ij->i", signals, signals), np.einsum("ij,ij->i", residual, residual)
        largest = np.abs(residual @ problem.atoms.T).max(axis=1)
        scale = np.minimum(1.0, alpha / np.maximum(largest, 1e-300))  # the residual, until no atom is above alpha
        below = scale * np.einsum("ij,ij->i", residual, signals) - 0.5 * scale**2 * left
        gap = 0.5 * left + alpha * size - below
        worst = max(worst, float((gap / np.maximum(0.5 * squares, 1e-300)).max(initial=0.0)))
    said = "largest duality gap of a code, as a share of half the patch's square"
    return [Claim("gaps", said + at_most_wrong(len(places), problem.n_patches), worst, LASSO_GAP + 1e-9)]


def _claim_of_learning(problem: _Problem, codes: _Codes) -> Claim:
    """Return the claim that codes are shorter than those of the waves that learning began with."""
    places = drawn(problem.n_patches, 500 if is_fitting() else 2000)
    signals, _, _ = problem.patches(places)
    goal, waves = problem.n * problem.noise**2, _waves(problem.shape, len(problem.atoms))
    lengths = [_pursuit_length(x, waves, goal) for x in signals]
    learnt, before = float(codes.counts[places].mean()), float(np.mean(lengths))
    spread = 3.0 * float(np.std(codes.counts[places] - lengths)) / math.sqrt(len(places))
    statement = "atoms per code above those that a code by the waves needs where learning began, on average"
    return Claim("learnt", statement, learnt - before, spread + CLOSE)


def _claim_of_updates(problem: _Problem, codes: _Codes) -> Claim:
    """Return the claim that no atom is far from the leading singular vector of what the other atoms leave."""
    owner = np.repeat(np.arange(problem.n_patches), codes.counts)
    looked_at = drawn(len(problem.atoms), 16 if is_fitting() else len(problem.atoms))
    coded = np.flatnonzero(codes.counts)
    places = np.full(problem.n_patches, -1)
    places[coded] = np.arange(len(coded))
    signals = problem.patches(coded)[0]
    residual = signals - codes.sums(coded, problem.atoms)
    whole, most = float(np.sum(residual**2)) + CLOSE * float(np.sum(signals**2)), 0.0
    for k in looked_at:
        entries = np.flatnonzero(codes.atoms == k)
        if not len(entries):
            continue
        without = residual[places[owner[entries]]] + codes.values[entries, None] * problem.atoms[k]
        spread = without.T @ without
        saved = float(np.linalg.eigvalsh(spread)[-1]) - float(problem.atoms[k] @ spread @ problem.atoms[k])
        most = max(most, saved / max(whole, 1e-300))
    said = f"share of the squared residuals that a better atom could save, the most for one of {len(looked_at)} atoms"
    return Claim("updates", said, most, UPDATED, "Raise n_iter.")


def _pursuit_length(x: Array, atoms: Array, goal: float) -> int:
    """Return how many atoms matching pursuit takes to the goal."""
    taken: list[int] = []
    residual = x
    while residual @ residual > goal and len(taken) < max(1, min(len(x) // 2, len(atoms))):
        best = int(np.argmax(np.abs(atoms @ residual)))
        if best in taken:
            break
        taken.append(best)
        basis = atoms[taken]
        residual = x - np.linalg.lstsq(basis.T, x, rcond=None)[0] @ basis
    return len(taken)


def _waves(shape: Any, n_atoms: int) -> Array:
    """Return patches of cosines, slow ones first, with mean 0 and length 1."""
    n_waves = math.ceil(math.sqrt(n_atoms + 1))
    found = []
    for total in range(2 * n_waves - 1):
        for a in range(max(0, total - n_waves + 1), min(total, n_waves - 1) + 1):
            pair = []
            for k, n in zip((a, total - a), shape, strict=True):
                wave = np.cos(math.pi * k / max(n_waves, n) * (np.arange(n) + 0.5))
                pair.append(wave - wave.mean() if k else wave)
            patch = np.outer(*pair).ravel()
            if total and np.linalg.norm(patch) > 1e-9:
                found.append(patch / np.linalg.norm(patch))
    return np.array(found[:n_atoms])


PROVES = {"DictionaryDenoising": prove_dictionary_denoising}
