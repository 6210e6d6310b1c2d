/** The page: reads the recording that stands in it, builds the views, and draws whatever frame the player is on. */

import { fitCanvas } from "./canvas.js";
import { buildCertificate } from "./certificate.js";
import { classColor, classMarker, currentLook, outlineMarker } from "./colors.js";
import { drawPicture, panelsOf } from "./panels.js";
import { connectControls, Player } from "./player.js";
import { readRecording } from "./recording.js";
import { buildTrace } from "./trace.js";
import { buildWorkings } from "./workings.js";

/** @import { Recording } from "./recording.js" */
/** @import { Look } from "./colors.js" */

const THEME = "pellucid-theme";

/** @param {string} id */
const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

try {
  showRecording(readRecording(find("recording").textContent ?? ""));
} catch (error) {
  find("problem").hidden = false;
  find("problem").textContent = error instanceof Error ? error.message : String(error);
  throw error;
}

/** @param {Recording} recording */
function showRecording(recording) {
  writeHead(recording);
  const canvas = /** @type {HTMLCanvasElement} */ (find("picture"));
  const panels = panelsOf(recording);
  const player = new Player(recording.frames.length, () => schedule());
  const showState = connectControls(document, player, recording);
  const go = (/** @type {number} */ frame) => player.stopAt(frame);
  const drawTrace = buildTrace(find("trace"), recording, go);
  const markStep = buildWorkings(find("workings"), recording, go);
  buildCertificate(find("certificate"), recording.certificate);
  find("workings-room").hidden = recording.workings === null;
  /** @type {HTMLDetailsElement} */ (find("again")).open = recording.workings === null;
  find("canvas-room").style.setProperty("--panels", String(panels.length));

  let look = currentLook();
  const draw = () => {
    const { context, width, height } = fitCanvas(canvas);
    drawPicture(context, { width, height }, look, recording, panels, player.frame);
    drawTrace(player.frame, look);
    showState();
    markStep(player.frame);
    canvas.setAttribute("aria-label", `${recording.title}, ${recording.frames[player.frame].label}`);
    document.documentElement.dataset.drawn = String(player.frame);
  };
  let isWaiting = false;
  const schedule = () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      draw();
      keepPlace(player);
    });
  };
  const lookAgain = () => {
    look = currentLook();
    writeLegend(recording, look);
    schedule();
  };
  connectTheme(lookAgain);
  const observer = new ResizeObserver(lookAgain);
  for (const place of [canvas, find("trace")]) observer.observe(place);
  player.frame = frameOfAddress(player.count);
  writeLegend(recording, look);
  draw();
  if (location.hash.includes("measure")) measure(recording.frames.length, player, draw, canvas);
}

/** @param {Recording} recording */
function writeHead({ title, method, parameters, data, python }) {
  document.title = title;
  find("title").textContent = title;
  const settings = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  find("method").textContent = find("method").title = `${method}(${settings.join(", ")})`;
  const columns = data.columns.length;
  find("data").textContent =
    `${data.name}: ${data.rows.toLocaleString("en")} rows, ${columns} ${columns === 1 ? "column" : "columns"}`;
  find("python").textContent = python;
  find("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(python);
      find("copied").textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(find("python"));
      find("copied").textContent = "Selected: copy it with the keyboard.";
    }
  });
}

/**
 * @param {Recording} recording
 * @param {Look} look
 */
function writeLegend({ data }, look) {
  const items = (data.classes ?? []).map((name, i) => {
    const item = document.createElement("li");
    const drawing = document.createElement("canvas");
    drawing.width = drawing.height = 64;
    const context = /** @type {CanvasRenderingContext2D} */ (drawing.getContext("2d"));
    context.fillStyle = classColor(look, i);
    outlineMarker(context, classMarker(i), 32, 32, 25);
    context.fill();
    item.append(drawing, name);
    return item;
  });
  find("legend").replaceChildren(...items);
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

/**
 * Return what a function returns, or nothing where the browser forbids it, as some do for files on disk.
 * @template T
 * @param {() => T} run
 * @returns {T | undefined}
 */
function attempt(run) {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/**
 * Return the frame that the address names: "#frame=13" is the thirteenth.
 * @param {number} count
 */
function frameOfAddress(count) {
  const found = /frame=(\d+)/.exec(location.hash);
  return found ? Math.min(count, Math.max(1, Number(found[1]))) - 1 : 0;
}

let keeping = 0;

/**
 * Keep the place in the address, once the player rests: browsers limit how often that may be done.
 * @param {Player} player
 */
function keepPlace(player) {
  clearTimeout(keeping);
  keeping = setTimeout(() => attempt(() => history.replaceState(null, "", `#frame=${player.frame + 1}`)), 400);
}

/**
 * Draw every frame once and write the times, in milliseconds, where a test reads them.
 * @param {number} count
 * @param {Player} player
 * @param {() => void} draw
 * @param {HTMLCanvasElement} canvas
 */
function measure(count, player, draw, canvas) {
  const times = [];
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  for (player.frame = 0; player.frame < count; player.frame++) {
    const start = performance.now();
    draw();
    probe?.drawImage(canvas, 0, 0, 1, 1);
    probe?.getImageData(0, 0, 1, 1); // waits until it is drawn
    times.push(performance.now() - start);
  }
  player.frame = count - 1;
  times.sort((a, b) => a - b);
  document.documentElement.dataset.medianMs = times[Math.floor(count / 2)].toFixed(2);
  document.documentElement.dataset.slowestMs = times[count - 1].toFixed(2);
}
