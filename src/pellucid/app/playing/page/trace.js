/** The trace: a small chart for every column, with a mark where the player stands. */

import { fitCanvas, fontOf } from "./canvas.js";
import { make } from "./elements.js";
import { linearScale, logScale, rangeOf, writeNumber, writeTick } from "./scales.js";

/** @import { Look } from "./colors.js" */
/** @import { Numbers, Recording } from "./recording.js" */
/** @import { Scale } from "./scales.js" */
/** @import { Clock, Timeline } from "./timeline.js" */

/** @typedef {{values: Numbers, steps: (number | null)[], rows: (number | null)[]}} Curve One column of one recording: where its rows stand on the clock, and the row of each frame. */
/** @typedef {{curves: (Curve | null)[], isLog: boolean, canvas: HTMLCanvasElement, reading: HTMLElement}} Chart A curve for each side of a race; null if that side has no such column. */

const COUNTER = "iteration";
const DASH = [0.5, 0.35]; // of the second curve: colors alone do not tell curves apart for everyone

/**
 * Build the charts; return the function that draws them for a place of the timeline.
 * @param {HTMLElement} room
 * @param {Recording[]} recordings
 * @param {Timeline} timeline
 * @param {(place: number) => void} go
 * @returns {(place: number, look: Look) => void}
 */
export function buildTrace(room, recordings, timeline, go) {
  const names = new Set(recordings.flatMap(({ trace }) => Object.keys(trace.columns)));
  names.delete(COUNTER);
  for (const name of names) {
    const isEmpty = recordings.every(({ trace }) => (trace.columns[name] ?? []).every((value) => value === null));
    if (isEmpty) names.delete(name);
  }
  const isOneRow = recordings.every(({ trace }) => Object.values(trace.columns).every((values) => values.length < 2));
  if (isOneRow) names.clear(); // a closed form: one row is no curve
  room.replaceChildren();
  room.hidden = names.size === 0;
  const charts = [...names].map((name) => buildChart(room, name, recordings, timeline.clock));

  /** @type {Scale | null} */
  let across = null;
  for (const { canvas } of charts) {
    canvas.addEventListener("click", (event) => {
      if (across) go(nearest(timeline.times, across.value(event.offsetX)));
    });
  }
  return (place, look) => {
    for (const chart of charts) across = drawChart(chart, timeline, place, look);
  };
}

/**
 * @param {HTMLElement} room
 * @param {string} name
 * @param {Recording[]} recordings
 * @param {Clock} clock
 * @returns {Chart}
 */
function buildChart(room, name, recordings, clock) {
  const curves = recordings.map((recording) => curveOf(recording, name, clock));
  const isLog = recordings.every(({ trace }) => !(name in trace.columns) || trace.log.includes(name));
  const title = name.replaceAll("_", " ");
  const canvas = make("canvas", {
    role: "img",
    "aria-label": `${title} along the fit${isLog ? ", log scale" : ""}`,
  });
  const reading = make("span");
  room.append(make("figure", {}, make("figcaption", {}, make("b", {}, title), reading), canvas));
  return { curves, isLog, canvas, reading };
}

/**
 * @param {Recording} recording
 * @param {string} name
 * @param {Clock} clock
 * @returns {Curve | null}
 */
function curveOf({ trace, frames }, name, clock) {
  const values = trace.columns[name];
  if (!values) return null;
  const rows = frames.map((frame) => frame.row);
  if (clock === "iteration") return { values, rows, steps: trace.columns[COUNTER] ?? values.map((_, i) => i) };
  /** @type {(number | null)[]} */
  const steps = values.map(() => null);
  for (const { row, seconds } of frames) if (row !== null) steps[row] = seconds ?? null;
  return { values, rows, steps };
}

/**
 * Return the place whose time is nearest to a value on the clock.
 * @param {(number | null)[]} times
 * @param {number} value
 */
function nearest(times, value) {
  let [best, distance] = [0, Infinity];
  times.forEach((time, place) => {
    const away = time === null ? Infinity : Math.abs(time - value);
    if (away < distance) [best, distance] = [place, away];
  });
  return best;
}

/**
 * @param {Chart} chart
 * @param {Timeline} timeline
 * @param {number} place
 * @param {Look} look
 * @returns {Scale} the axis along the fit
 */
function drawChart(chart, timeline, place, look) {
  const { context, width, height } = fitCanvas(chart.canvas);
  context.clearRect(0, 0, width, height);
  const shown = chart.curves.map((curve) => (curve ? drawable(curve.values, chart.isLog) : []));
  const range = rangeOf(shown.flat());
  if (range[0] === range[1]) range[1] = range[0] === 0 ? 1 : range[0] + Math.abs(range[0]);
  const [top, bottom] = [0.5 * look.rem, height - 1.5 * look.rem];
  const most = Math.max(2, Math.floor((bottom - top) / (1.9 * look.rem)));
  const isPositive = chart.isLog && range[0] > 0;
  const y = (isPositive ? logScale : linearScale)(/** @type {[number, number]} */ (range), bottom, top, most);
  context.font = fontOf(look, 0.72);
  const left = Math.max(...y.ticks.map((tick) => context.measureText(writeTick(tick)).width), 0) + 0.6 * look.rem;
  const right = width - 0.6 * look.rem;
  const [first, last] = rangeOf(chart.curves.flatMap((curve) => curve?.steps ?? []));
  const x = linearScale([first, last], left, right, Math.max(2, Math.floor((right - left) / (2.6 * look.rem))));

  drawGrid(context, x, y, { left, right, top, bottom }, look, timeline.clock === "iteration");
  /** @type {string[]} */
  const readings = [];
  chart.curves.forEach((curve, side) => {
    if (!curve) return;
    context.setLineDash(side === 0 ? [] : DASH.map((length) => length * look.rem));
    drawCurve(context, shown[side], curve.steps, x, y, look.palette[2 * side], 0.13 * look.rem);
    context.setLineDash([]);
    const row = curve.rows[timeline.frameOf(side, place)];
    const step = row === null ? null : curve.steps[row];
    if (row === null || step === null) return;
    readings.push(writeNumber(curve.values[row]));
    const value = shown[side][row];
    drawMark(context, x.pixel(step), value === null ? null : y.pixel(value), top, bottom, look);
  });
  chart.reading.textContent = readings.join(" | ");
  return x;
}

/**
 * @param {Numbers} values
 * @param {boolean} isLog
 */
function drawable(values, isLog) {
  return values.map((value) => (value !== null && isLog && value <= 0 ? null : value));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scale} x
 * @param {Scale} y
 * @param {{left: number, right: number, top: number, bottom: number}} box
 * @param {Look} look
 * @param {boolean} isCount whether there is nothing between whole numbers
 */
function drawGrid(context, x, y, box, look, isCount) {
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
  for (const tick of x.ticks.filter((found) => !isCount || Number.isInteger(found))) {
    const text = writeTick(tick);
    const last = box.right + 0.5 * look.rem - context.measureText(text).width / 2; // what stands farther is cut off
    context.fillText(text, Math.min(x.pixel(tick), last), box.bottom + 0.4 * look.rem);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Numbers} values
 * @param {(number | null)[]} steps
 * @param {Scale} x
 * @param {Scale} y
 * @param {string} color
 * @param {number} width
 */
function drawCurve(context, values, steps, x, y, color, width) {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.beginPath();
  let isDown = false;
  values.forEach((value, i) => {
    const step = steps[i];
    if (step === null) return; // a row between two frames, on a clock that knows frames only
    if (value !== null && isDown) context.lineTo(x.pixel(step), y.pixel(value));
    else if (value !== null) context.moveTo(x.pixel(step), y.pixel(value));
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
