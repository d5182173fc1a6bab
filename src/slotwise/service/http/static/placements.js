/* The page at /: every placement, with its one sentence. */

import { path } from "./api.js";
import { el, name, swap } from "./dom.js";
import { many } from "./format.js";
import { follow } from "./live.js";

/** Draw the list, and keep it up to date. */
export function showPlacements({ main, signal, tell }) {
  document.title = "Placements · slotwise";
  return follow(path("placements"), (found) => draw(main, found), tell, signal);
}

function draw(main, { placements, broken }) {
  swap(
    main,
    el("h1", null, "Placements"),
    broken.map((one) => el("p", { class: "note" }, el("strong", null, name(one.name)), " cannot be read: ", one.detail, ".")),
    placements.length ? el("ul", { class: "placements" }, placements.map(row)) : broken.length ? null : nothing(),
  );
}

function row(placement) {
  return el(
    "li",
    null,
    el("a", { href: `/placements/${encodeURIComponent(placement.name)}` }, name(placement.name)),
    el(
      "ul",
      { class: "facts" },
      el("li", null, many(placement.slots, "slot")),
      el("li", null, many(placement.item_count, "item")),
      placement.mode === "live" ? null : el("li", null, placement.mode),
    ),
  );
}

function nothing() {
  return el(
    "div",
    null,
    el("p", null, "There is no placement yet: a named place on a page, with slots to fill and items to fill them with."),
    el("p", null, el("a", { href: "/docs#put_placement" }, "Make one"), ", or send ", el("code", null, "PUT /v1/placements/NAME"), "."),
  );
}
