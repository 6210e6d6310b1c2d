/** The player: which frame is shown, and the buttons, slider and keys that change it. */

/** @import { Recording } from "./recording.js" */

const WHOLE_SECONDS = 12; // at the usual speed, a long recording plays this long
const [SLOWEST, FASTEST] = [2, 30]; // frames per second

export class Player {
  /**
   * @param {number} count frames
   * @param {() => void} onChange called after every change
   */
  constructor(count, onChange) {
    this.count = count;
    this.onChange = onChange;
    this.frame = 0;
    this.isPlaying = false;
    this.speed = 1;
    this.since = 0; // when the frame was shown, in milliseconds
  }

  /** @param {number} frame */
  go(frame) {
    this.frame = Math.min(this.count - 1, Math.max(0, Math.round(frame)));
    this.onChange();
  }

  /** @param {number} frame */
  stopAt(frame) {
    this.isPlaying = false;
    this.go(frame);
  }

  toggle() {
    this.isPlaying = !this.isPlaying && this.count > 1;
    if (this.isPlaying && this.frame === this.count - 1) this.frame = 0;
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
      this.isPlaying = this.frame + due < this.count - 1;
      this.go(this.frame + due);
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}

/** Keys that work wherever the focus is, unless it is where they mean something else.
 * @type {{[key: string]: (player: Player) => void}} */
const KEYS = {
  ArrowRight: (player) => player.stopAt(player.frame + 1),
  ArrowLeft: (player) => player.stopAt(player.frame - 1),
  PageUp: (player) => player.stopAt(player.frame + Math.ceil(player.count / 10)),
  PageDown: (player) => player.stopAt(player.frame - Math.ceil(player.count / 10)),
  Home: (player) => player.stopAt(0),
  End: (player) => player.stopAt(player.count - 1),
  " ": (player) => player.toggle(),
};

/**
 * Connect the controls of the page; return the function that shows the player's state on them.
 * @param {Document} page
 * @param {Player} player
 * @param {Recording} recording
 * @returns {() => void}
 */
export function connectControls(page, player, recording) {
  const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (page.getElementById(id));
  const slider = /** @type {HTMLInputElement} */ (find("slider"));
  const speed = /** @type {HTMLSelectElement} */ (find("speed"));
  const [back, play, step, place] = ["back", "play", "step", "place"].map(find);
  slider.max = String(player.count - 1);
  for (const control of [slider, play, speed]) control.toggleAttribute("disabled", player.count === 1);
  slider.addEventListener("input", () => player.stopAt(Number(slider.value)));
  speed.addEventListener("change", () => (player.speed = Number(speed.value)));
  back.addEventListener("click", () => player.stopAt(player.frame - 1));
  step.addEventListener("click", () => player.stopAt(player.frame + 1));
  play.addEventListener("click", () => player.toggle());
  page.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (!act || event.altKey || event.ctrlKey || event.metaKey || belongsElsewhere(event)) return;
    event.preventDefault();
    act(player);
  });
  return () => {
    const { label } = recording.frames[player.frame];
    slider.value = String(player.frame);
    slider.setAttribute("aria-valuetext", `${player.frame + 1} of ${player.count}: ${label}`);
    place.setAttribute("aria-live", player.isPlaying ? "off" : "polite");
    place.textContent = `${player.frame + 1} / ${player.count}  ${label}`;
    play.setAttribute("aria-label", player.isPlaying ? "Pause" : "Play");
    play.classList.toggle("is-playing", player.isPlaying);
    back.toggleAttribute("disabled", player.frame === 0);
    step.toggleAttribute("disabled", player.frame === player.count - 1);
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
