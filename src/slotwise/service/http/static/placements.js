/* The page at /: every placement, with its state in one sentence and its numbers. */

import { listActions } from "./actions.js";
import { ask, canChange, path, Refused } from "./api.js";
import { el, name, swap } from "./dom.js";
import { ago, count, many, modeText, moment, percent, perThousand, unit } from "./format.js";
import { follow } from "./live.js";

/** Placements on a page of the list, and the states that are requested at the same time. */
const PAGE_SIZE = 50;
const PARALLEL = 2;
/** Seconds after which a state is requested again, and milliseconds in which new states are drawn together. */
const MAX_AGE = 10;
const TOGETHER = 100;

/** Columns that sort the list: their label, and the key of a placement with its state; null is last. */
const COLUMNS = {
  name: ["placement", (placement) => placement.name],
  views: ["views", (_, state) => state.views ?? null],
  rate: ["click rate", (_, state) => state.click_rate ?? null],
  uplift: ["uplift", (_, state) => state.uplift?.difference ?? null],
  active: ["last active", (_, state) => state.last_active ?? null],
};

/** States by placement, with their tags and request times; and the number of placements in the list. */
const states = new Map();
let listed = PAGE_SIZE;

/** Show the list and keep it up to date. */
export function showPlacements({ main, signal, tell }) {
  document.title = "Placements · slotwise";
  let last = null;
  let timer = null;
  let found = { placements: [], broken: [] };
  const view = { sort: new URLSearchParams(location.search).get("sort"), sortBy };
  if (!COLUMNS[view.sort]) view.sort = "name";

  function redraw() {
    const now = JSON.stringify([found, listed, view.sort, canChange(), ...found.placements.slice(0, listed).map((placement) => stateOf(placement))]);
    if (now !== last) draw(main, found, view, redraw);
    last = now;
  }

  function sortBy(key) {
    view.sort = key;
    history.replaceState(null, "", key === "name" ? location.pathname : `?sort=${key}`);
    redraw();
  }

  const changed = () => (timer ??= setTimeout(() => ((timer = null), signal.aborted || redraw()), TOGETHER));
  const show = (body) => {
    found = body;
    redraw();
    main.dataset.ready = "";
    // the list does not wait for the states
    refresh(found.placements.slice(0, listed), signal, changed).catch((problem) => {
      if (problem.name !== "AbortError") console.warn(problem);
    });
  };
  return follow(path("placements"), show, tell, signal);
}

function stateOf(placement) {
  return states.get(placement.name)?.state ?? {};
}

function draw(main, { placements, broken }, view, again) {
  const left = placements.length - listed;
  swap(
    main,
    el("h1", null, "Placements"),
    listActions(),
    broken.map((placement) => el("p", { class: "note" }, el("strong", null, name(placement.name)), " cannot be read: ", placement.detail, ".")),
    placements.length ? table(sorted(placements.slice(0, listed), view.sort), view) : broken.length ? null : nothing(),
    left > 0
      ? el("button", { type: "button", "data-key": "more", onclick: () => ((listed += PAGE_SIZE), again()) }, `Show ${count(Math.min(left, PAGE_SIZE))} more of ${count(placements.length)}`)
      : null,
  );
}

/** Names from A on, numbers from the largest on. */
function sorted(placements, sort) {
  const [, key] = COLUMNS[sort];
  const way = sort === "name" ? 1 : -1;
  return placements
    .map((placement) => [key(placement, stateOf(placement)), placement])
    .sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : a < b ? -way : a > b ? way : 0))
    .map(([, placement]) => placement);
}

function table(placements, view) {
  const head = ([key, [label]]) =>
    el(
      "th",
      { scope: "col", role: "columnheader", class: key === "name" ? null : "n", "aria-sort": key === view.sort ? (key === "name" ? "ascending" : "descending") : null },
      el("button", { type: "button", class: "sort", "data-key": `sort:${key}`, onclick: () => view.sortBy(key) }, label),
    );
  return el(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": "Placements" },
    el(
      "table",
      { class: "placements stacked", role: "table" },
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, Object.entries(COLUMNS).map(head))),
      el("tbody", { role: "rowgroup" }, placements.map(row)),
    ),
  );
}

function row(placement) {
  const state = stateOf(placement);
  const cell = (label, ...content) => el("td", { class: "n", role: "cell", "data-label": label }, content);
  const facts = [many(placement.slots, "slot"), many(placement.item_count, "item"), modeText(placement)].filter(Boolean).join(" · ");
  return el(
    "tr",
    { role: "row", "data-placement": placement.name },
    el(
      "th",
      { scope: "row", role: "rowheader", class: "name" },
      el("a", { href: `/placements/${encodeURIComponent(placement.name)}` }, name(placement.name)),
      el("p", { class: "sentence" }, state.sentence ?? "…"),
      el("p", { class: "quiet small" }, facts),
    ),
    cell("views", state.views === undefined ? "" : count(state.views)),
    cell("click rate", typeof state.click_rate === "number" ? percent(state.click_rate) : "–"),
    cell("uplift", uplift(state.uplift)),
    cell("last active", state.last_active ? el("time", { datetime: state.last_active, title: moment(state.last_active) }, ago(state.last_active)) : "–"),
  );
}

/** The uplift since the start, in colour if the anytime-valid interval excludes zero. */
function uplift(found) {
  if (!found?.anytime) return "–";
  const { low, high } = found.anytime;
  const kind = low > 0 ? "good" : high !== null && high < 0 ? "bad" : "unclear";
  return el("span", { class: kind }, perThousand(found.difference), el("span", { class: "unit" }, kind === "unclear" ? "not clear" : unit(found.measure)));
}

/** Request the states that are out of date, a few at a time. */
async function refresh(placements, signal, changed) {
  const old = placements.filter(({ name: called }) => !(Date.now() - states.get(called)?.asked < MAX_AGE * 1000));
  for (const { name: called } of old) states.set(called, { ...states.get(called), asked: Date.now() });
  const one = async () => {
    for (let next = old.shift(); next && !signal.aborted; next = old.shift()) if (await fetchState(next.name, signal)) changed();
  };
  await Promise.all(Array.from({ length: PARALLEL }, one));
}

/** Request a state; whether there is a new one. */
async function fetchState(called, signal) {
  try {
    const found = await ask(path("placements", called, "state"), { tag: states.get(called)?.tag ?? null, signal });
    if (!found) return false;
    states.set(called, { tag: found.tag, state: found.body, asked: Date.now() });
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    states.set(called, { tag: null, state: { sentence: `No state: ${problem.message}.` }, asked: Date.now() });
  }
  return true;
}

function nothing() {
  return el(
    "div",
    null,
    el("p", null, "There is no placement yet. A placement is a named place on a page, with slots to fill and items to fill them with."),
    el("p", null, "Create one with the button above, or send ", el("code", null, "PUT /v1/placements/NAME"), "."),
  );
}
