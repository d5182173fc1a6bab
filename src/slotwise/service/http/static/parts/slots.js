/* How visible each slot is, and whether clicks there are what the model expects. */

import { el, why } from "../dom.js";
import { amount, count, interval, percent, UNKNOWN } from "../format.js";

export function of({ position_bias }) {
  return position_bias;
}

export function draw({ position_bias }) {
  const given = position_bias.some((slot) => slot.given);
  const cell = (text, kind = "n") => el("td", { class: kind }, text);
  const heads = ["bias", "95\u202f% within", "shown", "clicked", "fitted"];
  return [
    el("h2", null, "Slots"),
    el("p", { class: "lead" }, given ? "How visible each slot is, as it was given." : "How visible each slot is beside the first, as it was learned."),
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
              cell(slot.bias === null ? "" : slot.given ? "given" : slot.low === slot.high ? "by definition" : interval(slot.low, slot.high)),
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
      "An item that stands further down is seen by fewer. A bias of 0.5 means that the same item gets half as many clicks there, for each visit without a click, as in the first slot. Learning it apart from the items is what lets them be compared although they stood in different places.",
      "“Clicked” is the share of views in which the slot was clicked, “fitted” what the model makes of the same lists. Where they are far apart, the model does not fit.",
    ),
  ];
}
