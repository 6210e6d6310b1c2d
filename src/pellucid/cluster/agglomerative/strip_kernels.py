"""Rough squared distances of a strip of points, which stand in columns, to one query."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import lean_in_any_order


@lean_in_any_order
def add_products(columns, norms, query, own, bounds):
    """Write ``norms[i] + own`` plus the product of each point with the query; four features at a time. O(n p).

    It is done for as many points as there is room for in ``bounds``.
    """
    p, n = columns.shape[0], bounds.shape[0]
    for i in range(n):
        bounds[i] = norms[i] + own
    for j in range(0, p - p % 4, 4):
        a, b, c, d = query[j], query[j + 1], query[j + 2], query[j + 3]
        one, two, three, four = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        for i in range(n):
            bounds[i] += a * one[i] + b * two[i] + c * three[i] + d * four[i]
    for j in range(p - p % 4, p):
        a, one = query[j], columns[j]
        for i in range(n):
            bounds[i] += a * one[i]
