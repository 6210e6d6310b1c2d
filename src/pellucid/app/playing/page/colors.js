/** The colors and shapes of the house's plots, as the page's theme has them now. */

const PALETTE_LIGHT = "#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9 #000000 #8b4513 #6a3d9a #9ab61a".split(" ");
const PALETTE_DARK = "#2b8fd6 #e8702a #12b886 #d98ab5 #e6a817 #7cc8f2 #f2f2f2 #b9764a #a27dd1 #b4cf3c".split(" ");

/** Corners in a square from -1 to 1, y downward; the circle has none, nor the ring, which is not filled. The canvas and the legend draw the same.
 * @type {{[name: string]: number[][]}} */
const MARKERS = {
  circle: [],
  ring: [],
  triangle: [[0, -1.05], [1, 0.8], [-1, 0.8]],
  square: [[-0.82, -0.82], [0.82, -0.82], [0.82, 0.82], [-0.82, 0.82]],
  diamond: [[0, -1.15], [1, 0], [0, 1.15], [-1, 0]],
  down: [[0, 1.05], [1, -0.8], [-1, -0.8]],
  plus: [[-0.35, -1], [0.35, -1], [0.35, -0.35], [1, -0.35], [1, 0.35], [0.35, 0.35], [0.35, 1], [-0.35, 1], [-0.35, 0.35], [-1, 0.35], [-1, -0.35], [-0.35, -0.35]],
  cross: [[0, -0.5], [0.5, -1], [1, -0.5], [0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5], [-0.5, 1], [-1, 0.5], [-0.5, 0], [-1, -0.5], [-0.5, -1]],
  star: [[0, -1.2], [0.32, -0.4], [1.14, -0.37], [0.5, 0.15], [0.72, 0.97], [0, 0.5], [-0.72, 0.97], [-0.5, 0.15], [-1.14, -0.37], [-0.32, -0.4]],
};

const SHAPES = ["circle", "triangle", "square", "diamond", "down", "plus"];

/**
 * @typedef {object} Look
 * @property {string} ink
 * @property {string} soft
 * @property {string} line
 * @property {string} paper
 * @property {string} mark
 * @property {string[]} palette
 * @property {boolean} dark
 * @property {number} rem size of ordinary text, in pixels of the page
 */

/**
 * Return how things look now: the style sheet decides, the canvas follows.
 * @returns {Look}
 */
export function currentLook() {
  const probe = document.createElement("i");
  document.body.append(probe);
  const read = (/** @type {string} */ name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const look = { ink: read("ink"), soft: read("soft"), line: read("line"), paper: read("paper"), mark: read("mark") };
  probe.remove();
  const [red, green, blue] = (look.paper.match(/\d+/g) ?? ["255", "255", "255"]).map(Number);
  const dark = red + green + blue < 384;
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return { ...look, palette: dark ? PALETTE_DARK : PALETTE_LIGHT, dark, rem };
}

/**
 * @param {Look} look
 * @param {number | null | undefined} index
 */
export function classColor(look, index) {
  return index === null || index === undefined ? look.ink : look.palette[index % look.palette.length];
}

/**
 * Return the shape of a class: colors alone do not tell classes apart for everyone.
 * @param {number | null | undefined} index
 */
export function classMarker(index) {
  return index === null || index === undefined ? "circle" : SHAPES[index % SHAPES.length];
}

/**
 * Lay the outline of a marker, to be filled or stroked; a name that is not known is a circle.
 * @param {CanvasPath} path
 * @param {string} marker
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
export function outlineMarker(path, marker, x, y, radius) {
  const corners = MARKERS[marker] ?? [];
  if (corners.length === 0) path.arc(x, y, 0.9 * radius, 0, 2 * Math.PI);
  for (let i = 0; i < corners.length; i++) {
    const [across, down] = [x + radius * corners[i][0], y + radius * corners[i][1]];
    if (i === 0) path.moveTo(across, down);
    else path.lineTo(across, down);
  }
  path.closePath();
}

/**
 * Return the red, green and blue of "#rrggbb" or "rgb(r, g, b)".
 * @param {string} color
 */
export function channels(color) {
  if (color.startsWith("#")) return [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  return (color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}

/**
 * Return the color between two, share 0 being the first.
 * @param {string} first
 * @param {string} second
 * @param {number} share
 */
export function blend(first, second, share) {
  const [a, b] = [channels(first), channels(second)];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * share)).join(", ")})`;
}
