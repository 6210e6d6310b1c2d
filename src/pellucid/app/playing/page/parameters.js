/** The form of a method's parameters, made from what the server says of them. */

import { make } from "./elements.js";
import { writeNumber } from "./scales.js";

/** @import { Control, ValueKind, Values } from "./server.js" */

const MOST_FIRST = 4; // parameters that are seen at once; the rest stand under "More"
const TYPED = /** @type {{[kind: string]: string}} */ ({ number: "number", whole: "whole", text: "text" });

/** @typedef {{name: string, default: any, read: () => any, write: (value: any) => void}} Field */

let made = 0; // fields of all forms: ids must differ

export class ParameterForm {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.element = make("div", { class: "parameters" });
    /** @type {Field[]} */
    this.fields = [];
    this.element.addEventListener("change", onChange);
  }

  /**
   * Make the form of another method, with values that are not its defaults.
   * @param {Control[]} controls
   * @param {Values} values
   */
  build(controls, values) {
    const shown = controls.filter((control) => control.kinds.length > 0);
    this.fields = [];
    const rooms = shown.map((control) => {
      const { field, room } = buildField(control);
      field.write(control.name in values ? values[control.name] : control.default);
      this.fields.push(field);
      return room;
    });
    const isOpen = shown.slice(MOST_FIRST).some((control) => control.name in values);
    const rest = make("details", { open: isOpen }, make("summary", {}, "More"), ...rooms.slice(MOST_FIRST));
    const none = make("p", { class: "note" }, "There is nothing to set.");
    this.element.replaceChildren(...rooms.slice(0, MOST_FIRST), ...(rooms.length > MOST_FIRST ? [rest] : []));
    if (rooms.length === 0) this.element.append(none);
  }

  /** @returns {Values} */
  get values() {
    const changed = this.fields.map((field) => [field.name, field.read(), field.default]);
    return Object.fromEntries(changed.filter(([, value, usual]) => value !== usual));
  }
}

/**
 * @param {Control} control
 * @returns {{field: Field, room: HTMLElement}}
 */
function buildField(control) {
  const id = `parameter-${++made}`;
  const about = make("small", { id: `${id}-about` }, aboutOf(control));
  const { inputs, read, write } = controlOf(control, id);
  for (const input of inputs) input.setAttribute("aria-describedby", about.id);
  const label = make("label", { for: id }, ...brokenAtBars(control.name));
  const room = make("div", { class: "field" }, label, make("div", {}, ...inputs), about);
  return { field: { name: control.name, default: control.default, read, write }, room };
}

/**
 * Return a name that may go on in another line after each bar.
 * @param {string} name
 * @returns {(string | Node)[]}
 */
function brokenAtBars(name) {
  return name.split(/(?<=_)/).flatMap((part) => [part, make("wbr")]);
}

/** @param {Control} control */
function aboutOf({ meaning, default: usual }) {
  const written = usual === null ? "None" : typeof usual === "number" ? writeNumber(usual) : String(usual);
  return `${meaning} Default: ${written}.`.trim();
}

/**
 * @param {Control} control
 * @param {string} id
 * @returns {{inputs: HTMLElement[], read: () => any, write: (value: any) => void}}
 */
function controlOf(control, id) {
  const [only, ...others] = control.kinds;
  if (!isOffered(control)) return chosenControl(control, id);
  if (others.length === 0 && only.kind === "flag") return flagControl(id);
  if (others.length === 0 && only.kind in TYPED) return typedControl(control.name, only, id);
  return chosenControl(control, id);
}

/**
 * Say whether the form can show the default by itself: one that is an object of Python it cannot.
 * @param {Control} control
 */
function isOffered({ kinds, default: usual }) {
  return kinds.some(({ kind, options }) => {
    if (kind === "choice") return options?.includes(usual);
    if (kind === "none") return usual === null;
    if (kind === "flag") return typeof usual === "boolean";
    return typeof usual === (kind === "text" ? "string" : "number");
  });
}

/** @param {string} id */
function flagControl(id) {
  const box = make("input", { type: "checkbox", id });
  return {
    inputs: [box],
    read: () => box.checked,
    write: (/** @type {any} */ value) => (box.checked = Boolean(value)),
  };
}

/**
 * @param {string} name
 * @param {ValueKind} kind
 * @param {string} id
 */
function typedControl(name, kind, id) {
  const isText = kind.kind === "text";
  const input = make("input", {
    id,
    type: isText ? "text" : "number",
    step: isText ? null : kind.kind === "whole" ? 1 : "any",
    min: kind.low ?? kind.above,
    max: kind.high ?? kind.below,
    autocomplete: "off",
    "aria-label": name,
  });
  const read = () => (isText ? input.value : input.value === "" ? null : Number(input.value));
  return {
    inputs: [input],
    read,
    write: (/** @type {any} */ value) => (input.value = value === null ? "" : String(value)),
  };
}

/**
 * A parameter that takes several kinds of values: words are chosen from a list, the last of which open a field to type in.
 * @param {Control} control
 * @param {string} id
 */
function chosenControl(control, id) {
  /** @type {{text: string, value: any, typed: ReturnType<typeof typedControl> | null}[]} */
  const options = [];
  if (!isOffered(control)) options.push({ text: String(control.default), value: control.default, typed: null });
  for (const kind of control.kinds) {
    if (kind.kind === "none") options.push({ text: "None", value: null, typed: null });
    else if (kind.kind === "flag") {
      options.push({ text: "True", value: true, typed: null }, { text: "False", value: false, typed: null });
    } else if (kind.kind === "choice") {
      for (const value of kind.options ?? []) options.push({ text: String(value), value, typed: null });
    } else {
      const typed = typedControl(`${control.name}: ${TYPED[kind.kind]}`, kind, `${id}-${kind.kind}`);
      options.push({ text: TYPED[kind.kind], value: undefined, typed });
    }
  }
  const select = make("select", { id }, ...options.map(({ text }, i) => make("option", { value: i }, text)));
  const chosen = () => options[select.selectedIndex] ?? options[0];
  const inputs = options.flatMap(({ typed }) => typed?.inputs ?? []);
  const show = () => inputs.forEach((input) => (input.hidden = !chosen().typed?.inputs.includes(input)));
  select.addEventListener("change", (event) => {
    show();
    const { typed } = chosen();
    if (typed && typed.read() === null) {
      event.stopPropagation(); // nothing to run yet
      typed.inputs[0].focus();
    }
  });
  const write = (/** @type {any} */ value) => {
    const known = options.findIndex((option) => option.typed === null && option.value === value);
    const wanted = typeof value === "string" ? "text" : "number";
    const fitting = options.findIndex(({ typed }) => typed?.inputs[0].getAttribute("type") === wanted);
    select.selectedIndex = known >= 0 ? known : Math.max(0, fitting);
    if (known < 0) chosen().typed?.write(value);
    show();
  };
  const read = () => (chosen().typed ? chosen().typed?.read() : chosen().value);
  return { inputs: [select, ...inputs], read, write };
}
