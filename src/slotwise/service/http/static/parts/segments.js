/* Counts by segment, and a filter for the page. */

import { el, name, why } from "../dom.js";
import { count, percent } from "../format.js";

export function of({ by_segment, segments, segment }) {
  return [by_segment, segments, segment];
}

export function draw({ by_segment, segments, segment }, page) {
  const keys = Object.keys(segments);
  const head = [el("h2", null, "By segment")];
  if (!keys.length)
    return [
      ...head,
      el("p", { class: "lead" }, "This placement has no segments."),
      why("How do I add segments?", "Set segments under Settings, for example the device. Send each visitor's segment in the context of a decision. slotwise then learns a list for each segment, and shares data between segments as far as they are similar."),
    ];
  return [
    ...head,
    el("p", { class: "lead" }, "Choose a segment to filter the best list, the items and the slots above."),
    el("div", { class: "toolbar" }, keys.map((key) => choose(key, segments[key], segment, page))),
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

function choose(key, values, segment, page) {
  const start = `${key}:`;
  const now = segment.find((one) => one.startsWith(start))?.slice(start.length) ?? "";
  const field = el(
    "select",
    {
      id: `segment-${key}`,
      "data-key": `segment-${key}`,
      onchange: () => {
        const others = segment.filter((one) => !one.startsWith(start));
        page.change({ segment: field.value ? [...others, start + field.value] : others });
      },
    },
    ["", ...values, "other"].map((value) => el("option", { value, selected: value === now }, value || "everybody")),
  );
  return el("label", null, name(key), " ", field);
}
