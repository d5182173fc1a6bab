/* The list now, as it would look on the page, and who is next in line for each slot. */

import { el, name, why } from "../dom.js";
import { chance, interval, measured, UNKNOWN } from "../format.js";

export function of({ best_list, mode, shadow }) {
  return [best_list, mode, shadow];
}

export function draw({ best_list, mode, shadow }) {
  const known = best_list.some((slot) => slot.probability !== null);
  return [
    el("h2", null, mode === "shadow" ? "The list it would show" : "The list now"),
    el("p", { class: "lead" }, known ? "What is expected to bring most, the first slot first." : "Nothing is known yet, so lists are tried at random; this is one of them."),
    el(
      "ol",
      { class: "mock", id: "best-list" },
      best_list.map((slot) =>
        el(
          "li",
          null,
          el("span", { class: "place" }, slot.slot),
          el("span", { class: "name" }, name(slot.item)),
          el("span", { class: "next" }, next(slot, best_list)),
        ),
      ),
    ),
    shadow ? inTheShadow(shadow) : null,
    why(
      "What do the percentages mean?",
      "How likely the best list is to have this item in this very slot, by all that was counted. After it, the item that is next most likely to belong there. An item that may belong to several slots stands where it brings most. Two items that are nearly alike may swap slots for a long time: that costs little.",
    ),
  ];
}

function next(slot, list) {
  if (slot.pinned) return "pinned here for everybody";
  if (slot.probability === null) return el("span", { class: "unknown" }, UNKNOWN);
  const here = `${chance(slot.probability)} sure`;
  if (slot.runner_up === null) return `${here} · no other comes close`;
  const elsewhere = list.find((other) => other.item === slot.runner_up);
  return [`${here} · next `, name(slot.runner_up), elsewhere ? ` (now in slot ${elsewhere.slot})` : "", ` ${chance(slot.runner_up_probability)}`];
}

function inTheShadow(shadow) {
  const measure = shadow.measure === "value" ? "value_per_view" : "click_rate";
  const write = (number) => measured(number, measure);
  const said = ({ estimate, low, high }) => `${write(estimate)} (${interval(low, high, write)})`;
  return el("p", null, `Expected of a view: ${said(shadow.would_bring)}, where the items as listed bring ${said(shadow.brings)}.`);
}
