/** The form of the data: a set, a file, rows drawn by hand, a formula, an image. */

import { make } from "./elements.js";
import { Pad } from "./pad.js";
import { sendTable } from "./server.js";

/** @import { Catalogue, Data, NamedSet, Play, Table } from "./server.js" */

const [OWN_FILE, OWN_POINTS, OWN_FORMULA] = ["own file", "own points", "own formula"];

export class DataForm {
  /**
   * @param {Catalogue} catalogue
   * @param {() => void} onChange
   * @param {(sentence: string) => void} onProblem
   */
  constructor(catalogue, onChange, onProblem) {
    this.catalogue = catalogue;
    this.onChange = onChange;
    this.onProblem = onProblem;
    /** @type {Play} */
    this.play = catalogue.plays[0];
    /** @type {Table | null} */
    this.table = catalogue.table;
    this.source = make("select", { id: "data-source", "aria-label": "Data" });
    this.rows = numberInput("rows", "Rows", 150, { min: 2, max: 20000, step: 1 });
    this.seed = numberInput("seed", "Seed", 0, { min: 0, step: 1 });
    this.columns = make("details", { class: "columns" });
    this.file = make("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", id: "data-file" });
    this.target = make("select", { id: "data-target" });
    this.formula = make("input", { type: "text", id: "data-formula", spellcheck: "false", autocomplete: "off" });
    this.start = make("input", { type: "text", id: "data-start", inputmode: "decimal", autocomplete: "off" });
    this.startRoom = make("div", { class: "field" }, make("label", { for: "data-start" }, "Start"), this.start);
    this.startHelp = make("small", {}, "A click on the picture moves the start.");
    this.pad = new Pad(onChange);
    /** @type {Record<string, HTMLElement>} */
    this.rooms = {
      made: make("div", { class: "row" }, labeled(this.rows), labeled(this.seed)),
      file: make(
        "div",
        {},
        make("label", { for: "data-file", class: "drop" }, "Choose a CSV file, or drop one here", this.file),
        make("div", { class: "field" }, make("label", { for: "data-target" }, "Target"), this.target),
      ),
      points: this.pad.element,
      formula: make(
        "div",
        {},
        make("div", { class: "field" }, make("label", { for: "data-formula" }, "Formula"), this.formula),
        this.startRoom,
        this.startHelp,
      ),
      columns: this.columns,
    };
    this.element = make("div", { class: "data-form" }, this.source, ...Object.values(this.rooms));
    this.connect();
  }

  connect() {
    this.source.addEventListener("change", (event) => {
      event.stopPropagation();
      const set = this.set;
      const formula = this.catalogue.formulas.find(({ name }) => this.source.value === `formula:${name}`);
      if (formula) this.writeFormula(formula.formula, formula.start);
      if (set?.kind === "made") this.rows.value = String(Math.min(set.rows, 20000));
      this.fillColumns(null);
      this.showRooms();
      if (this.source.value === OWN_FILE && !this.table) this.file.click();
      else this.onChange();
    });
    this.file.addEventListener("change", (event) => {
      event.stopPropagation();
      if (this.file.files?.[0]) this.read(this.file.files[0]);
    });
    this.element.addEventListener("change", () => this.onChange());
  }

  /**
   * Read a file of the person's own.
   * @param {File} file
   */
  async read(file) {
    try {
      this.table = await sendTable(file);
      this.fillSources();
      this.source.value = OWN_FILE;
      this.fillTargets(undefined);
      this.fillColumns(null);
      this.showRooms();
      this.onChange();
    } catch (error) {
      this.onProblem(error instanceof Error ? error.message : String(error));
    }
    this.file.value = "";
  }

  /**
   * Offer what a method can take; keep what is chosen if it can take that, else begin with its own first data.
   * @param {Play} play
   * @param {Data | null} data to show
   */
  setPlay(play, data) {
    const before = this.source.value;
    this.play = play;
    this.fillSources();
    this.pad.setClasses(play.wants !== "numbers");
    const isOffered = [...this.source.options].some((option) => option.value === before);
    if (data) this.write(data);
    else if (isOffered && before && !before.startsWith("own formula")) this.source.value = before;
    else this.write(play.first);
    if (!data && this.source.value === OWN_FILE) this.fillTargets(this.target.value);
    this.showRooms();
  }

  fillSources() {
    const { catalogue, play } = this;
    const wanted = play.wants;
    const fits = (/** @type {NamedSet} */ set) => wanted === null || set.target === wanted;
    const groups = [];
    if (play.data.includes("rows")) {
      const sets = (/** @type {string} */ kind) =>
        catalogue.sets
          .filter((set) => set.kind === kind && fits(set))
          .map(({ name }) => option(`set:${name}`, spaced(name)));
      groups.push(group("Made", sets("made")), group("Measured", sets("bundled")));
      const file = this.table ? `the file ${this.table.name}` : "a CSV file …";
      groups.push(group("Your own", [option(OWN_POINTS, "rows drawn by hand"), option(OWN_FILE, file)]));
    }
    if (play.data.includes("formula")) {
      const known = this.startCount === 2 ? catalogue.formulas : [];
      const formulas = known.map(({ name }) => option(`formula:${name}`, spaced(name)));
      groups.push(group("Formulas", [...formulas, option(OWN_FORMULA, "a formula of your own …")]));
    }
    if (play.data.includes("image")) {
      groups.push(
        group(
          "Images",
          catalogue.images.map(({ name }) => option(`image:${name}`, spaced(name))),
        ),
      );
    }
    this.source.replaceChildren(...groups.filter((found) => found.children.length > 0));
  }

  /** @returns {number} how many numbers say where to start: one for each variable, or none */
  get startCount() {
    return this.play.first.start?.length ?? 0;
  }

  /** @returns {NamedSet | undefined} */
  get set() {
    return this.catalogue.sets.find(({ name }) => this.source.value === `set:${name}`);
  }

  showRooms() {
    const { rooms, source } = this;
    rooms.made.hidden = this.set?.kind !== "made";
    rooms.file.hidden = source.value !== OWN_FILE;
    rooms.points.hidden = source.value !== OWN_POINTS;
    rooms.formula.hidden = !source.value.startsWith("formula:") && source.value !== OWN_FORMULA;
    this.startRoom.hidden = this.startCount === 0;
    this.startHelp.hidden = this.startCount !== 2;
    rooms.columns.hidden = this.columns.querySelectorAll("input").length < 3;
  }

  /** @param {string | null | undefined} chosen undefined takes the last column */
  fillTargets(chosen) {
    const names = columnNames(this.table);
    const none = this.play.wants === null ? [option("", "none")] : [];
    this.target.replaceChildren(...none, ...names.map((name) => option(name, name)));
    const value = chosen === undefined ? (names.at(-1) ?? "") : (chosen ?? "");
    if ([...this.target.options].some((found) => found.value === value)) this.target.value = value;
  }

  /** @param {string[] | null} chosen null is all */
  fillColumns(chosen) {
    const isFile = this.source.value === OWN_FILE;
    const numbers = (this.table?.columns ?? []).filter(
      (column) => typeof column === "string" || column.kind === "number",
    );
    const names = isFile ? columnNames({ columns: numbers }) : (this.set?.columns ?? []);
    const boxes = names.map((name) => {
      const box = make("input", { type: "checkbox", value: name });
      box.checked = chosen === null || chosen.includes(name);
      return make("label", {}, box, name);
    });
    this.columns.replaceChildren(make("summary", {}, "Columns"), ...boxes);
  }

  /** @returns {string[] | null} */
  get chosenColumns() {
    const boxes = [...this.columns.querySelectorAll("input")];
    const chosen = boxes.filter((box) => box.checked && box.value !== this.target.value).map((box) => box.value);
    return this.rooms.columns.hidden || boxes.every((box) => box.checked) || chosen.length === 0 ? null : chosen;
  }

  /**
   * @param {string} formula
   * @param {number[]} start
   */
  writeFormula(formula, start) {
    this.formula.value = formula;
    this.start.value = start.join(", ");
  }

  /** @param {Data} data */
  write(data) {
    if ("formula" in data) {
      const known = this.catalogue.formulas.find(({ formula }) => formula === data.formula);
      this.source.value = known ? `formula:${known.name}` : OWN_FORMULA;
      this.writeFormula(data.formula, data.start ?? known?.start ?? []);
    } else if ("points" in data) {
      this.source.value = OWN_POINTS;
      this.pad.data = { points: data.points, target: data.target ?? null };
    } else if ("table" in data) {
      this.source.value = OWN_FILE;
      this.fillTargets(data.target ?? null);
    } else if ("image" in data) this.source.value = `image:${data.image}`;
    else {
      this.source.value = `set:${data.set}`;
      this.rows.value = String(data.rows ?? this.set?.rows ?? 150);
      this.seed.value = String(data.seed ?? 0);
    }
    this.fillColumns(data.columns ?? null);
    this.showRooms();
  }

  /** @returns {Data} */
  get data() {
    const [kind, name] = this.source.value.split(/:(.*)/s);
    if (this.source.value === OWN_POINTS) return this.pad.data;
    if (kind === "image") return { image: name };
    const columns = this.chosenColumns ? { columns: this.chosenColumns } : {};
    if (this.source.value === OWN_FILE) {
      return { table: this.table?.id ?? "", target: this.target.value || null, ...columns };
    }
    if (kind === "set") {
      const made = this.set?.kind === "made" ? { rows: Number(this.rows.value), seed: Number(this.seed.value) } : {};
      return { set: name, ...made, ...columns };
    }
    const start = this.start.value
      .replaceAll("−", "-")
      .split(/[,;\s]+/)
      .filter(Boolean)
      .map(Number);
    return { formula: this.formula.value, ...(this.startCount ? { start } : {}) };
  }

  /** @returns {boolean} whether a click on the picture says where to start */
  get hasStart() {
    return !this.rooms.formula.hidden && this.startCount === 2;
  }

  /** @param {number[]} place */
  moveStart(place) {
    this.start.value = place.map((value) => Number(value.toPrecision(3))).join(", ");
    this.onChange();
  }
}

/**
 * @param {string} id
 * @param {string} label
 * @param {number} value
 * @param {Record<string, string | number>} limits
 */
function numberInput(id, label, value, limits) {
  return make("input", { type: "number", id: `data-${id}`, value, "aria-label": label, ...limits });
}

/** @param {HTMLInputElement} input */
function labeled(input) {
  return make("label", {}, input.getAttribute("aria-label") ?? "", input);
}

/**
 * @param {string} value
 * @param {string} text
 */
function option(value, text) {
  return make("option", { value }, text);
}

/**
 * @param {string} label
 * @param {HTMLElement[]} options
 */
function group(label, options) {
  return make("optgroup", { label }, ...options);
}

/** @param {string} name */
function spaced(name) {
  return name.replaceAll("_", " ");
}

/** @param {{columns: Table["columns"]} | null} table */
function columnNames(table) {
  return (table?.columns ?? []).map((column) => (typeof column === "string" ? column : column.name));
}
