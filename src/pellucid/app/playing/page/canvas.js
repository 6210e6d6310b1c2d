/** Canvases: as sharp as the screen, and the text on them. */

/** @import { Look } from "./colors.js" */

/**
 * Make a canvas as large as its place on the page, sharp on every screen; return what to draw on.
 * @param {HTMLCanvasElement} canvas
 */
export function fitCanvas(canvas) {
  const density = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const [across, down] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(density, 0, 0, density, 0, 0);
  return { context, width, height };
}

/**
 * Write on a border of the paper's color, so that it can be read on lines and points.
 * @param {CanvasRenderingContext2D} context
 * @param {Look} look
 * @param {string} text
 * @param {number} left
 * @param {number} middle
 * @param {string} color
 */
export function writeWithHalo(context, look, text, left, middle, color) {
  context.font = fontOf(look, 0.85);
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 0.25 * look.rem;
  context.strokeStyle = look.paper;
  context.strokeText(text, left, middle);
  context.fillStyle = color;
  context.fillText(text, left, middle);
}

/**
 * @param {Look} look
 * @param {number} size as a multiple of ordinary text
 * @param {string} [weight]
 */
export function fontOf(look, size, weight = "400") {
  return `${weight} ${(size * look.rem).toFixed(1)}px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif`;
}
