/** The page on disk: plays the recording that stands in it. */

import { attempt, find, showProblem } from "./elements.js";
import { readRecording } from "./recording.js";
import { buildSaving } from "./saving.js";
import { connectCopying, Showing } from "./showing.js";

const keeping = { timer: 0 };

try {
  start();
} catch (error) {
  showProblem(error instanceof Error ? error.message : String(error));
  throw error;
}

function start() {
  const recording = readRecording(find("recording").textContent ?? "");
  const showing = new Showing(keepPlace);
  showing.show([recording], placeOfAddress());
  connectCopying();
  buildSaving(showing, []);
  if (location.hash.includes("measure")) measure(showing);
}

/** Return the frame that the address names, "#frame=13" is the thirteenth. */
function placeOfAddress() {
  const found = /frame=(\d+)/.exec(location.hash);
  return found ? Math.max(1, Number(found[1])) - 1 : 0;
}

/**
 * Keep the place in the address, once the player rests: browsers limit how often that may be done.
 * @param {number} place
 */
function keepPlace(place) {
  clearTimeout(keeping.timer);
  keeping.timer = setTimeout(() => attempt(() => history.replaceState(null, "", `#frame=${place + 1}`)), 400);
}

/**
 * Draw every frame once and write the times, in milliseconds, where a test reads them.
 * @param {Showing} showing
 */
function measure(showing) {
  const times = [];
  const { player, pictures } = showing;
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  for (player.place = 0; player.place < player.count; player.place++) {
    const start = performance.now();
    showing.draw();
    probe?.drawImage(pictures[0].canvas, 0, 0, 1, 1);
    probe?.getImageData(0, 0, 1, 1); // waits until it is drawn
    times.push(performance.now() - start);
  }
  player.place = player.count - 1;
  times.sort((a, b) => a - b);
  document.documentElement.dataset.medianMs = times[Math.floor(player.count / 2)].toFixed(2);
  document.documentElement.dataset.slowestMs = times[player.count - 1].toFixed(2);
}
