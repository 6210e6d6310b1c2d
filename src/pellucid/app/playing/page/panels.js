/** The picture: data space with its axes, and a panel of its own for every tree, graph, matrix, image or set of bars. */

import { fontOf } from "./canvas.js";
import { blend, classColor } from "./colors.js";
import { drawGraph } from "./graph.js";
import { drawLayers, isInDataSpace } from "./layers.js";
import { bytesOf, itemOf } from "./recording.js";
import { linearScale, rangeOf, writeNumber, writeTick } from "./scales.js";

/** @import { BarsLayer, ImageLayer, Layer, MatrixLayer, PanelLayer, Recording, TreeLayer, TreeNode } from "./recording.js" */
/** @import { Look } from "./colors.js" */
/** @import { Scale } from "./scales.js" */

const MAIN_PART = 0.58; // of the room, for the axes

/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {{kind: string, order: number, range: [number, number]}} Panel */
/** @typedef {{x: Scale, y: Scale, box: Box}} DrawnAxes where the data stand on the canvas */

/**
 * Return the panels of a recording: as many of each kind as any frame needs, so that none moves while scrubbing. The
 * range of their values is that of all frames, so that a bar means the same in each.
 * @param {Recording} recording
 * @returns {Panel[]}
 */
export function panelsOf(recording) {
  /** @type {Map<string, Panel>} */
  const panels = new Map();
  for (const frame of recording.frames) {
    for (const [layer, order] of ordered([...recording.layers, ...frame.layers])) {
      const kind = isInDataSpace(layer) ? "axes" : layer.kind;
      const key = kind === "axes" ? kind : `${kind} ${order}`;
      const panel = panels.get(key) ?? { kind, order, range: [0, 0] };
      if (layer.kind === "bars" || layer.kind === "matrix") {
        panel.range = rangeOf([...panel.range, ...layer.values.flat()]);
      }
      if (layer.kind === "graph") panel.range = rangeOf([...panel.range, ...layer.links.map((link) => link[2])]);
      panels.set(key, panel);
    }
  }
  return [...panels.values()].sort((a, b) => Number(b.kind === "axes") - Number(a.kind === "axes"));
}

/**
 * Return every layer with its place among those of its kind.
 * @param {Layer[]} layers
 * @returns {[Layer, number][]}
 */
function ordered(layers) {
  /** @type {{[kind: string]: number}} */
  const seen = {};
  return layers.map((layer) => {
    seen[layer.kind] = (seen[layer.kind] ?? -1) + 1;
    return [layer, seen[layer.kind]];
  });
}

/**
 * Draw one frame of a recording on the whole of a canvas; return its axes, if it has some.
 * @param {CanvasRenderingContext2D} context in pixels of the page
 * @param {{width: number, height: number}} size
 * @param {Look} look
 * @param {Recording} recording
 * @param {Panel[]} panels
 * @param {number} frame
 * @returns {DrawnAxes | null}
 */
export function drawPicture(context, size, look, recording, panels, frame) {
  context.clearRect(0, 0, size.width, size.height);
  const layers = [...recording.layers, ...recording.frames[frame].layers];
  const boxes =
    panels[0]?.kind === "axes" ? boxesBesideAxes(panels.length, size, look, recording.axes) : panelBoxes(panels.length, size, look);
  /** @type {DrawnAxes | null} */
  let axes = null;
  panels.forEach((panel, i) => {
    if (panel.kind === "axes") {
      axes = drawAxes(context, boxes[i], look, recording, layers);
      return;
    }
    const found = ordered(layers).find(([layer, order]) => layer.kind === panel.kind && order === panel.order);
    if (!found) return;
    const layer = /** @type {any} */ (found[0]);
    const room = layer.title ? belowTitle(context, boxes[i], look, layer.title) : boxes[i];
    DRAW_PANEL[panel.kind](context, room, look, layer, panel.range);
  });
  return axes;
}

/**
 * Write the title of a panel; return the room that is left.
 * @param {CanvasRenderingContext2D} context
 * @param {Box} box
 * @param {Look} look
 * @param {string} title
 * @returns {Box}
 */
function belowTitle(context, box, look, title) {
  context.font = fontOf(look, 0.85);
  context.fillStyle = look.soft;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillText(fitted(context, title, box.width), box.left + box.width / 2, box.top + 0.1 * look.rem);
  const height = 1.6 * look.rem;
  return { ...box, top: box.top + height, height: box.height - height };
}

/**
 * Return a box for the axes, which get the larger part of the room, and one for each panel beside or below them:
 * whichever leaves the axes larger.
 * @param {number} count
 * @param {{width: number, height: number}} size
 * @param {Look} look
 * @param {Recording["axes"]} axes
 * @returns {Box[]}
 */
function boxesBesideAxes(count, size, look, axes) {
  if (count < 2) return panelBoxes(count, size, look);
  const gap = look.rem;
  const [across, up] = [axes.x, axes.y].map(({ range }) => range[1] - range[0]);
  const beside = { width: MAIN_PART * size.width, height: size.height };
  const above = { width: size.width, height: MAIN_PART * size.height };
  const unit = (/** @type {{width: number, height: number}} */ room) => Math.min(room.width / across, room.height / up);
  const isWide = axes.equal ? unit(beside) >= unit(above) : size.width > size.height;
  const main = isWide ? beside : above;
  const [left, top] = isWide ? [main.width + gap, 0] : [0, main.height + gap];
  const others = panelBoxes(count - 1, { width: size.width - left, height: size.height - top }, look);
  return [
    { left: 0, top: 0, ...main },
    ...others.map((box) => ({ ...box, left: box.left + left, top: box.top + top })),
  ];
}

/**
 * Return a box for each of so many panels, as near to squares as the room allows.
 * @param {number} count
 * @param {{width: number, height: number}} size
 * @param {Look} look
 * @returns {Box[]}
 */
function panelBoxes(count, size, look) {
  const gap = look.rem;
  const sides = Array.from({ length: count }, (_, i) => {
    const columns = i + 1;
    return Math.min(size.width / columns, size.height / Math.ceil(count / columns));
  });
  const columns = sides.indexOf(Math.max(...sides)) + 1;
  const rows = Math.ceil(count / columns);
  const [width, height] = [(size.width - gap * (columns - 1)) / columns, (size.height - gap * (rows - 1)) / rows];
  return Array.from({ length: count }, (_, i) => ({
    left: (i % columns) * (width + gap),
    top: Math.floor(i / columns) * (height + gap),
    width,
    height,
  }));
}

/** @type {{[kind: string]: (context: CanvasRenderingContext2D, box: Box, look: Look, layer: any, range: [number, number]) => void}} */
const DRAW_PANEL = { tree: drawTree, bars: drawBars, matrix: drawMatrix, image: drawImage, graph: drawGraph };

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Box} room
 * @param {Look} look
 * @param {Recording} recording
 * @param {Layer[]} layers
 */
function drawAxes(context, room, look, recording, layers) {
  const { axes } = recording;
  const most = Math.max(3, Math.min(8, Math.floor(room.height / (4 * look.rem))));
  context.font = fontOf(look, 0.8);
  const labels = linearScale(axes.y.range, 0, 1, most).ticks.map((tick) => writeTick(tick));
  const left = Math.max(...labels.map((text) => context.measureText(text).width), 0) + 2.4 * look.rem;
  const box = {
    left: room.left + left,
    top: room.top + 0.5 * look.rem,
    width: room.width - left - 0.9 * look.rem,
    height: room.height - 3.4 * look.rem,
  };
  if (axes.equal) shrinkToEqual(box, axes.x.range, axes.y.range);
  const x = linearScale(
    axes.x.range,
    box.left,
    box.left + box.width,
    Math.max(2, Math.min(8, Math.floor(box.width / (3.5 * look.rem)))),
  );
  const y = linearScale(axes.y.range, box.top + box.height, box.top, most);
  drawLayers({ context, x, y, look, box, lineEnds: [] }, layers.filter(isInDataSpace));

  context.strokeStyle = context.fillStyle = look.soft;
  context.lineWidth = Math.max(1, 0.06 * look.rem);
  context.beginPath();
  context.moveTo(box.left, box.top);
  context.lineTo(box.left, box.top + box.height);
  context.lineTo(box.left + box.width, box.top + box.height);
  for (const tick of x.ticks) lineFrom(context, x.pixel(tick), box.top + box.height, 0, 0.3 * look.rem);
  for (const tick of y.ticks) lineFrom(context, box.left, y.pixel(tick), -0.3 * look.rem, 0);
  context.stroke();
  context.font = fontOf(look, 0.8);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of x.ticks) context.fillText(writeTick(tick), x.pixel(tick), box.top + box.height + 0.45 * look.rem);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of y.ticks) context.fillText(writeTick(tick), box.left - 0.45 * look.rem, y.pixel(tick));

  context.fillStyle = look.ink;
  context.font = fontOf(look, 0.9);
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.fillText(
    fitted(context, axes.x.label, box.width),
    box.left + box.width / 2,
    box.top + box.height + 2.6 * look.rem,
  );
  context.save();
  context.translate(box.left - left + 0.8 * look.rem, box.top + box.height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(fitted(context, axes.y.label, box.height), 0, 0);
  context.restore();
  return { x, y, box };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} dx
 * @param {number} dy
 */
function lineFrom(context, x, y, dx, dy) {
  context.moveTo(x, y);
  context.lineTo(x + dx, y + dy);
}

/**
 * Make a unit as long on both axes, by a smaller box in the middle of the room.
 * @param {Box} box
 * @param {[number, number]} rangeX
 * @param {[number, number]} rangeY
 */
function shrinkToEqual(box, rangeX, rangeY) {
  const [spanX, spanY] = [rangeX[1] - rangeX[0] || 1, rangeY[1] - rangeY[0] || 1];
  const unit = Math.min(box.width / spanX, box.height / spanY);
  box.left += (box.width - unit * spanX) / 2;
  box.top += (box.height - unit * spanY) / 2;
  [box.width, box.height] = [unit * spanX, unit * spanY];
}

/**
 * Return as much of a text as there is room for.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} width
 */
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 0 && context.measureText(`${text.slice(0, length)}…`).width > width) length--;
  return length > 0 ? `${text.slice(0, length)}…` : "";
}

/**
 * Nodes stand where the recording says, y = 1 at the top; words are left out where they would overlap.
 * @type {(context: CanvasRenderingContext2D, room: Box, look: Look, layer: TreeLayer) => void}
 */
function drawTree(context, room, look, layer) {
  const pad = { x: 0.6 * look.rem, y: 1.2 * look.rem };
  const px = (/** @type {TreeNode} */ node) => room.left + pad.x + node.x * (room.width - 2 * pad.x);
  const py = (/** @type {TreeNode} */ node) => room.top + pad.y + (1 - node.y) * (room.height - 2 * pad.y);
  context.lineWidth = 0.1 * look.rem;
  for (const node of layer.nodes) {
    if (node.parent === null || node.parent === undefined) continue;
    const parent = layer.nodes[node.parent];
    context.strokeStyle = look.soft;
    context.setLineDash(node.cut ? [0.3 * look.rem, 0.3 * look.rem] : []);
    context.globalAlpha = node.cut ? 0.5 : 1;
    context.beginPath();
    context.moveTo(px(node), py(node));
    context.lineTo(px(node), py(parent));
    context.lineTo(px(parent), py(parent));
    context.stroke();
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
  const size = wordSize(context, look, layer.nodes, px, py);
  for (const node of layer.nodes) drawNode(context, look, node, px(node), py(node), size, room);
}

/**
 * Return the size of text, as a multiple of ordinary text, at which no two nodes of a level overlap; 0 if too small to read.
 * @param {CanvasRenderingContext2D} context
 * @param {Look} look
 * @param {TreeNode[]} nodes
 * @param {(node: TreeNode) => number} px
 * @param {(node: TreeNode) => number} py
 */
function wordSize(context, look, nodes, px, py) {
  context.font = fontOf(look, 1);
  const level = (/** @type {TreeNode} */ node) => Math.round(py(node) / look.rem);
  const named = nodes.filter((node) => node.text).sort((a, b) => level(a) - level(b) || px(a) - px(b));
  let size = 0.85;
  for (let i = 1; i < named.length; i++) {
    const [before, node] = [named[i - 1], named[i]];
    if (level(before) !== level(node)) continue;
    const need = (widthOf(context, node.text) + widthOf(context, before.text)) / 2 + 1.2 * look.rem;
    size = Math.min(size, (px(node) - px(before)) / need);
  }
  return size < 0.5 ? 0 : size;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 */
function widthOf(context, text) {
  return Math.max(...text.split("\n").map((line) => context.measureText(line).width));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Look} look
 * @param {TreeNode} node
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {Box} room
 */
function drawNode(context, look, node, x, y, size, room) {
  const isInner = node.class === null || node.class === undefined;
  const color = isInner ? look.soft : classColor(look, node.class);
  context.globalAlpha = node.cut ? 0.45 : 1;
  context.lineWidth = 0.12 * look.rem;
  if (size === 0 || !node.text) {
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, y, (node.text || !isInner ? 0.3 : 0.12) * look.rem, 0, 2 * Math.PI);
    context.fill();
  } else {
    context.font = fontOf(look, size);
    const lines = node.text.split("\n");
    const [width, height] = [
      widthOf(context, node.text) + 0.8 * size * look.rem,
      (lines.length * 1.2 + 0.5) * size * look.rem,
    ];
    const left = Math.min(Math.max(x - width / 2, room.left + 1), room.left + room.width - width - 1);
    context.fillStyle = isInner ? look.paper : blend(color, look.paper, 0.8);
    context.strokeStyle = color;
    context.beginPath();
    context.roundRect(left, y - height / 2, width, height, 0.3 * look.rem);
    context.fill();
    context.stroke();
    context.fillStyle = look.ink;
    context.textAlign = "center";
    context.textBaseline = "middle";
    lines.forEach((line, i) =>
      context.fillText(line, left + width / 2, y + (i - (lines.length - 1) / 2) * 1.2 * size * look.rem),
    );
  }
  context.globalAlpha = 1;
}

/** @type {(context: CanvasRenderingContext2D, room: Box, look: Look, layer: BarsLayer, range: [number, number]) => void} */
function drawBars(context, room, look, layer, range) {
  const height = Math.min(2.2 * look.rem, room.height / layer.values.length);
  const size = Math.min(0.85, (0.9 * height) / look.rem);
  context.font = fontOf(look, size);
  const names = layer.labels.map((label) => fitted(context, label, room.width * 0.35));
  const left = Math.max(...names.map((name) => context.measureText(name).width), 0) + 0.6 * look.rem;
  const [low, high] = [Math.min(0, range[0]), Math.max(0, range[1])];
  const number = Math.min(4.2 * look.rem * size, 0.25 * (room.width - left)); // room for what is written at the end of a bar
  const x = linearScale([low, high], room.left + left + (low < 0 ? number : 0), room.left + room.width - number);
  const top = room.top + (room.height - height * layer.values.length) / 2;
  layer.values.forEach((value, i) => {
    const middle = top + (i + 0.5) * height;
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillStyle = look.ink;
    context.font = fontOf(look, size);
    context.fillText(names[i], room.left + left - 0.5 * look.rem, middle);
    if (value === null) return;
    const [start, end] = [x.pixel(0), x.pixel(value)];
    context.fillStyle =
      Array.isArray(layer.class) || typeof layer.class === "number"
        ? classColor(look, itemOf(layer.class, i, null))
        : look.palette[0];
    context.fillRect(Math.min(start, end), middle - height * 0.36, Math.abs(end - start), height * 0.72);
    context.fillStyle = look.ink;
    context.textAlign = value < 0 ? "right" : "left";
    context.fillText(writeNumber(value, 3), end + (value < 0 ? -0.3 : 0.3) * look.rem, middle);
  });
  context.strokeStyle = look.soft;
  context.lineWidth = Math.max(1, 0.06 * look.rem);
  context.beginPath();
  lineFrom(context, x.pixel(0), top, 0, height * layer.values.length);
  context.stroke();
}

/** @type {(context: CanvasRenderingContext2D, room: Box, look: Look, layer: MatrixLayer, range: [number, number]) => void} */
function drawMatrix(context, room, look, layer, range) {
  const [rows, columns] = [layer.values.length, layer.values[0]?.length ?? 0];
  if (rows === 0 || columns === 0) return;
  context.font = fontOf(look, 0.8);
  const rowNames = (layer.rows ?? []).map((name) => fitted(context, name, room.width * 0.3));
  const columnNames = layer.columns ?? [];
  const left = rowNames.length
    ? Math.max(...rowNames.map((name) => context.measureText(name).width)) + 0.5 * look.rem
    : 0;
  const top = columnNames.length ? 1.5 * look.rem : 0;
  const side = Math.min((room.width - left) / columns, (room.height - top) / rows);
  const x0 = room.left + left + (room.width - left - side * columns) / 2;
  const y0 = room.top + top + (room.height - top - side * rows) / 2;
  const most = Math.max(Math.abs(range[0]), Math.abs(range[1])) || 1;
  const isRoomy = side >= 2.6 * look.rem;
  layer.values.forEach((row, i) =>
    row.forEach((value, j) => {
      const strength = value === null ? 0 : Math.min(1, Math.abs(value) / most);
      context.fillStyle = blend(look.paper, look.palette[(value ?? 0) < 0 ? 1 : 0], 0.06 + 0.94 * strength);
      context.fillRect(x0 + j * side, y0 + i * side, side + 0.5, side + 0.5);
      if (!isRoomy) return;
      context.fillStyle = strength > 0.55 ? "#ffffff" : look.ink;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(value === null ? "" : writeNumber(value, 3), x0 + (j + 0.5) * side, y0 + (i + 0.5) * side);
    }),
  );
  if (layer.marked) {
    const [row, column, high, wide] = layer.marked;
    context.strokeStyle = look.ink;
    context.lineWidth = 0.2 * look.rem;
    context.strokeRect(x0 + column * side, y0 + row * side, wide * side, high * side);
  }
  context.fillStyle = look.ink;
  context.textBaseline = "middle";
  context.textAlign = "right";
  rowNames.forEach((name, i) => context.fillText(name, x0 - 0.4 * look.rem, y0 + (i + 0.5) * side));
  context.textAlign = "center";
  columnNames.forEach((name, j) =>
    context.fillText(fitted(context, name, side), x0 + (j + 0.5) * side, y0 - 0.8 * look.rem),
  );
}

/** @type {WeakMap<ImageLayer, HTMLCanvasElement>} */
const images = new WeakMap();

/** @param {ImageLayer} layer */
function imageOf(layer) {
  const known = images.get(layer);
  if (known) return known;
  const bytes = bytesOf(layer.values);
  const count = layer.width * layer.height;
  const step = bytes.length / count; // 1: gray, 3: red, green, blue
  const pixels = new Uint8ClampedArray(4 * count);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) pixels[4 * i + k] = bytes[i * step + (step === 1 ? 0 : k)];
    pixels[4 * i + 3] = 255;
  }
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [layer.width, layer.height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.putImageData(new ImageData(pixels, layer.width, layer.height), 0, 0);
  images.set(layer, canvas);
  return canvas;
}

/**
 * Row 0 of an image is at the top, and its pixels stay sharp.
 * @type {(context: CanvasRenderingContext2D, room: Box, look: Look, layer: ImageLayer) => void}
 */
function drawImage(context, room, look, layer) {
  const unit = Math.min(room.width / layer.width, room.height / layer.height);
  const [width, height] = [unit * layer.width, unit * layer.height];
  const [left, top] = [room.left + (room.width - width) / 2, room.top + (room.height - height) / 2];
  context.imageSmoothingEnabled = unit < 1;
  context.drawImage(imageOf(layer), left, top, width, height);
  context.strokeStyle = look.line;
  context.lineWidth = 1;
  context.strokeRect(left, top, width, height);
}
