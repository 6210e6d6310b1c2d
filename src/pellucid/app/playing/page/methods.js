/** The list of methods, by group, with a box to search in. */

import { make } from "./elements.js";

/** @import { Play } from "./server.js" */

export class MethodList {
  /**
   * @param {Play[]} plays
   * @param {string} label
   * @param {(play: Play) => void} onChoose
   */
  constructor(plays, label, onChoose) {
    this.plays = plays;
    this.search = make("input", { type: "search", placeholder: "Search", "aria-label": `Search: ${label}` });
    this.list = make("select", { size: 7, "aria-label": label, class: "methods" });
    this.count = make("span", { class: "unseen", role: "status" });
    this.element = make("div", { class: "method-list" }, this.search, this.list, this.count);
    this.chosen = plays[0].name;
    this.search.addEventListener("input", (event) => {
      event.stopPropagation();
      this.fill();
      this.count.textContent = `${this.list.options.length} of ${plays.length} methods`;
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "Enter") return;
      event.preventDefault();
      if (this.list.options.length === 0) return;
      this.list.focus();
      if (this.list.selectedIndex < 0) this.list.selectedIndex = 0;
      this.list.dispatchEvent(new Event("change", { bubbles: true }));
    });
    this.list.addEventListener("change", (event) => {
      event.stopPropagation(); // who listens is told below
      const play = this.find(this.list.value);
      if (!play || play.name === this.chosen) return;
      this.chosen = play.name;
      onChoose(play);
    });
    this.fill();
  }

  /** @param {string} name */
  find(name) {
    return this.plays.find((play) => play.name === name);
  }

  /** @param {string} name */
  choose(name) {
    this.chosen = name;
    this.search.value = "";
    this.fill();
    this.list.selectedOptions[0]?.scrollIntoView({ block: "nearest" });
  }

  /** Show the methods whose title, name or group has all the words of the search. */
  fill() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.plays.filter(({ title, name, group }) => {
      const text = `${title} ${name} ${group}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const groups = [...new Set(found.map((play) => play.group))].map((group) => {
      const own = found.filter((play) => play.group === group);
      const options = own.map(({ name, title }) => {
        const option = make("option", { value: name }, title);
        option.selected = name === this.chosen;
        return option;
      });
      return make("optgroup", { label: group }, ...options);
    });
    this.list.replaceChildren(...groups);
  }
}
