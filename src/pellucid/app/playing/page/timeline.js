/** The timeline: which frame each recording shows at each place of the slider. Two that race share one clock. */

/** @import { Recording } from "./recording.js" */

/** @typedef {"iteration" | "seconds"} Clock */
/**
 * @typedef {object} Timeline
 * @property {Clock} clock
 * @property {(number | null)[]} times of each place, on the clock; null where the trace has no row for it
 * @property {number} count of places
 * @property {(side: number, place: number) => number} frameOf
 * @property {(place: number) => string} labelOf
 */

/**
 * @param {Recording[]} recordings one, or two that race
 * @param {Clock} clock
 * @returns {Timeline}
 */
export function timelineOf(recordings, clock) {
  if (recordings.length === 1) return frameByFrame(recordings[0], clock);
  const sides = recordings.map((recording) => rising(timesOf(recording, clock)));
  const times = [...new Set(sides.flat())].sort((a, b) => a - b);
  const frames = sides.map((own) =>
    times.map((time) =>
      Math.max(
        0,
        own.findLastIndex((at) => at <= time),
      ),
    ),
  );
  const frameOf = (/** @type {number} */ side, /** @type {number} */ place) => frames[side][place];
  const labelOf = (/** @type {number} */ place) => {
    const labels = recordings.map(({ frames: all }, side) => `${sideName(side)}: ${all[frameOf(side, place)].label}`);
    return [clock === "seconds" ? writeSeconds(times[place]) : null, ...labels].filter(Boolean).join("   ");
  };
  return { clock, times, count: times.length, frameOf, labelOf };
}

/**
 * @param {Recording} recording
 * @param {Clock} clock
 * @returns {Timeline}
 */
function frameByFrame(recording, clock) {
  const { frames, trace } = recording;
  const steps = trace.columns.iteration;
  const times = frames.map(({ row }) => (row === null ? null : steps ? steps[row] : row));
  return {
    clock,
    times,
    count: frames.length,
    frameOf: (side, place) => place,
    labelOf: (place) => frames[place].label,
  };
}

/** @param {number} side */
export function sideName(side) {
  return "AB"[side];
}

/**
 * Say whether all recordings know when their frames were reached.
 * @param {Recording[]} recordings
 */
export function knowsSeconds(recordings) {
  return recordings.every(({ frames }) => typeof frames.at(-1)?.seconds === "number");
}

/**
 * Return the time of each frame; where the trace has no rows for them, frames count themselves.
 * @param {Recording} recording
 * @param {Clock} clock
 * @returns {(number | null)[]}
 */
function timesOf({ frames, trace }, clock) {
  if (clock === "seconds") return frames.map((frame) => frame.seconds ?? null);
  const steps = trace.columns.iteration;
  if (frames.every((frame) => frame.row === null)) return frames.map((_, i) => i);
  return frames.map(({ row }) => (row === null ? null : steps ? steps[row] : row));
}

/**
 * Return times that never fall: an unknown one is that of the frame before.
 * @param {(number | null)[]} times
 * @returns {number[]}
 */
function rising(times) {
  let latest = Math.min(...times.filter((time) => time !== null), Infinity);
  if (latest === Infinity) latest = 0;
  return times.map((time) => (latest = Math.max(latest, time ?? latest)));
}

/** @param {number} seconds */
function writeSeconds(seconds) {
  return seconds < 1 ? `${(1000 * seconds).toPrecision(3)} ms` : `${seconds.toPrecision(3)} s`;
}
