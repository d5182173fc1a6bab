/* Estimates of items and slots with their intervals, and the true values if the viewer wants them. */

import { el, svg } from "/static/dom.js";
import { UNKNOWN, amount, chance, percent } from "/static/format.js";
import { picture } from "/demo/static/shelf.js";

const WIDTH = 150;
const HEIGHT = 22;
/** Room at the right of the largest value. */
const ROOM = 1.15;

/** Two tables: items and slots, by device. */
export function learned(state, truth) {
  return [items(state, truth), slots(state, truth)].map((table) => el("div", { class: "wide" }, table));
}

function items(state, truth) {
  const devices = Object.keys(state.lists);
  const most = largest(state.items.flatMap((item) => [...Object.values(item.truth), ...estimates(item)]));
  return table(
    ["item", devices, "in the best list"],
    state.items.map((item) =>
      el(
        "tr",
        { "data-item": item.id },
        el("th", { scope: "row", class: "name" }, picture(item.id, "tiny"), item.name),
        devices.map((device) => {
          const known = item.learned[device];
          return cells(known, truth ? item.truth[device] : null, most, known && chance(known.probability_in_best_list));
        }),
      ),
    ),
  );
}

function slots(state, truth) {
  const devices = Object.keys(state.lists);
  const most = largest(state.slots.flatMap((slot) => [slot.truth, ...estimates(slot)]));
  return table(
    ["slot", devices, "relative to the first"],
    state.slots.map((slot) =>
      el(
        "tr",
        { "data-slot": slot.slot },
        el("th", { scope: "row" }, `slot ${slot.slot}`),
        devices.map((device) => {
          const known = slot.learned[device];
          return cells(known, truth ? slot.truth : null, most, known && percent(known.estimate, 0));
        }),
      ),
    ),
  );
}

function estimates({ learned }) {
  return Object.values(learned).map((known) => known.estimate);
}

function largest(values) {
  return ROOM * Math.max(...values);
}

function cells(known, truth, most, number) {
  return [el("td", null, range(known, truth, most)), el("td", { class: "n optional" }, number ?? "–")];
}

/** A column with the names of the rows, then two for each device: a chart and a number. */
function table([what, devices, number], rows) {
  const head = (text, kind = null) => el("th", { scope: "col", class: kind }, text);
  const titles = [head(what), devices.map((device) => [head(`on ${device}`), head(number, "n optional")])];
  return el("table", { class: "items" }, el("thead", null, el("tr", null, titles)), el("tbody", null, rows));
}

/** An estimate as a dot on its interval, and the true value as a mark. */
function range(known, truth, most) {
  if (!known && truth === null) return el("span", { class: "unknown" }, UNKNOWN);
  const x = (value) => 4 + (Math.min(value, most) / most) * (WIDTH - 8);
  const middle = HEIGHT / 2;
  const label = [known && `estimate ${amount(known.estimate)}, ${amount(known.low)} to ${amount(known.high)}`, truth !== null && `true ${amount(truth)}`];
  return svg(
    "svg",
    { class: "range", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label.filter(Boolean).join("; ") },
    svg("line", { class: "track", x1: 4, x2: WIDTH - 4, y1: middle, y2: middle }),
    known && svg("line", { class: "span", x1: x(known.low), x2: x(known.high), y1: middle, y2: middle }),
    truth !== null && svg("line", { class: "true", x1: x(truth), x2: x(truth), y1: 2, y2: HEIGHT - 2 }),
    known && svg("circle", { class: "dot", cx: x(known.estimate), cy: middle, r: 4.5 }),
  );
}
