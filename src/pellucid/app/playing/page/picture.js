/** One picture: the canvas of a recording, what is drawn on it besides, and what lies under the pointer. */

import { fitCanvas } from "./canvas.js";
import { drawPicture, panelsOf } from "./panels.js";

/** @import { Look } from "./colors.js" */
/** @import { DrawnAxes } from "./panels.js" */
/** @import { Layer, PointsLayer, Recording } from "./recording.js" */

/** @typedef {{layer: PointsLayer, point: number}} Hit A point of a layer. */

const REACH = 0.9; // of ordinary text: how near to a point counts as on it

export class Picture {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Recording} recording
   */
  constructor(canvas, recording) {
    this.canvas = canvas;
    this.recording = recording;
    this.panels = panelsOf(recording);
    this.frame = 0;
    /** @type {Layer[] | null} the last frame after a number was changed by hand */
    this.broken = null;
    /** @type {Layer[]} what answers a question */
    this.answer = [];
    /** @type {DrawnAxes | null} */
    this.axes = null;
  }

  /** @returns {boolean} whether the frame is the fitted model */
  get isLast() {
    return this.frame === this.recording.frames.length - 1;
  }

  /** @returns {Layer[]} */
  get layers() {
    const own = this.broken && this.isLast ? this.broken : this.recording.frames[this.frame].layers;
    return this.answer.length ? [...own, ...this.answer] : own;
  }

  /**
   * Draw the frame on the canvas of the page.
   * @param {Look} look
   */
  draw(look) {
    const { context, width, height } = fitCanvas(this.canvas);
    this.axes = this.drawOn(context, { width, height }, look);
    this.canvas.setAttribute("aria-label", `${this.recording.title}, ${this.recording.frames[this.frame].label}`);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{width: number, height: number}} size
   * @param {Look} look
   */
  drawOn(context, size, look) {
    const frame = { ...this.recording.frames[this.frame], layers: this.layers };
    return drawPicture(context, size, look, { ...this.recording, frames: [frame] }, this.panels, 0);
  }

  /**
   * Return where a pointer is in the coordinates of the data; null beside the axes.
   * @param {MouseEvent} event
   * @returns {[number, number] | null}
   */
  placeOf(event) {
    if (!this.axes) return null;
    const { x, y, box } = this.axes;
    const [across, down] = [event.offsetX, event.offsetY];
    const isInside =
      across >= box.left && across <= box.left + box.width && down >= box.top && down <= box.top + box.height;
    return isInside ? [x.value(across), y.value(down)] : null;
  }

  /**
   * Return the point nearest to a pointer among those that may be touched.
   * @param {MouseEvent} event
   * @param {(layer: PointsLayer) => boolean} isWanted
   * @param {Look} look
   * @returns {Hit | null}
   */
  hit(event, isWanted, look) {
    if (!this.axes) return null;
    const { x, y } = this.axes;
    /** @type {Hit | null} */
    let best = null;
    let nearest = REACH * look.rem;
    for (const layer of [...this.recording.layers, ...this.layers]) {
      if (layer.kind !== "points" || !isWanted(layer)) continue;
      layer.x.forEach((a, point) => {
        const b = layer.y[point];
        if (a === null || b === null) return;
        const away = Math.hypot(x.pixel(a) - event.offsetX, y.pixel(b) - event.offsetY);
        if (away < nearest) [best, nearest] = [{ layer, point }, away];
      });
    }
    return best;
  }
}
