/* Is all well: what was looked at, one sentence each, and the counts behind them. */

import { el, why } from "../dom.js";
import { count } from "../format.js";

const SIGNS = { fine: ["✓", "fine"], look: ["!", "have a look"], unknown: ["–", "not known yet"] };
const KINDS = {
  issued: ["issued", "Lists that were asked for."],
  pending: ["pending", "Their window is not over yet."],
  reported: ["of these reported", "An outcome has arrived, and is counted at the deadline."],
  clicked: ["clicked", "Somebody clicked on something."],
  no_click: ["no click", "Somebody saw the list and clicked on nothing, or nothing was reported."],
  silent: ["of these silent", "Nothing was reported within the window."],
  not_shown: ["not shown", "Nobody saw the list; it counts for nothing."],
  late: ["late", "An outcome came after the window; it is never learned."],
  duplicates: ["duplicates", "The same outcome was reported once more; it changes nothing."],
  conflicts: ["conflicts", "Another outcome than the first was reported; the first stands."],
  several: ["several clicks", "More than one item of the list was clicked; the first click counts."],
};

export function of({ checks, decisions, segment }) {
  return [checks, decisions, segment];
}

export function draw({ checks, decisions }) {
  return [
    el("h2", null, "Health"),
    el("p", { class: "lead" }, "Whether what is shown above can be relied on."),
    el("ul", { class: "checks", id: "checks" }, checks.map(check)),
    el(
      "div",
      { class: "wide", tabindex: "0", role: "region", "aria-label": "Decisions" },
      el(
        "table",
        { id: "decisions-table" },
        el("thead", null, el("tr", null, el("th", { scope: "col" }, "decisions"), el("th", { scope: "col", class: "n" }, "how many"), el("th", { scope: "col" }, "what that means"))),
        el(
          "tbody",
          null,
          Object.entries(KINDS).map(([kind, [word, meaning]]) =>
            el("tr", null, el("th", { scope: "row" }, word), el("td", { class: "n", "data-kind": kind }, count(decisions[kind])), el("td", { class: "quiet" }, meaning)),
          ),
        ),
      ),
    ),
    why(
      "When should somebody have a look?",
      "When more than 1\u202f% of the outcomes are late or contradict each other, when more than 5\u202f% of the clicked lists have several clicks, when nothing is ever reported, when the model does not fit, when visitors click otherwise than before, or when this worker is more than a second behind the store.",
    ),
  ];
}

function check({ id, level, sentence }) {
  const [sign, word] = SIGNS[level];
  return el("li", { "data-check": id, "data-level": level }, el("span", { class: "sign", "aria-hidden": "true" }, sign), el("span", null, el("span", { class: "hidden" }, `${word}: `), sentence));
}
