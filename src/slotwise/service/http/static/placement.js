/* The page of one placement: its parts, in the order in which its owner asks for them. */

import { path } from "./api.js";
import { el, name, swap } from "./dom.js";
import { amount, chance, count, interval } from "./format.js";
import { follow } from "./live.js";

/** Draw one placement, and keep it up to date. */
export function showPlacement({ main, signal, tell }, called) {
  document.title = `${called} · slotwise`;
  const crumb = el("p", { class: "crumb" }, el("a", { href: "/" }, "Placements"), " / ", name(called));
  return follow(path("placements", called, "estimates"), (found) => swap(main, crumb, items(found)), tell, signal);
}

function items(found) {
  const head = ["item", "attractiveness", "95\u202f%", "in the best list", "shown", "clicks"];
  return el(
    "div",
    { class: "wide" },
    el(
      "table",
      { class: "items" },
      el("thead", null, el("tr", null, head.map((text, at) => el("th", { scope: "col", class: at ? "n" : null }, text)))),
      el(
        "tbody",
        null,
        found.items.slice(0, 50).map((item) =>
          el(
            "tr",
            null,
            el("th", { scope: "row" }, name(item.id)),
            [
              amount(item.attractiveness),
              interval(item.low, item.high),
              chance(item.probability_in_best_list),
              count(item.shown),
              count(item.clicks),
            ].map((text) => el("td", { class: "n" }, text)),
          ),
        ),
      ),
    ),
  );
}
