/** Lines of equal height through values on a grid (marching squares). */

/**
 * Return segments x1, y1, x2, y2 one after the other, in cells of the grid: column and row of the values' centers.
 * @param {ArrayLike<number>} values row after row
 * @param {number} width
 * @param {number} height
 * @param {number} level
 * @returns {number[]}
 */
export function contourLines(values, width, height, level) {
  /** @type {number[]} */
  const lines = [];
  for (let row = 0; row + 1 < height; row++) {
    for (let column = 0; column + 1 < width; column++) {
      const at = row * width + column;
      const corners = [values[at], values[at + 1], values[at + width + 1], values[at + width]];
      if (!corners.every(Number.isFinite)) continue;
      const crossings = sideCrossings(corners, level);
      const middle = (corners[0] + corners[1] + corners[2] + corners[3]) / 4 >= level;
      // A saddle has four crossings: the middle says whether corner 0 hangs together with the one opposite.
      const turn = crossings.length === 4 && middle !== corners[0] >= level ? 1 : 0;
      for (let i = 0; i + 1 < crossings.length; i += 2) {
        const [a, b] = [crossings[i + turn], crossings[(i + 1 + turn) % crossings.length]];
        lines.push(column + a[0], row + a[1], column + b[0], row + b[1]);
      }
    }
  }
  return lines;
}

const CORNERS = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
];

/**
 * @param {number[]} corners
 * @param {number} level
 */
function sideCrossings(corners, level) {
  const crossings = [];
  for (let side = 0; side < 4; side++) {
    const next = (side + 1) % 4;
    const [a, b] = [corners[side], corners[next]];
    if (a >= level === b >= level) continue;
    const share = (level - a) / (b - a);
    crossings.push([0, 1].map((k) => CORNERS[side][k] + share * (CORNERS[next][k] - CORNERS[side][k])));
  }
  return crossings;
}

/**
 * Return the borders between cells of different classes, as segments like those of contourLines.
 * @param {Uint8Array} cells
 * @param {number} width
 * @param {number} height
 */
export function borders(cells, width, height) {
  const classes = [...new Set(cells)].slice(1); // every border has a side that is not of the first class
  return classes.flatMap((one) => {
    const inside = Float32Array.from(cells, (cell) => (cell === one ? 1 : 0));
    return contourLines(softened(inside, width, height), width, height, 0.5);
  });
}

/**
 * Return the mean of every cell and its neighbors, weighted 1, 2, 1 both ways: it takes the stairs out of a border.
 * @param {Float32Array} values
 * @param {number} width
 * @param {number} height
 */
function softened(values, width, height) {
  const pass = (
    /** @type {Float32Array} */ from,
    /** @type {number} */ step,
    /** @type {(i: number) => [boolean, boolean]} */ ends,
  ) =>
    from.map((value, i) => {
      const [isFirst, isLast] = ends(i);
      return ((isFirst ? value : from[i - step]) + 2 * value + (isLast ? value : from[i + step])) / 4;
    });
  const across = pass(values, 1, (i) => [i % width === 0, i % width === width - 1]);
  return pass(across, width, (i) => [i < width, i >= width * (height - 1)]);
}
