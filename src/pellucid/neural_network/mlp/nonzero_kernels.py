"""Products with rows that are mostly zeros: only what is not zero is multiplied."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import ANY_ORDER, LEAN, kept, lean_inlined_in_any_order


@lean_inlined_in_any_order
def weighted_sum(values, places, start, stop, matrix, out):
    """Write the sum of rows of a matrix, each times its value, for entries ``start`` to ``stop``. O(entries * columns).

    Four entries at a time, so that the sum is read and written once for four rows.
    """
    for c in range(out.shape[0]):
        out[c] = 0
    whole = start + (stop - start) // 4 * 4
    for p in range(start, whole, 4):
        a, b, u, v = values[p], values[p + 1], values[p + 2], values[p + 3]
        ra, rb, ru, rv = matrix[places[p]], matrix[places[p + 1]], matrix[places[p + 2]], matrix[places[p + 3]]
        for c in range(out.shape[0]):
            out[c] += a * ra[c] + b * rb[c] + u * ru[c] + v * rv[c]
    for p in range(whole, stop):
        value, row = values[p], matrix[places[p]]
        for c in range(out.shape[0]):
            out[c] += value * row[c]


@kept(**LEAN, fastmath=ANY_ORDER)
def rows_times(data, indices, indptr, places, W, Z):
    """Write the products of some rows with ``W`` into ``Z``. O(nonzeros * columns)."""
    for i in range(places.shape[0]):
        weighted_sum(data, indices, indptr[places[i]], indptr[places[i] + 1], W, Z[i])


@kept(**LEAN)
def turn(data, indices, indptr, places, starts, values, rows):
    """Write some rows column by column: values and row numbers of column ``j`` from ``starts[j]`` on. O(nonzeros).

    ``starts`` has one entry more than there are columns, all 0 before.
    """
    for i in range(places.shape[0]):
        for p in range(indptr[places[i]], indptr[places[i] + 1]):
            starts[indices[p] + 1] += 1
    for j in range(starts.shape[0] - 1):
        starts[j + 1] += starts[j]
    for i in range(places.shape[0]):
        for p in range(indptr[places[i]], indptr[places[i] + 1]):
            j = indices[p]
            values[starts[j]] = data[p]
            rows[starts[j]] = i
            starts[j] += 1
    for j in range(starts.shape[0] - 1, 0, -1):  # each start has moved to the next one's place
        starts[j] = starts[j - 1]
    starts[0] = 0


@kept(**LEAN, fastmath=ANY_ORDER)
def columns_times(values, rows, starts, D, G):
    """Write the products of columns with ``D`` into the rows of ``G``. O(nonzeros * columns)."""
    for j in range(G.shape[0]):
        weighted_sum(values, rows, starts[j], starts[j + 1], D, G[j])


@kept(**LEAN)
def count_nonzeros(X, counts):
    """Write how many entries of each row are not 0. O(entries)."""
    for i in range(X.shape[0]):
        row, found = X[i], 0
        for j in range(row.shape[0]):
            found += row[j] != 0
        counts[i] = found


@kept(**LEAN)
def write_nonzeros(X, starts, values, columns):
    """Write the entries of each row that are not 0 and their columns, from ``starts`` of that row on. O(entries)."""
    for i in range(X.shape[0]):
        row, place = X[i], starts[i]
        for j in range(row.shape[0]):
            if row[j] != 0:
                values[place], columns[place] = row[j], j
                place += 1
