/* The most relevant items, and a search for the others. */

import { itemActions } from "../actions.js";
import { ask, path } from "../api.js";
import { el, item as shown, svg, swap, why } from "../dom.js";
import { amount, chance, count, interval, many, UNKNOWN } from "../format.js";

const AT_FIRST = 12;
const PAGE_SIZE = 50;
/** The search and the number of listed items, kept when the part is drawn again. */
const view = { search: "", most: AT_FIRST };

export function of({ items, labels, item_count, best_list, segment }) {
  return [items, labels, item_count, best_list, segment];
}

export function draw(overview, page) {
  const { items, item_count } = overview;
  const best = new Set(overview.best_list.map((slot) => slot.item));
  const body = el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Items" });
  const more = el("div", { class: "toolbar" });
  const summary = el("p", { class: "quiet small", role: "status" });
  const canSearch = item_count > AT_FIRST && !overview.segment.length;

  async function show() {
    // the search covers all visitors: for a segment there are only the items of the overview
    const here = !canSearch || (!view.search && view.most <= items.length);
    const found = here ? { items, labels: overview.labels, found: canSearch ? item_count : items.length } : await search(page, view);
    if (!found) return;
    const listed = found.items.slice(0, view.most);
    swap(body, table(page, listed, found.labels, best));
    summary.textContent = canSearch && view.search
      ? `${many(found.found, "item")} with “${view.search}” in the name.`
      : listed.length < item_count
        ? `The ${count(listed.length)} most relevant of ${many(item_count, "item")}.`
        : "";
    const left = found.found - listed.length;
    const step = Math.min(left, PAGE_SIZE);
    const canShowMore = left > 0 && listed.length < 500 && (canSearch || listed.length < items.length);
    swap(
      more,
      canShowMore
        ? el("button", { type: "button", "data-key": "more-items", onclick: () => ((view.most = listed.length + step), show()) }, `Show ${count(step)} more`)
        : null,
    );
  }

  const field = el("input", {
    type: "search",
    id: "search-items",
    "data-key": "search-items",
    value: view.search,
    placeholder: "part of the name",
    oninput: () => {
      view.search = field.value.trim();
      view.most = view.search ? PAGE_SIZE : AT_FIRST;
      clearTimeout(view.timer);
      view.timer = setTimeout(show, 250);
    },
  });
  show();
  return [
    el("h2", null, "Items"),
    el("p", { class: "lead" }, "Attractiveness of each item, corrected for the slots it was shown in. The items of the best list come first."),
    canSearch ? el("div", { class: "toolbar" }, el("label", { for: "search-items" }, "Find an item"), field) : null,
    summary,
    body,
    more,
    why(
      "What do the columns mean?",
      el(
        "dl",
        null,
        el("dt", null, "Attractiveness"),
        el("dd", null, "Clicks on the item in the first slot for each view without a click. The bar is the 95\u202f% credible interval."),
        el("dt", null, "In the best list"),
        el("dd", null, "Probability that the item is in the best list."),
        el("dt", null, "Shown, clicks"),
        el("dd", null, "Counted views of lists with the item, and first clicks on it."),
        el("dt", null, "Value"),
        el("dd", null, "Value of a click, as configured or as learned from reported values."),
      ),
    ),
  ];
}

async function search(page, { search, most }) {
  const query = new URLSearchParams({ search, limit: Math.min(500, most) });
  try {
    const found = await ask(`${path("placements", page.name, "items")}?${query}`, { signal: page.signal });
    return search === view.search ? found.body : null;
  } catch {
    // the top of the page shows whether the service responds
    return null;
  }
}

function table(page, items, labels, best) {
  const values = items.some((item) => item.value !== null);
  const most = Math.max(1e-9, ...items.map((item) => item.high ?? 0));
  const heads = ["attractiveness", "95\u202f% interval", "in the best list", "shown", "clicks", ...(values ? ["value"] : [])];
  // on a phone the rows look like cards; for screen readers they stay rows
  return el(
    "table",
    { class: "items stacked", id: "items-table", role: "table" },
    el(
      "thead",
      { role: "rowgroup" },
      el(
        "tr",
        { role: "row" },
        el("th", { scope: "col", role: "columnheader" }, "item"),
        heads.map((text) => el("th", { scope: "col", role: "columnheader", class: "n" }, text)),
        el("th", { scope: "col", role: "columnheader" }, el("span", { class: "hidden" }, "change")),
      ),
    ),
    el("tbody", { role: "rowgroup" }, items.map((item) => row(page, item, labels, best, heads, most))),
  );
}

function row(page, item, labels, best, heads, most) {
  const known = item.attractiveness !== null;
  const unknown = el("span", { class: "unknown" }, UNKNOWN);
  const numbers = [
    known ? amount(item.attractiveness) : unknown,
    known ? [range(item, most), el("span", { class: "hidden" }, interval(item.low, item.high))] : "",
    item.probability_in_best_list === null ? unknown.cloneNode(true) : chance(item.probability_in_best_list),
    count(item.shown),
    count(item.clicks),
    item.value === null ? "–" : amount(item.value),
  ];
  return el(
    "tr",
    { role: "row" },
    el("th", { scope: "row", role: "rowheader", class: "name" }, shown(item.id, labels, { picture: true }), best.has(item.id) ? el("span", { class: "tag" }, "in the list") : null),
    heads.map((head, at) => el("td", { class: "n", role: "cell", "data-label": head }, numbers[at])),
    el("td", { role: "cell" }, itemActions(page.name, item.id)),
  );
}

/** An interval with its estimate, on a scale common to all rows. */
function range({ low, high, attractiveness }, most) {
  const x = (number) => 4 + (Math.min(number, most) / most) * 132;
  return svg(
    "svg",
    { class: "range", viewBox: "0 0 140 20", "aria-hidden": "true" },
    svg("title", null, interval(low, high)),
    svg("line", { class: "track", x1: 4, x2: 136, y1: 10, y2: 10 }),
    svg("line", { class: "span", x1: x(low), x2: x(high), y1: 10, y2: 10 }),
    svg("circle", { class: "dot", cx: x(attractiveness), cy: 10, r: 4 }),
  );
}
