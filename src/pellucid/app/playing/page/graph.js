/** A graph in a panel: nodes where the recording says, links between them as strong as their weights. */

import { fontOf } from "./canvas.js";
import { blend, classColor } from "./colors.js";

/** @import { GraphLayer, GraphNode } from "./recording.js" */
/** @import { Look } from "./colors.js" */
/** @import { Box } from "./panels.js" */

/** @type {(context: CanvasRenderingContext2D, room: Box, look: Look, layer: GraphLayer, range: [number, number]) => void} */
export function drawGraph(context, room, look, layer, range) {
  const size = textSize(context, room, look, layer.nodes);
  const sides = layer.nodes.map((node) => (node.x <= 0 || node.x >= 1 ? halfWidth(context, look, node, size) : 0));
  const pad = { x: Math.max(0.8 * look.rem, ...sides), y: 0.8 * look.rem };
  const px = (/** @type {GraphNode} */ node) => room.left + pad.x + node.x * (room.width - 2 * pad.x);
  const py = (/** @type {GraphNode} */ node) => room.top + pad.y + (1 - node.y) * (room.height - 2 * pad.y);
  const most = Math.max(Math.abs(range[0]), Math.abs(range[1])) || 1;
  for (const [start, end, weight] of layer.links) {
    const strength = weight === null ? 0.5 : Math.min(1, Math.abs(weight) / most);
    context.strokeStyle = weight === null ? look.soft : look.palette[weight < 0 ? 1 : 0];
    context.globalAlpha = weight === null ? 1 : 0.15 + 0.85 * strength;
    context.lineWidth = weight === null ? 0.1 * look.rem : (0.04 + 0.3 * strength) * look.rem;
    context.beginPath();
    context.moveTo(px(layer.nodes[start]), py(layer.nodes[start]));
    context.lineTo(px(layer.nodes[end]), py(layer.nodes[end]));
    context.stroke();
  }
  context.globalAlpha = 1;
  for (const node of layer.nodes) drawNode(context, look, node, px(node), py(node), size);
}

/**
 * Return the size of text, as a multiple of ordinary text, at which the columns of nodes have room beside each other.
 * @param {CanvasRenderingContext2D} context
 * @param {Box} room
 * @param {Look} look
 * @param {GraphNode[]} nodes
 */
function textSize(context, room, look, nodes) {
  const columns = new Map();
  for (const node of nodes) {
    columns.set(node.x, Math.max(columns.get(node.x) ?? 0, 2 * halfWidth(context, look, node, 1)));
  }
  const wide = [...columns.values()].reduce((sum, width) => sum + width, 0);
  const rows = Math.max(...nodes.map((node) => nodes.filter((other) => other.x === node.x).length));
  const lines = Math.max(...nodes.map((node) => node.text.split("\n").length));
  return Math.max(0.45, Math.min(0.85, (0.9 * room.width) / wide, room.height / (rows * lines * 1.7 * look.rem)));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Look} look
 * @param {GraphNode} node
 * @param {number} size
 */
function halfWidth(context, look, node, size) {
  if (!node.text) return 0.5 * look.rem;
  context.font = fontOf(look, size);
  return Math.max(...node.text.split("\n").map((line) => context.measureText(line).width)) / 2 + 0.5 * size * look.rem;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Look} look
 * @param {GraphNode} node
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function drawNode(context, look, node, x, y, size) {
  const isPlain = node.class === null || node.class === undefined;
  const color = isPlain ? look.soft : classColor(look, node.class);
  context.fillStyle = isPlain ? look.paper : blend(color, look.paper, 0.75);
  context.strokeStyle = color;
  context.lineWidth = 0.12 * look.rem;
  context.beginPath();
  if (!node.text) {
    context.arc(x, y, 0.35 * look.rem, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    return;
  }
  const lines = node.text.split("\n");
  const half = halfWidth(context, look, node, size);
  const height = (lines.length * 1.2 + 0.5) * size * look.rem;
  context.roundRect(x - half, y - height / 2, 2 * half, height, 0.3 * look.rem);
  context.fill();
  context.stroke();
  context.fillStyle = look.ink;
  context.font = fontOf(look, size);
  context.textAlign = "center";
  context.textBaseline = "middle";
  lines.forEach((line, i) => context.fillText(line, x, y + (i - (lines.length - 1) / 2) * 1.2 * size * look.rem));
}
