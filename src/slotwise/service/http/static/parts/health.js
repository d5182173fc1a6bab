/* Checks, one sentence each, and the counts behind them. */

import { el, folded, why } from "../dom.js";
import { count, many } from "../format.js";

const SIGNS = { fine: ["✓", "OK"], look: ["!", "warning"], unknown: ["–", "not known yet"] };
const KINDS = {
  issued: ["issued", "Lists that pages requested."],
  pending: ["pending", "The window is not over yet."],
  reported: ["of these reported", "An outcome arrived, and is counted at the deadline."],
  clicked: ["clicked", "The visitor clicked an item."],
  no_click: ["no click", "The visitor clicked nothing, or no outcome was reported."],
  silent: ["of these silent", "No outcome was reported within the window."],
  not_shown: ["not shown", "The visitor did not see the list; it is not counted."],
  capped: ["capped", "Beyond the hourly cap of the visitor; it is not learned."],
  late: ["late", "The outcome arrived after the window; it is not learned."],
  duplicates: ["duplicates", "The same outcome was reported again; it is counted once."],
  conflicts: ["conflicts", "A different outcome was reported later; the first one counts."],
  several: ["several clicks", "The visitor clicked more than one item; all of them count."],
};

export function of({ checks, decisions }) {
  return [checks, decisions];
}

export function draw({ checks, decisions }) {
  return [
    el("h2", null, "Health"),
    el("p", { class: "lead", id: "health-summary" }, summary(checks)),
    folded(
      "All checks",
      el("ul", { class: "checks", id: "checks" }, checks.map(check)),
      why(
        "When does a check warn?",
        "If more than 1\u202f% of the decisions are late, conflict or are capped. If more than 5\u202f% of the clicked lists have several clicks. Also if no outcomes are reported, slots do not act alike on all items, or clicks drift. Also if this worker is more than a second behind the store.",
      ),
    ),
    folded("Decisions by outcome", table(decisions)),
  ];
}

function table(decisions) {
  return el(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": "Decisions" },
    el(
      "table",
      { id: "decisions-table" },
      el("thead", null, el("tr", null, el("th", { scope: "col" }, "decisions"), el("th", { scope: "col", class: "n" }, "count"), el("th", { scope: "col" }, "meaning"))),
      el(
        "tbody",
        null,
        Object.entries(KINDS).map(([kind, [word, meaning]]) =>
          el("tr", null, el("th", { scope: "row" }, word), el("td", { class: "n", "data-kind": kind }, count(decisions[kind])), el("td", { class: "quiet" }, meaning)),
        ),
      ),
    ),
  );
}

/** What needs attention is at the top of the page. */
function summary(checks) {
  const looks = checks.filter((check) => check.level === "look").length;
  const unknown = checks.filter((check) => check.level === "unknown").length;
  const fine = checks.length - looks - unknown;
  return [`${fine} of ${many(checks.length, "check")} OK`, looks ? `${looks} need attention: see the top of the page` : null, unknown ? `${unknown} not known yet` : null].filter(Boolean).join(", ") + ".";
}

function check({ id, level, sentence }) {
  const [sign, word] = SIGNS[level];
  return el("li", { "data-check": id, "data-level": level }, el("span", { class: "sign", "aria-hidden": "true" }, sign), el("span", null, el("span", { class: "hidden" }, `${word}: `), sentence));
}
