/* Position bias of each slot, and observed against fitted clicks. */

import { el, why } from "../dom.js";
import { amount, count, interval, percent, UNKNOWN } from "../format.js";

export function of({ position_bias }) {
  return position_bias;
}

export function draw({ position_bias }) {
  const given = position_bias.some((slot) => slot.given);
  const cell = (text, kind = "n") => el("td", { class: kind }, text);
  const heads = ["bias", "95\u202f% CI", "shown", "clicked", "fitted"];
  return [
    el("h2", null, "Slots"),
    el("p", { class: "lead" }, given ? "Position bias of each slot, as configured." : "Position bias of each slot relative to the first, as learned."),
    el(
      "div",
      { class: "wide", tabindex: "0", role: "region", "aria-label": "Slots" },
      el(
        "table",
        { id: "slots-table" },
        el("thead", null, el("tr", null, el("th", { scope: "col" }, "slot"), heads.map((text) => el("th", { scope: "col", class: text === "shown" ? "n optional" : "n" }, text)))),
        el(
          "tbody",
          null,
          position_bias.map((slot) =>
            el(
              "tr",
              null,
              el("th", { scope: "row" }, slot.slot),
              slot.bias === null ? cell(UNKNOWN, "n unknown") : cell(amount(slot.bias)),
              cell(slot.bias === null ? "" : slot.given ? "configured" : slot.low === slot.high ? "by definition" : interval(slot.low, slot.high)),
              cell(count(slot.shown), "n optional"),
              cell(slot.observed === null ? "–" : percent(slot.observed)),
              cell(slot.fitted === null ? "–" : percent(slot.fitted)),
            ),
          ),
        ),
      ),
    ),
    why(
      "What is position bias?",
      "Fewer visitors see an item further down. A bias of 0.5 means that an item gets half as many clicks there, for each view without a click, as in the first slot. Because slotwise learns the bias separately, it can compare items that were shown in different slots.",
      "“Clicked” is the share of views with a click in the slot, “fitted” the model's prediction for the same lists. If they differ a lot, the model does not fit.",
    ),
  ];
}
