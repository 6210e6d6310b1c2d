/** A pad on which rows are drawn by hand: click for a new one, drag it, drag it off the pad to be rid of it. */

import { fitCanvas, fontOf } from "./canvas.js";
import { classColor, classMarker, currentLook, outlineMarker } from "./colors.js";
import { make, makeButton } from "./elements.js";

/** @typedef {{x: number, y: number, kind: number}} Row kind is its class */

const LIMIT = 5; // both axes go from minus this to this
const NAMES = ["0", "1", "2", "3"];
const REACH = 14; // pixels

/** Two crossing lines of rows, so that there is something to fit at once. */
const FIRST = [
  [-3, -2],
  [-2.2, -2.6],
  [-1.6, -1],
  [-2.8, -0.6],
  [-1, -2.2],
  [2, 2.4],
  [3, 1.4],
  [1.4, 1],
  [2.6, 3],
  [3.4, 2.4],
];

export class Pad {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    /** @type {Row[]} */
    this.rows = FIRST.map(([x, y], i) => ({ x, y, kind: i < 5 ? 0 : 1 }));
    this.hasClasses = true;
    this.canvas = make("canvas", { role: "img", "aria-label": "Rows drawn by hand; the list below says the same" });
    this.kinds = make(
      "select",
      { "aria-label": "Class of new rows" },
      ...NAMES.map((name) => make("option", {}, `class ${name}`)),
    );
    this.list = make("textarea", { rows: 4, spellcheck: "false", "aria-label": "Rows, one in each line: x, y, class" });
    const clear = makeButton("Clear", () => this.change([]));
    const tools = make("div", { class: "row" }, this.kinds, clear);
    const help = make("small", {}, "Click for a new row, drag one to move it, and off the pad to be rid of it.");
    const typed = make("details", {}, make("summary", {}, "Rows as text"), this.list);
    this.element = make("div", { class: "pad" }, tools, this.canvas, help, typed);
    this.kinds.addEventListener("change", (event) => event.stopPropagation());
    this.list.addEventListener("change", (event) => {
      event.stopPropagation();
      this.change(this.read(this.list.value));
    });
    this.connect();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.write();
  }

  /** @returns {{points: number[][], target: string[] | null}} */
  get data() {
    const points = this.rows.map(({ x, y }) => [short(x), short(y)]);
    return { points, target: this.hasClasses ? this.rows.map(({ kind }) => NAMES[kind]) : null };
  }

  /** @param {{points: number[][], target?: (string | number)[] | null}} data */
  set data({ points, target }) {
    this.rows = points.map(([x, y], i) => ({ x, y, kind: Math.max(0, NAMES.indexOf(String(target?.[i] ?? "0"))) }));
    this.write();
    this.draw();
  }

  /**
   * A method that wants numbers takes y as its target; others take (x, y) and classes.
   * @param {boolean} hasClasses
   */
  setClasses(hasClasses) {
    this.hasClasses = hasClasses;
    this.kinds.hidden = !hasClasses;
    this.write();
    this.draw();
  }

  /** @param {Row[]} rows */
  change(rows) {
    this.rows = rows;
    this.write();
    this.draw();
    this.onChange();
  }

  write() {
    const lines = this.rows.map(
      ({ x, y, kind }) => [x, y].map(short).join(", ") + (this.hasClasses ? `, ${NAMES[kind]}` : ""),
    );
    this.list.value = lines.join("\n");
  }

  /**
   * Lines that are not two or three numbers are left out.
   * @param {string} text
   * @returns {Row[]}
   */
  read(text) {
    const numbers = text.split("\n").map((line) =>
      line
        .split(/[,;\s]+/)
        .filter(Boolean)
        .map(Number),
    );
    return numbers
      .filter((line) => line.length >= 2 && line.every(Number.isFinite))
      .map(([x, y, kind]) => ({ x, y, kind: Math.min(NAMES.length - 1, Math.max(0, Math.round(kind ?? 0))) }));
  }

  connect() {
    /** @type {Row | null} */
    let held = null;
    const place = (/** @type {PointerEvent} */ event) => {
      const { clientWidth: width, clientHeight: height } = this.canvas;
      return [(2 * event.offsetX) / width - 1, 1 - (2 * event.offsetY) / height].map((share) => share * LIMIT);
    };
    const near = (/** @type {Row} */ row, /** @type {PointerEvent} */ event) =>
      Math.hypot(this.across(row) - event.offsetX, this.down(row) - event.offsetY);
    this.canvas.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.canvas.setPointerCapture(event.pointerId);
      held =
        this.rows.filter((row) => near(row, event) < REACH).sort((a, b) => near(a, event) - near(b, event))[0] ?? null;
      if (held === null) {
        const [x, y] = place(event);
        held = { x, y, kind: this.hasClasses ? this.kinds.selectedIndex : 0 };
        this.rows.push(held);
      }
      this.draw();
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (held === null) return;
      [held.x, held.y] = place(event);
      this.draw();
    });
    this.canvas.addEventListener("pointerup", () => {
      if (held === null) return;
      const { x, y } = held;
      const isOff = Math.max(Math.abs(x), Math.abs(y)) > LIMIT;
      this.change(isOff ? this.rows.filter((row) => row !== held) : this.rows);
      held = null;
    });
  }

  /** @param {Row} row */
  across({ x }) {
    return ((x / LIMIT + 1) / 2) * this.canvas.clientWidth;
  }

  /** @param {Row} row */
  down({ y }) {
    return ((1 - y / LIMIT) / 2) * this.canvas.clientHeight;
  }

  draw() {
    const { context, width, height } = fitCanvas(this.canvas);
    const look = currentLook();
    context.clearRect(0, 0, width, height);
    context.strokeStyle = look.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, height / 2);
    context.lineTo(width, height / 2);
    context.moveTo(width / 2, 0);
    context.lineTo(width / 2, height);
    context.stroke();
    context.fillStyle = look.soft;
    context.font = fontOf(look, 0.7);
    context.textAlign = "right";
    context.fillText(String(LIMIT), width - 3, height / 2 - 4);
    for (const row of this.rows) {
      const kind = this.hasClasses ? row.kind : null;
      context.fillStyle = classColor(look, kind);
      context.beginPath();
      outlineMarker(context, classMarker(kind), this.across(row), this.down(row), 0.35 * look.rem);
      context.fill();
    }
  }
}

/** @param {number} value */
function short(value) {
  return Number(value.toFixed(2));
}
