/** From values to pixels and back, the ticks between, and how numbers are written. */

/**
 * @typedef {object} Scale
 * @property {(value: number) => number} pixel
 * @property {(pixel: number) => number} value
 * @property {number[]} ticks
 */

/**
 * @param {[number, number]} range
 * @param {number} start pixel of the lower end
 * @param {number} end pixel of the upper end
 * @param {number} [most] ticks to aim at
 * @returns {Scale}
 */
export function linearScale([low, high], start, end, most = 6) {
  const span = high - low || 1;
  return {
    pixel: (value) => start + ((value - low) / span) * (end - start),
    value: (pixel) => low + ((pixel - start) / (end - start)) * span,
    ticks: roundTicks(low, low + span, most),
  };
}

/**
 * @param {[number, number]} range above 0
 * @param {number} start
 * @param {number} end
 * @param {number} [most]
 * @returns {Scale}
 */
export function logScale([low, high], start, end, most = 6) {
  const inner = linearScale([Math.log10(low), Math.log10(high)], start, end);
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  const ticks = [];
  for (let power = first; power <= last; power += every) ticks.push(10 ** power);
  return {
    pixel: (value) => inner.pixel(Math.log10(value)),
    value: (pixel) => 10 ** inner.value(pixel),
    ticks: ticks.length > 1 ? ticks : roundTicks(low, high, most).filter((tick) => tick > 0),
  };
}

/**
 * Return round numbers between two, about as many as asked.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function roundTicks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/**
 * Return the least and the largest number of all, or 0 and 1 where there is none.
 * @param {Iterable<number | null>} values
 * @returns {[number, number]}
 */
export function rangeOf(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Write a number as a person would: a true minus, a power of ten where zeros would hide it.
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export function writeNumber(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) {
    const [front, power] = value.toExponential(digits - 1).split("e");
    const raised = [...power.replace("+", "")].map((sign) => (sign === "-" ? "⁻" : RAISED[Number(sign)])).join("");
    const factor = String(Number(front));
    return (factor === "1" ? "" : factor === "-1" ? "−" : `${factor.replace("-", "−")} · `) + `10${raised}`;
  }
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/**
 * Write the number of a tick with all its digits: ticks are round, and neighbors must not look equal.
 * @param {number} tick
 */
export function writeTick(tick) {
  return writeNumber(tick, 10);
}
