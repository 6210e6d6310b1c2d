/** The chooser: method, data and parameters, and those of a second method that races against the first. */

import { DataForm } from "./data_form.js";
import { make, makeButton } from "./elements.js";
import { MethodList } from "./methods.js";
import { ParameterForm } from "./parameters.js";
import { get } from "./server.js";
import { sideName } from "./timeline.js";

/** @import { Catalogue, Control, Data, Play, Progress, Run, Values } from "./server.js" */

/** @typedef {{list: MethodList, form: ParameterForm, element: HTMLElement}} Side */
/** @typedef {{run: () => void, stop: () => void, problem: (sentence: string) => void}} Acts */

const REST = 350; // milliseconds without a change before it runs by itself
const NARROW = "(max-width: 61.99rem)";

/** @type {Map<string, Control[]>} */
const known = new Map();

/** @param {string} name */
async function controlsOf(name) {
  const found = known.get(name) ?? (await get(`/api/plays/${encodeURIComponent(name)}/controls`));
  known.set(name, found);
  return found;
}

export class Chooser {
  /**
   * @param {Catalogue} catalogue
   * @param {Acts} acts
   */
  constructor(catalogue, acts) {
    this.catalogue = catalogue;
    this.acts = acts;
    this.timer = 0;
    this.data = new DataForm(catalogue, () => this.rest(), acts.problem);
    this.sides = [this.makeSide(0), this.makeSide(1)];
    this.isRace = false;
    this.runButton = make("button", { class: "main", id: "run" }, "Run");
    this.stopButton = makeButton("Stop", acts.stop, { id: "stop", disabled: true });
    this.auto = make("input", { type: "checkbox", id: "auto", checked: true, title: "Run when something changes" });
    this.raceButton = makeButton("Race against another", () => this.setRace(!this.isRace), {
      id: "race",
      "aria-pressed": "false",
    });
    this.bar = make("progress", { "aria-label": "Progress" });
    this.said = make("p", { role: "status", class: "note", id: "said" });
    const runs = make(
      "div",
      { class: "runs" },
      this.runButton,
      this.stopButton,
      make("label", {}, this.auto, "by itself"),
      this.bar,
      this.said,
    );
    this.form = make(
      "form",
      { novalidate: true },
      this.sides[0].element,
      part("Data", this.data.element),
      part("Parameters", this.sides[0].form.element),
      make("div", { class: "row" }, this.raceButton),
      this.sides[1].element,
      runs,
    );
    this.element = make(
      "details",
      { id: "chooser", open: true },
      make("summary", {}, "Method, data, parameters"),
      this.form,
    );
    this.element.open = !matchMedia(NARROW).matches;
    matchMedia(NARROW).addEventListener("change", ({ matches }) => (this.element.open = !matches));
    this.connect();
    this.setBusy(false);
    this.setRaceShown(false);
  }

  connect() {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(this.timer);
      this.acts.run();
    });
    this.auto.addEventListener("change", (event) => event.stopPropagation());
    const page = document.body;
    page.addEventListener("dragover", (event) => event.preventDefault());
    page.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) this.data.read(file);
    });
  }

  /** @param {number} number */
  makeSide(number) {
    const label = number === 0 ? "Method" : `Method ${sideName(number)}`;
    const form = new ParameterForm(() => this.rest());
    const list = new MethodList(this.catalogue.plays, label, (play) => this.choose(number, play));
    const element =
      number === 0
        ? part("Method", list.element)
        : make(
            "div",
            { class: "second" },
            part(label, list.element),
            part(`Parameters ${sideName(number)}`, form.element),
          );
    return { list, form, element };
  }

  /**
   * A method was chosen from a list.
   * @param {number} side
   * @param {Play} play
   */
  async choose(side, play) {
    await this.setMethod(side, play, {}, null);
    this.rest();
  }

  /**
   * @param {number} side
   * @param {Play} play
   * @param {Values} values
   * @param {Data | null} data
   */
  async setMethod(side, play, values, data) {
    const { list, form } = this.sides[side];
    list.choose(play.name);
    form.build(await controlsOf(play.name), values);
    if (side === 0) {
      this.data.setPlay(play, data);
      const rival = this.sides[1].list.find(this.sides[1].list.chosen);
      if (this.isRace && rival && !canRace(play, rival)) await this.setMethod(1, play, {}, null);
    }
  }

  /**
   * Show a configuration, as a link or another page gave it.
   * @param {Run} run
   * @param {Run | null} against
   */
  async show(run, against) {
    const find = (/** @type {string} */ name) => {
      const play = this.catalogue.plays.find((one) => one.name === name);
      if (!play) throw new Error(`The link names the method ${name}, which is not there. Choose another.`);
      return play;
    };
    await this.setMethod(0, find(run.play), run.parameters ?? {}, run.data ?? null);
    this.setRaceShown(against !== null);
    if (against) await this.setMethod(1, find(against.play), against.parameters ?? {}, null);
  }

  /** @param {boolean} isRace */
  async setRace(isRace) {
    this.setRaceShown(isRace);
    if (isRace) {
      const play = this.sides[0].list.find(this.sides[0].list.chosen);
      if (play) await this.setMethod(1, play, this.sides[0].form.values, null);
    }
    this.acts.run();
  }

  /** @param {boolean} isRace */
  setRaceShown(isRace) {
    this.isRace = isRace;
    this.sides[1].element.hidden = !isRace;
    this.raceButton.textContent = isRace ? "No race" : "Race against another";
    this.raceButton.setAttribute("aria-pressed", String(isRace));
  }

  /** @returns {Run[]} one, or two that race on the same data */
  get runs() {
    const data = this.data.data;
    const sides = this.isRace ? this.sides : this.sides.slice(0, 1);
    return sides.map(({ list, form }) => ({ play: list.chosen, parameters: form.values, data }));
  }

  /** Something has changed: run after a short rest, if that is wanted. */
  rest() {
    clearTimeout(this.timer);
    if (this.auto.checked) this.timer = setTimeout(() => this.acts.run(), REST);
  }

  /** @param {boolean} isBusy */
  setBusy(isBusy) {
    this.stopButton.disabled = !isBusy;
    this.bar.hidden = !isBusy;
    if (isBusy) this.bar.removeAttribute("value");
  }

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = sentence;
  }

  /** @param {Progress} progress */
  tell({ label, seconds }) {
    this.say(`${label}, ${seconds.toFixed(1)} s`);
  }
}

/**
 * Two methods race if they take the same data.
 * @param {Play} one
 * @param {Play} other
 */
function canRace(one, other) {
  const isAnswerable = one.wants === other.wants || other.wants === null;
  return isAnswerable && one.data.some((kind) => other.data.includes(kind));
}

/**
 * @param {string} name
 * @param {HTMLElement} content
 */
function part(name, content) {
  return make("fieldset", {}, make("legend", {}, name), content);
}
