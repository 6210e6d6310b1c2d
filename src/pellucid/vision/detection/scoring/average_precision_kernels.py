"""Compiled loops of average precision: who found which object, and what the curve of precision and recall encloses."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept, lean

NEARLY_ONE = 1.0 - 1e-10
"""COCO asks for no larger an overlap."""
LEAST = np.spacing(1.0)
"""COCO adds it to the number of detections, so that nothing is not divided by nothing."""


@kept
def box_overlaps(found, objects, crowd, found_starts, object_starts, starts, overlaps):
    """Write the overlaps of all detections with all objects of each pair of image and class, detection by detection.

    With a crowd only the detection's own area counts: the crowd is larger than any object in it.
    """
    for pair in range(len(starts)):
        place = starts[pair]
        for i in range(found_starts[pair], found_starts[pair + 1]):
            area = (found[i, 2] - found[i, 0]) * (found[i, 3] - found[i, 1])
            for j in range(object_starts[pair], object_starts[pair + 1]):
                width = min(found[i, 2], objects[j, 2]) - max(found[i, 0], objects[j, 0])
                height = min(found[i, 3], objects[j, 3]) - max(found[i, 1], objects[j, 1])
                overlaps[place] = 0.0
                if width > 0.0 and height > 0.0:
                    shared = width * height
                    other = (objects[j, 2] - objects[j, 0]) * (objects[j, 3] - objects[j, 1])
                    overlaps[place] = shared / (area if crowd[j] else area + other - shared)
                place += 1


@kept
def take_by_coco(
    overlaps, starts, found_starts, object_starts, areas, object_areas, crowd, thresholds, limits, taken, counts
):
    """Let each detection, by falling score, take the object it overlaps most; write which, and whether it counts.

    ``taken[s, t, i]`` is the place of an object or -1, ``counts[s, t, i]`` whether the detection is right or wrong; it
    is neither if it took an object that does not count for size s, or took none and is not of that size itself. An
    object that counts is taken once, and before one that does not, a crowd any number of times; of equal overlaps the
    last object is taken.
    """
    for pair in range(len(starts)):
        first, last = object_starts[pair], object_starts[pair + 1]
        is_free = np.empty(last - first, np.bool_)
        is_spare = np.empty(last - first, np.bool_)
        for s in range(len(limits)):
            low, high = limits[s, 0], limits[s, 1]
            for j in range(first, last):
                is_spare[j - first] = crowd[j] or object_areas[j] < low or object_areas[j] > high
            for t in range(len(thresholds)):
                is_free[:] = True
                place = starts[pair]
                for i in range(found_starts[pair], found_starts[pair + 1]):
                    best, least = -1, min(thresholds[t], NEARLY_ONE)
                    for spare in (False, True):
                        if best >= 0:
                            break
                        for j in range(first, last):
                            k = j - first
                            if is_spare[k] == spare and (is_free[k] or crowd[j]) and overlaps[place + k] >= least:
                                best, least = j, overlaps[place + k]
                    taken[s, t, i] = best
                    if best >= 0:
                        counts[s, t, i] = not is_spare[best - first]
                        is_free[best - first] = False
                    else:
                        counts[s, t, i] = low <= areas[i] <= high
                    place += last - first


@kept
def take_by_voc(overlaps, starts, found_starts, object_starts, crowd, thresholds, taken, counts):
    """Ask each detection, by falling score, for the object it overlaps most: found first, it is right; again, wrong.

    Of equal overlaps the first object is meant. A difficult object makes a detection neither right nor wrong.
    """
    for pair in range(len(starts)):
        first, last = object_starts[pair], object_starts[pair + 1]
        is_free = np.empty(last - first, np.bool_)
        for t in range(len(thresholds)):
            is_free[:] = True
            place = starts[pair]
            for i in range(found_starts[pair], found_starts[pair + 1]):
                best = -1
                for j in range(first, last):
                    if best < 0 or overlaps[place + j - first] > overlaps[place + best - first]:
                        best = j
                taken[0, t, i], counts[0, t, i] = -1, True
                if best >= 0 and overlaps[place + best - first] >= thresholds[t]:
                    counts[0, t, i] = not crowd[best]
                    if is_free[best - first] or crowd[best]:
                        taken[0, t, i] = best
                        is_free[best - first] = False
                place += last - first


@lean
def curve(taken, counts, image, start, stop, weights, total, precision, points, heights):
    """Write the highest precision at each recall of ``points`` or more, and return the area under the whole curve.

    Detections are those of one class by falling score; each is repeated as often as its image weighs.
    """
    right = wrong = 0.0
    for i in range(start, stop):
        if counts[i] and taken[i] >= 0:
            right += weights[image[i]]
        elif counts[i]:
            wrong += weights[image[i]]
        precision[i] = right / (wrong + right + LEAST)
    for i in range(stop - 2, start - 1, -1):
        precision[i] = max(precision[i], precision[i + 1])
    heights[:] = 0.0
    right = area = before = 0.0
    k = 0
    for i in range(start, stop):
        if counts[i] and taken[i] >= 0:
            right += weights[image[i]]
        recall = right / total
        area += (recall - before) * precision[i]
        before = recall
        while k < len(points) and points[k] <= recall:
            heights[k] = precision[i]
            k += 1
    return area


@kept
def curves(taken, counts, image, rank, class_starts, objects, points, at_most, precision, recall, areas):
    """Write precision (sizes, thresholds, classes, points), recall (limits, ...) and areas under all curves.

    ``objects[s, image, class]`` are how many count; classes without any are NaN.
    """
    n_sizes, n_thresholds, n = taken.shape
    held, weights = np.empty(n), np.ones(objects.shape[1])
    for c in range(len(class_starts) - 1):
        start, stop = class_starts[c], class_starts[c + 1]
        for s in range(n_sizes):
            total = objects[s, :, c].sum()
            for t in range(n_thresholds):
                if total == 0.0:
                    recall[:, s, t, c] = np.nan
                    areas[s, t, c] = np.nan
                    precision[s, t, c, :] = np.nan
                    continue
                areas[s, t, c] = curve(
                    taken[s, t], counts[s, t], image, start, stop, weights, total, held, points, precision[s, t, c]
                )
                for m in range(len(at_most)):
                    right = 0.0
                    for i in range(start, stop):
                        if counts[s, t, i] and taken[s, t, i] >= 0 and rank[i] < at_most[m]:
                            right += 1.0
                    recall[m, s, t, c] = right / total


@kept
def resampled_means(taken, counts, image, class_starts, objects, weights, points, by_points, means):
    """Write for each row of weights the mean, over thresholds and classes with objects, of the areas under curves."""
    n_thresholds, n = taken.shape
    held = np.empty(n)
    heights = np.empty(len(points))
    for r in range(len(weights)):
        whole, terms = 0.0, 0
        for c in range(len(class_starts) - 1):
            total = 0.0
            for one in range(weights.shape[1]):
                total += weights[r, one] * objects[one, c]
            if total == 0.0:
                continue
            start, stop = class_starts[c], class_starts[c + 1]
            for t in range(n_thresholds):
                area = curve(taken[t], counts[t], image, start, stop, weights[r], total, held, points, heights)
                whole += heights.mean() if by_points else area
                terms += 1
        means[r] = whole / terms if terms else np.nan
