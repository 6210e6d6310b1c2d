/** Saving what is seen: the picture as PNG and SVG, the Python, the LaTeX of the workings. */

import { find, makeButton } from "./elements.js";
import { SvgContext } from "./svg.js";
import { sideName } from "./timeline.js";

/** @import { Picture } from "./picture.js" */
/** @import { Showing } from "./showing.js" */

const SHARPNESS = 2; // pixels of a PNG for each pixel of the page, at least

/**
 * Fill the menu of what can be saved.
 * @param {Showing} showing
 * @param {HTMLElement[]} more entries that stand first, such as those that need a server
 */
export function buildSaving(showing, more) {
  const menu = /** @type {HTMLDetailsElement} */ (find("save"));
  const entry = (/** @type {string} */ text, /** @type {() => void} */ act) =>
    makeButton(text, () => {
      act();
      menu.open = false;
      menu.querySelector("summary")?.focus();
    });
  const latex = entry("Workings (LaTeX)", () =>
    each(showing, (picture, name) => {
      const text = picture.recording.workings?.latex;
      if (text) saveText(text, `${name}.tex`, "application/x-tex");
    }),
  );
  menu.querySelector("div")?.replaceChildren(
    ...more,
    entry("Picture (PNG)", () => each(showing, (picture, name) => savePng(picture, showing, `${name}.png`))),
    entry("Picture (SVG)", () =>
      each(showing, (picture, name) => {
        saveText(svgOf(picture, showing), `${name}.svg`, "image/svg+xml");
      }),
    ),
    entry("Python", () =>
      each(showing, ({ recording }, name) => saveText(recording.python, `${name}.py`, "text/x-python")),
    ),
    latex,
  );
  menu.addEventListener("toggle", () => {
    latex.disabled = showing.recordings.every(({ workings }) => !workings?.latex);
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!menu.contains(/** @type {Node} */ (event.target))) menu.open = false;
  });
}

/**
 * @param {Showing} showing
 * @param {(picture: Picture, name: string) => void} save
 */
function each(showing, save) {
  showing.pictures.forEach((picture, side) => {
    const words = picture.recording.title.toLowerCase().match(/[a-z0-9]+/g) ?? ["pellucid"];
    save(picture, [...words, ...(showing.pictures.length > 1 ? [sideName(side)] : [])].join("-").slice(0, 80));
  });
}

/**
 * Return the picture as it is seen now, as SVG.
 * @param {Picture} picture
 * @param {Showing} showing
 */
export function svgOf(picture, { look }) {
  const { clientWidth: width, clientHeight: height } = picture.canvas;
  const context = new SvgContext(width, height);
  picture.drawOn(/** @type {any} */ (context), { width, height }, look);
  return context.text(look.paper, picture.canvas.getAttribute("aria-label") ?? "");
}

/**
 * @param {Picture} picture
 * @param {Showing} showing
 * @param {string} name
 */
function savePng(picture, { look }, name) {
  const { clientWidth: width, clientHeight: height } = picture.canvas;
  const density = Math.max(SHARPNESS, window.devicePixelRatio || 1);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * density, height * density];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(density, density);
  picture.drawOn(context, { width, height }, look);
  context.globalCompositeOperation = "destination-over"; // the picture itself has no paper
  context.fillStyle = look.paper;
  context.fillRect(0, 0, width, height);
  canvas.toBlob((blob) => blob && saveBlob(blob, name));
}

/**
 * @param {string} text
 * @param {string} name
 * @param {string} type
 */
function saveText(text, name, type) {
  saveBlob(new Blob([text], { type }), name);
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function saveBlob(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
