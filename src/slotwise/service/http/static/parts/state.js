/* The state in one sentence, which the service writes; docs/guides/read-the-dashboard.md has the rules. */

import { placementActions } from "../actions.js";
import { el, name, why } from "../dom.js";
import { count, duration, many, modeText, percent } from "../format.js";

export function of({ state, decisions, mode, exploring, slots, item_count, holdout, window_seconds }) {
  return [state, decisions, mode, exploring, slots, item_count, holdout, window_seconds];
}

export function draw(overview) {
  const { state, decisions } = overview;
  const seen = decisions.clicked + decisions.no_click;
  const fact = (number, text) => el("li", null, el("b", null, number), " ", text);
  return [
    el("div", { class: "crumb" }, el("a", { href: "/" }, "Placements"), " / ", el("h1", { class: "placement" }, name(overview.name))),
    el("p", { class: "state", id: "sentence", "data-kind": state.kind }, state.sentence),
    state.more ? el("p", { class: "more" }, state.more) : null,
    el(
      "ul",
      { class: "facts", id: "facts" },
      fact(count(seen), seen === 1 ? "view counted" : "views counted"),
      seen ? fact(percent(decisions.clicked / seen), "with a click") : null,
      fact(count(overview.item_count), `${overview.item_count === 1 ? "item" : "items"} for ${many(overview.slots, "slot")}`),
      overview.holdout ? fact(percent(overview.holdout, 0), "in the holdout") : null,
      modeText(overview) ? el("li", null, modeText(overview)) : null,
      decisions.pending ? fact(count(decisions.pending), "pending") : null,
    ),
    placementActions(overview),
    why(
      "What do these words mean?",
      el(
        "dl",
        null,
        el("dt", null, "View"),
        el("dd", null, "A list that a visitor saw. It is counted once, when its window of ", duration(overview.window_seconds), " ends."),
        el("dt", null, "Settled"),
        el("dd", null, "Every item of the best list belongs to it with a probability of at least 90\u202f%."),
        el("dt", null, "Holdout"),
        el("dd", null, "The share of views that show the control order, for comparison."),
        el("dt", null, "Pending"),
        el("dd", null, "Decisions whose window is not over yet."),
      ),
    ),
  ];
}
