/** Exercises on the page: type answers, see which are right and the first step that differs; hints one step at a time. */

import { make, makeButton } from "./elements.js";
import { get, post } from "./server.js";

/** @typedef {{number: number, name: string, step: number, parts?: number}} Asked */
/** @typedef {{name: string, seed: number, level: number}} Chosen */

const LEVELS = [1, 2, 3];

export class Exercises {
  constructor() {
    this.list = make("select", { id: "exercise-name" });
    this.level = make(
      "select",
      { id: "exercise-level" },
      ...LEVELS.map((level) => make("option", { value: level }, String(level))),
    );
    this.seed = make("input", { id: "exercise-seed", type: "number", min: 0, step: 1, value: 0 });
    this.room = make("div", {});
    const another = makeButton("Other numbers", () => {
      this.seed.value = String(Number(this.seed.value) + 1);
      this.open();
    });
    const tools = make(
      "div",
      { class: "exercise-tools" },
      make("label", { for: "exercise-name" }, "Exercise", this.list),
      make("label", { for: "exercise-level" }, "Level", this.level),
      make("label", { for: "exercise-seed" }, "Seed", this.seed),
      another,
    );
    this.element = make("section", { id: "exercises", "aria-label": "Exercises" }, tools, this.room);
    for (const control of [this.list, this.level, this.seed]) control.addEventListener("change", () => this.open());
    this.isListed = false;
    this.hints = 0;
  }

  /** @returns {Chosen} */
  get chosen() {
    return { name: this.list.value, seed: Number(this.seed.value), level: Number(this.level.value) };
  }

  /**
   * Show the exercise that is chosen, or another.
   * @param {Partial<Chosen>} [wanted]
   */
  async open(wanted = {}) {
    try {
      if (!this.isListed) {
        const found = /** @type {{name: string, title: string}[]} */ (await get("/api/exercises"));
        this.list.replaceChildren(...found.map(({ name, title }) => make("option", { value: name }, title)));
        this.isListed = true;
      }
      if (wanted.name) this.list.value = wanted.name;
      if (wanted.level) this.level.value = String(wanted.level);
      if (wanted.seed !== undefined) this.seed.value = String(wanted.seed);
      const chosen = this.chosen;
      const exercise = await post("/api/exercise", chosen);
      if (nameOf(chosen) === nameOf(this.chosen)) this.show(chosen, exercise); // a later choice has its own answer
    } catch (error) {
      this.room.replaceChildren(
        make("p", { class: "fails", role: "alert" }, error instanceof Error ? error.message : String(error)),
      );
    }
  }

  /**
   * @param {Chosen} chosen
   * @param {{question: string, asked: Asked[], steps: number}} exercise
   */
  show(chosen, { question, asked, steps }) {
    const text = make("article", { class: "workings" });
    text.innerHTML = question; // written by the library's printer
    const fields = asked.map((one) => {
      const input = make("input", {
        type: "text",
        autocomplete: "off",
        spellcheck: "false",
        id: `answer-${one.number}`,
      });
      const mark = make("output", { for: input.id });
      const several = (one.parts ?? 1) > 1 ? ` (${one.parts} numbers)` : "";
      const room = make(
        "div",
        { class: "answer-field" },
        make("label", { for: input.id }, `(${one.number}) ${one.name}${several}`),
        input,
        mark,
      );
      return { one, input, mark, room };
    });
    const verdict = make("p", { role: "status", class: "verdict" });
    const wrong = make("div", { class: "workings" });
    const hints = make("div", { class: "workings", "aria-live": "polite" });
    const hint = makeButton(`Hint (step 1 of ${steps})`, async () => {
      this.hints += 1;
      hints.append(stepSection(this.hints, await post("/api/exercise/hint", { ...chosen, step: this.hints })));
      hint.textContent = this.hints < steps ? `Hint (step ${this.hints + 1} of ${steps})` : "No more hints";
      hint.disabled = this.hints >= steps;
    });
    this.hints = 0;
    const form = make("form", { class: "answers", "data-exercise": nameOf(chosen) }, ...fields.map((field) => field.room));
    form.append(make("div", { class: "row" }, make("button", { class: "main" }, "Mark my answers"), hint));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const answers = Object.fromEntries(fields.map(({ one, input }) => [String(one.number), input.value]));
      const marked = await post("/api/exercise/mark", { ...chosen, answers });
      for (const { one, mark, room } of fields) {
        const isRight = marked.right[String(one.number)];
        mark.textContent = isRight ? "✓ right" : "✗ not right";
        room.className = `answer-field ${isRight ? "holds" : "fails"}`;
      }
      const count = fields.filter(({ one }) => marked.right[String(one.number)]).length;
      verdict.textContent = marked.first_wrong
        ? `${count} of ${fields.length} are right. The first step that differs:`
        : "All answers are right.";
      verdict.className = `verdict ${marked.first_wrong ? "fails" : "holds"}`;
      wrong.replaceChildren(...(marked.first_wrong ? [stepSection(marked.first_wrong.step, marked.first_wrong)] : []));
    });
    this.room.replaceChildren(text, form, verdict, wrong, hints);
  }
}

/** @param {Chosen} chosen */
function nameOf({ name, seed, level }) {
  return `${name}/${seed}/${level}`;
}

/**
 * @param {number} number
 * @param {{heading: string, html: string}} step
 */
function stepSection(number, { heading, html }) {
  const body = make("div");
  body.innerHTML = html; // written by the library's printer
  return make("section", {}, make("h3", {}, `Step ${number}. ${heading}`), body);
}
