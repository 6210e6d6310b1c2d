/** Break it: a fitted number is moved by hand, and the proof says which claim objects and by how much. */

import { find, make, makeButton } from "./elements.js";
import { post } from "./server.js";
import { sideName } from "./timeline.js";

/** @import { Fitted, Movable, PointsLayer } from "./recording.js" */
/** @import { Broken, Change } from "./server.js" */
/** @import { Showing } from "./showing.js" */

export class Breaking {
  /**
   * @param {Showing} showing
   * @param {(side: number) => string | null} runOf
   */
  constructor(showing, runOf) {
    this.showing = showing;
    this.runOf = runOf;
    /** @type {Map<string, Change>[]} what was changed, for each side */
    this.changes = [];
    /** @type {(Broken | null)[]} */
    this.broken = [];
    this.isAsking = false;
    this.isAskedAgain = false;
    this.message = make("p", { role: "status", class: "note" });
    this.back = makeButton("Put it back", () => this.putBack());
    this.tables = make("div");
    this.help = make("p", { class: "note" });
    this.element = make(
      "details",
      { id: "breaking", name: "beside" },
      make("summary", {}, "Break it"),
      this.help,
      this.back,
      this.message,
      this.tables,
    );
    find("certificate-room").after(this.element);
  }

  /** Begin anew with what is shown. */
  reset() {
    this.changes = this.showing.recordings.map(() => new Map());
    this.broken = this.showing.recordings.map(() => null);
    const rooms = this.showing.recordings.flatMap((recording, side) => {
      const name = this.showing.recordings.length > 1 ? `${sideName(side)}: ` : "";
      return (recording.fitted ?? []).map((fitted) => this.tableOf(side, fitted, name));
    });
    this.tables.replaceChildren(...rooms);
    this.element.hidden = rooms.length === 0;
    const canDrag = this.showing.recordings.some(({ frames }) =>
      frames.at(-1)?.layers.some((layer) => layer.kind === "points" && layer.movable),
    );
    this.help.textContent = canDrag
      ? "Drag a point in the last frame, or change a number: the proof looks again."
      : "Change a number: the proof looks again.";
    this.message.textContent = "";
    this.back.disabled = true;
  }

  /**
   * @param {number} side
   * @param {Fitted} fitted
   * @param {string} name of the side
   */
  tableOf(side, { name: attribute, shape, values, labels }, name) {
    const width = shape.length > 1 ? (shape.at(-1) ?? 1) : 1;
    const names = labels ?? values.map((_, i) => (shape.length ? `[${indexOf(shape, i).join(", ")}]` : "value"));
    const isPerNumber = names.length === values.length;
    const rows = [];
    for (let start = 0; start < values.length; start += width) {
      const head = isPerNumber ? (width === 1 ? names[start] : `[${start / width}]`) : `[${start / width}]`;
      const cells = values.slice(start, start + width).map((value, j) => {
        const index = indexOf(shape, start + j);
        const input = make("input", {
          type: "number",
          step: "any",
          value,
          "aria-label": `${name}${attribute} ${isPerNumber ? names[start + j] : `${head} ${names[j] ?? ""}`}`,
          "data-number": `${side} ${attribute} ${index.join(" ")}`,
        });
        input.addEventListener("change", () => {
          if (input.value !== "") this.change(side, [{ attribute, index, value: Number(input.value) }]);
        });
        return make("td", {}, input);
      });
      rows.push(make("tr", {}, make("th", { scope: "row" }, head), ...cells));
    }
    const heads =
      isPerNumber || width === 1
        ? []
        : [make("tr", {}, make("td"), ...names.map((head) => make("th", { scope: "col" }, head)))];
    return make(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": `${name}${attribute}` },
      make("table", {}, make("caption", {}, `${name}${attribute}`), ...heads, ...rows),
    );
  }

  /**
   * Return the numbers that a point stands for, were it at another place.
   * @param {PointsLayer} layer
   * @param {number} point
   * @param {[number, number]} place
   * @returns {Change[]}
   */
  static changesOf(layer, point, place) {
    const { attribute, rows, columns } = /** @type {Movable} */ (layer.movable);
    const row = rows?.[point] ?? point;
    if (columns === null) return [{ attribute, index: [row], value: place[1] }];
    const moved = columns.map((column, axis) => ({ attribute, index: [row, column ?? 0], value: place[axis] }));
    return moved.filter((_, axis) => columns[axis] !== null);
  }

  /**
   * @param {number} side
   * @param {Change[]} changes
   */
  change(side, changes) {
    for (const change of changes) this.changes[side].set(`${change.attribute} ${change.index.join(" ")}`, change);
    for (const { attribute, index, value } of changes) {
      const key = `${side} ${attribute} ${index.join(" ")}`;
      const input = this.tables.querySelector(`[data-number="${CSS.escape(key)}"]`);
      if (!(input instanceof HTMLInputElement)) continue;
      input.value = String(Number(value.toPrecision(6)));
      input.classList.add("changed");
    }
    this.element.open = true;
    this.back.disabled = false;
    this.verify(side);
  }

  /**
   * Ask the proof about the changed model. While it answers, later changes wait, and only the last is asked about.
   * @param {number} side
   */
  async verify(side) {
    if (this.isAsking) {
      this.isAskedAgain = true;
      return;
    }
    this.isAsking = true;
    const asked = this.changes[side];
    try {
      const found = await post(`/api/runs/${this.runOf(side)}/break`, { changes: [...asked.values()] });
      if (asked === this.changes[side] && asked.size > 0) this.show(side, found);
    } catch (error) {
      this.message.textContent = error instanceof Error ? error.message : String(error);
    }
    this.isAsking = false;
    if (this.isAskedAgain) {
      this.isAskedAgain = false;
      if (this.changes[side]?.size) this.verify(side);
    }
  }

  /**
   * @param {number} side
   * @param {Broken} found
   */
  show(side, found) {
    this.broken[side] = found;
    this.showing.pictures[side].broken = found.layers;
    const original = this.showing.recordings.map((recording) => recording.certificate);
    const now = original.map((certificate, i) => this.broken[i]?.certificate ?? certificate);
    this.showing.showCertificates(
      now,
      original.map((certificate, i) => (this.broken[i] ? certificate : null)),
    );
    this.message.textContent =
      found.problem ?? verdict(now[side].claims.filter((claim) => !claim.holds).map((claim) => claim.name));
    this.showing.schedule();
  }

  putBack() {
    for (const picture of this.showing.pictures) picture.broken = null;
    this.showing.showCertificates(this.showing.recordings.map((recording) => recording.certificate));
    this.reset();
    this.message.textContent = "All numbers are as they were fitted.";
    this.showing.schedule();
  }
}

/** @param {string[]} failing names of claims */
function verdict(failing) {
  if (failing.length === 0) return "No claim objects: the numbers are still within what the proof allows.";
  return `${failing.length === 1 ? "One claim objects" : `${failing.length} claims object`}: ${failing.join(", ")}.`;
}

/**
 * Return the index of a number by its place row after row.
 * @param {number[]} shape
 * @param {number} place
 */
function indexOf(shape, place) {
  const index = [];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index.unshift(place % shape[axis]);
    place = Math.floor(place / shape[axis]);
  }
  return index;
}
