/* The best list, and the runner-up of each slot. */

import { el, item, why } from "../dom.js";
import { chance, interval, measured, UNKNOWN } from "../format.js";

export function of({ best_list, labels, mode, shadow, segment, segments }) {
  return [best_list, labels, mode, shadow, segment, segments];
}

export function draw({ best_list, labels, mode, shadow, segment, segments }) {
  const known = best_list.some((slot) => slot.probability !== null);
  return [
    el("h2", null, mode === "shadow" ? "Best list (not shown in shadow mode)" : "Best list"),
    el("p", { class: "lead" }, known ? "The list with the highest expected reward, first slot first." : "There is no data yet, so lists are random; this is one of them."),
    Object.keys(segments).length && !segment.length
      ? el("p", { class: "note", id: "pooled" }, "This list is for all visitors together. Each segment sees a list of its own: select one above.")
      : null,
    el(
      "ol",
      { class: "mock", id: "best-list" },
      best_list.map((slot) =>
        el(
          "li",
          null,
          el("span", { class: "place" }, slot.slot),
          el("span", { class: "name" }, item(slot.item, labels, { picture: true })),
          el("span", { class: "next" }, next(slot, best_list, labels)),
        ),
      ),
    ),
    shadow ? inTheShadow(shadow) : null,
    why(
      "What do the percentages mean?",
      "The probability that the best list has this item in this slot, followed by the runner-up. An item that fits several slots is shown where it contributes most. Two items of similar attractiveness may swap slots for a long time: that costs few clicks.",
    ),
  ];
}

function next(slot, list, labels) {
  if (slot.pinned) return "pinned to this slot";
  if (slot.probability === null) return el("span", { class: "unknown" }, UNKNOWN);
  const here = `${chance(slot.probability)} sure`;
  if (slot.runner_up === null) return `${here} · no runner-up`;
  const elsewhere = list.find((other) => other.item === slot.runner_up);
  const likelier = slot.runner_up_probability > slot.probability;
  // the list has the highest expected reward: the likeliest item of a slot may bring more elsewhere, or less on average
  const where = elsewhere ? ` (${likelier ? "brings more" : "now"} in slot ${elsewhere.slot})` : likelier ? " (likelier here, but brings less on average)" : "";
  return [`${here} · next `, item(slot.runner_up, labels), where, ` ${chance(slot.runner_up_probability)}`];
}

function inTheShadow(shadow) {
  const measure = shadow.measure === "value" ? "value_per_view" : "click_rate";
  const write = (number) => measured(number, measure);
  const text = ({ estimate, low, high }) => `${write(estimate)} (${interval(low, high, write)})`;
  return el("p", null, `Expected reward per view: ${text(shadow.would_bring)} with this list, ${text(shadow.brings)} with the control order.`);
}
