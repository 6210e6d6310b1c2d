/** A stand-in for the canvas that writes SVG: the same drawing code makes a picture that can be printed at any size. */

/** @typedef {[number, number, number, number, number, number]} Transform a, b, c, d, e, f as SVG and the canvas have them */

const STATE = {
  fillStyle: "#000000",
  strokeStyle: "#000000",
  lineWidth: 1,
  lineJoin: "miter",
  lineCap: "butt",
  globalAlpha: 1,
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
  imageSmoothingEnabled: true,
  imageSmoothingQuality: "low",
};
const ANCHORS = /** @type {{[align: string]: string}} */ ({ center: "middle", right: "end", end: "end" });
const BASELINES = /** @type {{[baseline: string]: number}} */ ({ middle: 0.35, top: 0.8, bottom: -0.2 }); // of the size of text

/** The part of CanvasRenderingContext2D that the pictures use. */
export class SvgContext {
  /**
   * @param {number} width
   * @param {number} height
   */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    /** @type {string[]} */
    this.parts = [];
    this.path = "";
    /** @type {Transform} */
    this.transform = [1, 0, 0, 1, 0, 0];
    /** @type {number[]} */
    this.dash = [];
    /** @type {string | null} the clip that is in force */
    this.clipName = null;
    this.clips = 0;
    /** @type {object[]} */
    this.saved = [];
    this.ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    this.fillStyle = STATE.fillStyle;
    this.strokeStyle = STATE.strokeStyle;
    this.lineWidth = STATE.lineWidth;
    this.lineJoin = STATE.lineJoin;
    this.lineCap = STATE.lineCap;
    this.globalAlpha = STATE.globalAlpha;
    this.font = STATE.font;
    this.textAlign = STATE.textAlign;
    this.textBaseline = STATE.textBaseline;
    this.imageSmoothingEnabled = STATE.imageSmoothingEnabled;
    this.imageSmoothingQuality = STATE.imageSmoothingQuality;
  }

  /**
   * Return the picture as a file.
   * @param {string} paper color behind all
   * @param {string} title for those who cannot see it
   */
  text(paper, title) {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    const behind = `<rect width="100%" height="100%" fill="${paper}"/>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img"><title>${escaped(title)}</title>${behind}${this.parts.join("\n")}</svg>\n`;
  }

  save() {
    const { transform, dash, clipName } = this;
    /** @type {any} */
    const state = { transform, dash, clipName };
    for (const name of Object.keys(STATE)) state[name] = /** @type {any} */ (this)[name];
    this.saved.push(state);
  }

  restore() {
    Object.assign(this, this.saved.pop());
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  translate(x, y) {
    this.multiply([1, 0, 0, 1, x, y]);
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  scale(x, y) {
    this.multiply([x, 0, 0, y, 0, 0]);
  }

  /** @param {number} angle */
  rotate(angle) {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.multiply([cos, sin, -sin, cos, 0, 0]);
  }

  /** @param {Transform} inner */
  multiply([a, b, c, d, e, f]) {
    const [A, B, C, D, E, F] = this.transform;
    this.transform = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
  }

  beginPath() {
    this.path = "";
  }

  closePath() {
    if (this.path) this.path += "Z";
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${short(x)} ${short(y)}`;
  }

  /**
   * A whole circle: the pictures have no other arcs.
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   */
  arc(x, y, radius) {
    const half = `a${short(radius)} ${short(radius)} 0 1 1`;
    this.path += `M${short(x + radius)} ${short(y)}${half} ${short(-2 * radius)} 0${half} ${short(2 * radius)} 0`;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  rect(x, y, width, height) {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {number} radius
   */
  roundRect(x, y, width, height, radius) {
    const r = Math.min(radius, width / 2, height / 2);
    const [across, down] = [width - 2 * r, height - 2 * r];
    const corner = (/** @type {number} */ dx, /** @type {number} */ dy) =>
      `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
    this.path += `M${short(x + r)} ${short(y)}h${short(across)}${corner(r, r)}v${short(down)}${corner(-r, r)}`;
    this.path += `h${short(-across)}${corner(-r, -r)}v${short(-down)}${corner(r, -r)}Z`;
  }

  clip() {
    this.clipName = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${this.clipName}"><path d="${this.path}"${this.placed()}/></clipPath>`);
  }

  fill() {
    this.write(`<path d="${this.path}" fill="${this.fillStyle}"${this.placed()}/>`);
  }

  stroke() {
    this.write(`<path d="${this.path}" fill="none"${this.pen()}${this.placed()}/>`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  fillRect(x, y, width, height) {
    this.write(`<rect${box(x, y, width, height)} fill="${this.fillStyle}"${this.placed()}/>`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  strokeRect(x, y, width, height) {
    this.write(`<rect${box(x, y, width, height)} fill="none"${this.pen()}${this.placed()}/>`);
  }

  clearRect() {} // the picture begins empty

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  /** @param {string} text */
  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  fillText(text, x, y) {
    this.words(text, x, y, ` fill="${this.fillStyle}"`);
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  strokeText(text, x, y) {
    this.words(text, x, y, ` fill="none"${this.pen()}`);
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {string} paint
   */
  words(text, x, y, paint) {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font) ?? ["", "400", "10", "sans-serif"];
    const down = (BASELINES[this.textBaseline] ?? 0) * Number(size);
    const font = ` font-family="${escaped(family)}" font-size="${size}" font-weight="${weight ?? 400}"`;
    const anchor = ` text-anchor="${ANCHORS[this.textAlign] ?? "start"}"`;
    const place = ` x="${short(x)}" y="${short(y + down)}"`;
    this.write(`<text${place}${font}${anchor}${paint}${this.placed()}>${escaped(text)}</text>`);
  }

  /**
   * @param {HTMLCanvasElement} image
   * @param {number} x
   * @param {number} y
   * @param {number} [width]
   * @param {number} [height]
   */
  drawImage(image, x, y, width = image.width, height = image.height) {
    const sharp = this.imageSmoothingEnabled ? "" : ' style="image-rendering:pixelated"';
    const place = `${box(x, y, width, height)} preserveAspectRatio="none"`;
    this.write(`<image${place}${sharp} href="${image.toDataURL()}"${this.placed()}/>`);
  }

  /** Clips are in the coordinates of the whole picture, so that they stand on a group around what is clipped.
   * @param {string} part */
  write(part) {
    this.parts.push(this.clipName ? `<g clip-path="url(#${this.clipName})">${part}</g>` : part);
  }

  placed() {
    const isMoved = this.transform.some((value, i) => value !== (i === 0 || i === 3 ? 1 : 0));
    const move = isMoved ? ` transform="matrix(${this.transform.map(short).join(" ")})"` : "";
    return this.globalAlpha === 1 ? move : `${move} opacity="${short(this.globalAlpha)}"`;
  }

  pen() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map(short).join(" ")}"` : "";
    const ends = this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`;
    const joins = this.lineJoin === "miter" ? "" : ` stroke-linejoin="${this.lineJoin}"`;
    return ` stroke="${this.strokeStyle}" stroke-width="${short(this.lineWidth)}"${dash}${ends}${joins}`;
  }
}

/** @param {number} value */
function short(value) {
  return Number(value.toPrecision(6));
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function box(x, y, width, height) {
  return ` x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
