/** Ask: what would change the prediction of a row, and which rows moved the boundary most. */

import { find, make, makeButton } from "./elements.js";
import { post } from "./server.js";

/** @import { Recording } from "./recording.js" */
/** @import { Answer } from "./server.js" */
/** @import { Showing } from "./showing.js" */

export class Asking {
  /**
   * @param {Showing} showing
   * @param {(side: number) => string | null} runOf
   */
  constructor(showing, runOf) {
    this.showing = showing;
    this.runOf = runOf;
    this.row = make("input", { type: "number", min: 0, step: 1, value: 0, "aria-label": "Number of a row, from 0" });
    this.answers = make("div", { "aria-live": "polite" });
    const help = make(
      "p",
      { class: "note" },
      "Click a row or a place in the picture, or say which row: what would change its prediction?",
    );
    const askRow = makeButton("Ask about row", () => this.ask(0, { row: Number(this.row.value) }));
    const askAll = makeButton("Which rows moved it most?", () => this.ask(0, { row: null }));
    this.element = make(
      "details",
      { id: "asking", name: "beside" },
      make("summary", {}, "Ask"),
      help,
      make("div", { class: "row" }, askRow, this.row),
      make(
        "div",
        { class: "row" },
        askAll,
        makeButton("Clear", () => this.reset()),
      ),
      this.answers,
    );
    find("breaking").after(this.element);
    this.row.addEventListener("keydown", (event) => {
      if (event.key === "Enter") askRow.click();
    });
  }

  reset() {
    this.answers.replaceChildren();
    this.showing.pictures.forEach((picture) => (picture.answer = []));
    this.row.max = String(Math.max(0, (this.showing.recordings[0]?.data.rows ?? 1) - 1));
    this.element.hidden = !this.showing.recordings.some(hasRows);
    this.showing.schedule();
  }

  /**
   * @param {number} side
   * @param {{row: number | null} | {point: number[]}} question
   */
  async ask(side, question) {
    this.element.open = true;
    this.answers.replaceChildren(make("p", {}, "Looking for an answer …"));
    if ("row" in question && question.row !== null) this.row.value = String(question.row);
    try {
      const { answers } = await post(`/api/runs/${this.runOf(side)}/ask`, question);
      this.show(side, answers);
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      this.answers.replaceChildren(make("p", { class: "fails" }, sentence));
    }
  }

  /**
   * @param {number} side
   * @param {Answer[]} answers
   */
  show(side, answers) {
    const picture = this.showing.pictures[side];
    if (!picture) return;
    picture.answer = answers.flatMap((answer) => answer.layers ?? []);
    this.answers.replaceChildren(...answers.map(answerItem));
    this.element.scrollIntoView({ block: "nearest" });
    this.showing.schedule();
  }
}

/**
 * Say whether rows are drawn that can be asked about: an idea without a model has none.
 * @param {Recording} recording
 */
function hasRows({ layers, frames }) {
  const last = frames.at(-1)?.layers ?? [];
  return [...layers, ...last].some((layer) => layer.kind === "points" && Boolean(layer.row));
}

/** @param {Answer} answer */
function answerItem({ question, answer, table }) {
  const room = make("div", { class: "answer" }, make("b", {}, question), make("p", {}, answer));
  if (table) {
    const head = make("tr", {}, ...table.columns.map((name) => make("th", { scope: "col" }, name)));
    const rows = table.rows.map((row) => make("tr", {}, ...row.map((value) => make("td", {}, String(value)))));
    room.append(make("div", { class: "scroll" }, make("table", {}, head, ...rows)));
  }
  return room;
}
