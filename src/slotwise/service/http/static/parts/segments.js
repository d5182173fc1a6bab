/* Counts by segment. */

import { el, name, why } from "../dom.js";
import { count, percent } from "../format.js";

export function of({ by_segment, segments }) {
  return [by_segment, segments];
}

export function draw({ by_segment, segments }) {
  const head = [el("h2", null, "By segment")];
  if (!Object.keys(segments).length)
    return [
      ...head,
      el("p", { class: "lead" }, "This placement has no segments."),
      why("How do I add segments?", "Set segments under Settings, for example the device. Send each visitor's segment in the context of a decision. slotwise then learns a list for each segment, and shares data between segments as far as they are similar."),
    ];
  return [
    ...head,
    el("p", { class: "lead" }, "Counted views and clicks of each segment."),
    el(
      "div",
      { class: "wide", tabindex: "0", role: "region", "aria-label": "Segments" },
      el(
        "table",
        { id: "segments-table" },
        el("thead", null, el("tr", null, el("th", { scope: "col" }, "visitors"), ["views", "clicks", "with a click"].map((text) => el("th", { scope: "col", class: "n" }, text)))),
        el("tbody", null, by_segment.map(row)),
      ),
    ),
    why("What does “other” mean?", "Visitors without a context, or with a value that is not listed. They are a segment of their own."),
  ];
}

function row({ segment, decisions }) {
  const text = Object.entries(segment).map(([key, value]) => `${key}: ${value}`).join(", ") || "other";
  const seen = decisions.clicked + decisions.no_click;
  return el(
    "tr",
    null,
    el("th", { scope: "row" }, name(text)),
    [count(seen), count(decisions.clicked), seen ? percent(decisions.clicked / seen) : "–"].map((text) => el("td", { class: "n" }, text)),
  );
}
