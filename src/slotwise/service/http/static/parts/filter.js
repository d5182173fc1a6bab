/* A filter by segment: the list, items, slots and uplift below it are then those of the segment. */

import { el, name } from "../dom.js";

export function of({ segments, segment }) {
  return [segments, segment];
}

export function draw({ segments, segment }, page) {
  const keys = Object.keys(segments);
  if (!keys.length) return [];
  return [
    el(
      "div",
      { class: "toolbar filter", role: "group", "aria-label": "Filter by segment" },
      el("span", { class: "quiet" }, "Visitors:"),
      keys.map((key) => choose(key, segments[key], segment, page)),
      segment.length ? el("button", { type: "button", "data-key": "everybody", onclick: () => page.change({ segment: [] }) }, "Show all visitors") : null,
    ),
    segment.length
      ? el("p", { class: "note" }, "Filtered to ", el("b", null, name(segment.join(", "))), ". The sentence above, the charts and the checks cover all visitors.")
      : null,
  ];
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
