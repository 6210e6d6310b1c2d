/** The recording: what a fit did, as Python wrote it down. Everything else on the page reads it and changes nothing. */

/** @typedef {(number | null)[]} Numbers A null is a value that is not a number. */
/** @typedef {number | null | (number | null)[]} Classes Index into the palette, for all or one by one; null is ink. */
/** @typedef {[number, number, number, number]} Extent x0, x1, y0, y1 in data coordinates. */
/** @typedef {{attribute: string, rows?: number[] | null, columns: [number | null, number | null] | null}} Movable Point k is attribute[rows[k] or k, columns]; a null column stays, and an attribute of one axis moves along y. */
/** @typedef {{kind: "points", x: Numbers, y: Numbers, class?: Classes, size?: number | number[], marker?: string, label?: string[], movable?: Movable, row?: boolean | number[]}} PointsLayer */
/** @typedef {{kind: "segments", x1: Numbers, y1: Numbers, x2: Numbers, y2: Numbers, class?: Classes, dash?: boolean}} SegmentsLayer */
/** @typedef {{kind: "polyline", x: Numbers, y: Numbers, class?: number | null, width?: number, label?: string}} PolylineLayer */
/** @typedef {{kind: "band", x: Numbers, low: Numbers, high: Numbers, class?: number | null}} BandLayer */
/** @typedef {{kind: "regions", width: number, height: number, cells: string, extent: Extent}} RegionsLayer */
/** @typedef {{kind: "heat", width: number, height: number, values: string, extent: Extent, log?: boolean}} HeatLayer */
/** @typedef {{kind: "ellipses", x: Numbers, y: Numbers, a: Numbers, b: Numbers, angle: Numbers, class?: Classes}} EllipsesLayer */
/** @typedef {{kind: "arrows", x: Numbers, y: Numbers, dx: Numbers, dy: Numbers, label?: string[], class?: Classes}} ArrowsLayer */
/** @typedef {{x: number, y: number, text: string, parent?: number | null, class?: number | null, cut?: boolean}} TreeNode */
/** @typedef {{kind: "tree", nodes: TreeNode[], title?: string}} TreeLayer */
/** @typedef {{kind: "bars", labels: string[], values: Numbers, class?: Classes, title?: string}} BarsLayer */
/** @typedef {{kind: "matrix", values: Numbers[], rows?: string[], columns?: string[], title?: string, marked?: [number, number, number, number]}} MatrixLayer The window that is marked: row, column, rows, columns. */
/** @typedef {{kind: "text", x: number, y: number, text: string}} TextLayer */
/** @typedef {{kind: "image", width: number, height: number, values: string, title?: string}} ImageLayer */
/** @typedef {PointsLayer | SegmentsLayer | PolylineLayer | BandLayer | RegionsLayer | HeatLayer | EllipsesLayer | ArrowsLayer | TextLayer} DataLayer */
/** @typedef {{x: number, y: number, text: string, class?: number | null}} GraphNode */
/** @typedef {{kind: "graph", nodes: GraphNode[], links: [number, number, number | null][], title?: string}} GraphLayer Links from, to, weight. */
/** @typedef {TreeLayer | BarsLayer | MatrixLayer | ImageLayer | GraphLayer} PanelLayer Drawn in a panel of its own. */
/** @typedef {DataLayer | PanelLayer} Layer */
/** @typedef {{label: string, layers: Layer[], row: number | null, step: number | null, seconds?: number | null}} Frame */
/** @typedef {{label: string, range: [number, number]}} Axis */
/** @typedef {{name: string, about: string, value: number | null, bound: number | null, holds: boolean}} Claim A value that is null is no number, a bound infinity. */
/** @typedef {{grade: string, holds: boolean, claims: Claim[]}} Certificate */
/** @typedef {{title: string, opening: string, steps: {heading: string, html: string}[], latex?: string}} Workings */
/** @typedef {{columns: Record<string, Numbers>, log: string[]}} Trace */
/** @typedef {{name: string, shape: number[], values: Numbers, labels: string[] | null}} Fitted Numbers that may be moved by hand, row after row. */
/**
 * @typedef {object} Recording
 * @property {number} version
 * @property {string} title
 * @property {string} method
 * @property {Record<string, string>} parameters
 * @property {string} python
 * @property {{name: string, columns: string[], rows: number, classes: string[] | null}} data
 * @property {{x: Axis, y: Axis, equal: boolean}} axes
 * @property {Layer[]} layers
 * @property {Frame[]} frames
 * @property {Trace} trace
 * @property {Certificate} certificate
 * @property {Workings | null} workings
 * @property {Fitted[]} [fitted]
 */

export const VERSION = 1;

/**
 * Return the recording of a text, every layer in its place. One that is written as {same_as, layer} is that layer of an
 * earlier frame; what stands beside, such as other classes of the same points, replaces what that layer has.
 * @param {string} text
 * @returns {Recording}
 */
export function readRecording(text) {
  return settled(JSON.parse(text));
}

/**
 * @param {any} recording as it was written
 * @returns {Recording}
 */
export function settled(recording) {
  if (recording.version !== VERSION) {
    throw new Error(`This page shows recordings of version ${VERSION}, got ${recording.version}. Export it again.`);
  }
  if (recording.frames.length === 0) {
    throw new Error("A recording must have at least one frame, got none. Record the fit again.");
  }
  recording.frames.forEach((/** @type {any} */ frame, /** @type {number} */ number) => {
    const told = frame.layers;
    frame.layers = [];
    for (const layer of told) frame.layers.push("same_as" in layer ? earlierLayer(recording, layer, number) : layer);
  });
  return recording;
}

/**
 * @param {any} recording
 * @param {any} told
 * @param {number} number of the frame that it stands in
 */
function earlierLayer(recording, { same_as: earlier, layer: place, ...changes }, number) {
  const original = earlier <= number ? recording.frames[earlier].layers[place] : undefined;
  if (original === undefined) {
    throw new Error(
      `Frame ${number} repeats layer ${place} of frame ${earlier}, which is not there. Record the fit again.`,
    );
  }
  return Object.keys(changes).length ? { ...original, ...changes } : original;
}

/**
 * @param {string} base64
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * Return the item of a list, or the one value that stands for all.
 * @template T
 * @param {T | T[] | undefined} values
 * @param {number} i
 * @param {T} otherwise
 * @returns {T}
 */
export function itemOf(values, i, otherwise) {
  return (Array.isArray(values) ? values[i] : values) ?? otherwise;
}
