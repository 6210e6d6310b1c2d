/** What a pointer does on the picture: drags a fitted number, asks about a row or a place, or says where to start. */

import { Breaking } from "./breaking.js";

/** @import { Asking } from "./asking.js" */
/** @import { DataForm } from "./data_form.js" */
/** @import { Picture } from "./picture.js" */
/** @import { Movable, PointsLayer } from "./recording.js" */
/** @import { Showing } from "./showing.js" */

const isMovable = (/** @type {PointsLayer} */ layer) => Boolean(layer.movable) && typeof layer.movable === "object";
const isRow = (/** @type {PointsLayer} */ layer) => Boolean(layer.row);

/**
 * @param {Picture} picture
 * @param {number} side
 * @param {Showing} showing
 * @param {Breaking} breaking
 * @param {Asking} asking
 * @param {DataForm} data
 */
export function connectTouching(picture, side, showing, breaking, asking, data) {
  const { canvas } = picture;
  /** @type {{layer: PointsLayer, point: number} | null} */
  let held = null;
  const grip = (/** @type {MouseEvent} */ event) =>
    picture.isLast ? picture.hit(event, isMovable, showing.look) : null;

  const drag = (/** @type {MouseEvent} */ event) => {
    const place = picture.placeOf(event);
    if (!held || !place) return;
    const changes = Breaking.changesOf(held.layer, held.point, place);
    moveTogether(picture, held, place);
    showing.schedule();
    breaking.change(side, changes);
  };

  canvas.addEventListener("pointerdown", (event) => {
    held = grip(event);
    if (!held) return;
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  canvas.addEventListener("touchstart", (event) => held && event.preventDefault(), { passive: false }); // else the page scrolls
  canvas.addEventListener("pointermove", (event) => {
    if (held) drag(event);
    else if (event.pointerType === "mouse") canvas.style.cursor = grip(event) ? "grab" : cursorOf(event);
  });
  canvas.addEventListener("pointerup", (event) => {
    const wasHeld = held !== null;
    held = null;
    if (!wasHeld && event.button === 0) click(event);
  });
  canvas.addEventListener("pointercancel", () => (held = null));

  /** @param {MouseEvent} event */
  function cursorOf(event) {
    if (data.hasStart) return picture.placeOf(event) ? "crosshair" : "";
    return picture.hit(event, isRow, showing.look) ? "pointer" : "";
  }

  /** @param {MouseEvent} event */
  function click(event) {
    const place = picture.placeOf(event);
    if (!place) return;
    if (data.hasStart) {
      data.moveStart(place);
      return;
    }
    const hit = picture.hit(event, isRow, showing.look);
    if (hit) asking.ask(side, { row: Array.isArray(hit.layer.row) ? hit.layer.row[hit.point] : hit.point });
    else if (asking.element.open) asking.ask(side, { point: place });
  }
}

/**
 * Draw the point where it is held until the server has drawn the changed model.
 * @param {Picture} picture
 * @param {{layer: PointsLayer, point: number}} held
 * @param {[number, number]} place
 */
function moveTogether(picture, held, place) {
  const { attribute, columns } = /** @type {Movable} */ (held.layer.movable);
  const own = picture.broken ?? picture.recording.frames[picture.frame].layers;
  picture.broken = own.map((layer) => {
    if (layer.kind !== "points" || layer.movable?.attribute !== attribute || layer.x.length <= held.point) return layer;
    const [x, y] = [[...layer.x], [...layer.y]];
    if (columns && columns[0] !== null) x[held.point] = place[0];
    if (!columns || columns[1] !== null) y[held.point] = place[1];
    return { ...layer, x, y };
  });
}
