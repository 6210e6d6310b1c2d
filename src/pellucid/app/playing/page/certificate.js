/** The certificate: every claim's value against its bound, as bars on one log scale. */

import { make } from "./elements.js";
import { writeNumber } from "./scales.js";

/** @import { Certificate, Claim } from "./recording.js" */

const SMALLEST = -16; // decades below the bound that a bar still tells apart

/**
 * @param {HTMLElement} room
 * @param {Certificate} certificate
 * @param {Certificate | null} before the certificate as it was before a number was changed by hand
 * @param {string} name of the side in a race, else nothing
 */
export function buildCertificate(room, certificate, before, name) {
  const failure = certificate.grade === "none" ? "nothing is proved" : "does not hold";
  const verdict = `${certificate.grade}: ${certificate.holds ? "holds" : failure}`;
  if (name) room.append(make("h3", {}, name));
  const isOpen = certificate.grade === "none" && certificate.claims.every(({ holds }) => holds); // not wrong either
  const look = certificate.holds ? "holds" : isOpen ? "" : "fails";
  room.append(make("p", { class: `verdict ${look}`.trim(), role: "status" }, verdict));
  if (certificate.claims.length === 0) return;
  const earlier = new Map((before?.claims ?? []).map((claim) => [claim.name, claim]));
  const place = barScale([...certificate.claims, ...earlier.values()]);
  const failingFirst = [...certificate.claims].sort((a, b) => Number(a.holds) - Number(b.holds));
  const items = failingFirst.map((claim) => claimItem(claim, earlier.get(claim.name) ?? null, place));
  room.append(make("ul", { class: "claims" }, ...items));
}

/**
 * Say how bars are read.
 * @param {boolean} isChanged whether a number was changed by hand
 */
export function barNote(isChanged) {
  const bars =
    "Bars are values as shares of their bounds, on a log scale: a claim holds if its bar ends before the line.";
  return make("p", { class: "note" }, isChanged ? `${bars} The thin bar is the value before the change.` : bars);
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
 * @param {Claim | null} before
 * @param {(decade: number) => number} place
 */
function claimItem(claim, before, place) {
  const sign = claim.holds ? "≤" : claim.value === null ? "is not ≤" : ">";
  const numbers = `${writeNumber(claim.value)} ${sign} ${claim.bound === null ? "∞" : writeNumber(claim.bound)}`;
  const said = `${claim.name}: the claim ${claim.holds ? "holds" : "does not hold"}`;
  const bar = make("div", { class: "bar", role: "img", "aria-label": said });
  const [filled, bound] = [make("i"), make("s")];
  filled.style.width = percent(place(decadesAbove(claim)));
  bound.style.left = percent(place(0));
  bar.append(filled, bound);
  const about = make("p", {}, claim.about);
  if (before && before.value !== claim.value) {
    const was = make("u");
    was.style.width = percent(place(decadesAbove(before)));
    bar.append(was);
    about.textContent = `${claim.about.replace(/\.$/, "")}. It was ${writeNumber(before.value)}${howMuch(claim, before)}.`;
  }
  const head = make("div", {}, make("b", {}, claim.name), make("span", {}, numbers));
  return make("li", { class: claim.holds ? "holds" : "fails" }, head, bar, about);
}

/**
 * Say how far a claim that fails is above its bound.
 * @param {Claim} claim
 * @param {Claim} before
 */
function howMuch(claim, before) {
  if (claim.holds || claim.value === null || !claim.bound) return "";
  const times = writeNumber(claim.value / claim.bound, 2);
  return before.holds ? `; now it is ${times} times its bound` : "";
}

/** @param {number} share */
function percent(share) {
  return `${(100 * share).toFixed(2)}%`;
}
