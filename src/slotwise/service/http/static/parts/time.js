/* Over time: what each arm brought, what was shown where, how sure it was, and how many came. */

import { ask, path, Refused, Unreachable } from "../api.js";
import { inShort } from "../changes.js";
import { lineChart, shareChart } from "../charts.js";
import { choices, el, swap, why } from "../dom.js";
import { count, measured, percent } from "../format.js";

/** By the hour up to a week, and by the day beyond. */
const RANGES = { "24h": ["24 hours", "hour", 1], "7d": ["7 days", "hour", 7], "28d": ["28 days", "day", 28], "90d": ["90 days", "day", 90] };
const DAY = 86_400_000;
/** Seconds between two looks, while something happens. */
const PATIENCE = 20;
/** Days below which hours say more. */
const FEWEST = 4;
/** Lines of several items, told apart by colour and by dashes. */
const LINES = [["1", false], ["2", false], ["quiet", false], ["2", true], ["quiet", true]];
const ARMS = { learned: ["learned", "accent"], holdout: ["holdout", "quiet"], shadow: ["as listed (shadow)", "accent"] };

/** What is shown until somebody chooses: by the day, and by the hour where there are no days yet. */
let automatic = "28d";
let kept = { range: null, address: null, tag: null, timeline: null, asked: 0 };
/** What was asked for before there was anything to draw it into. */
let early = null;

export function of({ decisions, version }) {
  return [decisions.issued, decisions.final, version, automatic];
}

/** Ask for what the charts show while the rest of the page is asked for. */
export function hurry(page) {
  const address = addressOf(page, rangeOf(page));
  early = { address, found: ask(address, { signal: page.signal }) };
  // whoever waits for it hears of it
  early.found.catch(() => {});
}

export function draw(overview, page) {
  const range = rangeOf(page);
  const charts = el("div", { id: "charts" });
  load(charts, range, page);
  return [
    el("h2", null, "Over time"),
    el("p", { class: "lead" }, "In UTC, by when the lists were decided on. A mark at the top is a change of the placement; the last part of a line is faint while its period is not over."),
    choices("Range", Object.fromEntries(Object.entries(RANGES).map(([key, [text]]) => [key, text])), range, (chosen) => page.change({ range: chosen })),
    charts,
  ];
}

function rangeOf(page) {
  return RANGES[page.view.range] ? page.view.range : automatic;
}

function addressOf(page, range) {
  const [, by, days] = RANGES[range];
  const length = by === "day" ? DAY : DAY / 24;
  const until = Math.floor(Date.now() / length) * length + length;
  const query = new URLSearchParams({ by, since: new Date(until - days * DAY).toISOString() });
  return `${path("placements", page.name, "timeline")}?${query}`;
}

/** Draw what is there, ask for what is new, and draw that. */
async function load(charts, range, page) {
  const address = addressOf(page, range);
  const same = kept.address === address;
  // when an hour is over the address is another one, and what is there is still worth reading
  if (kept.range === range) show(charts, kept.timeline, page);
  else swap(charts, el("p", { class: "quiet reading" }, "Reading what was counted …"));
  if (same && Date.now() - kept.asked < PATIENCE * 1000) return;
  try {
    const asked = early?.address === address ? early.found : ask(address, { tag: same ? kept.tag : null, signal: page.signal });
    early = null;
    const found = await asked;
    kept.asked = Date.now();
    if (!found) return;
    if (!page.view.range && range === "28d" && found.body.starts.length < FEWEST) {
      automatic = "7d";
      page.change({});
      return;
    }
    kept = { range, address, tag: found.tag, timeline: found.body, asked: Date.now() };
    show(charts, found.body, page);
  } catch (problem) {
    // whether the service answers is said at the top of the page
    if (problem instanceof Refused && problem.status < 500) swap(charts, el("p", { class: "unknown" }, problem.message));
    else if (!(problem instanceof Unreachable || problem instanceof Refused || problem.name === "AbortError")) throw problem;
  }
}

function show(charts, timeline, page) {
  const times = timeline.starts.map((start) => Date.parse(start));
  if (!times.length) return swap(charts, el("p", { class: "unknown" }, "No list was asked for in this time."));
  const marks = timeline.changes.map((change) => ({ time: Date.parse(change.time), text: inShort(change) }));
  const length = timeline.by === "day" ? DAY : DAY / 24;
  const common = { times, marks, unfinished: times.at(-1) + length > Date.now() };
  const measure = timeline.measure === "value_per_view" ? "Value per view" : "Click rate";
  return swap(
    charts,
    lineChart({
      ...common,
      title: measure,
      write: (number) => measured(number, timeline.measure),
      most: timeline.measure === "click_rate" ? 1 : Infinity,
      series: Object.entries(timeline.arms).map(([arm, { mean, low, high }]) => ({ name: ARMS[arm][0], paint: ARMS[arm][1], dashed: arm === "holdout", values: mean, low, high })),
      note: "The bands hold the average of each period with a probability of 95\u202f%.",
    }),
    shares(timeline, common, page),
    probabilities(timeline, common),
    lineChart({ ...common, title: "Traffic", write: count, height: 140, series: [{ name: "lists asked for", paint: "accent", values: timeline.issued }] }),
    why("What is kept?", "Counts by hour, and after a while by day. What was believed is kept at the end of each hour in which something was counted; where no worker ran at that moment, there is a gap."),
  );
}

function shares(timeline, common, page) {
  const slots = timeline.shows.length;
  if (!slots) return null;
  const slot = Math.min(slots, Math.max(1, Number(page.view.slot) || 1));
  const series = timeline.items.map((item, at) => ({ name: item, paint: String(at + 1), values: timeline.shows[slot - 1][at] }));
  const rest = timeline.rest[slot - 1];
  if (rest.some((number) => number > 0)) series.push({ name: "all others", paint: "rest", values: rest });
  const chosen = slots > 1 ? choose(slots, slot, page) : null;
  return el("div", null, chosen, shareChart({ ...common, title: `Share of the views, slot ${slot}`, write: (share) => percent(share, 0), series }));
}

function choose(slots, slot, page) {
  const field = el(
    "select",
    { "data-key": "slot", onchange: () => page.change({ slot: field.value }) },
    Array.from({ length: slots }, (_, at) => el("option", { value: at + 1, selected: at + 1 === slot }, at + 1)),
  );
  return el("label", { class: "small" }, "Slot ", field);
}

function probabilities(timeline, common) {
  const series = timeline.items.map((item, at) => ({ name: item, paint: LINES[at][0], dashed: LINES[at][1], values: timeline.probabilities[at] }));
  const title = "Probability of being in the best list";
  if (!series.some((of) => of.values.some((value) => value !== null)))
    return el("figure", { class: "chart" }, el("figcaption", null, el("b", null, title)), el("p", { class: "unknown" }, "Not known yet: it is kept at the end of each hour in which something was counted."));
  return lineChart({ ...common, title, write: (share) => percent(share, 0), series, highest: 1 });
}
