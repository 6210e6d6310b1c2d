/** Talking to the server: requests that answer JSON, and runs that tell how far they are. */

import { settled } from "./recording.js";

/** @import { Certificate, Layer, Recording } from "./recording.js" */

/** @typedef {"rows" | "formula" | "image"} DataKind */
/** @typedef {"classes" | "numbers" | null} Target */
/** @typedef {{name: string, title: string, group: string, data: DataKind[], wants: Target, first: Data}} Play */
/** @typedef {{name: string, kind: "made" | "bundled", rows: number, columns: string[], target: Target}} NamedSet */
/** @typedef {{id: string, name: string, rows?: number, columns: (string | {name: string, kind: string})[]}} Table */
/**
 * @typedef {object} Catalogue
 * @property {Play[]} plays
 * @property {NamedSet[]} sets
 * @property {{name: string, formula: string, start: [number, number]}[]} formulas
 * @property {{name: string}[]} images
 * @property {Table | null} table that the command was given
 */
/** @typedef {Record<string, any>} Data what a run is about, as the server takes it */
/** @typedef {Record<string, any>} Values of parameters that are not at their defaults */
/** @typedef {{play: string, parameters: Values, data: Data}} Run */
/** @typedef {{kind: string, options?: any[], low?: number, high?: number, above?: number, below?: number}} ValueKind */
/** @typedef {{name: string, kinds: ValueKind[], default: any, meaning: string}} Control */
/** @typedef {{done: number, label: string, seconds: number}} Progress */
/** @typedef {{attribute: string, index: number[], value: number}} Change */
/** @typedef {{question: string, answer: string, layers?: Layer[], table?: {columns: string[], rows: any[][]}}} Answer */
/** @typedef {{certificate: Certificate | null, layers: Layer[] | null, problem?: string}} Broken */

/** A sentence for the person at the page. */
export class Problem extends Error {}

const PAGE = Math.random().toString(36).slice(2); // a new run of a page stops the one before
const NO_SERVER = "The server does not answer. Start it again with: pellucid play";

/**
 * @param {string} path
 * @param {RequestInit} [request]
 * @returns {Promise<any>}
 */
async function ask(path, request) {
  const answer = await fetch(path, request).catch(() => {
    throw new Problem(NO_SERVER);
  });
  const found = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(found?.problem ?? `The server answered ${answer.status} to ${path}.`);
  return found;
}

/**
 * @param {string} path
 * @returns {Promise<any>}
 */
export function get(path) {
  return ask(path);
}

/**
 * @param {string} path
 * @param {object} body
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
export function post(path, body, headers = {}) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/**
 * @param {File} file
 * @returns {Promise<Table>}
 */
export function sendTable(file) {
  const name = encodeURIComponent(file.name);
  return ask(`/api/tables?name=${name}`, { method: "POST", headers: { "Content-Type": "text/csv" }, body: file });
}

/** A run on the server, from its request to its recording. */
export class RemoteRun {
  /**
   * @param {Run} request
   * @param {string} side of a race: each has one run at a time
   * @param {(progress: Progress) => void} onProgress
   */
  constructor(request, side, onProgress) {
    this.request = request;
    this.side = side;
    this.onProgress = onProgress;
    /** @type {string | null} */
    this.id = null;
    this.isStopped = false;
    /** @type {EventSource | null} */
    this.events = null;
  }

  /** @returns {Promise<Recording | null>} null if it was stopped */
  async recording() {
    const { run } = await post("/api/runs", this.request, { "Pellucid-Page": `${PAGE}-${this.side}` });
    this.id = run;
    if (this.isStopped) {
      await this.tellToStop();
      return null;
    }
    return new Promise((resolve, reject) => {
      const events = (this.events = new EventSource(`/api/runs/${run}/events`));
      const end = (/** @type {() => void} */ then) => {
        events.close();
        then();
      };
      events.addEventListener("progress", ({ data }) => {
        if (!this.isStopped) this.onProgress(JSON.parse(data));
      });
      events.addEventListener("recording", ({ data }) => {
        end(() => {
          try {
            resolve(settled(JSON.parse(data)));
          } catch (error) {
            reject(error);
          }
        });
      });
      events.addEventListener("problem", ({ data }) => end(() => reject(new Problem(JSON.parse(data).problem))));
      events.addEventListener("stopped", () => end(() => resolve(null)));
      events.addEventListener("error", () =>
        end(() => (this.isStopped ? resolve(null) : reject(new Problem(NO_SERVER)))),
      );
    });
  }

  /** Stop it, if it runs. */
  async stop() {
    if (this.isStopped) return;
    this.isStopped = true;
    await this.tellToStop();
  }

  async tellToStop() {
    if (this.id) await ask(`/api/runs/${this.id}`, { method: "DELETE" }).catch(() => {});
  }
}
