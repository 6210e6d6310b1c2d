/** The workings beside the picture: the step that the frame belongs to is marked and in sight. */

import { make } from "./elements.js";

/** @import { Recording } from "./recording.js" */

/**
 * Build the workings; return the function that marks the step of a frame.
 * @param {HTMLElement} place
 * @param {Recording} recording
 * @param {string} name of the side in a race, else nothing
 * @param {(frame: number) => void} go
 * @returns {(frame: number) => void}
 */
export function buildWorkings(place, recording, name, go) {
  const { workings, frames } = recording;
  if (workings === null) return () => {};
  const room = make("article", {
    class: "workings",
    tabindex: 0,
    "data-scrolls": true,
    "aria-label": name ? `Workings of ${name}` : "Workings",
  });
  place.append(room);
  if (name) room.append(make("h3", {}, `${name}  ${workings.title}`));
  const opening = document.createElement("div");
  opening.innerHTML = workings.opening; // written by the library's printer, which escapes what users typed
  const steps = workings.steps.map((step, i) => {
    const section = document.createElement("section");
    const heading = document.createElement("h3");
    const number = document.createElement("span");
    number.className = "number";
    number.textContent = `Step ${i + 1}.`;
    const first = frames.findIndex((frame) => frame.step === i);
    const title = document.createElement(first < 0 ? "span" : "button");
    title.textContent = step.heading;
    if (first >= 0) title.addEventListener("click", () => go(first));
    heading.append(number, title);
    const body = document.createElement("div");
    body.innerHTML = step.html;
    section.append(heading, body);
    return section;
  });
  room.append(opening, ...steps);

  /** @type {number | null} */
  let current = null;
  return (frame) => {
    const step = frames[frame].step;
    if (step === current) return;
    if (current !== null) steps[current].removeAttribute("aria-current");
    current = step;
    if (step === null) return;
    steps[step].setAttribute("aria-current", "step");
    const away = steps[step].getBoundingClientRect().top - room.getBoundingClientRect().top;
    if (room.scrollHeight > room.clientHeight) room.scrollTop += away - 8; // the page itself stays where it is
  };
}
