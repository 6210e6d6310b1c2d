"""Passes of partitioning around medoids over all distances, in float64 arrays that the caller has checked."""

# mypy: allow-untyped-defs

from pellucid.solvers.compiling_kernels import kept, lean_and_kept

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}


@kept(fastmath=ANY_ORDER)
def build_gains(D, weight, near, first, last, gains):
    """Write by how much each of some rows would lower the objective as one more medoid. O(n) each."""
    for x in range(first, last):
        row, total = D[x], 0.0
        for i in range(row.size):
            gap = near[i] - row[i]
            total += weight[i] * (gap if gap > 0.0 else 0.0)
        gains[x] = total


@lean_and_kept
def swap_gains(D, weight, near, second, owner, removal, first, last, sums, changes, slots):
    """Write how the best swap with each of some rows changes the objective, and which medoid leaves. O(n + k) each.

    ``removal`` is what the objective gains without each medoid; ``sums`` is scratch. Of equal medoids the first leaves.
    """
    for x in range(first, last):
        row, shared = D[x], 0.0
        for k in range(removal.size):
            sums[k] = removal[k]
        for i in range(row.size):
            if row[i] < second[i]:
                if row[i] < near[i]:
                    shared += weight[i] * (row[i] - near[i])
                    sums[owner[i]] += weight[i] * (near[i] - second[i])
                else:
                    sums[owner[i]] += weight[i] * (row[i] - second[i])
        best = 0
        for k in range(1, removal.size):
            if sums[k] < sums[best]:
                best = k
        changes[x], slots[x] = sums[best] + shared, best


@lean_and_kept
def replace_medoid(D, weight, medoids, slot, x, far, near, second, owner, runner, removal):
    """Let row x take the place of a medoid: bring the two nearest of each row up to date. O(n k) at most.

    ``far`` is a distance larger than all, for the second nearest of a single medoid.
    """
    medoids[slot] = x
    for k in range(removal.size):
        removal[k] = 0.0
    for i in range(near.size):
        gap = D[x, i]
        if owner[i] == slot or runner[i] == slot:
            near[i], second[i], owner[i], runner[i] = far, far, -1, -1
            for k in range(medoids.size):
                distance = D[medoids[k], i]
                if distance < near[i] or owner[i] < 0:
                    second[i], runner[i], near[i], owner[i] = near[i], owner[i], distance, k
                elif distance < second[i]:
                    second[i], runner[i] = distance, k
        elif gap < near[i]:
            second[i], runner[i], near[i], owner[i] = near[i], owner[i], gap, slot
        elif gap < second[i]:
            second[i], runner[i] = gap, slot
        removal[owner[i]] += weight[i] * (second[i] - near[i])
