"""The chain of nearest neighbors: what its searches share. Clusters are named by their last row."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import lean


@lean
def pushed(chain, length, place, found):
    """Add the nearest neighbor of the last cluster to the chain; return its length, or minus it if two must merge.

    Each cluster of the chain is followed by its nearest neighbor. Two at the end that are nearest to each other merge.
    Where rounding has made a cluster in the middle the nearest, the chain is cut there and goes on from it.
    """
    tip = chain[length - 1]
    if place[found] < 0:
        chain[length], place[found] = found, length
        return length + 1
    where = place[found]
    if where == length - 2:
        return -length
    for k in range(where, length):
        place[chain[k]] = -1
    chain[where], chain[where + 1] = tip, found
    place[tip], place[found] = where, where + 1
    return where + 2
