/** Drawing in data space: one function per kind of layer. None of them knows a method. */

import { fontOf, writeWithHalo } from "./canvas.js";
import { blend, channels, classColor, classMarker, outlineMarker } from "./colors.js";
import { borders, contourLines } from "./contours.js";
import { bytesOf, itemOf } from "./recording.js";
import { rangeOf } from "./scales.js";

/** @import { ArrowsLayer, BandLayer, DataLayer, EllipsesLayer, Extent, HeatLayer, Layer, PointsLayer, PolylineLayer, RegionsLayer, SegmentsLayer, TextLayer } from "./recording.js" */
/** @import { Look } from "./colors.js" */
/** @import { Scale } from "./scales.js" */

/**
 * @typedef {object} Surface
 * @property {CanvasRenderingContext2D} context
 * @property {Scale} x
 * @property {Scale} y
 * @property {Look} look
 * @property {{left: number, top: number, width: number, height: number}} box
 * @property {{y: number, x: number, text: string, color: string}[]} lineEnds names of lines, written when all are known
 */

const AREAS = new Set(["regions", "heat"]); // these change from frame to frame and would dim points that stay
const CROWD = 500;
const MOST_NAMES = 40; // more names than this hide the points they name
const CONTOURS = 14;

/** @type {{[kind: string]: (surface: Surface, layer: any) => void}} */
const DRAW = {
  points: drawPoints,
  segments: drawSegments,
  polyline: drawPolyline,
  band: drawBand,
  regions: drawRegions,
  heat: drawHeat,
  ellipses: drawEllipses,
  arrows: drawArrows,
  text: drawText,
};

/**
 * @param {Layer} layer
 * @returns {layer is DataLayer}
 */
export function isInDataSpace(layer) {
  return layer.kind in DRAW;
}

/**
 * Draw layers inside the box of the axes in their order, but areas below all others and the names of lines on top.
 * @param {Surface} surface
 * @param {DataLayer[]} layers
 */
export function drawLayers(surface, layers) {
  const { context, box } = surface;
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  for (const layer of layers) if (AREAS.has(layer.kind)) DRAW[layer.kind](surface, layer);
  for (const layer of layers) if (!AREAS.has(layer.kind)) DRAW[layer.kind](surface, layer);
  writeLineEnds(surface);
  context.restore();
}

/** @type {(surface: Surface, layer: PointsLayer) => void} */
function drawPoints(surface, layer) {
  const { context, x, y, look } = surface;
  const isCrowded = layer.x.length > CROWD;
  const usual = (layer.marker ? 0.55 : isCrowded ? 0.22 : 0.3) * look.rem; // a named marker is to be seen first
  const names = layer.label && layer.label.length <= MOST_NAMES ? layer.label : [];
  context.lineJoin = "round";
  context.lineWidth = 0.16 * look.rem; // half of it is under the point
  context.strokeStyle = look.paper;
  for (let i = 0; i < layer.x.length; i++) {
    const [a, b] = [layer.x[i], layer.y[i]];
    if (a === null || b === null) continue;
    const index = itemOf(layer.class, i, null);
    const [across, down, radius] = [x.pixel(a), y.pixel(b), usual * itemOf(layer.size, i, 1)];
    // A path for each: a canvas fills two thousand small ones faster than one of two thousand parts.
    context.beginPath();
    outlineMarker(
      context,
      layer.marker ?? (Array.isArray(layer.class) ? classMarker(index) : "circle"),
      across,
      down,
      radius,
    );
    context.fillStyle = classColor(look, index);
    if (layer.marker === "ring") strokeTwice(context, look, classColor(look, index), 0.1);
    else if (layer.marker) strokeTwice(context, look, look.ink, 0.16);
    else if (!isCrowded) context.stroke(); // an edge costs as much as the point
    if (layer.marker !== "ring") context.fill();
  }
  names.forEach((name, i) => {
    const [a, b] = [layer.x[i], layer.y[i]];
    if (a === null || b === null) return;
    writeInside(surface, name, x.pixel(a) + 1.4 * usual * itemOf(layer.size, i, 1), y.pixel(b), look.ink);
  });
}

/**
 * Stroke an outline on a wider one of the paper's color, so that it stands out among points.
 * @param {CanvasRenderingContext2D} context
 * @param {Look} look
 * @param {string} color
 * @param {number} width as a multiple of ordinary text
 */
function strokeTwice(context, look, color, width) {
  context.strokeStyle = look.paper;
  context.lineWidth = 2.5 * width * look.rem;
  context.stroke();
  context.strokeStyle = color;
  context.lineWidth = width * look.rem;
  context.stroke();
}

/** @type {(surface: Surface, layer: SegmentsLayer) => void} */
function drawSegments({ context, x, y, look }, layer) {
  context.lineWidth = 0.1 * look.rem;
  context.setLineDash(layer.dash ? [0.4 * look.rem, 0.3 * look.rem] : []);
  for (let i = 0; i < layer.x1.length; i++) {
    const [x1, y1, x2, y2] = [layer.x1[i], layer.y1[i], layer.x2[i], layer.y2[i]];
    if (x1 === null || y1 === null || x2 === null || y2 === null) continue;
    context.strokeStyle = classColor(look, itemOf(layer.class, i, null));
    context.beginPath();
    context.moveTo(x.pixel(x1), y.pixel(y1));
    context.lineTo(x.pixel(x2), y.pixel(y2));
    context.stroke();
  }
  context.setLineDash([]);
}

/** @type {(surface: Surface, layer: PolylineLayer) => void} */
function drawPolyline(surface, layer) {
  const { context, x, y, look } = surface;
  const color = classColor(look, layer.class);
  context.strokeStyle = color;
  context.lineWidth = 0.15 * look.rem * (layer.width ?? 1);
  context.lineJoin = context.lineCap = "round";
  context.beginPath();
  let isDown = false;
  let last = null;
  for (let i = 0; i < layer.x.length; i++) {
    const [a, b] = [layer.x[i], layer.y[i]];
    if (a === null || b === null) {
      isDown = false;
      continue;
    }
    last = { x: x.pixel(a), y: y.pixel(b) };
    if (isDown) context.lineTo(last.x, last.y);
    else context.moveTo(last.x, last.y);
    isDown = true;
  }
  context.stroke();
  if (layer.label && last) surface.lineEnds.push({ ...last, text: layer.label, color });
}

/** @type {(surface: Surface, layer: BandLayer) => void} */
function drawBand({ context, x, y, look }, layer) {
  const known = layer.x.map((_, i) => i).filter((i) => ![layer.x[i], layer.low[i], layer.high[i]].includes(null));
  const trace = (/** @type {number[]} */ order, /** @type {(number | null)[]} */ side) =>
    order.forEach((i) => context.lineTo(x.pixel(Number(layer.x[i])), y.pixel(Number(side[i]))));
  context.beginPath();
  trace(known, layer.high);
  trace(known.reverse(), layer.low);
  context.closePath();
  context.globalAlpha = 0.2;
  context.fillStyle = classColor(look, layer.class);
  context.fill();
  context.globalAlpha = 1;
}

/** Pictures and lines of a grid are made once for each layer, and again when the theme changes.
 * @type {WeakMap<object, {dark: boolean, picture: HTMLCanvasElement, lines: number[][]}>} */
const grids = new WeakMap();

/**
 * @param {RegionsLayer | HeatLayer} layer
 * @param {Look} look
 * @param {() => {pixels: Uint8ClampedArray<ArrayBuffer>, lines: number[][]}} make
 */
function gridOf(layer, look, make) {
  const known = grids.get(layer);
  if (known && known.dark === look.dark) return known;
  const { pixels, lines } = make();
  const picture = document.createElement("canvas");
  [picture.width, picture.height] = [layer.width, layer.height];
  const context = /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d"));
  context.putImageData(new ImageData(pixels, layer.width, layer.height), 0, 0);
  const grid = { dark: look.dark, picture, lines };
  grids.set(layer, grid);
  return grid;
}

/**
 * Lay a grid whose row 0 is at the bottom over its extent.
 * @param {Surface} surface
 * @param {RegionsLayer | HeatLayer} layer
 * @param {{picture: HTMLCanvasElement, lines: number[][]}} grid
 * @param {string} color
 * @param {number} strength
 */
function layGrid({ context, x, y, look }, layer, grid, color, strength) {
  const [x0, x1, y0, y1] = layer.extent;
  const [left, bottom, width, height] = [
    x.pixel(x0),
    y.pixel(y0),
    x.pixel(x1) - x.pixel(x0),
    y.pixel(y1) - y.pixel(y0),
  ];
  context.save();
  context.translate(left, bottom);
  context.scale(width / layer.width, height / layer.height);
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = "high";
  context.drawImage(grid.picture, 0, 0);
  context.restore();
  const [unitX, unitY] = [width / layer.width, height / layer.height];
  context.strokeStyle = color;
  context.lineWidth = 0.08 * look.rem;
  context.globalAlpha = strength;
  context.beginPath();
  for (const line of grid.lines) {
    for (let i = 0; i < line.length; i += 4) {
      // Values belong to the centers of cells.
      context.moveTo(left + (line[i] + 0.5) * unitX, bottom + (line[i + 1] + 0.5) * unitY);
      context.lineTo(left + (line[i + 2] + 0.5) * unitX, bottom + (line[i + 3] + 0.5) * unitY);
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** @type {(surface: Surface, layer: RegionsLayer) => void} */
function drawRegions(surface, layer) {
  const { look } = surface;
  const grid = gridOf(layer, look, () => {
    const cells = bytesOf(layer.cells);
    const colors = new Map([...new Set(cells)].map((cell) => [cell, channels(classColor(look, cell))]));
    const pixels = new Uint8ClampedArray(4 * cells.length);
    cells.forEach((cell, i) => pixels.set([.../** @type {number[]} */ (colors.get(cell)), look.dark ? 72 : 56], 4 * i));
    return { pixels, lines: [borders(cells, layer.width, layer.height)] };
  });
  layGrid(surface, layer, grid, look.ink, 0.55);
}

/** @type {(surface: Surface, layer: HeatLayer) => void} */
function drawHeat(surface, layer) {
  const { look } = surface;
  const deep = look.dark ? look.palette[5] : look.palette[0];
  const grid = gridOf(layer, look, () => {
    const values = new Float32Array(bytesOf(layer.values).buffer);
    const heights = layer.log ? logOf(values) : values;
    const [low, high] = rangeOf(heights);
    const span = high - low || 1;
    const pixels = new Uint8ClampedArray(4 * heights.length);
    const steps = Array.from({ length: 256 }, (_, i) => channels(blend(deep, look.paper, 0.3 + (0.7 * i) / 255)));
    heights.forEach((height, i) => {
      if (!Number.isFinite(height)) return;
      pixels.set([...steps[Math.round(((height - low) / span) * 255)], 255], 4 * i);
    });
    const levels = Array.from({ length: CONTOURS }, (_, i) => low + ((i + 0.5) / CONTOURS) * span);
    return { pixels, lines: levels.map((level) => contourLines(heights, layer.width, layer.height, level)) };
  });
  layGrid(surface, layer, grid, look.ink, 0.3);
}

/**
 * Return logarithms; where some values are not above 0, of the height above the lowest.
 * @param {Float32Array} values
 */
function logOf(values) {
  const [low, high] = rangeOf(values);
  const shift = low > 0 ? 0 : (high - low) * 1e-3 - low;
  return values.map((value) => Math.log(value + shift));
}

/** @type {(surface: Surface, layer: EllipsesLayer) => void} */
function drawEllipses({ context, x, y, look }, layer) {
  for (let i = 0; i < layer.x.length; i++) {
    const numbers = [layer.x[i], layer.y[i], layer.a[i], layer.b[i], layer.angle[i]];
    if (numbers.includes(null)) continue;
    const [centerX, centerY, a, b, angle] = numbers.map(Number);
    context.beginPath();
    for (let k = 0; k < 72; k++) {
      const turn = (2 * Math.PI * k) / 72;
      const [u, v] = [a * Math.cos(turn), b * Math.sin(turn)];
      // Data units differ between the axes, so the outline is made there and not by the canvas.
      const along = centerX + u * Math.cos(angle) - v * Math.sin(angle);
      context.lineTo(x.pixel(along), y.pixel(centerY + u * Math.sin(angle) + v * Math.cos(angle)));
    }
    context.closePath();
    context.fillStyle = context.strokeStyle = classColor(look, itemOf(layer.class, i, null));
    context.lineWidth = 0.12 * look.rem;
    context.globalAlpha = 0.1;
    context.fill();
    context.globalAlpha = 1;
    context.stroke();
  }
}

/** @type {(surface: Surface, layer: ArrowsLayer) => void} */
function drawArrows(surface, layer) {
  const { context, x, y, look } = surface;
  for (let i = 0; i < layer.x.length; i++) {
    const numbers = [layer.x[i], layer.y[i], layer.dx[i], layer.dy[i]];
    if (numbers.includes(null)) continue;
    const [startX, startY, dx, dy] = numbers.map(Number);
    const [x1, y1, x2, y2] = [x.pixel(startX), y.pixel(startY), x.pixel(startX + dx), y.pixel(startY + dy)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length === 0) continue;
    const head = Math.min(0.7 * look.rem, length);
    const [alongX, alongY] = [(x2 - x1) / length, (y2 - y1) / length];
    context.strokeStyle = context.fillStyle = classColor(look, itemOf(layer.class, i, null));
    context.lineWidth = 0.14 * look.rem;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2 - alongX * head * 0.8, y2 - alongY * head * 0.8);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - head * (alongX + 0.4 * alongY), y2 - head * (alongY - 0.4 * alongX));
    context.lineTo(x2 - head * (alongX - 0.4 * alongY), y2 - head * (alongY + 0.4 * alongX));
    context.fill();
    if (layer.label?.[i]) writeInside(surface, layer.label[i], x2 + 0.4 * look.rem, y2 - 0.5 * look.rem, look.ink);
  }
}

/** @type {(surface: Surface, layer: TextLayer) => void} */
function drawText(surface, layer) {
  const { x, y, look } = surface;
  writeInside(surface, layer.text, x.pixel(layer.x), y.pixel(layer.y), look.ink);
}

/**
 * Write beside a place, moved to the left where it would leave the box.
 * @param {Surface} surface
 * @param {string} text
 * @param {number} left
 * @param {number} middle
 * @param {string} color
 */
function writeInside({ context, look, box }, text, left, middle, color) {
  context.font = fontOf(look, 0.85);
  const most = box.left + box.width - context.measureText(text).width - 0.2 * look.rem;
  writeWithHalo(context, look, text, Math.min(left, most), middle, color);
}

/**
 * Write the names of lines at their ends, moved apart until none hides another.
 * @param {Surface} surface
 */
function writeLineEnds(surface) {
  const { look, box } = surface;
  const spacing = 1.1 * look.rem;
  const ends = surface.lineEnds.sort((a, b) => a.y - b.y);
  const heights = spread(
    ends.map((end) => end.y),
    spacing,
  );
  const above = Math.max(0, box.top + spacing / 2 - (heights[0] ?? Infinity));
  const below = Math.max(0, (heights.at(-1) ?? 0) + above - (box.top + box.height - spacing / 2));
  ends.forEach((end, i) =>
    writeInside(surface, end.text, end.x + 0.4 * look.rem, heights[i] + above - below, end.color),
  );
}

/**
 * Return rising heights, moved as little as needed to be a spacing apart: neighbors that are too close form a block,
 * which is centered on the mean of its heights.
 * @param {number[]} heights
 * @param {number} spacing
 * @returns {number[]}
 */
export function spread(heights, spacing) {
  /** @type {{sum: number, count: number}[]} */
  const blocks = [];
  const top = (/** @type {{sum: number, count: number}} */ { sum, count }) => sum / count - (spacing * (count - 1)) / 2;
  for (const height of heights) {
    let block = { sum: height, count: 1 };
    for (let above = blocks.at(-1); above && top(block) < top(above) + spacing * above.count; above = blocks.at(-1)) {
      block = { sum: above.sum + block.sum, count: above.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  return blocks.flatMap((block) => Array.from({ length: block.count }, (_, rank) => top(block) + rank * spacing));
}
