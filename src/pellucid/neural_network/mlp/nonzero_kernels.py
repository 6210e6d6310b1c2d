"""Products with rows that are mostly zeros: only what is not zero is multiplied."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import ANY_ORDER, LEAN, kept


@kept(**LEAN, fastmath=ANY_ORDER)
def rows_times(data, indices, indptr, places, W, Z):
    """Write the products of some rows with ``W`` into ``Z``. O(nonzeros * columns).

    Four nonzeros at a time, so that a row of ``Z`` is read and written once for four rows of ``W``.
    """
    for i in range(places.shape[0]):
        row = Z[i]
        for c in range(row.shape[0]):
            row[c] = 0
        start, stop = indptr[places[i]], indptr[places[i] + 1]
        whole = start + (stop - start) // 4 * 4
        for p in range(start, whole, 4):
            a, b, u, v = data[p], data[p + 1], data[p + 2], data[p + 3]
            wa, wb, wu, wv = W[indices[p]], W[indices[p + 1]], W[indices[p + 2]], W[indices[p + 3]]
            for c in range(row.shape[0]):
                row[c] += a * wa[c] + b * wb[c] + u * wu[c] + v * wv[c]
        for p in range(whole, stop):
            value, line = data[p], W[indices[p]]
            for c in range(row.shape[0]):
                row[c] += value * line[c]


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
    """Write the products of columns with ``D`` into the rows of ``G``, four at a time. O(nonzeros * columns)."""
    for j in range(G.shape[0]):
        line = G[j]
        for c in range(line.shape[0]):
            line[c] = 0
        start, stop = starts[j], starts[j + 1]
        whole = start + (stop - start) // 4 * 4
        for p in range(start, whole, 4):
            a, b, u, v = values[p], values[p + 1], values[p + 2], values[p + 3]
            da, db, du, dv = D[rows[p]], D[rows[p + 1]], D[rows[p + 2]], D[rows[p + 3]]
            for c in range(line.shape[0]):
                line[c] += a * da[c] + b * db[c] + u * du[c] + v * dv[c]
        for p in range(whole, stop):
            value, row = values[p], D[rows[p]]
            for c in range(line.shape[0]):
                line[c] += value * row[c]


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
