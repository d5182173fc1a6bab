/* The page at /: every placement, with its state in one sentence. */

import { listActions } from "./actions.js";
import { ask, path, Refused } from "./api.js";
import { el, name, swap } from "./dom.js";
import { count, many, modeText } from "./format.js";
import { follow } from "./live.js";

/** Placements on a page of the list, and the states that are requested at the same time. */
const PAGE_SIZE = 50;
const PARALLEL = 2;
/** Seconds after which a state is requested again. */
const MAX_AGE = 10;

/** States by placement, with their tags and request times; and the number of placements in the list. */
const states = new Map();
let listed = PAGE_SIZE;

/** Show the list and keep it up to date. */
export function showPlacements({ main, signal, tell }) {
  document.title = "Placements · slotwise";
  let last = null;
  const show = (found) => {
    const now = JSON.stringify([found, listed]);
    if (now !== last) draw(main, found, () => show(found));
    last = now;
    main.dataset.ready = "";
    // the list does not wait for the states
    sentences(main, found.placements.slice(0, listed), signal).catch((problem) => {
      if (problem.name !== "AbortError") console.warn(problem);
    });
  };
  return follow(path("placements"), show, tell, signal);
}

function draw(main, { placements, broken }, again) {
  const left = placements.length - listed;
  swap(
    main,
    el("h1", null, "Placements"),
    listActions(),
    broken.map((placement) => el("p", { class: "note" }, el("strong", null, name(placement.name)), " cannot be read: ", placement.detail, ".")),
    placements.length ? el("ul", { class: "placements" }, placements.slice(0, listed).map(row)) : broken.length ? null : nothing(),
    left > 0
      ? el("button", { type: "button", "data-key": "more", onclick: () => ((listed += PAGE_SIZE), again()) }, `Show ${count(Math.min(left, PAGE_SIZE))} more of ${count(placements.length)}`)
      : null,
  );
}

function row(placement) {
  const fact = (text) => el("li", null, text);
  return el(
    "li",
    { "data-placement": placement.name },
    el("a", { href: `/placements/${encodeURIComponent(placement.name)}` }, name(placement.name)),
    el("p", { class: "sentence" }, states.get(placement.name)?.sentence ?? "…"),
    el(
      "ul",
      { class: "facts" },
      fact(many(placement.slots, "slot")),
      fact(many(placement.item_count, "item")),
      modeText(placement) ? fact(modeText(placement)) : null,
    ),
  );
}

/** Request the states that are out of date, a few at a time. */
async function sentences(main, placements, signal) {
  const old = placements.filter(({ name: called }) => !(Date.now() - states.get(called)?.asked < MAX_AGE * 1000));
  for (const { name: called } of old) states.set(called, { ...states.get(called), asked: Date.now() });
  const one = async () => {
    for (let next = old.shift(); next && !signal.aborted; next = old.shift()) await sentence(main, next.name, signal);
  };
  await Promise.all(Array.from({ length: PARALLEL }, one));
}

async function sentence(main, called, signal) {
  try {
    const found = await ask(path("placements", called, "state"), { tag: states.get(called)?.tag ?? null, signal });
    if (!found) return;
    states.set(called, { tag: found.tag, sentence: found.body.sentence, asked: Date.now() });
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    states.set(called, { tag: null, sentence: `No state: ${problem.message}.`, asked: Date.now() });
  }
  const place = [...main.querySelectorAll("[data-placement]")].find((one) => one.dataset.placement === called);
  if (place) place.querySelector(".sentence").textContent = states.get(called).sentence;
}

function nothing() {
  return el(
    "div",
    null,
    el("p", null, "There is no placement yet. A placement is a named place on a page, with slots to fill and items to fill them with."),
    el("p", null, "Create one with the button above, or send ", el("code", null, "PUT /v1/placements/NAME"), "."),
  );
}
