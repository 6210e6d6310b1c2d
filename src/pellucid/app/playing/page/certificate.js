/** The certificate: every claim's value against its bound, as bars on one log scale. */

import { writeNumber } from "./scales.js";

/** @import { Certificate, Claim } from "./recording.js" */

const SMALLEST = -16; // decades below the bound that a bar still tells apart

/**
 * @param {HTMLElement} room
 * @param {Certificate} certificate
 */
export function buildCertificate(room, certificate) {
  const verdict = document.createElement("p");
  verdict.className = certificate.holds ? "verdict holds" : "verdict fails";
  const failure = certificate.grade === "none" ? "nothing is proved" : "does not hold";
  verdict.textContent = `${certificate.grade}: ${certificate.holds ? "holds" : failure}`;
  room.append(verdict);
  if (certificate.claims.length === 0) return;
  const place = barScale(certificate.claims);
  const list = document.createElement("ul");
  list.className = "claims";
  const failingFirst = [...certificate.claims].sort((a, b) => Number(a.holds) - Number(b.holds));
  list.append(...failingFirst.map((claim) => claimItem(claim, place)));
  const note = document.createElement("p");
  note.className = "note";
  note.textContent =
    "Bars are values as shares of their bounds, on a log scale: a claim holds if its bar ends before the line.";
  room.append(list, note);
}

/**
 * Return the decades by which the value is above its bound: minus infinity for 0, infinity for what is no number.
 * @param {Claim} claim
 */
export function decadesAbove({ value, bound }) {
  if (value === null) return Infinity;
  if (bound === null) return -Infinity;
  return value <= 0 ? -Infinity : bound <= 0 ? Infinity : Math.log10(value / bound);
}

/**
 * Return where on the bar, from 0 to 1, a claim ends; the bound is at the same place for all, at 0 decades.
 * @param {Claim[]} claims
 */
function barScale(claims) {
  const decades = claims.map(decadesAbove).filter(Number.isFinite);
  const low = Math.max(SMALLEST, Math.min(-1, ...decades) - 1);
  const high = Math.max(1, ...decades) + (Math.max(1, ...decades) - low) * 0.12;
  return (/** @type {number} */ decade) => Math.min(1, Math.max(0, (decade - low) / (high - low)));
}

/**
 * @param {Claim} claim
 * @param {(decade: number) => number} place
 */
function claimItem(claim, place) {
  const item = document.createElement("li");
  item.className = claim.holds ? "holds" : "fails";
  const head = document.createElement("div");
  const name = document.createElement("b");
  const numbers = document.createElement("span");
  name.textContent = claim.name;
  const sign = claim.holds ? "≤" : claim.value === null ? "is not ≤" : ">";
  numbers.textContent = `${writeNumber(claim.value)} ${sign} ${claim.bound === null ? "∞" : writeNumber(claim.bound)}`;
  head.append(name, numbers);
  const bar = document.createElement("div");
  bar.className = "bar";
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", claim.holds ? "the claim holds" : "the claim does not hold");
  const [filled, bound] = [document.createElement("i"), document.createElement("s")];
  filled.style.width = `${(100 * place(decadesAbove(claim))).toFixed(2)}%`;
  bound.style.left = `${(100 * place(0)).toFixed(2)}%`;
  bar.append(filled, bound);
  const about = document.createElement("p");
  about.textContent = claim.about;
  item.append(head, bar, about);
  return item;
}
