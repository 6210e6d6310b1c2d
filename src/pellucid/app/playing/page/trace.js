/** The trace: a small chart for every column, with a mark where the player stands. */

import { fitCanvas, fontOf } from "./canvas.js";
import { linearScale, logScale, rangeOf, writeNumber, writeTick } from "./scales.js";

/** @import { Look } from "./colors.js" */
/** @import { Numbers, Recording } from "./recording.js" */
/** @import { Scale } from "./scales.js" */

/** @typedef {{name: string, values: Numbers, isLog: boolean, canvas: HTMLCanvasElement, reading: HTMLElement}} Chart */

const COUNTER = "iteration";

/**
 * Build the charts; return the function that draws them for a frame.
 * @param {HTMLElement} room
 * @param {Recording} recording
 * @param {(frame: number) => void} go
 * @returns {(frame: number, look: Look) => void}
 */
export function buildTrace(room, recording, go) {
  const { columns, log } = recording.trace;
  const names = Object.keys(columns).filter((name) => name !== COUNTER);
  room.hidden = names.length === 0;
  const length = names.length ? columns[names[0]].length : 0;
  const steps = columns[COUNTER]?.map(Number) ?? Array.from({ length }, (_, i) => i);
  const charts = names.map((name) => buildChart(room, name, columns[name], log.includes(name)));
  const rows = recording.frames.map((frame) => frame.row);

  /** @type {Scale | null} */
  let across = null;
  for (const { canvas } of charts) {
    canvas.addEventListener("click", (event) => {
      if (across) go(nearestFrame(rows, steps, across.value(event.offsetX)));
    });
  }
  return (frame, look) => {
    for (const chart of charts) across = drawChart(chart, steps, rows[frame], look);
  };
}

/**
 * @param {HTMLElement} room
 * @param {string} name
 * @param {Numbers} values
 * @param {boolean} wantsLog
 * @returns {Chart}
 */
function buildChart(room, name, values, wantsLog) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  const title = document.createElement("b");
  const reading = document.createElement("span");
  const canvas = document.createElement("canvas");
  const isLog = wantsLog && values.some((value) => value !== null && value > 0);
  title.textContent = name.replaceAll("_", " ");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title.textContent} along the fit${isLog ? ", log scale" : ""}`);
  caption.append(title, reading);
  figure.append(caption, canvas);
  room.append(figure);
  return { name, values, isLog, canvas, reading };
}

/**
 * Return the frame whose row of the trace is nearest to a place on its axis.
 * @param {(number | null)[]} rows
 * @param {number[]} steps
 * @param {number} place
 */
function nearestFrame(rows, steps, place) {
  let [best, distance] = [0, Infinity];
  rows.forEach((row, frame) => {
    const away = row === null ? Infinity : Math.abs(steps[row] - place);
    if (away < distance) [best, distance] = [frame, away];
  });
  return best;
}

/**
 * @param {Chart} chart
 * @param {number[]} steps
 * @param {number | null} row
 * @param {Look} look
 * @returns {Scale} the axis along the fit
 */
function drawChart(chart, steps, row, look) {
  const { context, width, height } = fitCanvas(chart.canvas);
  context.clearRect(0, 0, width, height);
  const shown = chart.values.map((value) => (value !== null && chart.isLog && value <= 0 ? null : value));
  const range = rangeOf(shown);
  if (range[0] === range[1]) range[1] = range[0] === 0 ? 1 : range[0] + Math.abs(range[0]);
  const [top, bottom] = [0.5 * look.rem, height - 1.5 * look.rem];
  const most = Math.max(2, Math.floor((bottom - top) / (1.9 * look.rem)));
  const y = (chart.isLog ? logScale : linearScale)(/** @type {[number, number]} */ (range), bottom, top, most);
  context.font = fontOf(look, 0.72);
  const left = Math.max(...y.ticks.map((tick) => context.measureText(writeTick(tick)).width), 0) + 0.6 * look.rem;
  const right = width - 0.6 * look.rem;
  const x = linearScale(
    [steps[0] ?? 0, steps.at(-1) ?? 1],
    left,
    right,
    Math.max(2, Math.floor((right - left) / (2.6 * look.rem))),
  );

  drawGrid(context, x, y, { left, right, top, bottom }, look);
  drawCurve(context, shown, steps, x, y, look);
  chart.reading.textContent = row === null ? "" : writeNumber(chart.values[row]);
  if (row !== null)
    drawMark(context, x.pixel(steps[row]), shown[row] === null ? null : y.pixel(Number(shown[row])), top, bottom, look);
  return x;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scale} x
 * @param {Scale} y
 * @param {{left: number, right: number, top: number, bottom: number}} box
 * @param {Look} look
 */
function drawGrid(context, x, y, box, look) {
  context.strokeStyle = look.line;
  context.lineWidth = Math.max(1, 0.05 * look.rem);
  context.beginPath();
  for (const tick of y.ticks) {
    context.moveTo(box.left, y.pixel(tick));
    context.lineTo(box.right, y.pixel(tick));
  }
  context.stroke();
  context.fillStyle = look.soft;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of y.ticks) context.fillText(writeTick(tick), box.left - 0.35 * look.rem, y.pixel(tick));
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of x.ticks.filter(Number.isInteger)) {
    context.fillText(writeTick(tick), Math.min(x.pixel(tick), box.right), box.bottom + 0.4 * look.rem);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Numbers} values
 * @param {number[]} steps
 * @param {Scale} x
 * @param {Scale} y
 * @param {Look} look
 */
function drawCurve(context, values, steps, x, y, look) {
  context.strokeStyle = look.palette[0];
  context.lineWidth = 0.13 * look.rem;
  context.lineJoin = "round";
  context.beginPath();
  let isDown = false;
  values.forEach((value, i) => {
    if (value !== null && isDown) context.lineTo(x.pixel(steps[i]), y.pixel(value));
    else if (value !== null) context.moveTo(x.pixel(steps[i]), y.pixel(value));
    isDown = value !== null;
  });
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} across
 * @param {number | null} height
 * @param {number} top
 * @param {number} bottom
 * @param {Look} look
 */
function drawMark(context, across, height, top, bottom, look) {
  context.strokeStyle = context.fillStyle = look.palette[1];
  context.lineWidth = Math.max(1, 0.08 * look.rem);
  context.beginPath();
  context.moveTo(across, top);
  context.lineTo(across, bottom);
  context.stroke();
  if (height === null) return;
  context.beginPath();
  context.arc(across, height, 0.28 * look.rem, 0, 2 * Math.PI);
  context.fill();
}
