/* By segment: what is told apart in visitors, and a way to look at some of them alone. */

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
      el("p", { class: "lead" }, "This placement tells no visitors apart."),
      why("How could it?", "With segments, such as the device or whether somebody is new, each kind of visitor is learned by itself, and from the others as far as they are alike. PATCH the placement with segments, and say in each decision's context what is known of the visitor."),
    ];
  return [
    ...head,
    el("p", { class: "lead" }, "Choose some visitors, and the list, the items and the slots above are theirs alone."),
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
    why("What is other?", "Visitors of whom nothing is said, or something that is not listed. They are learned as a segment of their own."),
  ];
}

function row({ segment, decisions }) {
  const text = Object.entries(segment).map(([key, value]) => `${key}: ${value}`).join(", ") || "other";
  const seen = decisions.clicked + decisions.no_click;
  return el(
    "tr",
    null,
    el("th", { scope: "row" }, name(text)),
    [count(seen), count(decisions.clicked), seen ? percent(decisions.clicked / seen) : "–"].map((said) => el("td", { class: "n" }, said)),
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
