/** What is shown: one recording, or two that race. Pictures, trace, certificates and workings follow one player. */

import { barNote, buildCertificate } from "./certificate.js";
import { classColor, classMarker, currentLook, outlineMarker } from "./colors.js";
import { attempt, find, make } from "./elements.js";
import { Picture } from "./picture.js";
import { connectControls, Player } from "./player.js";
import { sideName, timelineOf } from "./timeline.js";
import { buildTrace } from "./trace.js";
import { buildWorkings } from "./workings.js";

/** @import { Look } from "./colors.js" */
/** @import { Certificate, Recording } from "./recording.js" */
/** @import { Clock } from "./timeline.js" */

const THEME = "pellucid-theme";

export class Showing {
  /** @param {(place: number) => void} onPlace called when another place is drawn */
  constructor(onPlace) {
    this.onPlace = onPlace;
    this.look = currentLook();
    /** @type {Picture[]} */
    this.pictures = [];
    /** @type {Clock} */
    this.clock = "iteration";
    this.isWaiting = false;
    this.player = new Player(() => this.schedule());
    this.showState = connectControls(document, this.player, (place) => this.timeline.labelOf(place));
    this.timeline = timelineOf([], this.clock);
    /** @type {(place: number, look: Look) => void} */
    this.drawTrace = () => {};
    /** @type {((frame: number) => void)[]} */
    this.markSteps = [];
    const lookAgain = () => {
      this.look = currentLook();
      this.pictures.forEach((picture) => this.writeLegend(picture));
      this.schedule();
    };
    connectTheme(lookAgain);
    const observer = new ResizeObserver(lookAgain);
    for (const id of ["pictures", "trace"]) observer.observe(find(id));
  }

  /** @returns {Recording[]} */
  get recordings() {
    return this.pictures.map((picture) => picture.recording);
  }

  /**
   * Show other recordings. A place of null keeps the one that is; the end stays the end.
   * @param {Recording[]} recordings one or two
   * @param {number | null} place
   */
  show(recordings, place) {
    const wasLast = this.player.place === this.player.count - 1;
    find("pictures").replaceChildren();
    this.pictures = recordings.map((_, side) => this.addPicture(recordings, side));
    const panels = Math.max(...this.pictures.map((picture) => picture.panels.length));
    find("pictures").style.setProperty("--panels", String(panels));
    find("pictures").style.setProperty("--tall", String(panels === 1 ? tallness(recordings) : 1));
    find("pictures").style.setProperty("--sides", String(recordings.length));
    const steps = find("workings");
    steps.replaceChildren();
    this.markSteps = recordings.map((recording, side) =>
      buildWorkings(steps, recording, recordings.length > 1 ? sideName(side) : "", (frame) =>
        this.goToFrame(side, frame),
      ),
    );
    find("workings-room").hidden = recordings.every((recording) => recording.workings === null);
    writeHead(recordings);
    this.showCertificates(recordings.map((recording) => recording.certificate));
    this.setClock(this.clock);
    const last = this.player.count - 1;
    this.player.place = Math.min(last, place ?? (wasLast ? last : this.player.place));
    this.draw();
  }

  /** @param {Clock} clock */
  setClock(clock) {
    this.clock = clock;
    this.timeline = timelineOf(this.recordings, clock);
    this.player.setCount(this.timeline.count);
    const go = (/** @type {number} */ place) => this.player.stopAt(place);
    this.drawTrace = buildTrace(find("trace"), this.recordings, this.timeline, go);
    this.schedule();
  }

  /**
   * @param {Recording[]} recordings
   * @param {number} side
   */
  addPicture(recordings, side) {
    const canvas = make("canvas", { id: side === 0 ? "picture" : "picture-b", role: "img" });
    const legend = make("ul", { class: "legend", "aria-label": "Classes" });
    const names = recordings.length > 1 ? [make("h2", { class: "side" }, sideTitle(recordings, side))] : [];
    const room = make("div", { class: "picture" }, ...names, legend, make("div", {}, canvas));
    find("pictures").append(room);
    const picture = new Picture(canvas, recordings[side]);
    this.writeLegend(picture);
    return picture;
  }

  /** @param {Picture} picture */
  writeLegend({ canvas, recording }) {
    const items = (recording.data.classes ?? []).map((name, i) => {
      const drawing = make("canvas", { width: 64, height: 64 });
      const context = /** @type {CanvasRenderingContext2D} */ (drawing.getContext("2d"));
      context.fillStyle = classColor(this.look, i);
      outlineMarker(context, classMarker(i), 32, 32, 25);
      context.fill();
      return make("li", {}, drawing, name);
    });
    canvas
      .closest(".picture")
      ?.querySelector(".legend")
      ?.replaceChildren(...items);
  }

  /**
   * Show certificates, each with the one before a number was changed, if there was one.
   * @param {Certificate[]} certificates
   * @param {(Certificate | null)[]} [before]
   */
  showCertificates(certificates, before = []) {
    const room = find("certificate");
    room.replaceChildren();
    certificates.forEach((certificate, side) => {
      const name = certificates.length > 1 ? sideTitle(this.recordings, side) : "";
      buildCertificate(room, certificate, before[side] ?? null, name);
    });
    const hasBars = certificates.some((certificate) => certificate.claims.length > 0);
    if (hasBars) room.append(barNote(before.some((certificate) => certificate)));
  }

  /**
   * @param {number} side
   * @param {number} frame
   */
  goToFrame(side, frame) {
    const places = Array.from({ length: this.timeline.count }, (_, place) => place);
    this.player.stopAt(
      Math.max(
        0,
        places.findIndex((place) => this.timeline.frameOf(side, place) >= frame),
      ),
    );
  }

  draw() {
    if (this.pictures.length === 0) return;
    const { place } = this.player;
    this.pictures.forEach((picture, side) => {
      picture.frame = this.timeline.frameOf(side, place);
      picture.draw(this.look);
      this.markSteps[side](picture.frame);
    });
    this.drawTrace(place, this.look);
    this.showState();
    document.documentElement.dataset.drawn = String(place);
  }

  schedule() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.draw();
      this.onPlace(this.player.place);
    });
  }
}

/**
 * Return the height of the room as a share of its width: a picture whose units are as long both ways may need less.
 * @param {Recording[]} recordings
 */
function tallness(recordings) {
  const shares = recordings.map(({ axes: { x, y, equal } }) => {
    const share = (y.range[1] - y.range[0]) / (x.range[1] - x.range[0]);
    return equal && Number.isFinite(share) ? 0.85 * share + 0.2 : 1;
  });
  return Math.min(1, Math.max(0.5, ...shares));
}

/**
 * Return the name of a side of a race: its letter, its method, and the parameters in which two of one method differ.
 * @param {Recording[]} recordings
 * @param {number} side
 */
function sideTitle(recordings, side) {
  const [own, other] = [recordings[side], recordings[1 - side]];
  const isSame = own.method === other.method;
  const differs = Object.entries(own.parameters).filter(([name, value]) => isSame && other.parameters[name] !== value);
  return `${sideName(side)}  ${[own.method, ...differs.map(([name, value]) => `${name}=${value}`)].join(", ")}`;
}

/** @param {Recording[]} recordings */
function writeHead(recordings) {
  const { title, data, workings } = recordings[0];
  find("title").textContent = document.title = recordings.map((recording) => recording.title).join(" against ");
  const written = recordings.map(({ method, parameters }) => {
    const settings = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
    return `${method}(${settings.join(", ")})`;
  });
  find("method").textContent = find("method").title = written.join("\n");
  const isTable = data.columns.length > 0; // an image has no columns
  const counts = isTable ? [count(data.rows, "row"), count(data.columns.length, "column")].filter(Boolean) : [];
  find("data").textContent = [data.name || title, counts.join(", ")].filter(Boolean).join(": ");
  find("python").textContent = recordings.map((recording) => recording.python).join("\n");
  /** @type {HTMLDetailsElement} */ (find("again")).open = recordings.length === 1 && workings === null;
}

/**
 * @param {number} number
 * @param {string} word
 */
function count(number, word) {
  return number ? `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}` : "";
}

/** Let the button copy the Python that stands above it. */
export function connectCopying() {
  find("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(find("python").textContent ?? "");
      find("copied").textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(find("python"));
      find("copied").textContent = "Selected: copy it with the keyboard.";
    }
  });
}

/**
 * The theme is the system's until the button is pressed; after that the choice stays.
 * @param {() => void} onChange
 */
function connectTheme(onChange) {
  const root = document.documentElement;
  const remembered = attempt(() => localStorage.getItem(THEME));
  if (remembered) root.dataset.theme = remembered;
  find("theme").addEventListener("click", () => {
    root.dataset.theme = currentLook().dark ? "light" : "dark";
    attempt(() => localStorage.setItem(THEME, root.dataset.theme ?? ""));
    onChange();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
}
