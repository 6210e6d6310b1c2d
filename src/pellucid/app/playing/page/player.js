/** The player: which place of the timeline is shown, and the buttons, slider and keys that change it. */

const WHOLE_SECONDS = 12; // at the usual speed, a long recording plays this long
const [SLOWEST, FASTEST] = [2, 30]; // frames per second

export class Player {
  /** @param {() => void} onChange called after every change */
  constructor(onChange) {
    this.count = 1;
    this.onChange = onChange;
    this.place = 0;
    this.isPlaying = false;
    this.speed = 1;
    this.since = 0; // when the place was shown, in milliseconds
  }

  /** @param {number} count places */
  setCount(count) {
    this.count = count;
    this.isPlaying = false;
    this.place = Math.min(this.place, count - 1);
  }

  /** @param {number} place */
  go(place) {
    this.place = Math.min(this.count - 1, Math.max(0, Math.round(place)));
    this.onChange();
  }

  /** @param {number} place */
  stopAt(place) {
    this.isPlaying = false;
    this.go(place);
  }

  toggle() {
    this.isPlaying = !this.isPlaying && this.count > 1;
    if (this.isPlaying && this.place === this.count - 1) this.place = 0;
    this.onChange();
    if (this.isPlaying) {
      this.since = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    }
  }

  /** @param {number} now */
  tick(now) {
    if (!this.isPlaying) return;
    const pace = this.speed * Math.min(FASTEST, Math.max(SLOWEST, this.count / WHOLE_SECONDS));
    const due = Math.floor(((now - this.since) / 1000) * pace);
    if (due > 0) {
      this.since += (1000 * due) / pace;
      this.isPlaying = this.place + due < this.count - 1;
      this.go(this.place + due);
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}

/** Keys that work wherever the focus is, unless it is where they mean something else.
 * @type {{[key: string]: (player: Player) => void}} */
const KEYS = {
  ArrowRight: (player) => player.stopAt(player.place + 1),
  ArrowLeft: (player) => player.stopAt(player.place - 1),
  PageUp: (player) => player.stopAt(player.place + Math.ceil(player.count / 10)),
  PageDown: (player) => player.stopAt(player.place - Math.ceil(player.count / 10)),
  Home: (player) => player.stopAt(0),
  End: (player) => player.stopAt(player.count - 1),
  " ": (player) => player.toggle(),
};

/**
 * Connect the controls of the page; return the function that shows the player's state on them.
 * @param {Document} page
 * @param {Player} player
 * @param {(place: number) => string} labelOf
 * @returns {() => void}
 */
export function connectControls(page, player, labelOf) {
  const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (page.getElementById(id));
  const slider = /** @type {HTMLInputElement} */ (find("slider"));
  const speed = /** @type {HTMLSelectElement} */ (find("speed"));
  const [back, play, step, place] = ["back", "play", "step", "place"].map(find);
  slider.addEventListener("input", () => player.stopAt(Number(slider.value)));
  speed.addEventListener("change", () => (player.speed = Number(speed.value)));
  back.addEventListener("click", () => player.stopAt(player.place - 1));
  step.addEventListener("click", () => player.stopAt(player.place + 1));
  play.addEventListener("click", () => player.toggle());
  page.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (!act || event.altKey || event.ctrlKey || event.metaKey || belongsElsewhere(event)) return;
    event.preventDefault();
    act(player);
  });
  return () => {
    const label = labelOf(player.place);
    slider.max = String(player.count - 1);
    for (const control of [slider, play, speed]) control.toggleAttribute("disabled", player.count === 1);
    slider.value = String(player.place);
    slider.setAttribute("aria-valuetext", `${player.place + 1} of ${player.count}: ${label}`);
    place.setAttribute("aria-live", player.isPlaying ? "off" : "polite");
    place.textContent = `${player.place + 1} / ${player.count}  ${label}`;
    play.setAttribute("aria-label", player.isPlaying ? "Pause" : "Play");
    play.classList.toggle("is-playing", player.isPlaying);
    back.toggleAttribute("disabled", player.place === 0);
    step.toggleAttribute("disabled", player.place === player.count - 1);
  };
}

/** @param {KeyboardEvent} event */
function belongsElsewhere(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.id === "slider") return false;
  if (target.closest("input, select, textarea")) return true;
  if (event.key === " ") return target.closest("button, summary, a") !== null;
  return target.closest("[data-scrolls]") !== null && ["Home", "End", "PageUp", "PageDown"].includes(event.key);
}
