/* Every item that matters, and a search for the others. */

import { itemActions } from "../actions.js";
import { ask, path } from "../api.js";
import { el, name, svg, swap, why } from "../dom.js";
import { amount, chance, count, interval, many, UNKNOWN } from "../format.js";

const AT_FIRST = 12;
const AT_ONCE = 50;
/** What was typed and asked for stays when the numbers move on. */
const asked = { search: "", most: AT_FIRST };

export function of({ items, item_count, best_list, segment }) {
  return [items, item_count, best_list, segment];
}

export function draw(overview, page) {
  const { items, item_count } = overview;
  const best = new Set(overview.best_list.map((slot) => slot.item));
  const body = el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Items" });
  const more = el("div", { class: "toolbar" });
  const said = el("p", { class: "quiet small", role: "status" });
  const canSearch = item_count > AT_FIRST && !overview.segment.length;

  async function show() {
    // what is searched is everybody's: of some visitors, what is here is all there is
    const here = !canSearch || (!asked.search && asked.most <= items.length);
    const found = here ? { items, found: canSearch ? item_count : items.length } : await search(page, asked);
    if (!found) return;
    const shown = found.items.slice(0, asked.most);
    swap(body, table(page, shown, best));
    said.textContent = canSearch && asked.search
      ? `${many(found.found, "item has", "items have")} “${asked.search}” in the name.`
      : shown.length < item_count
        ? `The ${count(shown.length)} most relevant of ${many(item_count, "item")}.`
        : "";
    const left = found.found - shown.length;
    const step = Math.min(left, AT_ONCE);
    const canShowMore = left > 0 && shown.length < 500 && (canSearch || shown.length < items.length);
    swap(
      more,
      canShowMore
        ? el("button", { type: "button", "data-key": "more-items", onclick: () => ((asked.most = shown.length + step), show()) }, `Show ${count(step)} more`)
        : null,
    );
  }

  const field = el("input", {
    type: "search",
    id: "search-items",
    "data-key": "search-items",
    value: asked.search,
    placeholder: "a part of its name",
    oninput: () => {
      asked.search = field.value.trim();
      asked.most = asked.search ? AT_ONCE : AT_FIRST;
      clearTimeout(asked.timer);
      asked.timer = setTimeout(show, 250);
    },
  });
  show();
  return [
    el("h2", null, "Items"),
    el("p", { class: "lead" }, "How attractive each item is, wherever it stood: the list now, and then those that are likeliest to belong to it."),
    canSearch ? el("div", { class: "toolbar" }, el("label", { for: "search-items" }, "Find an item"), field) : null,
    said,
    body,
    more,
    why(
      "What do the columns mean?",
      el(
        "dl",
        null,
        el("dt", null, "Attractiveness"),
        el("dd", null, "What the item is worth in the first slot: clicks on it for each visit without a click. The bar is where it lies with a probability of 95\u202f%."),
        el("dt", null, "In the best list"),
        el("dd", null, "How likely the item is to belong to the list that brings most."),
        el("dt", null, "Shown, clicks"),
        el("dd", null, "Views that had the item in their list, and first clicks on it, of everything that was counted."),
        el("dt", null, "Value"),
        el("dd", null, "What a click is worth, as given, or as learned from what clicks brought."),
      ),
    ),
  ];
}

async function search(page, { search, most }) {
  const query = new URLSearchParams({ search, limit: Math.min(500, most) });
  try {
    const found = await ask(`${path("placements", page.name, "items")}?${query}`, { signal: page.signal });
    return search === asked.search ? found.body : null;
  } catch {
    // whether the service answers is said at the top of the page
    return null;
  }
}

function table(page, items, best) {
  const values = items.some((item) => item.value !== null);
  const most = Math.max(1e-9, ...items.map((item) => item.high ?? 0));
  const heads = ["attractiveness", "95\u202f% within", "in the best list", "shown", "clicks", ...(values ? ["value"] : [])];
  // on a phone its rows are drawn as cards, and stay rows for who hears them
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
    el("tbody", { role: "rowgroup" }, items.map((item) => row(page, item, best, heads, most))),
  );
}

function row(page, item, best, heads, most) {
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
    el("th", { scope: "row", role: "rowheader", class: "name" }, name(item.id), best.has(item.id) ? el("span", { class: "tag" }, "in the list") : null),
    heads.map((head, at) => el("td", { class: "n", role: "cell", "data-label": head }, numbers[at])),
    el("td", { role: "cell" }, itemActions(page.name, item.id)),
  );
}

/** An interval, and the estimate in it, on the scale of all that are shown. */
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
