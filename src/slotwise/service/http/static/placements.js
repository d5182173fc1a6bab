/* The page at /: every placement, with its one sentence. */

import { listActions } from "./actions.js";
import { ask, path, Refused } from "./api.js";
import { el, name, swap } from "./dom.js";
import { count, many } from "./format.js";
import { follow } from "./live.js";

/** Placements that are listed at first, and their sentences that are asked for at the same time. */
const AT_ONCE = 50;
const TOGETHER = 2;
/** Seconds after which a sentence is asked for again. */
const PATIENCE = 10;

/** Sentences by placement, with their tags and when they were asked for; and how many placements are listed. */
const known = new Map();
let most = AT_ONCE;

/** Draw the list, and keep it up to date. */
export function showPlacements({ main, signal, tell }) {
  document.title = "Placements · slotwise";
  let last = null;
  const show = (found) => {
    const now = JSON.stringify([found, most]);
    if (now !== last) draw(main, found, () => show(found));
    last = now;
    main.dataset.ready = "";
    // the list need not wait for them
    sentences(main, found.placements.slice(0, most), signal).catch((problem) => {
      if (problem.name !== "AbortError") console.warn(problem);
    });
  };
  return follow(path("placements"), show, tell, signal);
}

function draw(main, { placements, broken }, again) {
  const left = placements.length - most;
  swap(
    main,
    el("h1", null, "Placements"),
    listActions(),
    broken.map((one) => el("p", { class: "note" }, el("strong", null, name(one.name)), " cannot be read: ", one.detail, ".")),
    placements.length ? el("ul", { class: "placements" }, placements.slice(0, most).map(row)) : broken.length ? null : nothing(),
    left > 0
      ? el("button", { type: "button", "data-key": "more", onclick: () => ((most += AT_ONCE), again()) }, `Show ${count(Math.min(left, AT_ONCE))} more of ${count(placements.length)}`)
      : null,
  );
}

function row(placement) {
  const fact = (text) => el("li", null, text);
  return el(
    "li",
    { "data-placement": placement.name },
    el("a", { href: `/placements/${encodeURIComponent(placement.name)}` }, name(placement.name)),
    el("p", { class: "sentence" }, known.get(placement.name)?.sentence ?? "…"),
    el(
      "ul",
      { class: "facts" },
      fact(many(placement.slots, "slot")),
      fact(many(placement.item_count, "item")),
      placement.mode === "live" ? null : fact(placement.mode),
    ),
  );
}

/** Ask for the sentences that are old, a few at a time. */
async function sentences(main, placements, signal) {
  const old = placements.filter(({ name: called }) => !(Date.now() - known.get(called)?.asked < PATIENCE * 1000));
  for (const { name: called } of old) known.set(called, { ...known.get(called), asked: Date.now() });
  const one = async () => {
    for (let next = old.shift(); next && !signal.aborted; next = old.shift()) await sentence(main, next.name, signal);
  };
  await Promise.all(Array.from({ length: TOGETHER }, one));
}

async function sentence(main, called, signal) {
  try {
    const found = await ask(path("placements", called, "state"), { tag: known.get(called)?.tag ?? null, signal });
    if (!found) return;
    known.set(called, { tag: found.tag, sentence: found.body.sentence, asked: Date.now() });
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    known.set(called, { tag: null, sentence: `This cannot be said: ${problem.message}.`, asked: Date.now() });
  }
  const place = [...main.querySelectorAll("[data-placement]")].find((one) => one.dataset.placement === called);
  if (place) place.querySelector(".sentence").textContent = known.get(called).sentence;
}

function nothing() {
  return el(
    "div",
    null,
    el("p", null, "There is no placement yet: a named place on a page, with slots to fill and items to fill them with."),
    el("p", null, "Make one with the button above, or send ", el("code", null, "PUT /v1/placements/NAME"), "."),
  );
}
