/* Charts over time: reward of each arm, shares of items, probabilities, and traffic. */

import { ask, path, Refused, Unreachable } from "../api.js";
import { inShort } from "../changes.js";
import { lineChart, shareChart } from "../charts.js";
import { called, choices, el, swap, why } from "../dom.js";
import { count, measured, percent } from "../format.js";

/** Label, length of a period, and days: hours up to a week, days beyond. */
const RANGES = { "24h": ["24 hours", "hour", 1], "7d": ["7 days", "hour", 7], "28d": ["28 days", "day", 28], "90d": ["90 days", "day", 90] };
const DAY = 86_400_000;
/** Seconds between two requests while decisions are made. */
const MAX_AGE = 20;
/** With fewer days, the chart shows hours. */
const MIN_DAYS = 4;
/** Colours and dashes of the lines of items. */
const LINES = [["1", false], ["2", false], ["quiet", false], ["2", true], ["quiet", true]];
const ARMS = { learned: ["learned", "accent"], holdout: ["holdout", "quiet"], shadow: ["control order (shadow mode)", "accent"] };

/** The default range: days, or hours if there are few days. */
let automatic = "28d";
let latest = { labels: {}, range: null, address: null, tag: null, timeline: null, asked: 0 };
/** A request that was sent before the part was drawn. */
let early = null;

export function of({ decisions, version, labels }) {
  return [decisions.issued, decisions.final, version, automatic, labels];
}

/** Request the charts' data at the same time as the overview. */
export function prefetch(page) {
  const address = addressOf(page, rangeOf(page));
  early = { address, found: ask(address, { signal: page.signal }) };
  // `load` handles its errors
  early.found.catch(() => {});
}

export function draw(overview, page) {
  const range = rangeOf(page);
  latest.labels = overview.labels;
  const charts = el("div", { id: "charts" });
  load(charts, range, page);
  return [
    el("h2", null, "Over time"),
    el("p", { class: "lead" }, "By the time of the decision: hours where you are, days in UTC. Triangles mark changes of the placement. The last part of a line is faint while its period is not over."),
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

/** Draw the latest data, request new data, and draw that. */
async function load(charts, range, page) {
  const address = addressOf(page, range);
  const same = latest.address === address;
  // the address changes every hour; until the response the previous data stays
  if (latest.range === range) show(charts, latest.timeline, page);
  else swap(charts, el("p", { class: "quiet reading" }, "Loading …"));
  if (same && Date.now() - latest.asked < MAX_AGE * 1000) return;
  try {
    const asked = early?.address === address ? early.found : ask(address, { tag: same ? latest.tag : null, signal: page.signal });
    early = null;
    const found = await asked;
    latest.asked = Date.now();
    if (!found) return;
    if (!page.view.range && range === "28d" && found.body.starts.length < MIN_DAYS) {
      automatic = "7d";
      page.change({});
      return;
    }
    latest = { labels: latest.labels, range, address, tag: found.tag, timeline: found.body, asked: Date.now() };
    show(charts, found.body, page);
  } catch (problem) {
    // the top of the page shows whether the service responds
    if (problem instanceof Refused && problem.status < 500) swap(charts, el("p", { class: "unknown" }, problem.message));
    else if (!(problem instanceof Unreachable || problem instanceof Refused || problem.name === "AbortError")) throw problem;
  }
}

function show(charts, timeline, page) {
  const times = timeline.starts.map((start) => Date.parse(start));
  if (!times.length) return swap(charts, el("p", { class: "unknown" }, "There are no decisions in this period."));
  const marks = timeline.changes.map((change) => ({ time: Date.parse(change.time), text: inShort(change) }));
  const length = timeline.by === "day" ? DAY : DAY / 24;
  const common = { times, marks, daily: timeline.by === "day", unfinished: times.at(-1) + length > Date.now() };
  const measure = timeline.measure === "value_per_view" ? "Value per view" : "Click rate";
  return swap(
    charts,
    lineChart({
      ...common,
      title: measure,
      write: (number) => measured(number, timeline.measure),
      most: timeline.measure === "click_rate" ? 1 : Infinity,
      series: Object.entries(timeline.arms).map(([arm, { mean, low, high }]) => ({ name: ARMS[arm][0], paint: ARMS[arm][1], dashed: arm === "holdout", values: mean, low, high })),
      note: "Bands are 95\u202f% confidence intervals of each period's average.",
    }),
    shares(timeline, common, page),
    probabilities(timeline, common),
    lineChart({ ...common, title: "Traffic", write: count, height: 140, series: [{ name: "decisions", paint: "accent", values: timeline.issued }] }),
    why("Which numbers are stored?", "Counts by hour, which are later merged into days. Probabilities are stored at the end of each hour with counted outcomes; if no worker ran at that time, the line has a gap."),
  );
}

function shares(timeline, common, page) {
  const slots = timeline.shows.length;
  if (!slots) return null;
  const slot = Math.min(slots, Math.max(1, Number(page.view.slot) || 1));
  const series = timeline.items.map((item, at) => ({ name: called(item, latest.labels), paint: String(at + 1), values: timeline.shows[slot - 1][at] }));
  const rest = timeline.rest[slot - 1];
  if (rest.some((number) => number > 0)) series.push({ name: "all others", paint: "rest", values: rest });
  const chosen = slots > 1 ? choose(slots, slot, page) : null;
  return el("div", null, chosen, shareChart({ ...common, title: `Share of views, slot ${slot}`, write: (share) => percent(share, 0), series }));
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
  const series = timeline.items.map((item, at) => ({ name: called(item, latest.labels), paint: LINES[at][0], dashed: LINES[at][1], values: timeline.probabilities[at] }));
  const title = "Probability of being in the best list";
  if (!series.some((of) => of.values.some((value) => value !== null)))
    return el("figure", { class: "chart" }, el("figcaption", null, el("b", null, title)), el("p", { class: "unknown" }, "Not known yet: probabilities are stored at the end of each hour with counted outcomes."));
  return lineChart({ ...common, title, write: (share) => percent(share, 0), series, highest: 1 });
}
