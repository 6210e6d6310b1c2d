/** The page that a server gives out: choose, run, play, break, race, ask, and exercises. */

import { Asking } from "./asking.js";
import { Breaking } from "./breaking.js";
import { Chooser } from "./chooser.js";
import { attempt, find, make, makeButton, showProblem } from "./elements.js";
import { Exercises } from "./exercises.js";
import { buildSaving } from "./saving.js";
import { get, Problem, RemoteRun } from "./server.js";
import { connectCopying, Showing } from "./showing.js";
import { knowsSeconds, sideName } from "./timeline.js";
import { connectTouching } from "./touching.js";

/** @import { Recording } from "./recording.js" */
/** @import { Catalogue, Run } from "./server.js" */
/** @import { Clock } from "./timeline.js" */

const FIRST = { play: "KMeans", parameters: { n_clusters: 3 } }; // what is seen before anything is chosen

class LivePage {
  /** @param {Catalogue} catalogue */
  constructor(catalogue) {
    this.catalogue = catalogue;
    /** @type {RemoteRun[]} that are under way */
    this.waiting = [];
    /** @type {RemoteRun[]} that are shown */
    this.shown = [];
    this.timer = 0;
    this.ended = 0; // runs
    this.showing = new Showing(() => this.keepAddress());
    this.chooser = new Chooser(catalogue, {
      run: () => this.run(null),
      stop: () => this.stop(),
      problem: showProblem,
    });
    document.querySelector("main")?.prepend(this.chooser.element);
    const runOf = (/** @type {number} */ side) => this.shown[side]?.id ?? null;
    this.breaking = new Breaking(this.showing, runOf);
    this.asking = new Asking(this.showing, runOf);
    this.exercises = new Exercises();
    document.body.append(this.exercises.element);
    this.clock = this.makeClock();
    this.exported = make("a", { download: true }, "Page (HTML)");
    buildSaving(this.showing, [makeButton("Copy link", () => this.copyLink()), this.exported]);
    connectCopying();
    this.makeRooms();
    addEventListener("hashchange", () => this.readAddress());
  }

  /** The switch between playing and exercises. */
  makeRooms() {
    const play = makeButton("Play", () => this.enter(false), { id: "room-play" });
    const practice = makeButton("Exercises", () => this.enter(true), { id: "room-exercises" });
    document.querySelector(".tools")?.prepend(make("nav", { "aria-label": "Rooms" }, play, practice));
    this.enter(false);
  }

  /** @returns {string} */
  get title() {
    return this.showing.recordings.map((recording) => recording.title).join(" against ") || "Pellucid";
  }

  /** @param {boolean} isPractice */
  enter(isPractice) {
    document.documentElement.dataset.room = isPractice ? "exercises" : "play";
    find("title").textContent = isPractice ? "Exercises" : this.title;
    find("room-play").setAttribute("aria-pressed", String(!isPractice));
    find("room-exercises").setAttribute("aria-pressed", String(isPractice));
    if (isPractice && !this.exercises.isListed) this.exercises.open();
  }

  makeClock() {
    const select = make(
      "select",
      { id: "clock" },
      make("option", { value: "iteration" }, "by iteration"),
      make("option", { value: "seconds" }, "by seconds"),
    );
    select.addEventListener("change", () => {
      this.showing.setClock(/** @type {Clock} */ (select.value));
      this.showing.draw();
    });
    const label = make("label", { class: "clock" }, make("span", { class: "unseen" }, "Clock of the race"), select);
    document.querySelector(".player .speed")?.before(label);
    return { label, select };
  }

  /**
   * Run what is chosen, and show it.
   * @param {number | null} place to go to
   */
  async run(place) {
    this.halt();
    const requests = this.chooser.runs;
    const runs = requests.map(
      (request, side) => new RemoteRun(request, sideName(side), (news) => this.chooser.tell(news)),
    );
    this.waiting = runs;
    this.chooser.setBusy(true);
    this.chooser.say("Running …");
    showProblem("");
    const begin = performance.now();
    try {
      const found = await Promise.all(runs.map((run) => run.recording()));
      if (this.waiting !== runs) return;
      const recordings = found.filter((recording) => recording !== null);
      if (recordings.length < runs.length) this.chooser.say("Stopped.");
      else {
        this.show(runs, recordings, place);
        const seconds = ((performance.now() - begin) / 1000).toFixed(2);
        this.chooser.say(`Done in ${seconds} s. ${recordings.map(verdictOf).join(" ")}`);
      }
    } catch (error) {
      if (this.waiting !== runs) return;
      this.halt();
      this.chooser.say("");
      showProblem(error instanceof Error ? error.message : String(error));
      if (!(error instanceof Problem)) throw error;
    }
    this.waiting = [];
    this.chooser.setBusy(false);
    this.ended += 1;
    document.documentElement.dataset.ended = String(this.ended); // for tests, which wait for it
  }

  /**
   * @param {RemoteRun[]} runs
   * @param {Recording[]} recordings
   * @param {number | null} place
   */
  show(runs, recordings, place) {
    this.shown = runs;
    const isRace = recordings.length > 1;
    const hasSeconds = isRace && knowsSeconds(recordings);
    this.clock.label.hidden = !hasSeconds;
    if (!hasSeconds) this.showing.clock = "iteration";
    this.clock.select.value = this.showing.clock;
    document.documentElement.dataset.race = String(isRace);
    this.showing.show(recordings, place);
    this.breaking.reset();
    this.asking.reset();
    this.exported.setAttribute("href", `/api/runs/${runs[0].id}/page`);
    this.showing.pictures.forEach((picture, side) => {
      connectTouching(picture, side, this.showing, this.breaking, this.asking, this.chooser.data);
    });
    this.keepAddress();
  }

  /** Stop what is under way, without a word. */
  halt() {
    const runs = this.waiting;
    this.waiting = [];
    for (const run of runs) run.stop();
  }

  stop() {
    this.halt();
    this.chooser.setBusy(false);
    this.chooser.say("Stopped.");
  }

  /** @returns {string} what the address says after "#": all that makes this page again */
  get address() {
    const [run, against] = this.shown.map(({ request }) => encodeURIComponent(JSON.stringify(request)));
    const rival = against ? `&against=${against}` : "";
    return `#run=${run}${rival}&frame=${this.showing.player.place + 1}`;
  }

  /** Keep the address, once the player rests: browsers limit how often that may be done. */
  keepAddress() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.shown.length) attempt(() => history.replaceState(null, "", this.address));
    }, 400);
  }

  /** Show what the address names, or something to begin with. */
  async readAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const read = (/** @type {string} */ name) => {
      const text = parts.get(name);
      return text === null ? null : /** @type {Run} */ (JSON.parse(text));
    };
    try {
      const first = this.catalogue.plays.find(({ name }) => name === FIRST.play) ?? this.catalogue.plays[0];
      const table = this.catalogue.table && { table: this.catalogue.table.id };
      const run = read("run") ?? { ...FIRST, data: table ?? first.first };
      await this.chooser.show(run, read("against"));
      const place = Number(parts.get("frame"));
      await this.run(place > 0 ? place - 1 : Infinity);
    } catch (error) {
      const isBroken = error instanceof SyntaxError;
      showProblem(
        isBroken
          ? "The link cannot be read: it was cut or changed."
          : error instanceof Error
            ? error.message
            : String(error),
      );
    }
  }

  async copyLink() {
    const link = location.href.replace(/#.*/s, "") + this.address;
    try {
      await navigator.clipboard.writeText(link);
      this.chooser.say("The link is copied.");
    } catch {
      prompt("Copy this link:", link);
    }
    /** @type {HTMLDetailsElement} */ (find("save")).open = false;
  }
}

/** @param {Recording} recording */
function verdictOf({ certificate }) {
  if (certificate.grade === "none") return "Nothing is proved.";
  return certificate.holds ? `The certificate holds: ${certificate.grade}.` : "The certificate does not hold.";
}

try {
  const page = new LivePage(await get("/api/catalogue"));
  await page.readAddress();
} catch (error) {
  showProblem(error instanceof Error ? error.message : String(error));
  throw error;
}
